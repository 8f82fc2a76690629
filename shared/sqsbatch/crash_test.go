package sqsbatch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

var errKilled = errors.New("process was killed")

// mortal is the store as a process sees it that may be killed: from then on nothing
// of it is written.
type mortal struct {
	*memory
	dead *atomic.Bool
}

func (m mortal) Claim(ctx context.Context, next intent.Record) (intent.Record, error) {
	if m.dead.Load() {
		return intent.Record{}, errKilled
	}
	return m.memory.Claim(ctx, next)
}

func (m mortal) Amend(ctx context.Context, next intent.Record) (intent.Record, error) {
	if m.dead.Load() {
		return intent.Record{}, errKilled
	}
	return m.memory.Amend(ctx, next)
}

func (m mortal) Replace(ctx context.Context, shown, next intent.Record) (intent.Record, error) {
	if m.dead.Load() {
		return intent.Record{}, errKilled
	}
	return m.memory.Replace(ctx, shown, next)
}

// fifty is a batch of as many intents.
func fifty() (messages []events.SQSMessage) {
	for i := range 50 {
		messages = append(messages, asking(fmt.Sprint(i), fmt.Sprintf("order-%d", i)))
	}
	return messages
}

// drain delivers what is listed until nothing is, each time once its claims lapsed.
func drain(t *testing.T, r *rig, messages []events.SQSMessage) (rounds int) {
	t.Helper()
	for ; len(messages) > 0; rounds++ {
		if rounds > len(messages)+20 {
			t.Fatalf("%d messages never end", len(messages))
		}
		listed := r.handle(messages...)
		messages = slices.DeleteFunc(slices.Clone(messages), func(m events.SQSMessage) bool { return !slices.Contains(listed, m.MessageId) })
		time.Sleep(timeout + leaseMargin + skewMargin + jitter)
	}
	return rounds
}

// Killed after k of n effects, all of the batch comes again: n effects in total at a
// provider that knows its keys, each asked for under one, and asked twice only for
// those that ran when the kill came.
func TestC06KilledAfterSomeEffects(t *testing.T) {
	t.Parallel()
	for _, k := range []int{1, 10, 25, 49, 50} {
		bubble(t, fmt.Sprintf("%d of 50", k), func(t *testing.T) {
			m, c := &memory{}, &till{}
			var dead atomic.Bool
			doomed := cashier(m, c)
			doomed.Store = mortal{m, &dead}
			doomed.Effect = func(_ context.Context, _ order, a intent.Attempt) (any, error) {
				if dead.Load() {
					return nil, errKilled
				}
				charges := c.charge(a)
				if c.total() == k {
					dead.Store(true) // its own completion is the first that is not written
				}
				return charges, nil
			}
			messages := fifty()
			newRig(t, func(c *sqsbatch.Config) { c.Handler = doomed }).handle(messages...) // whose answer nobody reads
			if done := c.total(); done < k || done > k+9 {
				t.Fatalf("%d effects before the kill, want %d", done, k)
			}
			open := 0
			for _, record := range m.all() {
				if record.State == intent.StateClaimed {
					open++
				}
			}
			if open < 1 || open > 10 {
				t.Fatalf("%d claims were cut off, want those that ran", open)
			}
			survivor := newRig(t, func(config *sqsbatch.Config) { config.Handler = cashier(m, c) })
			drain(t, survivor, messages)
			if len(c.charges) != 50 || c.total() > 50+open {
				t.Errorf("got %d effects, asked for %d times, want 50, and at most %d twice", len(c.charges), c.total(), open)
			}
			for key, record := range m.all() {
				if record.State != intent.StateCompleted {
					t.Errorf("%s ended as %+v", key, record)
				}
			}
		})
	}
}

// A batch that takes longer than its invocation has: what does not start is listed
// before the deadline, and comes again for its first time.
func TestC06TimeoutInMidBatch(t *testing.T) {
	t.Parallel()
	bubble(t, "fifty of ten seconds each", func(t *testing.T) {
		m, c := &memory{}, &till{}
		started := 0
		slow := cashier(m, c)
		slow.Effect = func(ctx context.Context, _ order, a intent.Attempt) (any, error) {
			c.mu.Lock()
			started++
			c.mu.Unlock()
			select {
			case <-ctx.Done():
				return nil, intent.NotApplied(ctx.Err())
			case <-time.After(10 * time.Second):
				return c.charge(a), nil
			}
		}
		r := newRig(t, func(c *sqsbatch.Config) { c.Handler = slow })
		start := time.Now()
		listed := r.handle(fifty()...)
		if left := timeout - time.Since(start); left < 200*time.Millisecond || len(r.exits) != 0 {
			t.Errorf("answered %v before the kill, ended the process at %v", left, r.exits)
		}
		if len(listed) != 30 || c.total() != 20 || started > 30 {
			t.Errorf("%d listed, %d started, %d done, want two rounds of ten done, one cut off and two listed unstarted", len(listed), started, c.total())
		}
		rounds := drain(t, r, fifty())
		if c.total() != 50 || len(c.charges) != 50 || rounds > 3 {
			t.Errorf("got %d effects for %d intents in %d rounds more, want 50 in 2", c.total(), len(c.charges), rounds)
		}
	})
}
