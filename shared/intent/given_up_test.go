package intent_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// last is a delivery after which the message is given up if it fails.
func (w *world) last(c class) (intent.Outcome, error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	d := delivery(w.t, book)
	d.Last = true
	return w.handler(c).Deliver(ctx, d)
}

// C71: what did not happen in a last delivery is given up, and nothing stands. A success, a refusal and a doubt are what they always are.
func TestGivenUpC71(t *testing.T) {
	for name, tt := range map[string]struct {
		effect func(context.Context, intent.Attempt) (any, error)
		kind   intent.Kind // empty: an error
		given  bool
		state  intent.State
		blind  intent.State // where it differs
	}{
		"done":        {func(context.Context, intent.Attempt) (any, error) { return receipt("r-1"), nil }, intent.Executed, false, intent.StateCompleted, ""},
		"refused":     {verdicts["Refuse"].effect, intent.Refused, false, intent.StateRefused, ""},
		"not applied": {verdicts["NotApplied"].effect, "", true, intent.StateReleased, ""},
		"an error":    {verdicts["an error"].effect, "", true, intent.StateClaimed, intent.StateInDoubt},
		"not to be done": {func(context.Context, intent.Attempt) (any, error) {
			return nil, intent.NotApplied(intent.Quarantine(errors.New("no")))
		}, "", false, intent.StateReleased, ""},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, c class) {
				w := newWorld(t)
				w.effect = tt.effect
				o, err := w.last(c)
				kind, given, state := tt.kind, tt.given, tt.state
				if c.blind && tt.blind != "" { // its own end
					kind, given, state = intent.InDoubt, false, tt.blind
				}
				if o.Kind != kind || errors.Is(err, intent.ErrGivenUp) != given || (err != nil) != (kind == "") {
					t.Errorf("got %q and error %v, want %q, given up: %t", o.Kind, err, kind, given)
				}
				if open := !w.wantState(state).OpenSince.IsZero(); open != (state == intent.StateClaimed || state == intent.StateInDoubt) {
					t.Errorf("listed for operators: %t, in state %s", open, state)
				}
				w.wantRuns(1)
			})
		})
	}
}

// A claim that is given up is listed for operators until somebody takes it over, and its effect is made once more under the same key.
func TestGivenUpClaimIsTakenOver(t *testing.T) {
	bubble(t, "redriven", func(t *testing.T) {
		w := newWorld(t)
		effect := w.effect
		w.effect = verdicts["an error"].effect
		o, err := w.last(keyed)
		if !errors.Is(err, intent.ErrGivenUp) || !errors.Is(err, intent.ErrUnknown) || o.Wait != timeout+margin+skew {
			t.Errorf("got %+v and error %v, want it given up, unknown, and a wait until the claim has lapsed", o, err)
		}
		if got := w.wantState(intent.StateClaimed).OpenSince; !got.Equal(time.Now()) {
			t.Errorf("listed since %v, want now", got)
		}
		time.Sleep(lapsed)
		w.effect = effect
		o, err = w.deliver(keyed, book)
		wantKind(t, o, err, intent.Executed)
		if r := w.wantState(intent.StateCompleted); !r.OpenSince.IsZero() {
			t.Errorf("still listed since %v", r.OpenSince)
		}
		if len(w.runs) != 2 || w.runs[0].Downstream != w.runs[1].Downstream {
			t.Errorf("got the attempts %+v, want two under one key", w.runs)
		}
	})
	bubble(t, "while it runs again", func(t *testing.T) {
		w := newWorld(t)
		w.effect = verdicts["an error"].effect
		_, _ = w.last(keyed)
		time.Sleep(lapsed)
		w.effect = func(context.Context, intent.Attempt) (any, error) {
			if r := w.store.record(record); !r.OpenSince.IsZero() {
				t.Errorf("a claim that was taken over is listed since %v", r.OpenSince)
			}
			return receipt("r-1"), nil
		}
		o, err := w.deliver(keyed, book)
		wantKind(t, o, err, intent.Executed)
	})
}

// A claim that could not be listed is not given up: its message is delivered once more.
func TestNotGivenUpUnlisted(t *testing.T) {
	bubble(t, "table away", func(t *testing.T) {
		w := newWorld(t)
		w.effect = func(context.Context, intent.Attempt) (any, error) {
			w.store.plan = on("replace claimed", 1, fault{err: fmt.Errorf("away"), dropped: true})
			return nil, errors.New("broken off")
		}
		if _, err := w.last(keyed); !errors.Is(err, intent.ErrUnknown) || errors.Is(err, intent.ErrGivenUp) {
			t.Errorf("got %v, want it unknown, and not given up", err)
		}
	})
}

// RetryAfter is no verdict, and is told through whatever Deliver's error is made of.
func TestAskedToWait(t *testing.T) {
	later := intent.RetryAfter(errors.New("busy"), time.Minute)
	for name, effect := range map[string]error{
		"by itself": later, "inside a verdict": intent.NotApplied(later), "around a verdict": intent.RetryAfter(intent.NotApplied(errors.New("busy")), time.Minute),
		"none": errors.New("busy"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.effect = func(context.Context, intent.Attempt) (any, error) { return nil, effect }
			_, err := w.deliver(keyed, book)
			after, asked := intent.AskedToWait(err)
			if asked != (name != "none") || asked && after != time.Minute {
				t.Errorf("asked %t, for %v: %v", asked, after, err)
			}
			if name == "by itself" || name == "none" {
				w.wantState(intent.StateClaimed)
			} else {
				w.wantState(intent.StateReleased)
			}
		})
	}
}
