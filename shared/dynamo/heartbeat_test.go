package dynamo_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// shortLease is the shortest that Validate takes, to keep the tests short.
const shortLease = 3 * time.Second

// beating is a handler for contexts without a deadline.
func (w *worker) beating(p *provider, effect func(ctx context.Context) error) *intent.Keyed[charge] {
	h := w.keyed(p)
	h.Lease = shortLease
	h.Effect = func(ctx context.Context, _ charge, a intent.Attempt) (any, error) {
		err := effect(ctx)
		return p.charge(a.Downstream), err
	}
	return h
}

// An effect that is longer than its lease keeps it.
func TestHeartbeatRenews(t *testing.T) {
	b := newBench(t)
	p := new(provider)
	d := message(t, `{"cents":10}`)
	w := b.worker(t)
	const renewals = 4 // a third of the lease each
	renewed := make(chan struct{}, renewals)
	w.plan = func(call intenttest.Call) intenttest.Fault {
		var f intenttest.Fault
		if call.Operation == "UpdateItem" && call.Number <= renewals {
			f.After = func() { renewed <- struct{}{} }
			f.LoseReply = call.Number == 2
		}
		return f
	}
	h := w.beating(p, func(ctx context.Context) error {
		first := b.record(t, d)
		for range renewals {
			select {
			case <-renewed:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		last := b.record(t, d)
		if gained := last.LeaseUntil.Sub(first.LeaseUntil); gained < shortLease {
			t.Errorf("the lease gained %v in %d renewals, want more than itself, %v", gained, renewals, shortLease)
		}
		if last.Owner != first.Owner || last.Attempt != 1 || !last.ClaimedAt.Equal(first.ClaimedAt) {
			t.Errorf("renewed record: got %+v, want but its lease moved from %+v", last, first)
		}
		other := b.worker(t)
		o, err := other.deliver(other.keyed(p), d)
		want(t, "duplicate after the first lease", o, err, intent.InProgress)
		return nil
	})
	o, err := h.Deliver(w.ctx, d)
	want(t, "delivery", o, err, intent.Executed)
	p.want(t, 1, 1)
}

// A lease that can no longer be kept ends the effect, before others may take over.
func TestHeartbeatThatFailsCancelsTheEffect(t *testing.T) {
	b := newBench(t)
	for name, spoil := range map[string]func(*worker, intent.Delivery) intenttest.Fault{
		"the store is not reached": func(*worker, intent.Delivery) intenttest.Fault { return intenttest.Fault{Drop: true} },
		"another owns the record": func(w *worker, d intent.Delivery) intenttest.Fault {
			return intenttest.Fault{Before: func() {
				shown := b.record(t, d)
				next := shown
				next.Owner, next.Attempt, next.LeaseUntil = intent.NewOwner(), 2, shown.LeaseUntil.Add(time.Minute)
				if _, err := b.worker(t).store.Replace(t.Context(), shown, next); err != nil {
					t.Error(err)
				}
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			w := b.worker(t)
			w.plan = func(call intenttest.Call) intenttest.Fault {
				if call.Operation != "UpdateItem" {
					return intenttest.Fault{}
				}
				if call.Number > 1 && name == "another owns the record" {
					t.Errorf("update %d follows a renewal that failed", call.Number)
				}
				return spoil(w, d)
			}
			h := w.beating(p, func(ctx context.Context) error {
				until := b.record(t, d).LeaseUntil
				select {
				case <-ctx.Done():
				case <-time.After(10 * time.Second):
					t.Error("the effect was not cancelled")
				}
				margin := intent.Config{}.WithDefaults().SkewMargin
				if late := time.Since(until); late > margin {
					t.Errorf("the effect was cancelled %v after its lease, when another may run it", late)
				}
				return ctx.Err()
			})
			o, err := h.Deliver(w.ctx, d)
			if !errors.Is(err, intent.ErrUnknown) || !errors.Is(err, intent.ErrLost) {
				t.Errorf("delivery: got %s, want ErrUnknown and ErrLost", describe(o, err))
			}
			late := b.later(t, lapse+time.Minute)
			o, err = late.deliver(late.keyed(p), d)
			want(t, "next delivery", o, err, intent.Executed)
			p.want(t, 2, 1)
		})
	}
}
