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
	notApplied                    // the far side says that it does not happen, and has not looked at the key
	declined                      // the far side's final no
	ownNo                         // our own check says no, before the call
	ownLater                      // our own check fails, before the call
	dieBefore                     // the process dies before the call
	dieAfter                      // the process dies after it happened
	underway                      // the process gives up, and it happens later
	probeFails                    // the probe has no answer
	probeSilent                   // the probe cannot say
	joined                        // it happens unheard; the effect joins that with what did not happen
	hollow                        // it happens; the effect says that nothing did not happen
	rejected                      // it happens; the completion's write fails by its own condition
)

var (
	ofEffects  = []fate{ok, dieAfter, unheard, underway, dieBefore, notArrived, notApplied, declined, ownNo, ownLater, joined, hollow}
	ofWritings = append(ofEffects[:len(ofEffects):len(ofEffects)], rejected)
	ofProbes   = []fate{ok, probeSilent, probeFails, dieBefore}
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
	k.begins(a)
	if w.nested && a.Key == w.subjects[0].key {
		return k.nest(ctx, p, a)
	}
	return k.request(ctx, p, a)
}

// request is an effect's call to the far side, and what the effect makes of that.
func (k *worker) request(ctx context.Context, p payload, a intent.Attempt) (any, error) {
	w, s := k.world, k.world.subject(a.Key)
	fates := ofEffects
	if w.written {
		fates = ofWritings
	}
	f := k.arrive(ctx, "effect of "+a.Key.Operation+" "+a.Key.ID, fates)
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
			_, _ = w.far.call(a.Downstream, p.Cents, ok, w.memory(k.kindOf(s)))
		}})
		return nil, errUnheard
	}
	k.begins(a)
	result, err := w.far.call(a.Downstream, p.Cents, f, w.memory(k.kindOf(s)))
	switch {
	case f == dieAfter:
		k.die()
	case f == unheard:
		return nil, errUnheard
	case f == joined:
		return nil, errors.Join(errUnheard, intent.NotApplied(errUnheard))
	case f == hollow:
		return nil, intent.NotApplied(nil)
	case err != nil:
		return nil, err
	case f == rejected:
		return w.rejectedCompletion(s, result), nil
	}
	return w.completion(s, result), nil
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
		return intent.Yes, k.world.completion(k.world.subject(a.Key), done[0].receipt), nil
	}
	return intent.No, nil, nil
}

// settled is when what the worker's effect has under way has arrived, or never does:
// the settle time after the end of its invocation, where a probe's "no" counts on it.
// Zero: whenever.
func (k *worker) settled() time.Time {
	if !k.world.probes || k.world.breach == falseNo {
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
	padded  func(string) string // what its receipts look like
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

// memory of idempotency keys, from their first call, of a provider that effects of the
// kind call; none if it knows no keys.
func (s setting) memory(kind Class) time.Duration {
	switch {
	case kind != Keyed || s.breach == keyless:
		return 0
	case s.breach == forgets:
		return 5 * time.Second
	}
	return window - early
}

// call is a request that arrived. Where there are too many, that is said before the
// key is looked at.
func (s *farSide) call(key string, cents int64, f fate, memory time.Duration) (any, error) {
	if f == notApplied {
		return nil, intent.Answered(intent.NotApplied(errUnheard))
	}
	if a, known := s.answers[key]; known && time.Since(a.since) < memory {
		return a.receipt, a.err
	}
	a := answer{since: time.Now()}
	if f == declined {
		a.err = intent.Answered(intent.Refuse("declined"))
	} else {
		a.receipt = s.padded(fmt.Sprintf("receipt %d of %d cents", 1+len(s.effects[key]), cents))
		s.effects[key] = append(s.effects[key], taken{cents, a.receipt})
	}
	if memory > 0 {
		s.answers[key] = a
	}
	return a.receipt, a.err
}
