package explore

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// worker is one delivery: a process with its own clock that has the message.
type worker struct {
	world   *world
	number  int
	message int // whose delivery it is
	body    body
	skew    time.Duration // its clock's, ahead of the world's
	told    []told        // of each intent of its batch

	mu      sync.Mutex
	waiting []*arrival // its calls that wait; none while it computes, sleeps or is gone
	running int        // deliveries of its batch that have not ended
	dead    bool
}

// told is what a delivery was told of one intent.
type told struct {
	message int
	body    body
	ended   bool // else its process died before
	outcome intent.Outcome
	err     error
}

// final reports that nobody needs to deliver the message again.
func (t told) final() bool {
	switch {
	case !t.ended || t.err != nil:
		return false
	case t.outcome.Kind == intent.InDoubt:
		return t.outcome.Wait == 0
	}
	return t.outcome.Done() || t.outcome.Kind == intent.Conflict
}

// arrival is a call that waits to be let through.
type arrival struct {
	worker    *worker
	operation string // and what it is about
	fates     []fate
	proceed   chan fate
}

// arrive waits for the schedule's leave. Who gives up meanwhile is given.
func (k *worker) arrive(ctx context.Context, operation string, fates []fate) fate {
	a := &arrival{worker: k, operation: operation, fates: fates, proceed: make(chan fate)}
	k.mu.Lock()
	dead := k.dead
	if !dead {
		k.waiting = append(k.waiting, a)
	}
	k.mu.Unlock()
	if dead {
		runtime.Goexit()
	}
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.waiting = slices.DeleteFunc(k.waiting, func(other *arrival) bool { return other == a })
	}()
	select {
	case f := <-a.proceed:
		return f
	case <-ctx.Done():
		return given
	}
}

// run delivers the message once; grouped, in a batch with one of another intent.
func (k *worker) run() {
	h := k.handler()
	deliver, leave := h.Deliver, func() {}
	members := len(k.world.subjects)
	if members > 1 {
		deliver, leave = h.(grouper).Group(members)
	}
	k.running = members
	k.told = make([]told, members)
	for i, s := range k.world.subjects {
		t := &k.told[i]
		if t.message = k.message; i == 0 {
			t.body = k.body
		}
		go func() {
			defer func() {
				k.mu.Lock()
				defer k.mu.Unlock()
				k.running--
			}()
			defer leave()
			ctx, cancel := context.WithCancel(context.Background())
			if !k.world.class.renewed() {
				ctx, cancel = context.WithTimeout(ctx, timeout)
			}
			defer cancel()
			t.outcome, t.err = deliver(ctx, intent.Delivery{
				Key: s.key.ID, Fingerprint: t.body.fingerprint(), Payload: []byte(bodies[t.body]), MessageID: k.messageID(),
			})
			t.ended = true
		}()
	}
}

// messageID is another one for each delivery, so that the record shows whose claim
// stands.
func (k *worker) messageID() string { return fmt.Sprint("message-", k.number) }

// calls are its calls that wait, whether any of its deliveries still runs, and
// whether it is dead.
func (k *worker) calls() (waiting []*arrival, running, dead bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.waiting), k.running > 0, k.dead
}

func (k *worker) now() time.Time { return time.Now().Add(k.skew) }
