package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// A worker stalls until its lease is over and another has taken over. Then it
// wakes.

// C34: the late worker's failure must not open the record that its successor
// completed.
func TestC34_LateFailureAfterTakeover(t *testing.T) {
	b := newBench(t)
	for name, verdict := range map[string]error{
		"not applied": intent.NotApplied(errors.New("429")),
		"refused":     intent.Refuse("declined"),
		"unknown":     errors.New("connection reset"),
	} {
		t.Run(name, func(t *testing.T) {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			first, second := b.worker(t), b.later(t, lapse)
			var taken item
			h := first.keyed(p)
			h.Effect = func(context.Context, charge, intent.Attempt) (any, error) {
				o, err := second.deliver(second.keyed(p), d)
				want(t, "second delivery", o, err, intent.Executed)
				taken = b.item(t, intentOf(d))
				return nil, verdict
			}
			if o, err := first.deliver(h, d); err == nil && o.Kind != intent.Replayed {
				t.Errorf("late worker: got %s, want the record's outcome", describe(o, err))
			}
			wantUntouched(t, b, d, taken)
			third := b.later(t, 2*lapse)
			o, err := third.deliver(third.keyed(p), d)
			want(t, "third delivery", o, err, intent.Replayed)
			p.want(t, 1, 1)
		})
	}
}

// C34: nor may it close or open the one under which its successor still works.
func TestC34_LateEndDuringTheSuccessorsEffect(t *testing.T) {
	b := newBench(t)
	for name, verdict := range map[string]error{
		"done":        nil,
		"not applied": intent.NotApplied(errors.New("429")),
		"refused":     intent.Refuse("declined"),
		"unknown":     errors.New("connection reset"),
	} {
		t.Run(name, func(t *testing.T) {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			first, second := b.worker(t), b.later(t, lapse)
			begun, wake, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
			zombie := first.keyed(p)
			zombie.Effect = func(context.Context, charge, intent.Attempt) (any, error) {
				close(begun)
				<-wake
				return nil, verdict
			}
			go func() {
				defer close(ended)
				if o, err := first.deliver(zombie, d); err == nil && o.Kind != intent.InProgress {
					t.Errorf("late worker: got %s, want an error or in progress", describe(o, err))
				}
			}()
			<-begun
			successor := second.keyed(p)
			effect := successor.Effect
			successor.Effect = func(ctx context.Context, c charge, a intent.Attempt) (any, error) {
				taken := b.item(t, intentOf(d))
				close(wake)
				<-ended
				wantUntouched(t, b, d, taken)
				return effect(ctx, c, a)
			}
			o, err := second.deliver(successor, d)
			want(t, "successor", o, err, intent.Executed)
			p.want(t, 1, 1)
		})
	}
}

// The worker's clock leaps past its lease at one of its readings, and at that
// moment another delivery does what it can. Wherever that is: no effect starts
// after its lease, and there is one effect.
func TestLeapBetweenAnyTwoSteps(t *testing.T) {
	b := newBench(t)
	for _, class := range []string{"Keyed", "Blind"} {
		for leap, leapt := 1, true; leapt; leap++ {
			t.Run(fmt.Sprintf("%s/at reading %d", class, leap), func(t *testing.T) {
				p := new(provider)
				d := message(t, `{"cents":10}`)
				first, second := b.worker(t), b.later(t, lapse)
				deliver := func(w *worker, now func() time.Time, effect func(a intent.Attempt) string) (intent.Outcome, error) {
					keyed, blind := w.keyed(p), w.blind(p)
					keyed.Now, blind.Now = now, now
					if class == "Keyed" {
						keyed.Effect = func(_ context.Context, _ charge, a intent.Attempt) (any, error) { return effect(a), nil }
						return w.deliver(keyed, d)
					}
					blind.Effect = func(_ context.Context, _ charge, a intent.Attempt) (any, error) { return effect(a), nil }
					return w.deliver(blind, d)
				}
				act := func(a intent.Attempt) string {
					if class == "Keyed" {
						return p.charge(a.Downstream)
					}
					return p.send()
				}
				readings := 0
				leapt = false
				o, err := deliver(first, func() time.Time {
					readings++
					if readings == leap {
						leapt = true
						first.advance(lapse)
						if o, err := deliver(second, second.now, act); err != nil {
							t.Errorf("second delivery: got %s", describe(o, err))
						}
					}
					return first.now()
				}, func(a intent.Attempt) string {
					if leapt {
						t.Error("an effect starts though its lease is over")
					}
					return act(a)
				})
				t.Logf("first delivery: %s", describe(o, err))
				if p.effects > 1 || class == "Keyed" && p.effects != 1 {
					t.Errorf("got %d effects, want 1", p.effects)
				}
			})
		}
	}
}

func wantUntouched(t *testing.T, b *bench, d intent.Delivery, before item) {
	t.Helper()
	if after := b.item(t, intentOf(d)); len(before) == 0 || !reflect.DeepEqual(after, before) {
		t.Errorf("record: got %v, want as before %v", after, before)
	}
}
