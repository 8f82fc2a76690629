package explore

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
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
	sent    time.Time     // the message's intent; zero: not known
	kind    Class         // of its effect, where each delivery has its own
	manner  int           // of its effect, where that delivers another intent
	told    []*told       // of each delivery of its batch, and of those that are nested
	ends    time.Time     // its invocation's deadline, on the world's clock; zero: it has none
	lease   time.Time     // when the last lease that it took ends, on the world's clock

	mu      sync.Mutex
	stopped chan struct{}       // closed when it goes on; nil while it does
	held    map[intent.Key]bool // intents that it has claimed, whose effect has not begun
	waiting []*arrival          // its calls that wait; none while it computes, sleeps or is gone
	running int                 // deliveries of its batch that have not ended
	dead    bool

	innerFailed bool // its effect returned the error of an inner intent
	unkept      bool // it could not keep a result, and has yet to complete without
}

// told is what a delivery was told of one intent.
type told struct {
	subject int // the intent
	message int
	member  int // of its batch
	nested  bool
	body    body
	ended   bool // else its process died before
	away    bool // it was not run, and never will be
	outcome intent.Outcome
	err     error
}

// final reports that nobody needs to deliver the message again.
func (t *told) final() bool {
	switch {
	case t.away:
		return true
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
	member    int    // of its batch; 0 for all of them
	fates     []fate
	proceed   chan fate
}

// arrive waits for the schedule's leave. Who gives up meanwhile is given.
func (k *worker) arrive(ctx context.Context, operation string, fates []fate) fate {
	a := &arrival{worker: k, operation: operation, fates: fates, proceed: make(chan fate)}
	a.member, _ = ctx.Value(ofMember{}).(int)
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

// ofMember is the context key of a batch's member.
type ofMember struct{}

// run delivers the message once; grouped, in a batch with others.
func (k *worker) run() {
	members := k.world.batch(k)
	h := k.handler(k.world.subjects[members[0]])
	deliver, leave := h.Deliver, func() {}
	if len(members) > 1 {
		deliver, leave = h.(grouper).Group(len(members))
	}
	k.running = len(members)
	if !k.world.renewed {
		k.ends = time.Now().Add(timeout)
	}
	for member, s := range members {
		t := &told{subject: s, message: k.message, member: member}
		if s == members[0] {
			t.body = k.body
		}
		k.told = append(k.told, t)
	}
	for member, t := range slices.Clone(k.told) {
		go func() {
			defer func() {
				k.mu.Lock()
				defer k.mu.Unlock()
				k.running--
			}()
			defer leave()
			ctx, cancel := context.WithCancel(context.WithValue(context.Background(), ofMember{}, member))
			if !k.ends.IsZero() {
				ctx, cancel = context.WithDeadline(ctx, k.ends)
			}
			defer cancel()
			k.deliverTo(ctx, deliver, t)
		}()
		if len(members) > 1 { // so that they join their calls in the same order in every run
			synctest.Wait()
		}
	}
}

// deliverTo is one delivery of an intent.
func (k *worker) deliverTo(ctx context.Context, deliver func(context.Context, intent.Delivery) (intent.Outcome, error), t *told) {
	t.outcome, t.err = deliver(ctx, intent.Delivery{
		Key: k.world.subjects[t.subject].key.ID, Fingerprint: t.body.fingerprint(), Payload: t.body.payload(),
		MessageID: k.messageID(), SentAt: k.sent,
	})
	t.ended = true
	k.world.judging.Lock()
	defer k.world.judging.Unlock()
	k.turnedAway(t)
	if k.unkept && time.Now().Before(k.ends.Add(-time.Second)) {
		k.world.fail("a delivery ends without a completion, for want of a place for the result")
	}
}

// keeps looks whether a completion comes, and comes without its result, where that
// cannot be kept or takes long.
func (k *worker) keeps(operation string, f fate, waited time.Duration) {
	k.world.judging.Lock()
	defer k.world.judging.Unlock()
	switch {
	case strings.HasPrefix(operation, "PutItem"+aResult):
		if f != ok && f != late {
			k.world.unkept, k.unkept = true, true
		}
		if f != given && waited > time.Second {
			k.world.fail("a completion waits %v for a place for its result", waited)
		}
	case strings.HasPrefix(operation, "UpdateItem"), strings.HasPrefix(operation, "TransactWriteItems"):
		k.unkept = false
	}
}

// toldOf is what the deliveries of its batch were told of an intent.
func (k *worker) toldOf(s *subject) (some []*told) {
	for _, t := range k.told {
		if k.world.subjects[t.subject] == s {
			some = append(some, t)
		}
	}
	return some
}

// bodyFor is the payload that it delivers of an intent.
func (k *worker) bodyFor(s *subject) body {
	for _, t := range k.toldOf(s) {
		return t.body
	}
	return k.body
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
	held := len(k.held) > 0 && k.world.stalls
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
