package intent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// lease is the length of a claim made under no deadline.
const lease = 30 * time.Second

// Without a deadline the claim is renewed for as long as the effect runs, and
// no longer.
func TestHeartbeat(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.effect = func(ctx context.Context, _ intent.Attempt) (any, error) {
			if r := w.store.record(record); !r.LeaseUntil.Equal(time.Now().Add(lease)) {
				t.Errorf("got a lease of %v, want %v", time.Until(r.LeaseUntil), lease)
			}
			first := w.store.record(record)
			for range 100 {
				time.Sleep(time.Second)
				r := w.wantState(intent.StateClaimed)
				if left := time.Until(r.LeaseUntil); left < lease/2 {
					t.Errorf("got %v left of the lease at %v, want it renewed", left, time.Now())
				}
				if r.LeaseUntil = first.LeaseUntil; r.Owner != first.Owner || r.Attempt != first.Attempt || !r.ClaimedAt.Equal(first.ClaimedAt) {
					t.Errorf("a renewal changes more than the lease: %+v, was %+v", r, first)
				}
				o, err := w.deliver(c, book)
				wantKind(t, o, err, intent.InProgress)
			}
			if ctx.Err() != nil {
				t.Error("the effect is cancelled, though its lease runs")
			}
			return receipt("r-1"), nil
		}
		o, err := w.handler(c).Deliver(context.Background(), delivery(t, book))
		wantKind(t, o, err, intent.Executed)
		w.wantRuns(1)
		writes := len(w.store.log())
		time.Sleep(time.Hour)
		if got := w.store.log(); len(got) != writes {
			t.Errorf("renews a claim that has ended: %v", got[writes:])
		}
	})
}

// Under a deadline the lease outlasts the invocation: nothing renews it, and nothing
// cuts an effect off that takes longer than a renewal would wait.
func TestNoHeartbeatUnderADeadline(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.effect = func(ctx context.Context, _ intent.Attempt) (any, error) {
			first := w.store.record(record).LeaseUntil
			time.Sleep(2 * lease)
			if r := w.wantState(intent.StateClaimed); !r.LeaseUntil.Equal(first) || ctx.Err() != nil {
				t.Errorf("got a lease until %v and a context that says %v, want %v and a running one", r.LeaseUntil, ctx.Err(), first)
			}
			return receipt("r-1"), nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		o, err := w.handler(c).Deliver(ctx, delivery(t, book))
		wantKind(t, o, err, intent.Executed)
		w.wantRuns(1)
	})
}

// An effect may outlast many leases and still end in doubt, or unknown, by its
// last lease and not by its first.
func TestHeartbeatThenUnknown(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.effect = func(context.Context, intent.Attempt) (any, error) {
			time.Sleep(95 * time.Second)
			return nil, errProvider
		}
		o, err := w.handler(c).Deliver(context.Background(), delivery(t, book))
		state := intent.StateInDoubt
		if !c.blind {
			if !errors.Is(err, intent.ErrUnknown) || errors.Is(err, intent.ErrLost) {
				t.Errorf("got %v, want ErrUnknown and no word of a lost claim", err)
			}
			state = intent.StateClaimed
		} else {
			wantKind(t, o, err, intent.InDoubt)
		}
		if r, want := w.wantState(state), 25*time.Second; time.Until(r.LeaseUntil) != want {
			t.Errorf("got %v left of the lease, want %v", time.Until(r.LeaseUntil), want)
		}
	})
}

// A renewal that fails cancels the effect, before the lease is over.
func TestRenewalFails(t *testing.T) {
	unreachable := errors.New("store is out of reach")
	becomes := func(state intent.State) func(*world) fault {
		return func(w *world) fault { return fault{before: func() { w.standing(state) }} }
	}
	for name, c := range map[string]struct {
		fault func(*world) fault
		after time.Duration // the lease was last taken
		keyed error         // beside ErrUnknown
		blind intent.Kind
	}{
		"out of reach": {func(*world) fault { return fault{err: unreachable, dropped: true} }, lease / 3, unreachable, intent.InDoubt},
		"no answer":    {func(*world) fault { return fault{hangs: true} }, lease - lease/6 - time.Millisecond, context.DeadlineExceeded, intent.InDoubt},
		"taken over":   {becomes(intent.StateClaimed), lease / 3, nil, intent.InProgress},
		"put in doubt": {becomes(intent.StateInDoubt), lease / 3, nil, intent.InDoubt},
		"parked, still its own": {func(w *world) fault { return fault{before: func() { w.becomes(intent.StateInDoubt) }} },
			lease / 3, nil, intent.InDoubt},
		"settled as yes": {becomes(intent.StateCompleted), lease / 3, nil, intent.Replayed},
		"settled as no":  {becomes(intent.StateReleased), lease / 3, nil, ""},
	} {
		for renewal := 1; renewal <= 2; renewal++ {
			t.Run(fmt.Sprintf("%s, renewal %d", name, renewal), func(t *testing.T) {
				both(t, func(t *testing.T, cl class) {
					w := newWorld(t)
					w.store.plan = on("amend claimed", renewal, c.fault(w))
					renewed := time.Now().Add(time.Duration(renewal-1) * lease / 3)
					w.effect = func(ctx context.Context, _ intent.Attempt) (any, error) {
						<-ctx.Done()
						if took := time.Since(renewed); took != c.after {
							t.Errorf("effect is cancelled %v after the lease was last taken, want %v", took, c.after)
						}
						return nil, ctx.Err()
					}
					o, err := w.handler(cl).Deliver(context.Background(), delivery(t, book))
					if cl.blind && c.blind != "" {
						wantKind(t, o, err, c.blind)
						return
					}
					if !errors.Is(err, intent.ErrLost) || o.Kind != "" {
						t.Errorf("got %+v and error %v, want ErrLost", o, err)
					}
					if !cl.blind && (!errors.Is(err, intent.ErrUnknown) || c.keyed != nil && !errors.Is(err, c.keyed)) {
						t.Errorf("got %v, want ErrUnknown and %v", err, c.keyed)
					}
				})
			})
		}
	}
}

// A renewal that is under way when the effect ends is withdrawn, and is no sign
// of a lost claim.
func TestEffectEndsDuringRenewal(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.store.plan = on("amend claimed", 1, fault{hangs: true})
		start := time.Now()
		w.effect = func(context.Context, intent.Attempt) (any, error) {
			time.Sleep(lease/3 + time.Second)
			return nil, errProvider
		}
		o, err := w.handler(c).Deliver(context.Background(), delivery(t, book))
		if took := time.Since(start); took != lease/3+time.Second {
			t.Errorf("ends after %v", took)
		}
		if c.blind {
			wantKind(t, o, err, intent.InDoubt)
			if strings.Contains(o.Reason, intent.ErrLost.Error()) {
				t.Errorf("got reason %q", o.Reason)
			}
		} else if !errors.Is(err, intent.ErrUnknown) || errors.Is(err, intent.ErrLost) {
			t.Errorf("got %v, want ErrUnknown and no word of a lost claim", err)
		}
	})
}

// A release that is held up until another has parked the claim, and a probe's "no"
// would count, is told of a doubt that a probe is left to settle: the message comes
// again, and is not quarantined.
func TestReleaseHeldUpUntilInDoubt(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.probe = saysNo
		w.effect = func(context.Context, intent.Attempt) (any, error) { return nil, intent.NotApplied(errProvider) }
		w.store.plan = on("amend released", 1, fault{before: func() {
			time.Sleep(lapsed + settled)
			w.becomes(intent.StateInDoubt)
		}})
		o, err := w.handler(c).Deliver(context.Background(), delivery(t, book))
		wantKind(t, o, err, intent.InDoubt)
		if want := 5 * time.Minute; o.Wait != want {
			t.Errorf("wait: got %v, want %v", o.Wait, want)
		}
		w.effect = newWorld(t).effect
		o, err = w.deliver(c, book)
		wantKind(t, o, err, intent.Executed)
	})
}
