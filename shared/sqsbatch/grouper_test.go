package sqsbatch_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// crowd is a hand whose deliveries of one batch are a group. It keeps what it was
// told of them.
type crowd struct {
	hand
	t *testing.T

	mu     sync.Mutex
	groups []*members
}

// members are those of one group.
type members struct{ all, left, running int }

func (c *crowd) Deliver(context.Context, intent.Delivery) (intent.Outcome, error) {
	c.t.Error("a delivery is not of the batch's group")
	return intent.Outcome{}, nil
}

func (c *crowd) Group(n int) (func(context.Context, intent.Delivery) (intent.Outcome, error), func()) {
	m := &members{all: n}
	c.count(func() { c.groups = append(c.groups, m) })
	deliver := func(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
		c.count(func() {
			// One whose member has left would be waited for by nobody.
			if m.running++; m.running > m.all-m.left {
				c.t.Errorf("%d deliveries run of %d members, of whom %d have left", m.running, m.all, m.left)
			}
		})
		defer c.count(func() { m.running-- })
		return c.hand.Deliver(ctx, d)
	}
	return deliver, func() { c.count(func() { m.left++ }) }
}

func (c *crowd) count(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// wantGroups: so many groups of so many, all of whom have left.
func (c *crowd) wantGroups(groups, of int) {
	c.t.Helper()
	if len(c.groups) != groups {
		c.t.Errorf("got %d groups, want %d", len(c.groups), groups)
	}
	for _, m := range c.groups {
		if *m != (members{all: of, left: of}) {
			c.t.Errorf("got a group %+v, want one of %d who have left", *m, of)
		}
	}
}

// Whoever may still ask for something is a member, and each leaves once: one too many
// would have the others wait for nobody, one too few would part them.
func TestGroupMembers(t *testing.T) {
	t.Parallel()
	distinct := func(n int) (messages []events.SQSMessage) {
		for i := range n {
			messages = append(messages, asking(fmt.Sprint(i), fmt.Sprint(i)))
		}
		return messages
	}
	fifo := distinct(9)
	for i := range fifo {
		fifo[i] = grouped(fifo[i], []string{"A", "B", "C"}[i%3])
	}
	for _, tt := range []struct {
		name        string
		concurrency int
		messages    []events.SQSMessage
		members     int
		runs        int
	}{
		{"none", 0, nil, 0, 0},
		{"one", 0, distinct(1), 1, 1},
		{"ten", 0, distinct(10), 10, 10},
		{"larger than the concurrency", 0, distinct(25), 10, 25},
		{"larger than a smaller concurrency", 4, distinct(25), 4, 25},
		{"smaller than the concurrency", 50, distinct(25), 25, 25},
		{"one at a time", 1, distinct(5), 1, 5},
		{"message groups", 0, fifo, 3, 9},
		{"more message groups than run at a time", 2, fifo, 2, 9},
		{"one intent twice", 0, append(distinct(3), asking("again", "0")), 3, 3},
		{"two payloads under one key", 0, append(distinct(3), message("other", `{"idempotency_key":"0","amount_cents":7}`)), 3, 4},
		{"poison among them", 0, append(distinct(3), message("poison", "poison")), 3, 3}, // it takes no place
	} {
		for name, ending := range endings {
			bubble(t, tt.name+"/"+name, func(t *testing.T) {
				c := &crowd{t: t}
				c.do = func(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
					time.Sleep(time.Second)
					if d.Key == "0" {
						return ending.do(ctx, d)
					}
					return executed, nil
				}
				r := newRig(t, func(config *sqsbatch.Config) { config.Handler, config.Concurrency = c, tt.concurrency })
				r.handle(tt.messages...)
				c.wantGroups(1, tt.members)
				if got := len(c.keys()); ending.done && got != tt.runs {
					t.Errorf("got %d runs, want %d", got, tt.runs)
				}
			})
		}
	}
}

// Each invocation has a group of its own, also those that run at once in one process.
func TestGroupOfEachInvocation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{t: t}
		c.do = slow
		r := newRig(t, func(config *sqsbatch.Config) { config.Handler = c })
		var running sync.WaitGroup
		for i := range 3 {
			running.Go(func() {
				wantIDs(t, "listed", r.handle(asking("1", fmt.Sprint("a", i)), asking("2", fmt.Sprint("b", i))))
			})
		}
		running.Wait()
		c.wantGroups(3, 2)
	})
}

// sharing is a memory whose writes of a batch can share a call.
type sharing struct {
	memory
	groups []int
}

func (s *sharing) Group(members int) (intent.Store, func()) {
	s.groups = append(s.groups, members)
	return &s.memory, func() {}
}

// Keyed takes part where its store can; Blind never does, whatever the store: a crash
// must put one intent in doubt, not ten.
func TestGroupsByClass(t *testing.T) {
	t.Parallel()
	effect := func(context.Context, order, intent.Attempt) (any, error) { return "done", nil }
	for name, class := range map[string]struct {
		handler func(intent.Config) sqsbatch.Handler
		groups  int
	}{
		"Keyed": {func(c intent.Config) sqsbatch.Handler {
			return &intent.Keyed[order]{Config: c, Window: 24 * time.Hour, Effect: effect}
		}, 1},
		"Blind": {func(c intent.Config) sqsbatch.Handler { return &intent.Blind[order]{Config: c, Effect: effect} }, 0},
	} {
		for kind, sharing := range map[string]*sharing{"a store that groups": {}, "a store that does not": nil} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				config, want := shop(&memory{}), 0
				if sharing != nil {
					config.Store, want = sharing, class.groups
				}
				r := newRig(t, func(c *sqsbatch.Config) { c.Handler = class.handler(config) })
				wantIDs(t, "listed", r.handle(asking("1", "a"), asking("2", "b"), asking("3", "c")))
				if sharing == nil {
					return
				}
				if len(sharing.groups) != want || want == 1 && sharing.groups[0] != 3 {
					t.Errorf("got groups of %v, want %d of 3", sharing.groups, want)
				}
				if got := len(sharing.all()); got != 3 {
					t.Errorf("got %d records, want 3", got)
				}
			})
		}
	}
}
