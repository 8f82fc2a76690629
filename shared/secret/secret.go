// Package secret holds one secret of a function, such as a provider's API key: it is read when the
// function starts, checked before it is used, and read again when the provider no longer takes it.
//
// The promise: what the checks do not pass is never used. At the start it is an init error that names
// the environment variable; later the secret that was good stays in use. No error holds the secret's
// text, nor a part of it.
//
// The limit: a secret is one token for a header: visible ASCII characters, without white space. It is
// read again at most once in RenewInterval, so one that is revoked before its successor is stored is
// used until then.
//
//	Read, Fixed → Get → provider answers 401 → Renew ┬→ another secret: ask the provider again
//	                                                 └→ the same one, or an error: report the 401
package secret

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// RenewInterval is how long one process waits before it reads a secret again, however many effects
// ask for it: a provider that answers 401 to everybody must not become load on Secrets Manager, which
// is paid by the call.
const RenewInterval = time.Minute

// API is what this package calls of Secrets Manager. IAM: secretsmanager:GetSecretValue on the secret.
type API interface {
	GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput, ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
}

// Config says what is a usable secret.
type Config struct {
	// Variable is the environment variable that names the secret, or holds it. Errors tell it. Required.
	Variable string

	// Check returns what is wrong with a secret's form, to follow "the secret": "has no …". Its error must
	// not hold the text. Every secret has passed the package's own check before. Required.
	Check func(text string) error

	// Now is the clock of RenewInterval. Defaults to time.Now.
	Now func() time.Time
}

// Error is returned for a secret that cannot be read or used.
type Error struct {
	Variable string // the environment variable that names or holds it
	Err      error  // what is wrong, without the secret's text
}

func (e *Error) Error() string { return e.Variable + ": the secret " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Secret is a secret that is in use, safe for concurrent use.
type Secret struct {
	config Config
	client API // nil for a fixed one
	id     string

	mu      sync.Mutex
	text    string
	renewed time.Time // when it was last read again
	reading *reading  // nil if nobody reads
}

// reading is a read under way, which several effects wait for.
type reading struct {
	done chan struct{}
	err  error // once done
}

// Read returns the current secret (stage AWSCURRENT) of that id or ARN. Its error is an *Error.
func Read(ctx context.Context, client API, id string, c Config) (*Secret, error) {
	s := &Secret{config: c, client: client, id: id}
	text, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	s.text = text
	return s, nil
}

// Fixed returns a secret that the variable itself holds, which is never read again. Its error is an
// *Error.
func Fixed(text string, c Config) (*Secret, error) {
	s := &Secret{config: c}
	var err error
	if s.text, err = s.usable(text); err != nil {
		return nil, err
	}
	return s, nil
}

// Get returns the secret.
func (s *Secret) Get() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text
}

// Renew is called with the secret that the provider did not take, and returns the one to use: another
// one if it has been rotated, else the same. Several callers share one read, and who comes after it has
// its outcome without one. An *Error says why a read failed; the secret is the same then. A fixed secret
// stays.
func (s *Secret) Renew(ctx context.Context, used string) (string, error) {
	s.mu.Lock()
	if s.text != used || s.client == nil {
		defer s.mu.Unlock()
		return s.text, nil
	}
	r := s.reading
	if r == nil {
		// By the wall clock: the monotonic one may stand still while a sandbox is frozen. One that was
		// set back is not waited for.
		now := s.now().Round(0)
		if since := now.Sub(s.renewed); since >= 0 && since < RenewInterval {
			defer s.mu.Unlock()
			return s.text, nil
		}
		r = &reading{done: make(chan struct{})}
		s.renewed, s.reading = now, r
		s.mu.Unlock()
		s.renew(ctx, r)
	} else {
		s.mu.Unlock()
		select {
		case <-r.done:
		case <-ctx.Done():
			return used, s.failed(ctx.Err())
		}
	}
	return s.Get(), r.err
}

// renew reads the secret for all who wait. It ends whatever happens, or they would wait for ever.
func (s *Secret) renew(ctx context.Context, r *reading) {
	text, err := "", error(s.failed(errors.New("was not read")))
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if err == nil {
			s.text = text
		}
		r.err, s.reading = err, nil
		close(r.done)
	}()
	text, err = s.read(ctx)
}

func (s *Secret) read(ctx context.Context) (string, error) {
	out, err := s.client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &s.id})
	if err != nil {
		return "", s.failed(fmt.Errorf("cannot be read: %w", err))
	}
	if out.SecretString == nil {
		return "", s.failed(errors.New("holds bytes, no string"))
	}
	return s.usable(aws.ToString(out.SecretString))
}

// usable is the text of a secret, without the white space that editors and shells put around it.
func (s *Secret) usable(text string) (string, error) {
	text = strings.TrimSpace(text)
	if err := checkToken(text); err != nil {
		return "", s.failed(err)
	}
	if err := s.config.Check(text); err != nil {
		return "", s.failed(err)
	}
	return text, nil
}

// checkToken says what is wrong with a text that is no token for a header. net/http would turn each
// request away that carries it, or the provider would.
func checkToken(text string) error {
	switch {
	case text == "":
		return errors.New("is empty")
	case strings.HasPrefix(text, "{"):
		return errors.New("is a JSON object, want the value alone (plain text, not key/value pairs)")
	case strings.ContainsAny(text, "\r\n"):
		return errors.New("has a line break inside")
	}
	for _, c := range []byte(text) {
		switch {
		case c == ' ' || c == '\t':
			return errors.New("has white space inside")
		case c < ' ' || c > '~':
			return errors.New("has a character that is not visible ASCII")
		}
	}
	return nil
}

func (s *Secret) failed(err error) *Error { return &Error{Variable: s.config.Variable, Err: err} }

func (s *Secret) now() time.Time {
	if s.config.Now != nil {
		return s.config.Now()
	}
	return time.Now()
}
