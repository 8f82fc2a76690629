package explore

import (
	"context"
	"errors"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// timeout is an invocation's.
const timeout = 30 * time.Second

// worker is one delivery: a process with its own clock that has the message.
type worker struct {
	world  *world
	number int
	skew   time.Duration // its clock's, ahead of the world's
	at     *arrival      // where it waits; nil while it computes, sleeps or is gone
	dead   bool
	ended  bool // dead, or it has answered

	outcome intent.Outcome
	err     error
}

// arrival is a call that waits to be let through.
type arrival struct {
	operation string
	fates     []fate
	proceed   chan fate
}

// arrive waits for the schedule's leave. Who gives up meanwhile is given.
func (w *worker) arrive(ctx context.Context, operation string, fates []fate) fate {
	a := &arrival{operation: operation, fates: fates, proceed: make(chan fate)}
	w.at = a
	defer func() { w.at = nil }()
	select {
	case f := <-a.proceed:
		return f
	case <-ctx.Done():
		return given
	}
}

// run delivers the message once.
func (w *worker) run(h deliverer) {
	defer func() { w.ended = true }()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	w.outcome, w.err = h.Deliver(ctx, w.world.delivery(w.number))
}

type deliverer interface {
	Deliver(context.Context, intent.Delivery) (intent.Outcome, error)
}

func (w *worker) now() time.Time { return time.Now().Add(w.skew) }

// effect fates come after those of the table.
const (
	unheard     fate = 100 + iota // it happens, and nobody hears of it
	notArrived                    // it does not happen, and nobody knows
	notApplied                    // the far side says that it does not happen
	declined                      // the far side's final no
	ownNo                         // our own check says no, before the call
	ownLater                      // our own check fails, before the call
	dieBefore                     // the process dies before the call
	dieAfter                      // the process dies after it happened
	underway                      // the process dies or gives up, and it happens later
	probeFails                    // the probe has no answer
	probeSilent                   // the probe cannot say
)

var (
	ofEffects = []fate{ok, dieAfter, unheard, underway, dieBefore, notArrived, notApplied, declined, ownNo, ownLater}
	ofProbes  = []fate{ok, probeSilent, probeFails, dieBefore}
)

var errUnheard = errors.New("no answer")

// effect is the work of the intent, at the far side.
func (w *worker) effect(ctx context.Context, _ payload, a intent.Attempt) (any, error) {
	far := &w.world.far
	f := w.arrive(ctx, "effect", ofEffects)
	if f == given {
		// Cut off: what was sent may still arrive.
		f = [...]fate{notArrived, underway}[w.world.choose(2)]
	}
	switch f {
	case dieBefore:
		w.die()
	case notArrived:
		return nil, errUnheard
	case ownNo:
		return nil, intent.Refuse("no")
	case ownLater:
		return nil, intent.NotApplied(errUnheard)
	case underway:
		w.world.pending = append(w.world.pending, event{"effect under way", func() { _, _ = far.call(a.Downstream, ok) }})
		return nil, errUnheard
	}
	result, err := far.call(a.Downstream, f)
	switch f {
	case dieAfter:
		w.die()
	case unheard:
		return nil, errUnheard
	}
	return result, err
}

// probe asks the far side.
func (w *worker) probe(ctx context.Context, _ payload, a intent.Attempt) (intent.Verdict, any, error) {
	switch w.arrive(ctx, "probe", ofProbes) {
	case probeSilent:
		return intent.Unknown, nil, nil
	case probeFails, given:
		return intent.Unknown, nil, errUnheard
	case dieBefore:
		w.die()
	}
	if w.world.far.effects > 0 {
		return intent.Yes, w.world.far.receipt, nil
	}
	// A "no" is final: what is under way no longer can.
	w.world.forget("effect under way")
	return intent.No, nil, nil
}

// farSide is a provider. It counts what happens.
type farSide struct {
	keys    bool // it knows idempotency keys
	effects int
	receipt string
	answers map[string]error // by key: a final no; nil once it happened
}

// call is a request that arrived.
func (s *farSide) call(key string, f fate) (any, error) {
	if s.keys {
		if err, known := s.answers[key]; known {
			return s.receipt, err
		}
	}
	switch f {
	case notApplied:
		return nil, intent.Answered(intent.NotApplied(errUnheard))
	case declined:
		err := intent.Answered(intent.Refuse("declined"))
		s.answers[key] = err
		return nil, err
	}
	s.effects++
	s.receipt = "r"
	s.answers[key] = nil
	return s.receipt, nil
}
