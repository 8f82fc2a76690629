package intent_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// endings are how the effect of a nested intent may end, and wraps are what the outer
// effect may make of the error that Deliver returns for it.
var (
	endings = map[string]error{
		"NotApplied":             intent.NotApplied(errProvider),
		"NotApplied, answered":   intent.Answered(intent.NotApplied(errProvider)),
		"NotApplied, Quarantine": intent.NotApplied(intent.Quarantine(errProvider)),
		"unknown":                errProvider,
	}
	wraps = map[string]func(error) error{
		"as it is": func(err error) error { return err },
		"wrapped":  func(err error) error { return fmt.Errorf("pay: %w", err) },
		"joined":   func(err error) error { return errors.Join(errProvider, err) },
		"answered": intent.Answered,
		"twice":    func(err error) error { return fmt.Errorf("%w, %w", err, err) },
	}
)

// inner is an intent of another operation on the same store, whose effect ends with err.
func (w *world) inner(c class, err error) handler {
	config := w.config()
	config.Operation = "pay"
	effect := func(context.Context, order, intent.Attempt) (any, error) { return nil, err }
	if c.blind {
		return &intent.Blind[order]{Config: config, Effect: effect}
	}
	return &intent.Keyed[order]{Config: config, Window: window, Effect: effect}
}

// C49: what a nested intent's effect said of that intent says nothing of the one whose
// effect delivers it. That one made a call before, so it may have happened: it never
// runs again unless its class may.
func TestC49NestedVerdict(t *testing.T) {
	for ending, verdict := range endings {
		for wrap, wrapped := range wraps {
			t.Run(ending+", "+wrap, func(t *testing.T) {
				both(t, func(t *testing.T, c class) {
					w := newWorld(t)
					sent := 0
					w.effect = func(ctx context.Context, _ intent.Attempt) (any, error) {
						sent++ // the outer effect's own call
						o, err := w.inner(keyed, verdict).Deliver(ctx, delivery(t, book))
						if err == nil {
							t.Fatalf("the nested intent comes to %+v", o)
						}
						return nil, wrapped(err)
					}
					for range 3 {
						o, err := w.deliver(c, book)
						switch {
						case c.blind && (err != nil || o.Kind != intent.InDoubt):
							t.Errorf("got %+v and error %v, want a doubt", o, err)
						case !c.blind && !errors.Is(err, intent.ErrUnknown):
							t.Errorf("got %+v and error %v, want ErrUnknown", o, err)
						}
						if errors.Is(err, intent.ErrUnprocessable) || errors.Is(err, intent.ErrReleased) {
							t.Errorf("got error %v, which carries the nested intent's verdict", err)
						}
						time.Sleep(lapsed)
					}
					if want := map[bool]int{true: 1, false: 3}[c.blind]; sent != want {
						t.Errorf("sent %d times, want %d", sent, want)
					}
					w.wantState(map[bool]intent.State{true: intent.StateInDoubt, false: intent.StateClaimed}[c.blind])
				})
			})
		}
	}
}

// C49: a refusal of the nested intent is an outcome, no error. An effect that makes an
// error of it says something of its own.
func TestC49NestedRefusal(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.effect = func(ctx context.Context, _ intent.Attempt) (any, error) {
			o, err := w.inner(blind, intent.Refuse(reason("declined"))).Deliver(ctx, delivery(t, book))
			wantKind(t, o, err, intent.Refused)
			return nil, fmt.Errorf("pay: %s", o.Kind)
		}
		_, _ = w.deliver(c, book)
		w.wantState(map[bool]intent.State{true: intent.StateInDoubt, false: intent.StateClaimed}[c.blind])
	})
}

// The same for an effect without a record: an error of a nested intent does not
// quarantine the message that the effect is for.
func TestC49NestedInNatural(t *testing.T) {
	w := newWorld(t)
	n, _ := shipping(func(ctx context.Context) error {
		_, err := w.inner(keyed, endings["NotApplied, Quarantine"]).Deliver(ctx, delivery(t, book))
		if !errors.Is(err, intent.ErrUnprocessable) {
			t.Errorf("nested: got %v, want ErrUnprocessable", err)
		}
		return err
	})
	if _, err := n.Deliver(t.Context(), delivery(t, book)); !errors.Is(err, intent.ErrNotDone) || errors.Is(err, intent.ErrUnprocessable) {
		t.Errorf("got %v, want ErrNotDone", err)
	}
}

// The loss of the outer claim cancels the nested effect. It is not told as a loss of
// the nested claim, which stands.
func TestNestedUnderALostClaim(t *testing.T) {
	bubble(t, "Keyed", func(t *testing.T) {
		w := newWorld(t)
		w.store.plan = func(c call) fault {
			if c.String() == "amend claimed" && c.next.Intent == record {
				return fault{err: errPut, dropped: true}
			}
			return fault{}
		}
		var nested error
		w.effect = func(ctx context.Context, _ intent.Attempt) (any, error) {
			inner := w.inner(keyed, nil).(*intent.Keyed[order])
			inner.Effect = func(ctx context.Context, _ order, _ intent.Attempt) (any, error) { <-ctx.Done(); return nil, ctx.Err() }
			_, nested = inner.Deliver(ctx, delivery(t, book))
			return nil, nested
		}
		if _, err := w.handler(keyed).Deliver(context.Background(), delivery(t, book)); !errors.Is(err, intent.ErrLost) {
			t.Errorf("got %v, want ErrLost", err)
		}
		if !errors.Is(nested, intent.ErrUnknown) || errors.Is(nested, intent.ErrLost) {
			t.Errorf("nested: got %v, want ErrUnknown alone", nested)
		}
	})
}

// C51: a Keyed attempt ends unknown, the next one is told that it was not applied and
// keeps claimed_at, and then the operation's class becomes Blind.
func TestC51KeyedBecomesBlind(t *testing.T) {
	bubble(t, "released", func(t *testing.T) {
		w := newWorld(t)
		w.lapse(keyed)
		w.effect = verdicts["NotApplied, answered"].effect
		if _, err := w.deliver(keyed, book); !errors.Is(err, intent.ErrReleased) {
			t.Fatalf("got %v, want ErrReleased", err)
		}
		w.runs = nil
		for range 3 {
			o, err := w.deliver(blind, book)
			wantKind(t, o, err, intent.InDoubt)
			time.Sleep(lapsed)
		}
		w.wantRuns(0)
		w.wantState(intent.StateInDoubt)
	})
}

// C51 the other way round: a Blind attempt is cut off, and then the operation becomes
// Keyed. No provider knows that attempt by a key, so nothing runs beside it.
func TestC51BlindBecomesKeyed(t *testing.T) {
	bubble(t, "lapsed", func(t *testing.T) {
		w := newWorld(t)
		w.lapse(blind)
		for range 3 {
			o, err := w.deliver(keyed, book)
			wantKind(t, o, err, intent.InDoubt)
			w.wantState(intent.StateInDoubt) // by the time that it is told
			time.Sleep(lapsed)
		}
		w.wantRuns(0)
	})
	bubble(t, "released", func(t *testing.T) { // known not to have happened: it runs
		w := newWorld(t)
		w.effect = verdicts["NotApplied"].effect
		_, _ = w.deliver(blind, book)
		w.effect = verdicts["an error"].effect
		for range 2 { // and what that leaves behind is a Keyed attempt's
			_, err := w.deliver(keyed, book)
			if !errors.Is(err, intent.ErrUnknown) {
				t.Errorf("got %v, want ErrUnknown", err)
			}
			time.Sleep(lapsed)
		}
		w.wantRuns(3)
	})
}

// C82: a handler that nobody validated claims nothing.
func TestC82Unchecked(t *testing.T) {
	w := newWorld(t)
	for name, h := range map[string]handler{
		"Keyed":            &intent.Keyed[order]{Config: w.config(), Window: window},
		"Keyed, no window": &intent.Keyed[order]{Config: w.config(), Effect: w.run},
		"Blind":            &intent.Blind[order]{Config: w.config()},
		"Blind, no store":  &intent.Blind[order]{Effect: w.run},
		"Natural":          &intent.Natural[order]{},
	} {
		var invalid *intent.ConfigError
		if o, err := h.Deliver(t.Context(), delivery(t, book)); !errors.As(err, &invalid) {
			t.Errorf("%s: got %+v and error %v, want a ConfigError", name, o, err)
		}
	}
	w.wantRuns(0)
	if got := w.store.log(); got != nil {
		t.Errorf("got writes %v, want none", got)
	}
}
