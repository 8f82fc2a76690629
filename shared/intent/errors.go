package intent

import (
	"errors"
	"fmt"
	"runtime"
)

var (
	// ErrNoKey is returned when a message carries no key, or a null or empty
	// one. The message never ran; a message id is no substitute, since a
	// producer's second send has another one.
	ErrNoKey = errors.New("no idempotency key")

	// ErrNoTime is returned when less than a second is left before the deadline.
	// Nothing was started; what had been claimed was released.
	ErrNoTime = errors.New("too little time left before the deadline")

	// ErrUnknown is returned when an effect ended without a verdict: an error of
	// its own, a panic, or a cut-off. A Keyed claim lapses and is taken over, a
	// Blind one is in doubt. The effect's error is beside it, as an *EffectError.
	ErrUnknown = errors.New("outcome of the effect is unknown")

	// ErrNotDone is returned when a Natural or a dynamo.Ledger effect ended in an
	// error: no record says that it took place, and the next delivery runs it again.
	// The effect's error is beside it, as an *EffectError.
	ErrNotDone = errors.New("effect is not done")

	// ErrReleased is returned when the effect said NotApplied and the claim was
	// released: the next delivery runs it at once.
	ErrReleased = errors.New("effect was not applied, claim released")

	// ErrLost is returned when the claim is no longer ours and the record shows
	// no outcome to follow either.
	ErrLost = errors.New("claim lost")

	// ErrVanished is returned when three claims in a row were refused by a record
	// that a consistent read then did not find.
	ErrVanished = errors.New("record vanishes between claim and read")

	// ErrNoIntent is returned by Lookup when no record of the intent stands.
	ErrNoIntent = errors.New("no record of this intent")

	// ErrExpired is returned when an intent is older than Config.MaxAge and has no
	// record, or one past its retention: it may have happened. Nothing was run, and no
	// later delivery will be.
	ErrExpired = errors.New("intent is too old to run without a record")

	// ErrGivenUp is returned in place of another delivery, after a Delivery that was the
	// Last one and did not succeed either. A claim that stands is listed for operators:
	// Record.OpenSince.
	ErrGivenUp = errors.New("given up")

	// ErrUnprocessable is returned when the effect said Quarantine.
	ErrUnprocessable = errors.New("message can never be processed")

	// ErrWritesRejected is returned when the writes that were to commit with a
	// completion or a refusal fail a condition of their own, or are invalid. The
	// effect has ended; the record stands as it was.
	ErrWritesRejected = errors.New("writes of the completion were rejected")

	// ErrOtherClass is returned when a record is in a state that the class of
	// this effect never writes, as after a change of class. Nothing was run.
	ErrOtherClass = errors.New("record was written by another class of effect")
)

// KeyError says which part of a key is unusable. The message never ran.
type KeyError struct {
	Field  string // scope, operation, key, or where in the message it was found
	Reason string
}

func (e *KeyError) Error() string { return fmt.Sprintf("intent %s %s", e.Field, e.Reason) }

// PayloadError says which field of a message body is unusable. The message
// never ran; no delivery of the same body can succeed.
type PayloadError struct {
	Field  string // path of the field, empty for the body as a whole
	Reason string
}

func (e *PayloadError) Error() string {
	if e.Field == "" {
		return "payload " + e.Reason
	}
	return fmt.Sprintf("payload field %q %s", e.Field, e.Reason)
}

// EffectError holds the error of an effect or a probe inside an error that Deliver
// returns. errors.Is and errors.As do not look inside: what an effect's error is made
// of says nothing of the message, and an intent that the effect delivered itself has
// verdicts and errors of its own. Who wants to know looks at Err.
type EffectError struct {
	Err  error
	text string
}

// newEffectError reads the text of err at once, which panics where err's own Error
// does.
func newEffectError(err error) *EffectError { return &EffectError{Err: err, text: err.Error()} }

func (e *EffectError) Error() string { return e.text }

// Unwrap returns the panic that Err is about, for its stack, and nothing else.
func (e *EffectError) Unwrap() error {
	var panicked *PanicError
	if errors.As(e.Err, &panicked) {
		return panicked
	}
	return nil
}

// FormatError is returned when a record carries a format or a state that this
// release does not know, as old code meets it while a new release is rolled
// out. The record was neither compared nor changed.
type FormatError struct {
	Intent  string
	Version int
	State   State
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("record has unknown format v=%d state=%.32q", e.Version, string(e.State))
}

// PanicError carries a panic of an effect and where it happened. Its outcome is
// unknown.
type PanicError struct {
	Value any
	Stack []byte
}

// Error leaves out a value that may quote a payload: only an error of Go's own runtime
// is told.
func (e *PanicError) Error() string {
	if err, ok := e.Value.(runtime.Error); ok {
		return "effect panicked: " + err.Error()
	}
	return fmt.Sprintf("effect panicked with a %T", e.Value)
}

// ConfigError is returned by Validate: a field is missing or clashes with
// another; Reason prints both values.
type ConfigError struct {
	Field  string
	Reason string
}

func (e *ConfigError) Error() string { return fmt.Sprintf("config %s %s", e.Field, e.Reason) }
