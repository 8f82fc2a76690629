package dynamo_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// Who ran the effect knows best, also when another parked its claim meanwhile; who
// was taken over does not. The others of the batch are none the wiser.
func TestGroupCompletesWhatOthersTouched(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, c := range map[string]struct {
		meanwhile func(t *testing.T, p *provider, d intent.Delivery)
		kind      intent.Kind
		calls     int
		untouched bool
	}{
		"parked": {func(t *testing.T, _ *provider, d intent.Delivery) {
			shown := b.record(t, d)
			doubt := shown
			doubt.State, doubt.Reason = intent.StateInDoubt, "because"
			if got, err := dynamo.New(b.db, b.records).Replace(t.Context(), shown, doubt); err != nil || got.State != intent.StateInDoubt {
				t.Errorf("park: got %v and error %v", got, err)
			}
		}, intent.Executed, 3, false},
		"taken over and completed": {func(t *testing.T, p *provider, d intent.Delivery) {
			successor := b.later(t, lapse)
			o, err := successor.deliver(successor.keyed(p), d)
			want(t, "successor", o, err, intent.Executed)
		}, intent.Replayed, 4, true},
		"taken over": {func(t *testing.T, p *provider, d intent.Delivery) {
			successor := b.later(t, lapse)
			successor.plan = on("UpdateItem", crashAfter)(successor)
			_, _ = successor.deliver(successor.keyed(p), d)
		}, intent.InProgress, 3, true},
		"gone": {func(t *testing.T, _ *provider, d intent.Delivery) { b.remove(t, intentOf(d)) }, "", 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p, three := b.patient(t), new(provider), messages(t, 3)
			h, ready := w.keyed(p), meeting(3)
			var taken item
			h.Effect = func(ctx context.Context, _ charge, a intent.Attempt) (any, error) {
				if a.Key.ID == three[1].Key {
					c.meanwhile(t, p, three[1])
					taken = b.item(t, intentOf(three[1]))
				}
				return p.charge(a.Downstream), ready(ctx)
			}
			outcomes, errs := w.batch(h, three...)
			for i := range three {
				switch kind := c.kind; {
				case i != 1:
					want(t, "other", outcomes[i], errs[i], intent.Executed)
				case kind == "":
					if errs[i] == nil {
						t.Errorf("got %s, want an error: nothing stands", describe(outcomes[i], nil))
					}
					if got := b.item(t, intentOf(three[i])); got != nil {
						t.Errorf("a completion created %v", got)
					}
				default:
					want(t, "completion", outcomes[i], errs[i], kind)
				}
			}
			if c.untouched {
				wantUntouched(t, b, three[1], taken)
			}
			if c.kind == intent.Executed && b.record(t, three[1]).State != intent.StateCompleted {
				t.Errorf("record: got %+v, want it completed", b.record(t, three[1]))
			}
			p.wantTotal(t, c.calls, 3)
			if got := w.faults.Counts()[grouped]; got != 2 {
				t.Errorf("calls: got %d, want 2", got)
			}
		})
	}
}

// meeting is where so many effects wait for each other.
func meeting(n int) func(context.Context) error {
	var arrived atomic.Int64
	all := make(chan struct{})
	return func(ctx context.Context) error {
		if arrived.Add(1) == int64(n) {
			close(all)
		}
		select {
		case <-all:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Results too large for their records are put before the completions leave, and come
// back to the duplicates.
func TestGroupLargeResults(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	sizes := []int{10, 2_000, 100_000, 600_000}
	w, four := b.worker(t), messages(t, len(sizes))
	size := map[string]int{}
	for i, d := range four {
		size[d.Key] = sizes[i]
	}
	h := w.keyed(nil)
	h.Effect = func(_ context.Context, _ charge, a intent.Attempt) (any, error) { return text(size[a.Key.ID]), nil }
	outcomes, errs := w.batch(h, four...)
	wantAll(t, "delivery", outcomes, errs, intent.Executed)
	again := b.patient(t)
	replays, replayErrs := again.batch(again.keyed(nil), four...)
	wantAll(t, "redelivery", replays, replayErrs, intent.Replayed)
	for i, bytes := range sizes {
		wantResult(t, "delivery", outcomes[i].Result, text(bytes), bytes > 400<<10)
		wantResult(t, "redelivery", replays[i].Result, text(bytes), bytes > 400<<10)
	}
	again.wantRequests(t, "redelivery", map[string]int{grouped: 1, "BatchGetItem": 1, "GetItem": 2})
}

// One caller gives up while the claims are under way: the others never notice. Its
// claim landed all the same; it is given back, or lapses.
func TestGroupOneGivesUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, c := range map[string]struct {
		back  intenttest.Fault
		state intent.State
		after time.Duration
	}{
		"given back":          {intenttest.Fault{}, intent.StateReleased, 0},
		"not even given back": {intenttest.Fault{Reply: refused("AccessDeniedException")}, intent.StateClaimed, lapse},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p, three := b.worker(t), new(provider), messages(t, 3)
			gone, giveUp := context.WithCancel(t.Context())
			heard := make(chan struct{})
			w.plan = func(call intenttest.Call) intenttest.Fault {
				switch {
				case call.Operation == grouped && call.Number == 1:
					return intenttest.Fault{After: func() { giveUp(); <-heard }}
				case slices.Equal(keysIn(call.Body), []string{intentOf(three[0])}):
					return c.back
				}
				return intenttest.Fault{}
			}
			h := w.keyed(p)
			deliver, leave := h.Group(len(three))
			results := make(chan error, 2)
			for _, d := range three[1:] {
				go func() {
					defer leave()
					o, err := deliver(t.Context(), d)
					want(t, "other", o, err, intent.Executed)
					results <- err
				}()
			}
			func() {
				defer leave()
				if o, err := deliver(gone, three[0]); err == nil {
					t.Errorf("got %s, want an error", describe(o, err))
				}
			}()
			close(heard)
			<-results
			<-results
			p.wantTotal(t, 2, 2)
			if got := b.record(t, three[0]).State; got != c.state {
				t.Errorf("state: got %q, want %q", got, c.state)
			}
			next := b.later(t, c.after)
			outcomes, errs := next.batch(next.keyed(p), three...)
			want(t, "next delivery", outcomes[0], errs[0], intent.Executed)
			for i := range three[1:] {
				want(t, "redelivery of another", outcomes[1+i], errs[1+i], intent.Replayed)
			}
			p.wantTotal(t, 3, 3)
		})
	}
}
