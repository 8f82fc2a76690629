package intent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

var (
	errProbe = errors.New("provider's list is down")

	saysYes = func(context.Context, intent.Attempt) (intent.Verdict, any, error) {
		return intent.Yes, receipt("r-found"), nil
	}
	saysNo = func(context.Context, intent.Attempt) (intent.Verdict, any, error) { return intent.No, nil, nil }
)

// Each verdict of a probe on an intent in doubt.
func TestProbe(t *testing.T) {
	for name, c := range map[string]struct {
		probe  func(context.Context, intent.Attempt) (intent.Verdict, any, error)
		kind   intent.Kind
		state  intent.State
		runs   int
		result string
		reason string
	}{
		"yes": {probe: saysYes, kind: intent.Replayed, state: intent.StateCompleted, result: `{"receipt":"r-found"}`},
		"no":  {probe: saysNo, kind: intent.Executed, state: intent.StateCompleted, runs: 1, result: `{"receipt":"r-1"}`},
		"unknown": {
			probe: func(context.Context, intent.Attempt) (intent.Verdict, any, error) { return intent.Unknown, nil, nil },
			kind:  intent.InDoubt, state: intent.StateInDoubt, reason: "killed",
		},
		"no verdict of ours": {
			probe: func(context.Context, intent.Attempt) (intent.Verdict, any, error) { return 17, nil, nil },
			kind:  intent.InDoubt, state: intent.StateInDoubt, reason: "killed",
		},
		"an error, whatever it says": {
			probe: func(context.Context, intent.Attempt) (intent.Verdict, any, error) { return intent.No, nil, errProbe },
			kind:  intent.InDoubt, state: intent.StateInDoubt, reason: errProbe.Error(),
		},
		"a panic": {
			probe: func(context.Context, intent.Attempt) (intent.Verdict, any, error) { panic(errProbe) },
			kind:  intent.InDoubt, state: intent.StateInDoubt, reason: "probe: effect panicked with a *errors.errorString",
		},
		"a cut-off": {
			probe: func(ctx context.Context, _ intent.Attempt) (intent.Verdict, any, error) {
				<-ctx.Done()
				return intent.Unknown, nil, ctx.Err()
			},
			kind: intent.InDoubt, state: intent.StateInDoubt, reason: context.DeadlineExceeded.Error(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, cl class) {
				w := newWorld(t)
				w.probe = c.probe
				before := w.doubt(cl)
				time.Sleep(settled)
				o, err := w.deliver(cl, book)
				wantKind(t, o, err, c.kind)
				if !strings.Contains(o.Reason, c.reason) {
					t.Errorf("reason: got %q, want %q in it", o.Reason, c.reason)
				}
				// The probe may know more later: another look is worth while.
				want := map[intent.Kind]time.Duration{intent.InDoubt: time.Until(before.OpenSince.Add(5 * time.Minute))}[c.kind]
				if o.Wait != want {
					t.Errorf("wait: got %v, want %v", o.Wait, want)
				}
				w.wantRuns(c.runs)
				after := w.wantState(c.state)
				if string(o.Result.JSON) != c.result || string(after.Result.JSON) != c.result {
					t.Errorf("result: got %s in the outcome, %s in the record, want %s", o.Result.JSON, after.Result.JSON, c.result)
				}
				if len(w.asks) != 1 || w.asks[0].Number != 1 || w.asks[0].Downstream != (intent.Key{Scope: "shop", Operation: "charge", ID: orderID}).Downstream() {
					t.Errorf("probe: got attempts %+v, want the one in doubt", w.asks)
				}
				switch {
				case c.kind == intent.InDoubt:
					wantSame(t, after, before)
				case c.runs == 1 && (after.Attempt != 2 || !after.ClaimedAt.After(before.ClaimedAt)):
					t.Errorf("record: got %+v, want a second attempt with a window of its own", after)
				}
			})
		})
	}
}

// A "no" counts only once no request of the lapsed attempt can be under way.
// Until then a doubt is deferred like a running claim; without a probe there is
// nothing to wait for.
func TestProbeWaitsItsTime(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.probe = saysNo
		w.doubt(c) // its lease and the skew margin are over
		for left := settled; left > 0; left -= settled / 4 {
			o, err := w.deliver(c, book)
			wantKind(t, o, err, intent.InProgress)
			if want := 5*time.Minute - settled + left; o.Wait != want || o.Attempt != 1 { // until the first look
				t.Errorf("got a wait of %v for attempt %d, want %v for attempt 1", o.Wait, o.Attempt, want)
			}
			time.Sleep(settled / 4)
		}
		if w.asks != nil {
			t.Errorf("probe is asked before its time: %+v", w.asks)
		}
		o, err := w.deliver(c, book)
		wantKind(t, o, err, intent.Executed)
	})
	t.Run("longer than all looks", func(t *testing.T) {
		both(t, func(t *testing.T, c class) {
			const own = 90 * time.Minute
			w := newWorld(t)
			w.probe = func(context.Context, intent.Attempt) (intent.Verdict, any, error) { return intent.Unknown, nil, nil }
			w.doubt(c)
			var h handler = &intent.Keyed[order]{Config: w.config(), Window: window, Effect: w.run, Probe: w.ask, ProbeAfter: own}
			if c.blind {
				h = &intent.Blind[order]{Config: w.config(), Effect: w.run, Probe: w.ask, ProbeAfter: own}
			}
			o, err := h.Deliver(context.Background(), delivery(t, book))
			wantKind(t, o, err, intent.InProgress)
			if o.Wait != own {
				t.Errorf("got a wait of %v, want %v", o.Wait, own)
			}
			time.Sleep(o.Wait)
			o, err = h.Deliver(context.Background(), delivery(t, book))
			wantKind(t, o, err, intent.InDoubt)
			if o.Wait != 0 || len(w.asks) != 1 {
				t.Errorf("got a wait of %v after %d questions, want none after one", o.Wait, len(w.asks))
			}
		})
	})
	t.Run("own time", func(t *testing.T) {
		both(t, func(t *testing.T, c class) {
			w := newWorld(t)
			w.probe = saysYes
			w.doubt(c)
			var h handler = &intent.Keyed[order]{Config: w.config(), Window: window, Effect: w.run, Probe: w.ask, ProbeAfter: time.Second}
			if c.blind {
				h = &intent.Blind[order]{Config: w.config(), Effect: w.run, Probe: w.ask, ProbeAfter: time.Second}
			}
			for _, want := range []intent.Kind{intent.InProgress, intent.Replayed} {
				o, err := h.Deliver(context.Background(), delivery(t, book))
				wantKind(t, o, err, want)
				time.Sleep(time.Second)
			}
		})
	})
	t.Run("no probe", func(t *testing.T) {
		both(t, func(t *testing.T, c class) {
			w := newWorld(t)
			w.doubt(c)
			o, err := w.deliver(c, book)
			wantKind(t, o, err, intent.InDoubt)
			if o.Wait != 0 {
				t.Errorf("wait: got %v, though nobody is left to ask", o.Wait)
			}
		})
	})
}

// A probe that knows nothing yet is asked again 5, 20 and 60 minutes after the intent
// went in doubt, and each delivery asks it once. Nobody is kept waiting after that; a
// message that comes all the same has it asked again.
func TestProbeIsAskedAgain(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		const own = 7 * time.Second
		w.probe = func(ctx context.Context, a intent.Attempt) (intent.Verdict, any, error) {
			switch len(w.asks) {
			case 1:
				return intent.Yes, receipt("r-wrong"), errProbe
			case 5:
				return saysYes(ctx, a)
			}
			return intent.Unknown, nil, nil
		}
		w.doubt(c)
		time.Sleep(own)
		var h handler = &intent.Keyed[order]{Config: w.config(), Window: window, Effect: w.run, Probe: w.ask, ProbeAfter: own}
		if c.blind {
			h = &intent.Blind[order]{Config: w.config(), Effect: w.run, Probe: w.ask, ProbeAfter: own}
		}
		for n, want := range []time.Duration{5*time.Minute - own, 15 * time.Minute, 40 * time.Minute, 0} {
			o, err := h.Deliver(context.Background(), delivery(t, book))
			wantKind(t, o, err, intent.InDoubt)
			if o.Wait != want || len(w.asks) != n+1 {
				t.Errorf("wait: got %v after %d questions, want %v after %d", o.Wait, len(w.asks), want, n+1)
			}
			time.Sleep(o.Wait)
		}
		o, err := h.Deliver(context.Background(), delivery(t, book))
		wantKind(t, o, err, intent.Replayed)
		if string(o.Result.JSON) != `{"receipt":"r-found"}` {
			t.Errorf("result: got %s, want the probe's last", o.Result.JSON)
		}
		w.wantRuns(0)
	})
}

// The probe's context leaves time for what its verdict leads to.
func TestProbeContext(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.doubt(c)
		time.Sleep(settled)
		end := time.Now().Add(timeout)
		w.probe = func(ctx context.Context, _ intent.Attempt) (intent.Verdict, any, error) {
			if got, ok := ctx.Deadline(); !ok || end.Sub(got) < 500*time.Millisecond {
				t.Errorf("probe's context ends at %v, want 0.5 s before %v", got, end)
			}
			<-ctx.Done()
			return intent.Yes, receipt("r-found"), nil
		}
		o, err := w.deliver(c, book)
		wantKind(t, o, err, intent.Replayed) // its verdict is still written
	})
}

// A Blind effect that ends unknown is parked by its own worker; its probe waits
// for the lease like anyone else's.
func TestBlindParksAndIsProbed(t *testing.T) {
	bubble(t, "Blind", func(t *testing.T) {
		w := newWorld(t)
		w.probe = saysYes
		w.effect = verdicts["an error"].effect
		o, err := w.deliver(blind, book)
		wantKind(t, o, err, intent.InProgress)
		if want := 5 * time.Minute; o.Wait != want {
			t.Errorf("wait: got %v, want %v", o.Wait, want)
		}
		w.wantState(intent.StateInDoubt)
		time.Sleep(o.Wait)
		o, err = w.deliver(blind, book)
		wantKind(t, o, err, intent.Replayed)
		w.wantRuns(1)
	})
}

// Of two verdicts one lands, and both deliveries answer by it.
func TestTwoVerdicts(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.doubt(c)
		time.Sleep(settled)
		var asked atomic.Int32
		w.probe = func(context.Context, intent.Attempt) (intent.Verdict, any, error) {
			if asked.Add(1) == 1 {
				time.Sleep(time.Second)
				return intent.Yes, receipt("r-found"), nil
			}
			time.Sleep(2 * time.Second)
			return intent.No, nil, nil
		}
		outcomes := make(chan intent.Outcome)
		for range 2 {
			go func() {
				o, err := w.deliver(c, book)
				if err != nil {
					t.Error(err)
				}
				outcomes <- o
			}()
		}
		for range 2 {
			wantKind(t, <-outcomes, nil, intent.Replayed)
		}
		w.wantRuns(0)
		if got := w.store.log(); !slices.Contains(got, "replace released") {
			t.Errorf("got writes %v: the second verdict was not tried", got)
		}
	})
}

// A settlement as "no" draws a new owner: a completion of the attempt in doubt
// that arrives after it names the wrong token.
func TestSettlementDrawsOwner(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.probe = saysNo
		before := w.doubt(c)
		time.Sleep(settled)
		w.store.plan = on("replace claimed", 1, fault{err: errors.New("killed"), dropped: true})
		if o, err := w.deliver(c, book); err == nil {
			t.Errorf("got %+v, want the store's error", o)
		}
		after := w.wantState(intent.StateReleased)
		if after.Owner == before.Owner || after.Owner == "" || !after.ClaimedAt.IsZero() || after.Attempt != before.Attempt {
			t.Errorf("record: got %+v, want it free, under a new owner", after)
		}
	})
}
