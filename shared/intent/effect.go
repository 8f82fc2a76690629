package intent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// Attempt is what an effect is told about its run.
type Attempt struct {
	Key        Key
	Downstream string // the provider's idempotency key: the same in every attempt
	Number     int    // from 1; for logs, never for the request
	MessageID  string // of the delivery that runs it
	Receives   int    // how often SQS has delivered the message, this time included; 0: not known
}

// earlyReceives is how many receives of a message are early.
const earlyReceives = 3

// Early reports one of the message's first three receives. What the effect does not
// find then, such as a row that is written beside the message, may be there a moment
// later: it is NotApplied, and refused or quarantined only after that. False where
// the receives are not known.
func (a Attempt) Early() bool { return a.Receives >= 1 && a.Receives <= earlyReceives }

// Effect does the work of one intent. Its request to the outside is a function
// of the payload and the downstream key alone: no clock, attempt or version.
// It returns its result, which may be a Completion, and
//
//	nil                    it happened: completed
//	Refuse(result)         the business says no: refused
//	NotApplied(err)        it did not happen and no longer can: released
//	anything else          nobody knows: see the class
//
// A verdict counts as the effect's own only if every error around it wraps it alone:
// one that is joined with another error, or wraps nil, is unknown.
//
// ctx ends before the invocation does and before the lease.
type Effect[P any] func(ctx context.Context, payload P, a Attempt) (result any, err error)

// Completion is a result whose completion commits writes with it: both are there
// afterwards, or neither. What the writes may be is the Store's to say; see
// dynamo.WithWrites.
type Completion struct {
	Result any
	Writes any
}

type unprocessable struct{ err error }

func (e *unprocessable) Error() string { return fmt.Sprint(e.err) }
func (e *unprocessable) Unwrap() error { return e.err }

// Quarantine marks err as one that no further delivery can mend. The message goes
// to the dead-letter queue at once, with the reason. A Keyed or Blind effect says
// it inside NotApplied: of a message whose outcome is unknown nobody can say so.
func Quarantine(err error) error { return &unprocessable{err: err} }

type refusal struct{ result any }

func (*refusal) Error() string { return "effect refused" }

// Refuse is the business's final no, with the result that every duplicate gets
// back. It speaks of the intent: see Answered.
func Refuse(result any) error { return &refusal{result: result} }

type notApplied struct{ err error }

func (e *notApplied) Error() string { return fmt.Sprintf("effect not applied: %v", e.err) }
func (e *notApplied) Unwrap() error { return e.err }

// NotApplied says that the effect did not happen and no longer can, so that the
// next delivery may run it. It speaks of the intent: see Answered.
func NotApplied(err error) error { return &notApplied{err: err} }

type answered struct{ verdict error }

func (e *answered) Error() string { return fmt.Sprintf("provider answered: %v", e.verdict) }
func (e *answered) Unwrap() error { return e.verdict }

// Answered marks a Refuse or NotApplied as the provider's own answer to this
// intent's downstream key. Without it a verdict is taken for the effect's own
// check, which an effect may trust only while no earlier attempt can have
// happened: after a crash "already paid" would be recorded as a refusal of the
// charge that paid it. From then on an unmarked verdict counts as unknown.
func Answered(verdict error) error { return &answered{verdict: verdict} }

type retryLater struct {
	err   error
	after time.Duration
}

func (e *retryLater) Error() string { return fmt.Sprint(e.err) }
func (e *retryLater) Unwrap() error { return e.err }

// RetryAfter marks err as one that speaks of the provider as a whole and not of the
// intent: it is out of reach, fails, or throttles. after is how long it asks to be left
// alone, as by the header Retry-After; 0 where it does not say. It is no verdict, and
// may be inside one, or around it.
func RetryAfter(err error, after time.Duration) error { return &retryLater{err, after} }

// AskedToWait reports an error of Deliver's whose effect said RetryAfter.
func AskedToWait(err error) (after time.Duration, asked bool) {
	var l *retryLater
	var effect *EffectError
	switch {
	case errors.As(err, &l):
		return l.after, true
	case errors.As(err, &effect):
		return AskedToWait(effect.Err)
	}
	return 0, false
}

// Verdict is what is known of whether an effect happened. The zero Verdict
// knows nothing.
type Verdict int

const (
	Unknown  Verdict = iota
	Yes              // it happened
	No               // it did not, and no longer can
	declined         // it did not, and the business wants it so
)

// Probe asks downstream whether an earlier attempt's effect happened, under the
// attempt's downstream key. With Yes it returns the result that completes the
// intent. An error counts as Unknown.
type Probe[P any] func(ctx context.Context, payload P, a Attempt) (v Verdict, result any, err error)

// reading is what an effect's error says of its intent.
type reading struct {
	verdict    Verdict
	refused    any    // the result of a refusal
	quarantine bool   // no delivery can mend the message
	fault      string // why a verdict does not count, where the effect is to blame
}

// readVerdict reads what an effect's error says of its intent. fresh: no earlier
// attempt can have happened.
//
// A verdict counts only where each error around it wraps that one alone. Joined with
// another error it is unknown: the other may be of a call that did happen. So is one
// around a nil error, and one that says two things. What Deliver returns carries no
// verdict, so that of a nested intent is never read as this one's.
func readVerdict(err error, fresh bool) reading {
	if err == nil {
		return reading{verdict: Yes}
	}
	var r reading
	byProvider := false
	for err != nil {
		var inner error
		switch e := err.(type) {
		case *answered:
			if r.verdict != Unknown {
				return reading{fault: "a verdict around an answer"}
			}
			byProvider, inner = true, e.verdict
			if inner == nil {
				return reading{fault: "an answer without a verdict"}
			}
		case *refusal:
			if r.verdict != Unknown {
				return reading{fault: "two verdicts in one error"}
			}
			r.verdict, r.refused = declined, e.result
		case *notApplied:
			r.verdict, inner = No, e.err
			if inner == nil {
				return reading{fault: "a verdict around a nil error"}
			}
		case *unprocessable:
			r.quarantine, inner = true, e.err
			if inner == nil {
				return reading{fault: "Quarantine of a nil error"}
			}
		default:
			inner = errors.Unwrap(err) // nil where several errors are joined
		}
		err = inner
	}
	if !fresh && !byProvider {
		r.verdict = Unknown
	}
	return r
}

// Refusal returns the result of a Refuse that err is or wraps alone.
func Refusal(err error) (result any, ok bool) {
	r := readVerdict(err, true)
	return r.refused, r.verdict == declined
}

// Contain runs f and turns its panic into a *PanicError.
func Contain(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}

// RunUnrecorded runs an effect that leaves no record. Its error is ErrUnprocessable
// where the effect's is Quarantine's, else ErrNotDone.
func RunUnrecorded(effect func() error) error {
	err := Contain(func() error {
		err := effect()
		switch {
		case err == nil:
			return nil
		case readVerdict(err, true).quarantine:
			return fmt.Errorf("%w: %w", ErrUnprocessable, newEffectError(err))
		}
		return fmt.Errorf("%w: %w", ErrNotDone, newEffectError(err))
	})
	if panicked, ok := err.(*PanicError); ok {
		err = fmt.Errorf("%w: %w", ErrNotDone, panicked)
	}
	return err
}
