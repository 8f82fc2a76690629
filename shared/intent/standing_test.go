package intent_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// standing is a record as another delivery of the same payload left it.
func (w *world) standing(state intent.State) intent.Record {
	now := time.UnixMilli(time.Now().UnixMilli())
	r := intent.Record{
		Intent: record, State: state, Owner: "another", Attempt: 3, MessageID: "message-0",
		LeaseUntil: now.Add(lapsed - skew), ClaimedAt: now, Fingerprint: delivery(w.t, book).Fingerprint,
	}
	switch {
	case state.Final():
		r = r.Finish(state, receipt("r-0"), now, time.Hour)
	case state != intent.StateClaimed:
		r.Reason = "because"
	}
	if state == intent.StateInDoubt {
		r = r.Parked(r.Reason, now)
	}
	w.store.put(r)
	return r
}

// What a standing record says to a delivery, in the order of the package
// documentation. The record stays as it was, but where it is taken over or
// parked.
func TestStandingRecord(t *testing.T) {
	for name, c := range map[string]struct {
		state   intent.State
		change  func(*intent.Record)
		later   time.Duration
		payload string
		keyed   intent.Kind
		blind   intent.Kind
		wait    time.Duration
	}{
		"C33 completed, another payload":     {state: intent.StateCompleted, payload: `{"item":"pen"}`, keyed: intent.Conflict, blind: intent.Conflict},
		"refused, another payload":           {state: intent.StateRefused, payload: `{"item":"pen"}`, keyed: intent.Conflict, blind: intent.Conflict},
		"C33 running, another payload":       {state: intent.StateClaimed, payload: `{"item":"pen"}`, keyed: intent.Conflict, blind: intent.Conflict},
		"in doubt, another payload":          {state: intent.StateInDoubt, payload: `{"item":"pen"}`, keyed: intent.Conflict, blind: intent.Conflict},
		"lapsed, another payload":            {state: intent.StateClaimed, later: lapsed, payload: `{"item":"pen"}`, keyed: intent.Conflict, blind: intent.Conflict},
		"released, but bound, another":       {state: intent.StateReleased, payload: `{"item":"pen"}`, keyed: intent.Conflict, blind: intent.Conflict},
		"released and free, another payload": {state: intent.StateReleased, change: unbound, payload: `{"item":"pen"}`, keyed: intent.Executed, blind: intent.Executed},
		"C09 completed":                      {state: intent.StateCompleted, payload: book, keyed: intent.Replayed, blind: intent.Replayed},
		"completed, written otherwise":       {state: intent.StateCompleted, payload: ` { "item" : "\u0062ook" }`, keyed: intent.Replayed, blind: intent.Replayed},
		"refused":                            {state: intent.StateRefused, payload: book, keyed: intent.Refused, blind: intent.Refused},
		"in doubt":                           {state: intent.StateInDoubt, payload: book, keyed: intent.InDoubt, blind: intent.InDoubt},
		"C13 running":                        {state: intent.StateClaimed, payload: book, keyed: intent.InProgress, blind: intent.InProgress, wait: lapsed},
		"C13 running, nearly lapsed":         {state: intent.StateClaimed, later: lapsed - time.Millisecond, payload: book, keyed: intent.InProgress, blind: intent.InProgress, wait: time.Millisecond},
		"C11 lapsed":                         {state: intent.StateClaimed, later: lapsed, payload: book, keyed: intent.Executed, blind: intent.InDoubt},
		"released":                           {state: intent.StateReleased, change: unbound, payload: book, keyed: intent.Executed, blind: intent.Executed},
		"C51 released, but bound":            {state: intent.StateReleased, payload: book, keyed: intent.Executed, blind: intent.InDoubt},
		"C45 expired":                        {state: intent.StateCompleted, later: 2 * time.Hour, payload: book, keyed: intent.Executed, blind: intent.Executed},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, cl class) {
				w := newWorld(t)
				before := w.standing(c.state)
				if c.change != nil {
					c.change(&before)
					w.store.put(before)
				}
				time.Sleep(c.later)
				want := c.keyed
				if cl.blind {
					want = c.blind
				}
				o, err := w.deliver(cl, c.payload)
				wantKind(t, o, err, want)
				if o.Wait != c.wait {
					t.Errorf("wait: got %v, want %v", o.Wait, c.wait)
				}
				after := w.store.record(record)
				if want == intent.Executed {
					w.wantRuns(1)
					if after.Owner == before.Owner || time.Until(after.ExpiresAt) < 89*24*time.Hour {
						t.Errorf("record: %+v", after)
					}
					return
				}
				w.wantRuns(0)
				if o.Attempt != 3 {
					t.Errorf("outcome: got attempt %d, want the record's", o.Attempt)
				}
				if want == intent.InDoubt && before.State != intent.StateInDoubt {
					before = before.Parked("the outcome of an earlier attempt is not known", time.Now())
				}
				if after.State.Final() && string(o.Result.JSON) != `{"receipt":"r-0"}` && want != intent.Conflict {
					t.Errorf("outcome: got result %s, want the first one's", o.Result.JSON)
				}
				wantSame(t, after, before) // C26
			})
		})
	}
}

func unbound(r *intent.Record) { r.ClaimedAt = time.Time{} }

func wantSame(t *testing.T, got, want intent.Record) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("record changed:\ngot  %+v\nwant %+v", got, want)
	}
}

// A takeover keeps what the record says of the intent, and draws what is the
// claim's own anew.
func TestTakeover(t *testing.T) {
	bubble(t, "Keyed", func(t *testing.T) {
		w := newWorld(t)
		before := w.standing(intent.StateClaimed)
		time.Sleep(lapsed)
		w.effect = verdicts["an error"].effect
		start := time.Now()
		_, _ = w.deliver(keyed, book)
		after := w.wantState(intent.StateClaimed)
		if after.Attempt != 4 || after.Owner == before.Owner || len(after.Owner) != 26 || after.MessageID != "message-1" {
			t.Errorf("the claim's own: got %+v", after)
		}
		if !after.ClaimedAt.Equal(before.ClaimedAt) || after.Fingerprint != before.Fingerprint {
			t.Errorf("the intent's: got %+v, want %+v", after, before)
		}
		if want := start.Add(timeout + margin); !after.LeaseUntil.Equal(want) {
			t.Errorf("lease until: got %v, want %v", after.LeaseUntil, want)
		}
	})
}

// A record of another release is neither compared nor changed, and is never
// taken for none.
func TestUnknownFormat(t *testing.T) {
	for verb, before := range map[string]func(*world) intent.Record{
		"claim": func(*world) intent.Record { return intent.Record{} },
		"replace": func(w *world) intent.Record {
			r := w.standing(intent.StateReleased)
			unbound(&r)
			w.store.put(r)
			return r
		},
	} {
		t.Run(verb, func(t *testing.T) {
			both(t, func(t *testing.T, c class) {
				w := newWorld(t)
				before := before(w)
				format := &intent.FormatError{Intent: record, Version: 2, State: "elsewhere"}
				w.store.plan = on(verb+" claimed", 1, fault{err: format, dropped: true})
				o, err := w.deliver(c, book)
				var got *intent.FormatError
				if !errors.As(err, &got) || got != format || o.Kind != "" {
					t.Errorf("got %+v and error %v, want the store's", o, err)
				}
				w.wantRuns(0)
				wantSame(t, w.store.record(record), before)
			})
		})
	}
}

// C36: of copies that come at once, one runs the effect.
func TestC36Concurrent(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		effect := w.effect
		w.effect = func(ctx context.Context, a intent.Attempt) (any, error) {
			time.Sleep(time.Second)
			return effect(ctx, a)
		}
		kinds := make(chan intent.Kind)
		for range 32 {
			go func() {
				o, err := w.deliver(c, book)
				if err != nil {
					t.Error(err)
				}
				kinds <- o.Kind
			}()
		}
		got := map[intent.Kind]int{}
		for range 32 {
			got[<-kinds]++
		}
		if got[intent.Executed] != 1 || got[intent.InProgress] != 31 {
			t.Errorf("got %v, want one executed and the others in progress", got)
		}
		w.wantRuns(1)
	})
}

// C27, C31: the same key under two operations is two intents, also when one
// calls the other.
func TestC27C31TwoOperations(t *testing.T) {
	bubble(t, "Keyed", func(t *testing.T) {
		w := newWorld(t)
		shipping := intent.Keyed[order]{Config: w.config(), Window: window}
		shipping.Operation = "ship"
		shipping.Effect = func(_ context.Context, _ order, a intent.Attempt) (any, error) { return receipt("shipped"), nil }
		var inner intent.Outcome
		w.effect = func(ctx context.Context, a intent.Attempt) (_ any, err error) {
			inner, err = shipping.Deliver(ctx, delivery(t, book))
			return receipt("charged"), err
		}
		o, err := w.deliver(keyed, book)
		wantKind(t, o, err, intent.Executed)
		wantKind(t, inner, nil, intent.Executed)
		for key, want := range map[string]string{record: `{"receipt":"charged"}`, "shop#ship#order-1": `{"receipt":"shipped"}`} {
			if r := w.store.record(key); r.State != intent.StateCompleted || string(r.Result.JSON) != want {
				t.Errorf("%s: got %+v, want it completed with %s", key, r, want)
			}
		}
	})
}
