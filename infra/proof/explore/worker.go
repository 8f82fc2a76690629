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
	ends    time.Time     // its invocation's deadline, on the world's clock; zero: it has none
	lease   time.Time     // when the last lease that it took ends, on the world's clock

	mu      sync.Mutex
	stopped chan struct{}       // closed when it goes on; nil while it does
	held    map[intent.Key]bool // intents that it has claimed, whose effect has not begun
	waiting []*arrival          // its calls that wait; none while it computes, sleeps or is gone
	running int                 // deliveries of its batch that have not ended
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
	if !k.world.class.renewed() {
		k.ends = time.Now().Add(timeout)
	}
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
			if !k.ends.IsZero() {
				ctx, cancel = context.WithDeadline(ctx, k.ends)
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

// now is its clock, as the library reads it.
func (k *worker) now() time.Time {
	k.stop("looks at the clock")
	return k.clock()
}

// stop stops a process between its claim and its effect for as long as the schedule
// wants, and no deadline is heard there: neither by the delivery nor by its heartbeat.
func (k *worker) stop(where string) {
	k.mu.Lock()
	// Of two deliveries nobody could tell which one it is.
	held := len(k.held) > 0 && len(k.world.subjects) == 1
	stopped := k.stopped
	if held && stopped == nil {
		k.stopped = make(chan struct{})
	}
	k.mu.Unlock()
	switch {
	case stopped != nil:
		<-stopped
	case held:
		defer func() {
			k.mu.Lock()
			defer k.mu.Unlock()
			close(k.stopped)
			k.stopped = nil
		}()
		k.arrive(context.Background(), where, ofStops)
	}
}

func (k *worker) clock() time.Time { return time.Now().Add(k.skew) }

// holds keeps that the worker's claim of an intent stands and its effect has not begun.
func (k *worker) holds(of intent.Key, held bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if delete(k.held, of); held {
		k.held[of] = true
	}
}

// ofStops is the one fate of who is stopped. What may happen is that time passes first.
var ofStops = []fate{ok}
