package intent_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// The admission of these tests, with the shortest retention that it takes.
const (
	maxAge    = time.Hour
	retention = 2*maxAge + 48*time.Hour
)

// C47: an intent that is older than MaxAge and has no record is not run, whatever the
// retention is: it may have happened, and its record was written under another one.
func TestC47TooOld(t *testing.T) {
	for name, c := range map[string]struct {
		age     time.Duration
		unknown bool
		long    bool // the retention was raised
		tooOld  bool
	}{
		"just sent":                       {age: 0},
		"sent by a clock that runs ahead": {age: -time.Hour},
		"as old as it may be":             {age: maxAge},
		"older":                           {age: maxAge + time.Millisecond, tooOld: true},
		"older, long retention":           {age: maxAge + time.Millisecond, long: true, tooOld: true},
		"as old as the retention":         {age: retention, tooOld: true},
		"years old":                       {age: 10 * 365 * 24 * time.Hour, tooOld: true},
		"centuries old":                   {age: 290 * 365 * 24 * time.Hour, tooOld: true}, // near what a Duration holds
		"of unknown age":                  {unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, cl class) {
				w := newWorld(t)
				if w.retention, w.maxAge = retention, maxAge; c.long {
					w.retention = 10 * retention
				}
				if w.sentAt = time.Now().Add(-c.age); c.unknown {
					w.sentAt = time.Time{}
				}
				o, err := w.deliver(cl, book)
				if !c.tooOld {
					wantKind(t, o, err, intent.Executed)
					w.wantRuns(1)
					return
				}
				if !errors.Is(err, intent.ErrExpired) || o.Kind != "" {
					t.Errorf("got %+v and error %v, want ErrExpired", o, err)
				}
				w.wantRuns(0)
				if got := w.store.log(); got != nil {
					t.Errorf("got writes %v, want none", got)
				}
			})
		})
	}
}

// However old the intent is, a record that stands says what becomes of it, unless it is
// past its retention: that is none, though TTL has not deleted it yet.
func TestOldIntentWithARecord(t *testing.T) {
	const expired = time.Hour + time.Second
	for name, c := range map[string]struct {
		state        intent.State
		change       func(*intent.Record)
		later        time.Duration
		payload      string
		keyed, blind intent.Kind
	}{
		"completed":                          {state: intent.StateCompleted, payload: book, keyed: intent.Replayed, blind: intent.Replayed},
		"completed, hardly expired":          {state: intent.StateCompleted, later: time.Hour, payload: book, keyed: intent.Replayed, blind: intent.Replayed},
		"C47 completed, expired but there":   {state: intent.StateCompleted, later: expired, payload: book},
		"refused":                            {state: intent.StateRefused, payload: book, keyed: intent.Refused, blind: intent.Refused},
		"C47 refused, expired but there":     {state: intent.StateRefused, later: expired, payload: book},
		"running":                            {state: intent.StateClaimed, payload: book, keyed: intent.InProgress, blind: intent.InProgress},
		"lapsed":                             {state: intent.StateClaimed, later: lapsed, payload: book, keyed: intent.Executed, blind: intent.InDoubt},
		"lapsed, past the provider's window": {state: intent.StateClaimed, later: window, payload: book, keyed: intent.InDoubt, blind: intent.InDoubt},
		"released":                           {state: intent.StateReleased, change: unbound, payload: book, keyed: intent.Executed, blind: intent.Executed},
		"C51 released, but bound":            {state: intent.StateReleased, payload: book, keyed: intent.Executed, blind: intent.InDoubt},
		"in doubt":                           {state: intent.StateInDoubt, payload: book, keyed: intent.InDoubt, blind: intent.InDoubt},
		"completed, another payload":         {state: intent.StateCompleted, payload: `{"item":"pen"}`, keyed: intent.Conflict, blind: intent.Conflict},
		"expired but there, another payload": {state: intent.StateCompleted, later: expired, payload: `{"item":"pen"}`},
		"released and free, another payload": {state: intent.StateReleased, change: unbound, payload: `{"item":"pen"}`, keyed: intent.Executed, blind: intent.Executed},
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
				w.retention, w.maxAge, w.sentAt = retention, maxAge, time.Now().Add(-30*24*time.Hour)
				want, runs := c.keyed, 0
				if cl.blind {
					want = c.blind
				}
				if want == intent.Executed {
					runs = 1
				}
				o, err := w.deliver(cl, c.payload)
				if want == "" {
					if !errors.Is(err, intent.ErrExpired) {
						t.Errorf("got %+v and error %v, want ErrExpired", o, err)
					}
				} else {
					wantKind(t, o, err, want)
				}
				w.wantRuns(runs)
				if runs == 0 && before.State.Final() {
					wantSame(t, w.store.record(record), before)
				}
			})
		})
	}
}

// The record that an old intent has goes between the look and the takeover: it
// is looked for again, not claimed anew. A record of another release is no
// absent one.
func TestOldIntentWhoseRecordGoes(t *testing.T) {
	for _, verb := range []string{"replace claimed", "replace in_doubt"} {
		bubble(t, verb, func(t *testing.T) {
			w := newWorld(t)
			w.standing(intent.StateClaimed)
			time.Sleep(lapsed)
			w.retention, w.maxAge, w.sentAt = retention, maxAge, time.Now().Add(-2*retention)
			w.store.plan = on(verb, 1, fault{before: func() { w.store.remove(record) }})
			if o, err := w.deliver(class{blind: verb == "replace in_doubt"}, book); !errors.Is(err, intent.ErrExpired) {
				t.Errorf("got %+v and error %v, want ErrExpired", o, err)
			}
			w.wantRuns(0)
			w.wantState(intent.StateAbsent)
		})
	}
	for name, unreadableErr := range map[string]error{
		"a record of another release":  &intent.FormatError{Intent: record, Version: 2},
		"a store that is out of reach": errPut,
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, c class) {
				w := newWorld(t)
				w.store.unreadable = unreadableErr
				w.retention, w.maxAge, w.sentAt = retention, maxAge, time.Now().Add(-2*retention)
				if o, err := w.deliver(c, book); !errors.Is(err, unreadableErr) || errors.Is(err, intent.ErrExpired) {
					t.Errorf("got %+v and error %v, want the store's", o, err)
				}
				w.wantRuns(0)
				if got := w.store.log(); got != nil {
					t.Errorf("got writes %v, want none", got)
				}
			})
		})
	}
}

// Whatever a record was settled to, an old intent runs by it alone.
func TestOldIntentInDoubtIsProbed(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.probe = saysNo
		w.doubt(c)
		time.Sleep(settled)
		w.retention, w.maxAge, w.sentAt = retention, maxAge, time.Now().Add(-2*retention)
		o, err := w.deliver(c, book)
		wantKind(t, o, err, intent.Executed)
		w.wantRuns(1)
	})
}

// However the times of sending, running and redelivering fall, and however slowly
// a claim gets through: with clocks that differ by less than the skew margin no
// two deliveries of one intent both run its effect, though TTL deletes a record
// as early as it may. The first delivery runs, and one within MaxAge replays.
func TestAdmissionNeverRunsTwice(t *testing.T) {
	for seed := range uint64(2000) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7))
			upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d) + 1)) }
			clock := func() time.Duration { return upTo(skew - time.Millisecond) } // any two differ by less than skew
			cl := class{name: "Keyed"}
			if random.IntN(2) == 0 {
				cl = blind
			}
			w := newWorld(t)
			w.maxAge, w.sentAt = maxAge, time.Now().Add(clock())
			ttl, story := clock(), ""
			slowly := func(call) fault {
				return fault{before: func() {
					time.Sleep(upTo(timeout-2*time.Second) / time.Duration(1+3*random.IntN(2)))
					w.store.expire(time.Now().Add(ttl))
				}}
			}
			sent := time.Now()
			for n, at := range []time.Duration{
				upTo(maxAge - skew), maxAge - upTo(2*lapsed), maxAge + upTo(2*lapsed), retention - upTo(2*lapsed), retention + maxAge + upTo(2*lapsed),
			} {
				time.Sleep(time.Until(sent.Add(at)))
				// The configured retention may be raised at any time.
				w.retention = retention * time.Duration(1+random.IntN(2))
				if w.ahead = clock(); random.IntN(3) == 0 {
					w.store.plan = slowly
				}
				w.store.expire(time.Now().Add(ttl))
				o, err := w.deliver(cl, book)
				story += fmt.Sprintf("\nafter %v by a clock %v ahead: %s, %v", at, w.ahead, o.Kind, err)
				if n == 0 && o.Kind != intent.Executed || n > 0 && at < maxAge-2*skew && o.Kind != intent.Replayed {
					t.Errorf("seed %d: the delivery in time comes to %s%s", seed, o.Kind, story)
				}
				w.store.plan = nil
			}
			if len(w.runs) > 1 {
				t.Errorf("seed %d: the effect ran %d times, sent by a clock %v ahead, TTL's %v ahead%s", seed, len(w.runs), w.sentAt.Sub(sent), ttl, story)
			}
		})
		if t.Failed() {
			return
		}
	}
}
