package intent

import (
	"context"
	"time"
)

// Kind says what a delivery turned out to be. It is a value, not an error: a
// duplicate is an ordinary day.
type Kind string

const (
	Executed   Kind = "executed"    // this delivery ran the effect, and the record says so
	Replayed   Kind = "replayed"    // an earlier one did, here is its result
	Refused    Kind = "refused"     // the business said no, now or earlier
	InProgress Kind = "in_progress" // another delivery runs it, or a probe's time has not come
	Conflict   Kind = "conflict"    // another payload under the same key; the record stands as it was
	InDoubt    Kind = "in_doubt"    // it may have happened; a probe or an operator settles it
)

// Outcome is what a delivery learns of its intent.
type Outcome struct {
	Kind    Kind
	Intent  string        // Key.ShortHash, for logs; also where the delivery ends in an error
	Result  Result        // with Executed, Replayed and Refused
	Attempt int           // claims of the intent so far
	Wait    time.Duration // until it is worth another look: with InProgress, with InDoubt where a probe is left to ask, and with an error while a claim stands
	Reason  string        // with Conflict and InDoubt
	Lapsed  bool          // this delivery took over a claim whose lease had lapsed; also where it ends in an error
	Cause   error         // what went wrong in this delivery, where the outcome is not due to that alone
}

// Done reports whether the message has its answer and may be acknowledged.
func (o Outcome) Done() bool {
	return o.Kind == Executed || o.Kind == Replayed || o.Kind == Refused
}

// Lookup gives a producer the outcome of its intent, which an SQS handler has
// nobody to return to. ErrNoIntent means that no record stands: not delivered
// yet, never sent, or expired.
func Lookup(ctx context.Context, s Store, k Key) (Outcome, error) {
	if err := k.Validate(); err != nil {
		return Outcome{}, err
	}
	r, err := s.Load(ctx, k.String())
	if err != nil {
		return Outcome{}, err
	}
	switch o, done := r.Answer(r.Fingerprint); {
	case done:
		return o, nil
	case r.State == StateAbsent:
		return Outcome{}, ErrNoIntent
	case r.State == StateInDoubt:
		return Outcome{Kind: InDoubt, Attempt: r.Attempt, Reason: r.Reason}, nil
	default:
		return Outcome{Kind: InProgress, Attempt: r.Attempt}, nil
	}
}
