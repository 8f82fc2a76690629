package intent_test

import (
	"context"
	"errors"
	"testing"

	"github.com/singleeffect/once/shared/intent"
)

func TestLookup(t *testing.T) {
	for state, want := range map[intent.State]intent.Outcome{
		intent.StateClaimed:   {Kind: intent.InProgress, Attempt: 3},
		intent.StateReleased:  {Kind: intent.InProgress, Attempt: 3}, // another delivery is due
		intent.StateCompleted: {Kind: intent.Replayed, Attempt: 3, Result: intent.Result{JSON: []byte(`{"receipt":"r-0"}`)}},
		intent.StateRefused:   {Kind: intent.Refused, Attempt: 3, Result: intent.Result{JSON: []byte(`{"receipt":"r-0"}`)}},
		intent.StateInDoubt:   {Kind: intent.InDoubt, Attempt: 3, Reason: "because"},
	} {
		t.Run(string(state), func(t *testing.T) {
			w := newWorld(t)
			before := w.standing(state)
			got, err := intent.Lookup(context.Background(), w.store, intent.Key{Scope: "shop", Operation: "charge", ID: orderID})
			if err != nil || got.Kind != want.Kind || got.Attempt != want.Attempt || got.Reason != want.Reason || string(got.Result.JSON) != string(want.Result.JSON) {
				t.Errorf("got %+v and error %v, want %+v", got, err, want)
			}
			wantSame(t, w.store.record(record), before)
		})
	}
	t.Run("ErrNoIntent", func(t *testing.T) {
		w := newWorld(t)
		w.standing(intent.StateCompleted)
		other := intent.Key{Scope: "shop", Operation: "ship", ID: orderID}
		if o, err := intent.Lookup(context.Background(), w.store, other); !errors.Is(err, intent.ErrNoIntent) {
			t.Errorf("got %+v and error %v, want ErrNoIntent", o, err)
		}
	})
	t.Run("Err key", func(t *testing.T) {
		var unusable *intent.KeyError
		if _, err := intent.Lookup(context.Background(), newMemory(t), intent.Key{Scope: "shop", Operation: "charge"}); !errors.As(err, &unusable) {
			t.Errorf("got %v, want a KeyError", err)
		}
	})
	t.Run("Err store", func(t *testing.T) {
		unreachable := errors.New("store is out of reach")
		s := unreadable{newMemory(t), unreachable}
		if _, err := intent.Lookup(context.Background(), s, intent.Key{Scope: "s", Operation: "o", ID: "k"}); !errors.Is(err, unreachable) {
			t.Errorf("got %v, want the store's error", err)
		}
	})
}

type unreadable struct {
	intent.Store
	err error
}

func (u unreadable) Load(context.Context, string) (intent.Record, error) {
	return intent.Record{}, u.err
}
