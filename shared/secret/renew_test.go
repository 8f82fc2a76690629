package secret_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/singleeffect/once/shared/secret"
)

// vault is Secrets Manager with a secret that changes, and the clock by which it is asked.
type vault struct {
	text  string
	err   error
	reads int
	now   time.Time
}

func opened(t *testing.T) (*vault, *secret.Secret) {
	t.Helper()
	v := &vault{text: "key_1", now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	c := config()
	c.Now = func() time.Time { return v.now }
	s, err := secret.Read(t.Context(), manager(func(ctx context.Context) (*secretsmanager.GetSecretValueOutput, error) {
		v.reads++
		if v.err != nil {
			return nil, v.err
		}
		return holds(v.text)(ctx)
	}), "arn", c)
	if err != nil {
		t.Fatal(err)
	}
	return v, s
}

// wantRenewed renews the secret that was used.
func (v *vault) wantRenewed(t *testing.T, s *secret.Secret, used, want string, reads int) {
	t.Helper()
	got, err := s.Renew(t.Context(), used)
	if got != want || err != nil || v.reads != reads || s.Get() != want {
		t.Errorf("got %s, then %s, after %d reads and error %v, want %s after %d", got, s.Get(), v.reads, err, want, reads)
	}
}

// C60: a rotated secret is read again, once for all who used the old one.
func TestRotated(t *testing.T) {
	v, s := opened(t)
	v.text = "key_2\n"
	v.wantRenewed(t, s, "key_1", "key_2", 2)
	v.wantRenewed(t, s, "key_1", "key_2", 2) // used before, and told late
	v.text = "key_3"
	v.now = v.now.Add(secret.RenewInterval)
	v.wantRenewed(t, s, "key_2", "key_3", 3)
}

// C60: at most once a minute, by the wall clock, also where nothing was rotated.
func TestReadAtMostOnceAMinute(t *testing.T) {
	v, s := opened(t)
	v.wantRenewed(t, s, "key_1", "key_1", 2)
	v.text = "key_2"
	v.now = v.now.Add(secret.RenewInterval - 1)
	v.wantRenewed(t, s, "key_1", "key_1", 2)
	v.now = v.now.Add(1)
	v.wantRenewed(t, s, "key_1", "key_2", 3)
	v.text = "key_3"
	v.now = v.now.Add(-time.Hour) // a clock that was set back does not stop it
	v.wantRenewed(t, s, "key_2", "key_3", 4)
}

// C60: a read that fails, or that brings what cannot be used, changes nothing.
func TestFailedRead(t *testing.T) {
	denied := errors.New("AccessDeniedException")
	for name, spoil := range map[string]func(*vault){
		"denied":      func(v *vault) { v.err = denied },
		"JSON object": func(v *vault) { v.text = `{"key":"key_c4n4ry"}` },
		"line break":  func(v *vault) { v.text = "key_c4n\n4ry" },
		"empty":       func(v *vault) { v.text = "" },
	} {
		t.Run(name, func(t *testing.T) {
			v, s := opened(t)
			spoil(v)
			got, err := s.Renew(t.Context(), "key_1")
			var of *secret.Error
			if got != "key_1" || s.Get() != "key_1" || !errors.As(err, &of) || of.Variable != variable || strings.Contains(err.Error(), "4ry") {
				t.Errorf("got %q and error %v, want the same secret and an error that names the variable", got, err)
			}
			v.wantRenewed(t, s, "key_1", "key_1", 2) // it counts as one, too
			v.text, v.err = "key_2", nil
			v.now = v.now.Add(secret.RenewInterval)
			v.wantRenewed(t, s, "key_1", "key_2", 3)
		})
	}
}

// C60: the effects of one process share a read. One that has no time left goes its way, and one that panics leaves nobody waiting.
func TestSharedRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads, proceed := 0, make(chan struct{})
		c := config()
		s, err := secret.Read(t.Context(), manager(func(ctx context.Context) (*secretsmanager.GetSecretValueOutput, error) {
			if reads++; reads == 1 {
				return holds("key_1")(ctx)
			}
			<-proceed
			return holds("key_2")(ctx)
		}), "arn", c)
		if err != nil {
			t.Fatal(err)
		}
		var running sync.WaitGroup
		for range 10 {
			running.Go(func() {
				if got, err := s.Renew(t.Context(), "key_1"); got != "key_2" || err != nil {
					t.Errorf("got %q and error %v, want key_2", got, err)
				}
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got, err := s.Renew(ctx, "key_1"); got != "key_1" || !errors.Is(err, context.Canceled) {
			t.Errorf("without time: got %q and error %v, want the same secret and that it is over", got, err)
		}
		if got := s.Get(); got != "key_1" {
			t.Errorf("meanwhile: got %q, want key_1", got)
		}
		close(proceed)
		running.Wait()
		if reads != 2 {
			t.Errorf("reads: got %d, want one at the start and one more", reads)
		}
	})
}

func TestReadThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads, proceed := 0, make(chan struct{})
		s, err := secret.Read(t.Context(), manager(func(ctx context.Context) (*secretsmanager.GetSecretValueOutput, error) {
			if reads++; reads == 1 {
				return holds("key_1")(ctx)
			}
			<-proceed
			panic("of the client")
		}), "arn", config())
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer func() { _ = recover() }()
			_, _ = s.Renew(t.Context(), "key_1")
		}()
		synctest.Wait()
		waited := make(chan error)
		go func() {
			_, err := s.Renew(t.Context(), "key_1")
			waited <- err
		}()
		synctest.Wait()
		close(proceed)
		if err := <-waited; err == nil || s.Get() != "key_1" {
			t.Errorf("got error %v and %q, want an error and the same secret", err, s.Get())
		}
	})
}
