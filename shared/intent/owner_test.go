package intent_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// C01: the claim landed, its reply was lost, and the repetition meets its own
// record: won.
func TestC01OwnWin(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.store.plan = on("claim claimed", 1, fault{lost: true})
		o, err := w.deliver(c, book)
		wantKind(t, o, err, intent.Executed)
		w.wantRuns(1)
		if want := []string{"claim claimed", "amend completed"}; !slices.Equal(w.store.log(), want) || o.Attempt != 1 {
			t.Errorf("got writes %v and attempt %d, want %v and 1", w.store.log(), o.Attempt, want)
		}
	})
	bubble(t, "a takeover's", func(t *testing.T) {
		w := newWorld(t)
		w.standing(intent.StateReleased)
		w.store.plan = on("replace claimed", 1, fault{lost: true})
		o, err := w.deliver(keyed, book)
		wantKind(t, o, err, intent.Executed)
		w.wantRuns(1)
	})
}

// C39: a claim's reply comes so late that others have dealt with the claim. The
// owner token is still ours, but the win is not.
func TestC39LateReplyIsNoWin(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile    func(*world, class)
		keyed, blind intent.Kind
		runs         int // by the late worker, which is Keyed
	}{
		"parked":           {func(w *world, _ class) { w.becomes(intent.StateInDoubt) }, intent.InDoubt, intent.InDoubt, 0},
		"completed for it": {func(w *world, _ class) { w.becomes(intent.StateCompleted) }, intent.Replayed, intent.Replayed, 0},
		"lease nearly over": {func(w *world, _ class) { time.Sleep(lease - time.Millisecond) },
			intent.InProgress, intent.InProgress, 0},
		"lease over":   {func(w *world, _ class) { time.Sleep(lease + skew - time.Millisecond) }, intent.InProgress, intent.InProgress, 0},
		"claim lapsed": {func(w *world, _ class) { time.Sleep(lease + skew) }, intent.Executed, intent.InDoubt, 1},
		"probed and run by another": {func(w *world, c class) {
			time.Sleep(lease + skew)
			w.becomes(intent.StateInDoubt)
			time.Sleep(settled)
			w.probe = saysNo
			o, err := w.deliver(c, book)
			wantKind(w.t, o, err, intent.Executed)
			w.wantRuns(1)
			w.runs = nil
		}, intent.Replayed, intent.Replayed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, cl class) {
				w := newWorld(t)
				w.store.plan = on("claim claimed", 1, fault{lost: true, after: func() { c.meanwhile(w, cl) }})
				// Without a deadline: it would hide what is not won by ending the time.
				o, err := w.handler(cl).Deliver(context.Background(), delivery(t, book))
				want, runs := c.keyed, c.runs
				if cl.blind {
					want, runs = c.blind, 0
				}
				wantKind(t, o, err, want)
				w.wantRuns(runs)
			})
		})
	}
}

// becomes moves the standing record, as somebody who names what it shows may.
func (w *world) becomes(state intent.State) {
	r := w.store.record(record)
	r.State = state
	switch {
	case state == intent.StateInDoubt:
		r = r.Parked(r.Reason, time.Now())
	case state.Final():
		r = r.Finish(state, receipt("r-0"), time.Now(), 90*24*time.Hour)
	}
	w.store.put(r)
}

// A completion whose reply was lost is read back: the answer comes from the
// record.
func TestLostCompletion(t *testing.T) {
	for name, what := range map[string]string{
		"nil": "amend completed", "Refuse": "amend refused", "NotApplied": "amend released", "an error": "amend in_doubt",
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, c class) {
				w := newWorld(t)
				w.effect = verdicts[name].effect
				w.store.plan = on(what, 1, fault{lost: true})
				o, err := w.deliver(c, book)
				want := verdicts[name].freshKeyed
				if c.blind {
					want = verdicts[name].freshBlind
				}
				w.wantEnding(o, err, want, 1)
			})
		})
	}
}

// C37: the owner's completion lands between a taker's look and its takeover. The
// takeover names state, owner and lease, so it fails, and the taker replays.
func TestC37CompletionBeatsTakeover(t *testing.T) {
	bubble(t, "Keyed", func(t *testing.T) {
		w := newWorld(t)
		w.lapse(keyed)
		w.store.plan = on("replace claimed", 1, fault{before: func() { w.becomes(intent.StateCompleted) }})
		o, err := w.deliver(keyed, book)
		wantKind(t, o, err, intent.Replayed)
		w.wantRuns(0)
	})
	bubble(t, "Keyed, a renewal", func(t *testing.T) {
		w := newWorld(t)
		w.lapse(keyed)
		w.store.plan = on("replace claimed", 1, fault{before: func() {
			r := w.store.record(record)
			r.LeaseUntil = time.Now().Add(lease)
			w.store.put(r)
		}})
		o, err := w.deliver(keyed, book)
		wantKind(t, o, err, intent.InProgress)
		w.wantRuns(0)
	})
	bubble(t, "Blind, a park", func(t *testing.T) {
		w := newWorld(t)
		w.lapse(blind)
		w.store.plan = on("replace in_doubt", 1, fault{before: func() { w.becomes(intent.StateCompleted) }})
		o, err := w.deliver(blind, book)
		wantKind(t, o, err, intent.Replayed)
		w.wantState(intent.StateCompleted)
	})
}

// A worker stalls in its effect until its claim has lapsed, another delivery
// deals with the claim, and the worker comes back with its verdict. What the
// record has become stands, byte for byte, unless it is only in doubt.
func TestZombie(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(*world)
		verdict   string
		kind      intent.Kind // empty for ErrLost
		lands     bool        // its verdict is written
	}{
		"C34 taken over, NotApplied": {done, "NotApplied", intent.Replayed, false},
		"taken over, Refuse":         {done, "Refuse", intent.Replayed, false},
		"taken over, nil":            {done, "nil", intent.Replayed, false},
		"taken over, an error":       {done, "an error", intent.Replayed, false},
		"being run, nil":             {func(w *world) { w.standing(intent.StateClaimed) }, "nil", intent.InProgress, false},
		"being run, NotApplied":      {func(w *world) { w.standing(intent.StateClaimed) }, "NotApplied", intent.InProgress, false},
		"parked, nil":                {parkedByAnother, "nil", intent.Executed, true},
		"parked, Refuse":             {parkedByAnother, "Refuse", intent.Refused, true},
		"parked, NotApplied":         {parkedByAnother, "NotApplied", intent.InDoubt, false},
		"parked, an error":           {parkedByAnother, "an error", intent.InDoubt, false},
		"settled as no, nil":         {func(w *world) { w.standing(intent.StateReleased) }, "nil", "", false},
		"settled as no, NotApplied":  {func(w *world) { w.standing(intent.StateReleased) }, "NotApplied", "", false},
		"settled as yes, NotApplied": {func(w *world) { w.becomes(intent.StateCompleted) }, "NotApplied", intent.Replayed, false},
		"settled as yes, nil":        {func(w *world) { w.becomes(intent.StateCompleted) }, "nil", intent.Executed, false},
		"gone, nil":                  {func(w *world) { w.store.put(intent.Record{Intent: record}) }, "nil", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, cl class) {
				w := newWorld(t)
				var before intent.Record
				w.effect = func(ctx context.Context, a intent.Attempt) (any, error) {
					c.meanwhile(w)
					before = w.store.record(record)
					return verdicts[c.verdict].effect(ctx, a)
				}
				o, err := w.deliver(cl, book)
				after := w.store.record(record)
				w.wantRuns(1)
				if !c.lands {
					wantSame(t, after, before)
				} else if !after.State.Final() {
					t.Errorf("record: got %+v, want the verdict of who ran it", after)
				}
				switch {
				case cl == keyed && c.verdict == "an error": // it writes nothing, and so learns nothing
					if !errors.Is(err, intent.ErrUnknown) || o.Kind != "" {
						t.Errorf("got %+v and error %v, want ErrUnknown", o, err)
					}
				case c.kind != "":
					wantKind(t, o, err, c.kind)
				case !errors.Is(err, intent.ErrLost) || o.Kind != "":
					t.Errorf("got %+v and error %v, want ErrLost", o, err)
				}
				if c.verdict == "NotApplied" && c.kind == "" && !causedBy(err, errProvider) {
					t.Errorf("got %v, want the effect's error in it", err)
				}
			})
		})
	}
}

func done(w *world) { w.standing(intent.StateCompleted) }

// parkedByAnother keeps the owner, as every park does.
func parkedByAnother(w *world) { w.becomes(intent.StateInDoubt) }

// C38: a park's reply is lost, an operator settles the doubt, and then the
// park's repetition arrives. It names the state claimed: the settlement stands.
func TestC38LatePark(t *testing.T) {
	for state, want := range map[intent.State]intent.Kind{
		intent.StateCompleted: intent.Replayed, intent.StateRefused: intent.Refused, intent.StateReleased: "",
	} {
		bubble(t, string(state), func(t *testing.T) {
			w := newWorld(t)
			w.effect = verdicts["an error"].effect
			var settlement intent.Record
			w.store.plan = on("amend in_doubt", 1, fault{lost: true, after: func() {
				w.wantState(intent.StateInDoubt)
				settlement = w.standing(state) // under an owner of its own
			}})
			o, err := w.deliver(blind, book)
			if want == "" {
				if !errors.Is(err, intent.ErrLost) {
					t.Errorf("got %+v and error %v, want ErrLost", o, err)
				}
			} else {
				wantKind(t, o, err, want)
			}
			wantSame(t, w.store.record(record), settlement)
		})
	}
}

// C26: a duplicate that is turned away, for whatever reason, leaves the running
// owner's record alone.
func TestC26DuplicateLeavesTheRecordAlone(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		effect := w.effect
		w.effect = func(ctx context.Context, a intent.Attempt) (any, error) {
			before := w.store.record(record)
			for payload, want := range map[string]intent.Kind{book: intent.InProgress, `{"item":"pen"}`: intent.Conflict} {
				o, err := w.deliver(c, payload)
				wantKind(t, o, err, want)
			}
			if _, err := w.deliver(c, `{"item":7}`); err == nil {
				t.Error("a payload of another type: got no error")
			}
			wantSame(t, w.store.record(record), before)
			return effect(ctx, a)
		}
		o, err := w.deliver(c, book)
		wantKind(t, o, err, intent.Executed)
		w.wantRuns(1)
	})
}
