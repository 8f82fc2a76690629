package intent_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// A caller that gives up, as a worker does on a signal to stop, loses neither
// what was done nor that nothing was begun.
func TestCallerGivesUp(t *testing.T) {
	t.Run("during the effect", func(t *testing.T) {
		both(t, func(t *testing.T, c class) {
			w := newWorld(t)
			ctx, cancel := context.WithCancel(context.Background())
			w.effect = func(context.Context, intent.Attempt) (any, error) { cancel(); return receipt("r-1"), nil }
			o, err := w.handler(c).Deliver(ctx, delivery(t, book))
			wantKind(t, o, err, intent.Executed)
			w.wantState(intent.StateCompleted)
		})
	})
	t.Run("between claim and effect", func(t *testing.T) {
		both(t, func(t *testing.T, c class) {
			w := newWorld(t)
			ctx, cancel := context.WithCancel(context.Background())
			w.store.plan = on("claim claimed", 1, fault{after: cancel})
			if o, err := w.handler(c).Deliver(ctx, delivery(t, book)); !errors.Is(err, intent.ErrNoTime) {
				t.Fatalf("got %+v and %v, want ErrNoTime", o, err)
			}
			w.wantRuns(0)
			w.wantState(intent.StateReleased)
			o, err := w.deliver(c, book)
			wantKind(t, o, err, intent.Executed)
		})
	})
}

// Nobody renews a claim past the time at which the provider may forget its key.
func TestHeartbeatEndsWithTheWindow(t *testing.T) {
	bubble(t, "Keyed", func(t *testing.T) {
		w := newWorld(t)
		first := w.lapse(keyed)
		usable := window - time.Hour
		time.Sleep(time.Until(first.ClaimedAt.Add(usable - lease - skew - time.Second)))
		w.effect = func(ctx context.Context, _ intent.Attempt) (any, error) {
			<-ctx.Done()
			if end := first.ClaimedAt.Add(usable); time.Now().After(end) {
				t.Errorf("the effect runs until %v, the window's usable part ends at %v", time.Now(), end)
			}
			return nil, ctx.Err()
		}
		if o, err := w.handler(keyed).Deliver(context.Background(), delivery(t, book)); !errors.Is(err, intent.ErrUnknown) {
			t.Errorf("got %+v and %v, want ErrUnknown", o, err)
		}
		time.Sleep(lapsed)
		o, err := w.deliver(keyed, book)
		wantKind(t, o, err, intent.InDoubt)
		w.wantRuns(1) // since the one that lapsed
	})
}

// stubborn is a result that cannot be written down.
type stubborn struct{}

func (stubborn) MarshalJSON() ([]byte, error) { panic("no text of mine") }

// C30: the effect happened, even if its result's own method panics.
func TestC30ResultThatPanics(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.effect = func(context.Context, intent.Attempt) (any, error) { return stubborn{}, nil }
		o, err := w.deliver(c, book)
		wantKind(t, o, err, intent.Executed)
		o, err = w.deliver(c, book)
		wantKind(t, o, err, intent.Replayed)
		w.wantRuns(1)
		if !o.Result.Omitted {
			t.Errorf("got result %+v, want it omitted", o.Result)
		}
	})
}

// A Blind effect's panic is in doubt, and its stack goes with the outcome.
func TestDoubtKeepsItsCause(t *testing.T) {
	bubble(t, "Blind", func(t *testing.T) {
		w := newWorld(t)
		w.effect = func(context.Context, intent.Attempt) (any, error) { panic("out of paper") }
		o, err := w.deliver(blind, book)
		wantKind(t, o, err, intent.InDoubt)
		var panicked *intent.PanicError
		if !errors.As(o.Cause, &panicked) || len(panicked.Stack) == 0 {
			t.Errorf("got cause %v, want the panic with its stack", o.Cause)
		}
	})
}
