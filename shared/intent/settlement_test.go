package intent_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// settles is an operator's audited verb: a write over the doubt as it was shown.
// What did not happen is free again, under an owner of its own.
func (w *world) settles(shown intent.Record, to intent.State) (intent.Record, error) {
	next := shown.Finish(to, receipt("r-operator"), time.Now(), 90*24*time.Hour)
	if to == intent.StateReleased {
		next = shown
		next.State, next.Owner, next.ClaimedAt, next.Reason = to, intent.NewOwner(), time.Time{}, "operator: did not happen"
	}
	return w.store.Replace(context.Background(), shown, next)
}

// C46: a doubt nobody can ask about leaves the queue for the dead-letter queue.
// Settled and redriven there, under another message id, it runs once if it had
// not happened, and is answered if it had.
func TestC46SettledAndRedriven(t *testing.T) {
	for to, want := range map[intent.State]struct {
		kind   intent.Kind
		runs   int
		result string
	}{
		intent.StateReleased:  {intent.Executed, 1, `{"receipt":"r-1"}`},
		intent.StateCompleted: {intent.Replayed, 0, `{"receipt":"r-operator"}`},
		intent.StateRefused:   {intent.Refused, 0, `{"receipt":"r-operator"}`},
	} {
		t.Run("settled to "+string(to), func(t *testing.T) {
			both(t, func(t *testing.T, c class) {
				w := newWorld(t)
				w.doubt(c)
				o, err := w.deliver(c, book)
				wantKind(t, o, err, intent.InDoubt)
				w.wantRuns(0)
				doubt := w.wantState(intent.StateInDoubt)
				if settled, err := w.settles(doubt, to); err != nil || settled.State != to {
					t.Fatalf("got %+v and error %v, want it settled to %s", settled, err, to)
				}
				time.Sleep(13 * 24 * time.Hour) // in the dead-letter queue
				redriven := delivery(t, book)
				redriven.MessageID = "message-2"
				for _, kind := range []intent.Kind{want.kind, replayed(want.kind)} {
					o, err := w.handler(c).Deliver(context.Background(), redriven)
					wantKind(t, o, err, kind)
					if string(o.Result.JSON) != want.result {
						t.Errorf("result: got %s, want %s", o.Result.JSON, want.result)
					}
				}
				w.wantRuns(want.runs)
				if want.runs == 1 && (w.runs[0].Number != 2 || w.runs[0].MessageID != "message-2") {
					t.Errorf("got attempt %+v, want the second, of the redriven message", w.runs[0])
				}
			})
		})
	}
}

// replayed is what a duplicate is told of an outcome.
func replayed(k intent.Kind) intent.Kind {
	if k == intent.Executed {
		return intent.Replayed
	}
	return k
}

// Who ran it knows best, but a settlement that landed first stands; one that
// comes second is shown what stands, and changes nothing.
func TestSettlementMeetsTheOwner(t *testing.T) {
	for name, c := range map[string]struct {
		first bool // the operator's verb lands first
		to    intent.State
		kind  intent.Kind // of the owner's delivery; empty for ErrLost
		state intent.State
	}{
		"the owner first":                 {false, intent.StateReleased, intent.Executed, intent.StateCompleted},
		"the operator first, as released": {true, intent.StateReleased, "", intent.StateReleased},
		"the operator first, as refused":  {true, intent.StateRefused, intent.Refused, intent.StateRefused},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, cl class) {
				w := newWorld(t)
				var doubt intent.Record
				settle := func(want intent.State) {
					if got, err := w.settles(doubt, c.to); err != nil || got.State != want {
						t.Errorf("operator: got %+v and error %v, want %s", got, err, want)
					}
				}
				w.effect = func(context.Context, intent.Attempt) (any, error) {
					parkedByAnother(w)
					if doubt = w.wantState(intent.StateInDoubt); c.first {
						settle(c.to)
					}
					return withRow(receipt("r-1")), nil
				}
				o, err := w.deliver(cl, book)
				if c.kind != "" {
					wantKind(t, o, err, c.kind)
				} else if !errors.Is(err, intent.ErrLost) {
					t.Errorf("got %+v and error %v, want ErrLost", o, err)
				}
				if !c.first {
					settle(intent.StateCompleted)
				}
				w.wantState(c.state)
				w.wantRow(map[bool]int{false: 1, true: 0}[c.first])
			})
		})
	}
}
