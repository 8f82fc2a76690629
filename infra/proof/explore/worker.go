package explore

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
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

	mu      sync.Mutex
	waiting []*arrival // its calls that wait; none while it computes, sleeps or is gone
	running int        // deliveries of its batch that have not ended
	dead    bool

	outcome intent.Outcome
	err     error
}

// arrival is a call that waits to be let through.
type arrival struct {
	worker    *worker
	operation string // and what it is about
	fates     []fate
	proceed   chan fate
}

// arrive waits for the schedule's leave. Who gives up meanwhile is given.
func (w *worker) arrive(ctx context.Context, operation string, fates []fate) fate {
	a := &arrival{worker: w, operation: operation, fates: fates, proceed: make(chan fate)}
	w.mu.Lock()
	dead := w.dead
	if !dead {
		w.waiting = append(w.waiting, a)
	}
	w.mu.Unlock()
	if dead {
		runtime.Goexit()
	}
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.waiting = slices.DeleteFunc(w.waiting, func(other *arrival) bool { return other == a })
	}()
	select {
	case f := <-a.proceed:
		return f
	case <-ctx.Done():
		return given
	}
}

// run delivers the message once; grouped, in a batch with one of another intent.
func (w *worker) run(h deliverer) {
	keys, deliver, leave := []intent.Key{key}, h.Deliver, func() {}
	if w.world.class == Grouped {
		keys = append(keys, companion)
		deliver, leave = h.(grouper).Group(len(keys))
	}
	w.running = len(keys)
	for _, k := range keys {
		go func() {
			defer func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.running--
			}()
			defer leave()
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			o, err := deliver(ctx, w.world.delivery(k, w.number))
			if k == key {
				w.outcome, w.err = o, err
			}
		}()
	}
}

// calls are its calls that wait, whether any of its deliveries still runs, and
// whether it is dead.
func (w *worker) calls() (waiting []*arrival, running, dead bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.waiting), w.running > 0, w.dead
}

type grouper interface {
	Group(members int) (deliver func(context.Context, intent.Delivery) (intent.Outcome, error), leave func())
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
	f := w.arrive(ctx, "effect of "+a.Key.ID, ofEffects)
	switch f {
	case dieBefore, crashBefore:
		w.die()
	case notArrived:
		return nil, errUnheard
	case ownNo:
		return nil, intent.Refuse("no")
	case ownLater:
		return nil, intent.NotApplied(errUnheard)
	case underway, given:
		w.world.later(event{underwayEffect, w.number, f == given, func() { _, _ = far.call(a.Downstream, ok) }})
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
	case dieBefore, crashBefore:
		w.die()
	}
	if w.world.far.effects[a.Downstream] > 0 {
		return intent.Yes, w.world.far.receipt, nil
	}
	// A "no" is final: what is under way no longer can.
	w.world.forget(underwayEffect)
	return intent.No, nil, nil
}

// farSide is a provider. It counts what happens.
type farSide struct {
	keys    bool           // it knows idempotency keys
	effects map[string]int // by key
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
	s.effects[key]++
	s.receipt = "r"
	s.answers[key] = nil
	return s.receipt, nil
}
