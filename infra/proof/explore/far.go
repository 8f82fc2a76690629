package explore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// Fates of effects and probes; those of the table are others.
const (
	unheard     fate = 100 + iota // it happens, and nobody hears of it
	notArrived                    // it does not happen, and nobody knows
	notApplied                    // the far side says that it does not happen
	declined                      // the far side's final no
	ownNo                         // our own check says no, before the call
	ownLater                      // our own check fails, before the call
	dieBefore                     // the process dies before the call
	dieAfter                      // the process dies after it happened
	underway                      // the process gives up, and it happens later
	probeFails                    // the probe has no answer
	probeSilent                   // the probe cannot say
)

var (
	ofEffects = []fate{ok, dieAfter, unheard, underway, dieBefore, notArrived, notApplied, declined, ownNo, ownLater}
	ofProbes  = []fate{ok, probeSilent, probeFails, dieBefore}
)

var errUnheard = errors.New("no answer")

// effect is the work of the intent, at the far side.
func (k *worker) effect(ctx context.Context, p payload, a intent.Attempt) (any, error) {
	w := k.world
	if w.breach == pauses {
		ctx = context.WithoutCancel(ctx) // whoever stalls hears of no deadline
	}
	k.holds(a.Key, false)
	if ctx.Err() != nil && !k.ends.IsZero() { // else a renewal that fails may end it at any instant
		w.fail("an effect begins when its time is over")
	}
	w.begins(a)
	f := k.arrive(ctx, "effect of "+a.Key.ID, ofEffects)
	switch f {
	case dieBefore, crashBefore:
		k.die()
	case notArrived:
		return nil, errUnheard
	case ownNo:
		return nil, intent.Refuse("no")
	case ownLater:
		return nil, intent.NotApplied(errUnheard)
	case underway, given:
		w.later(event{name: underwayEffect, worker: k.number, doubt: f == given, until: k.settled(), happen: func() {
			_, _ = w.far.call(a.Downstream, p.Cents, ok)
		}})
		return nil, errUnheard
	}
	w.begins(a)
	result, err := w.far.call(a.Downstream, p.Cents, f)
	switch f {
	case dieAfter:
		k.die()
	case unheard:
		return nil, errUnheard
	}
	return result, err
}

// probe asks the far side.
func (k *worker) probe(ctx context.Context, _ payload, a intent.Attempt) (intent.Verdict, any, error) {
	switch k.arrive(ctx, "probe", ofProbes) {
	case probeSilent:
		return intent.Unknown, nil, nil
	case probeFails, given:
		return intent.Unknown, nil, errUnheard
	case dieBefore, crashBefore:
		k.die()
	}
	if done := k.world.far.effects[a.Downstream]; len(done) > 0 {
		return intent.Yes, done[0].receipt, nil
	}
	return intent.No, nil, nil
}

// settled is when what the worker's effect has under way has arrived, or never does:
// the settle time after the end of its invocation, where a probe's "no" counts on it.
// Zero: whenever.
func (k *worker) settled() time.Time {
	if !k.world.class.probes() || k.world.breach == falseNo {
		return time.Time{}
	}
	return k.lease.Add(probeAfter - leaseMargin)
}

// ruleOut makes an operator's "no" final: what is under way no longer can.
func (w *world) ruleOut() {
	if w.breach != falseNo {
		w.forget(underwayEffect)
	}
}

// farSide is a provider. It keeps what happened, by the downstream key.
type farSide struct {
	memory  time.Duration // of idempotency keys, from their first call; none if it knows no keys
	effects map[string][]taken
	answers map[string]answer
}

// taken is one effect.
type taken struct {
	cents   int64
	receipt string
}

// answer is what a key's next calls are told.
type answer struct {
	since   time.Time
	receipt string
	err     error // a final no
}

// memory of a provider in a world like this one.
func (s setting) memory() time.Duration {
	switch {
	case !s.class.keyed() || s.breach == keyless:
		return 0
	case s.breach == forgets:
		return 5 * time.Second
	}
	return window - early
}

// call is a request that arrived.
func (s *farSide) call(key string, cents int64, f fate) (any, error) {
	if a, known := s.answers[key]; known && time.Since(a.since) < s.memory {
		return a.receipt, a.err
	}
	a := answer{since: time.Now()}
	switch f {
	case notApplied:
		return nil, intent.Answered(intent.NotApplied(errUnheard))
	case declined:
		a.err = intent.Answered(intent.Refuse("declined"))
	default:
		a.receipt = fmt.Sprintf("receipt %d of %d cents", 1+len(s.effects[key]), cents)
		s.effects[key] = append(s.effects[key], taken{cents, a.receipt})
	}
	s.answers[key] = a
	return a.receipt, a.err
}
