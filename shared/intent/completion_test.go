package intent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// mailRow is the row that the effects here want committed with their completion.
const mailRow = "mail-1"

func withRow(result any) any { return intent.Completion{Result: result, Writes: rows{mailRow}} }

func (w *world) wantRow(want int) {
	w.t.Helper()
	if got := w.store.rows[mailRow]; got != want {
		w.t.Errorf("row: committed %d times, want %d", got, want)
	}
}

// endsWith is an effect of this ending.
func endsWith(result any, err error) func(context.Context, intent.Attempt) (any, error) {
	return func(context.Context, intent.Attempt) (any, error) { return result, err }
}

// The writes of a Completion are there with a completion or a refusal, and with
// nothing else. Its result is the effect's.
func TestCompletion(t *testing.T) {
	for name, c := range map[string]struct {
		effect func(context.Context, intent.Attempt) (any, error)
		state  intent.State // of the record, or Keyed's
		blind  intent.State // if it is another
		result string
		row    int
	}{
		"completed":        {effect: endsWith(withRow(receipt("r-1")), nil), state: intent.StateCompleted, result: `{"receipt":"r-1"}`, row: 1},
		"refused":          {effect: endsWith(nil, intent.Refuse(withRow(reason("declined")))), state: intent.StateRefused, result: `{"reason":"declined"}`, row: 1},
		"no result":        {effect: endsWith(withRow(nil), nil), state: intent.StateCompleted, result: `null`, row: 1},
		"a result to omit": {effect: endsWith(withRow(stubborn{}), nil), state: intent.StateCompleted, row: 1},
		"no writes":        {effect: endsWith(intent.Completion{Result: receipt("r-1")}, nil), state: intent.StateCompleted, result: `{"receipt":"r-1"}`},
		"not applied":      {effect: endsWith(withRow(receipt("r-1")), intent.NotApplied(errProvider)), state: intent.StateReleased},
		"unknown":          {effect: endsWith(withRow(receipt("r-1")), errProvider), state: intent.StateClaimed, blind: intent.StateInDoubt},
		"refused, plainly": {effect: endsWith(withRow(receipt("r-1")), intent.Refuse(reason("declined"))), state: intent.StateRefused, result: `{"reason":"declined"}`},
		"its caller gives up": {effect: func(ctx context.Context, _ intent.Attempt) (any, error) {
			<-ctx.Done()
			return withRow(receipt("r-1")), nil
		}, state: intent.StateCompleted, result: `{"receipt":"r-1"}`, row: 1},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, cl class) {
				w := newWorld(t)
				w.effect = c.effect
				o, err := w.deliver(cl, book)
				want := c.state
				if cl.blind && c.blind != "" {
					want = c.blind
				}
				standing := w.wantState(want)
				if standing.Writes != nil {
					t.Errorf("record: got writes %v, want them nowhere but in their rows", standing.Writes)
				}
				w.wantRow(c.row)
				if !want.Final() {
					return
				}
				if err != nil || !o.Done() || string(o.Result.JSON) != c.result || string(standing.Result.JSON) != c.result {
					t.Errorf("got %+v and error %v with result %s in the record, want %s", o, err, standing.Result.JSON, c.result)
				}
				again, err := w.deliver(cl, book)
				if err != nil || string(again.Result.JSON) != c.result || again.Result.Omitted != (c.result == "") {
					t.Errorf("redelivery: got %+v and error %v, want the first one's result", again, err)
				}
				w.wantRuns(1)
				w.wantRow(c.row)
			})
		})
	}
}

// The reply of a completion is lost, or another parked the claim meanwhile: the
// row is there once.
func TestCompletionLandsOnce(t *testing.T) {
	for name, f := range map[string]fault{
		"the reply is lost":                       {lost: true},
		"parked meanwhile":                        {},
		"parked meanwhile, and the reply is lost": {lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, c class) {
				w := newWorld(t)
				w.effect = endsWith(withRow(receipt("r-1")), nil)
				if strings.HasPrefix(name, "parked") {
					f.before = func() { parkedByAnother(w) }
				}
				w.store.plan = on("amend completed", 1, f)
				o, err := w.deliver(c, book)
				wantKind(t, o, err, intent.Executed)
				w.wantState(intent.StateCompleted)
				w.wantRow(1)
			})
		})
	}
}

// A zombie's completion commits no row, whatever another has made of its claim.
func TestZombieCommitsNothing(t *testing.T) {
	for name, meanwhile := range map[string]func(*world){
		"completed":      done,
		"being run":      func(w *world) { w.standing(intent.StateClaimed) },
		"settled as no":  func(w *world) { w.standing(intent.StateReleased) },
		"settled as yes": func(w *world) { w.becomes(intent.StateCompleted) },
		"gone":           func(w *world) { w.store.remove(record) },
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, c class) {
				w := newWorld(t)
				var before intent.Record
				w.effect = func(context.Context, intent.Attempt) (any, error) {
					meanwhile(w)
					before = w.store.record(record)
					return withRow(receipt("r-1")), nil
				}
				_, _ = w.deliver(c, book)
				w.wantRow(0)
				wantSame(t, w.store.record(record), before)
			})
		})
	}
}

// Writes that the store rejects are no completion. A Keyed effect is asked again
// under its key once its claim has lapsed; a Blind one is in doubt at once, and
// its record says why.
func TestRejectedWrites(t *testing.T) {
	inTheWay := func(w *world) { w.store.rows[mailRow]++ }
	for name, c := range map[string]struct {
		effect func(context.Context, intent.Attempt) (any, error)
		before func(*world)
		says   string
	}{
		"completed, a row is in the way": {endsWith(withRow(receipt("r-1")), nil), inTheWay, "row mail-1 is there"},
		"refused, a row is in the way":   {endsWith(nil, intent.Refuse(withRow(reason("declined")))), inTheWay, "row mail-1 is there"},
		"completed, no writes of the store's": {
			endsWith(intent.Completion{Writes: "mail-1"}, nil), func(*world) {}, "a string",
		},
	} {
		bubble(t, "Keyed/"+name, func(t *testing.T) {
			w := newWorld(t)
			c.before(w)
			w.effect = c.effect
			o, err := w.deliver(keyed, book)
			if !errors.Is(err, intent.ErrUnknown) || !errors.Is(err, intent.ErrWritesRejected) || !strings.Contains(err.Error(), c.says) || o.Kind != "" {
				t.Errorf("got %+v and error %v, want both of ErrUnknown and ErrWritesRejected, and %q", o, err, c.says)
			}
			w.wantState(intent.StateClaimed)
			o, err = w.deliver(keyed, book)
			wantKind(t, o, err, intent.InProgress)
			w.wantRuns(1)
			time.Sleep(lapsed)
			delete(w.store.rows, mailRow)
			w.effect = endsWith(withRow(receipt("r-1")), nil)
			o, err = w.deliver(keyed, book)
			wantKind(t, o, err, intent.Executed)
			w.wantRuns(2)
			w.wantRow(1)
			if w.runs[0].Downstream != w.runs[1].Downstream {
				t.Errorf("got downstream keys %q and %q, want one", w.runs[0].Downstream, w.runs[1].Downstream)
			}
		})
		bubble(t, "Blind/"+name, func(t *testing.T) {
			w := newWorld(t)
			c.before(w)
			w.effect = c.effect
			o, err := w.deliver(blind, book)
			wantKind(t, o, err, intent.InDoubt)
			standing := w.wantState(intent.StateInDoubt)
			if !errors.Is(o.Cause, intent.ErrWritesRejected) || !strings.Contains(o.Reason, c.says) || standing.Reason != o.Reason {
				t.Errorf("got cause %v, reason %q and in the record %q, want ErrWritesRejected with %q", o.Cause, o.Reason, standing.Reason, c.says)
			}
			delete(w.store.rows, mailRow)
			time.Sleep(lapsed)
			o, err = w.deliver(blind, book)
			wantKind(t, o, err, intent.InDoubt)
			w.wantRuns(1)
			w.wantRow(0)
		})
	}
	bubble(t, "Blind/parked by another meanwhile", func(t *testing.T) {
		w := newWorld(t)
		inTheWay(w)
		w.effect = func(context.Context, intent.Attempt) (any, error) {
			parkedByAnother(w)
			return withRow(receipt("r-1")), nil
		}
		o, err := w.deliver(blind, book)
		wantKind(t, o, err, intent.InDoubt)
		w.wantState(intent.StateInDoubt)
	})
	bubble(t, "Blind/with a probe", func(t *testing.T) { // which waits for the lease like anyone else's
		w := newWorld(t)
		inTheWay(w)
		w.effect = endsWith(withRow(receipt("r-1")), nil)
		w.probe = saysYes
		o, err := w.deliver(blind, book)
		wantKind(t, o, err, intent.InProgress)
		if !errors.Is(o.Cause, intent.ErrWritesRejected) {
			t.Errorf("got cause %v, want ErrWritesRejected", o.Cause)
		}
		time.Sleep(o.Wait)
		o, err = w.deliver(blind, book)
		wantKind(t, o, err, intent.Replayed)
		w.wantRuns(1)
	})
}

// A probe's yes may bring the writes that the lost completion would have.
func TestProbeCommits(t *testing.T) {
	found := func(context.Context, intent.Attempt) (intent.Verdict, any, error) {
		return intent.Yes, withRow(receipt("r-found")), nil
	}
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.probe = found
		w.doubt(c)
		time.Sleep(settled)
		w.store.plan = on("replace completed", 1, fault{lost: true})
		o, err := w.deliver(c, book)
		wantKind(t, o, err, intent.Replayed)
		if string(o.Result.JSON) != `{"receipt":"r-found"}` {
			t.Errorf("result: got %s, want the probe's", o.Result.JSON)
		}
		w.wantRow(1)
		w.wantRuns(0)
	})
	t.Run("rejected", func(t *testing.T) {
		both(t, func(t *testing.T, c class) {
			w := newWorld(t)
			w.probe = found
			before := w.doubt(c)
			time.Sleep(settled)
			w.store.rows[mailRow] = 1
			if o, err := w.deliver(c, book); !errors.Is(err, intent.ErrWritesRejected) || o.Kind != "" {
				t.Errorf("got %+v and error %v, want ErrWritesRejected", o, err)
			}
			wantSame(t, w.store.record(record), before) // still in doubt, to be asked about again
			w.wantRuns(0)
			w.wantRow(1)
		})
	})
}
