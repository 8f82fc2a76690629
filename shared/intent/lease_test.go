package intent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// C12: what cannot be finished is not claimed.
func TestC12NoTime(t *testing.T) {
	for _, left := range []time.Duration{-time.Second, 0, time.Millisecond, 999 * time.Millisecond} {
		t.Run(left.String(), func(t *testing.T) {
			both(t, func(t *testing.T, c class) {
				w := newWorld(t)
				ctx, cancel := context.WithTimeout(context.Background(), left)
				defer cancel()
				if o, err := w.handler(c).Deliver(ctx, delivery(t, book)); !errors.Is(err, intent.ErrNoTime) || o.Kind != "" {
					t.Errorf("got %+v and error %v, want ErrNoTime", o, err)
				}
				w.wantRuns(0)
				if got := w.store.log(); got != nil {
					t.Errorf("got writes %v, want none", got)
				}
			})
		})
	}
	t.Run("a context that is over", func(t *testing.T) {
		both(t, func(t *testing.T, c class) {
			w := newWorld(t)
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if o, err := w.handler(c).Deliver(ctx, delivery(t, book)); !errors.Is(err, context.Canceled) || o.Kind != "" {
				t.Errorf("got %+v and error %v, want the context's", o, err)
			}
			if got := w.store.log(); got != nil {
				t.Errorf("got writes %v, want none", got)
			}
		})
	})
}

// The lease outlasts the invocation by its margin; the effect's context ends
// before both, early enough for the completion.
func TestLease(t *testing.T) {
	for left, reserve := range map[time.Duration]time.Duration{
		1100 * time.Millisecond: 550 * time.Millisecond,
		2 * time.Second:         time.Second,
		5 * time.Second:         1200 * time.Millisecond,
		timeout:                 1200 * time.Millisecond,
		15 * time.Minute:        1200 * time.Millisecond,
	} {
		t.Run(left.String(), func(t *testing.T) {
			both(t, func(t *testing.T, c class) {
				w := newWorld(t)
				start := time.Now()
				ctx, cancel := context.WithTimeout(context.Background(), left)
				defer cancel()
				w.effect = func(ctx context.Context, _ intent.Attempt) (any, error) {
					r := w.wantState(intent.StateClaimed)
					if want := start.Add(left + margin); !r.LeaseUntil.Equal(want) || !r.ClaimedAt.Equal(start) {
						t.Errorf("got a lease from %v until %v, want from %v until %v", r.ClaimedAt, r.LeaseUntil, start, want)
					}
					if end, ok := ctx.Deadline(); !ok || !end.Equal(start.Add(left-reserve)) {
						t.Errorf("effect's context ends at %v, want %v before the invocation", end, reserve)
					}
					<-ctx.Done()
					return receipt("r-1"), nil
				}
				o, err := w.handler(c).Deliver(ctx, delivery(t, book))
				wantKind(t, o, err, intent.Executed) // the completion still fits
			})
		})
	}
}

// No effect starts once its lease is over, wherever the worker stalls between
// its claim and the effect, and however long. On its way it looks at the clock
// and at its deadline: a stall hits each look. The effect itself checks that the
// lease in the record still runs.
func TestStallBeforeEffect(t *testing.T) {
	for _, deadline := range []bool{true, false} {
		for look := 1; look <= 16; look++ {
			for _, stall := range []time.Duration{timeout, timeout + margin - time.Millisecond, timeout + margin, lapsed, time.Hour} {
				t.Run(fmt.Sprintf("deadline %t/look %d/%v", deadline, look, stall), func(t *testing.T) {
					both(t, func(t *testing.T, c class) {
						w := newWorld(t)
						ctx := context.Background()
						if deadline {
							var cancel context.CancelFunc
							ctx, cancel = context.WithTimeout(ctx, timeout)
							defer cancel()
						}
						var looks atomic.Int32
						w.stall = func() {
							if looks.Add(1) == int32(look) {
								time.Sleep(stall)
							}
						}
						_, _ = w.handler(c).Deliver(slowly{ctx, w.stall}, delivery(t, book))
						w.stall = nil
						before := len(w.runs)
						if before > 1 {
							t.Errorf("got %d effects in one delivery", before)
						}
						time.Sleep(time.Hour)
						o, err := w.deliver(c, book)
						if err != nil || len(w.runs) == 0 && o.Kind != intent.InDoubt {
							t.Errorf("the next delivery gets %+v and error %v after %d effects", o, err, len(w.runs))
						}
						if c.blind && len(w.runs) > 1 {
							t.Errorf("got %d effects, want one at most", len(w.runs))
						}
					})
				})
			}
		}
	}
}

// slowly is a context that stalls whoever asks for its deadline.
type slowly struct {
	context.Context
	stall func()
}

func (s slowly) Deadline() (time.Time, bool) {
	s.stall()
	return s.Context.Deadline()
}

// A claim that gets no answer is given up while there is time to give it back.
func TestClaimHangs(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.store.plan = on("claim claimed", 1, fault{hangs: true})
		start := time.Now()
		if _, err := w.deliver(c, book); !causedBy(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the store's", err)
		}
		if took, want := time.Since(start), timeout-time.Second; took != want {
			t.Errorf("gives up after %v, want %v", took, want)
		}
		if want := []string{"claim claimed", "amend released"}; !slices.Equal(w.store.log(), want) {
			t.Errorf("got writes %v, want %v", w.store.log(), want)
		}
		w.wantRuns(0)
	})
}

// No write runs into the time that is left for the answer.
func TestCompletionHangs(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.store.plan = on("amend completed", 1, fault{hangs: true})
		start := time.Now()
		if _, err := w.deliver(c, book); !errors.Is(err, intent.ErrUnknown) || !causedBy(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want ErrUnknown and the store's", err)
		}
		if took, want := time.Since(start), timeout-250*time.Millisecond; took != want {
			t.Errorf("gives up after %v, want %v", took, want)
		}
	})
}

// A claim whose answer comes too late for the effect is given back: the next
// delivery need not wait for it.
func TestNoTimeAfterClaim(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.store.plan = on("claim claimed", 1, fault{after: func() { time.Sleep(timeout - 400*time.Millisecond) }})
		if o, err := w.deliver(c, book); !errors.Is(err, intent.ErrNoTime) || o.Kind != "" {
			t.Errorf("got %+v and error %v, want ErrNoTime", o, err)
		}
		w.wantRuns(0)
		if r := w.wantState(intent.StateReleased); !r.ClaimedAt.IsZero() || r.Reason == "" {
			t.Errorf("record: got %+v, want it free, with a reason", r)
		}
		o, err := w.deliver(c, book)
		wantKind(t, o, err, intent.Executed)
		w.wantRuns(1)
	})
}

// A claim whose write failed, or may have, has not begun: it is given back, for
// a Blind one would be in doubt for nothing.
func TestClaimFails(t *testing.T) {
	unreachable := errors.New("store is out of reach")
	for name, f := range map[string]fault{
		"and never arrived": {err: unreachable, dropped: true},
		"but has landed":    {err: unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, c class) {
				w := newWorld(t)
				w.store.plan = on("claim claimed", 1, f)
				if o, err := w.deliver(c, book); !errors.Is(err, unreachable) || o.Kind != "" {
					t.Errorf("got %+v and error %v, want the store's", o, err)
				}
				w.wantRuns(0)
				if got := w.store.record(record); got.State == intent.StateClaimed {
					t.Errorf("record: got %+v, want it free", got)
				}
				o, err := w.deliver(c, book)
				wantKind(t, o, err, intent.Executed)
				w.wantRuns(1)
			})
		})
	}
	bubble(t, "a takeover's, after an unknown attempt", func(t *testing.T) { // its window goes on
		w := newWorld(t)
		before := w.lapse(keyed)
		w.store.plan = on("replace claimed", 1, fault{err: unreachable})
		if _, err := w.deliver(keyed, book); !errors.Is(err, unreachable) {
			t.Errorf("got %v, want the store's error", err)
		}
		if r := w.wantState(intent.StateReleased); !r.ClaimedAt.Equal(before.ClaimedAt) {
			t.Errorf("claimed_at: got %v, want %v", r.ClaimedAt, before.ClaimedAt)
		}
	})
}

// C24: a claim that is refused by a record nobody can then find is made again,
// three times at most.
func TestC24Vanished(t *testing.T) {
	for times, want := range map[int]error{1: nil, 2: nil, 3: intent.ErrVanished} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			both(t, func(t *testing.T, c class) {
				w := newWorld(t)
				left := times
				w.store.plan = func(call) fault { left--; return fault{vanished: left >= 0} }
				o, err := w.deliver(c, book)
				if want != nil {
					if !errors.Is(err, want) || o.Kind != "" {
						t.Errorf("got %+v and error %v, want %v", o, err, want)
					}
					w.wantRuns(0)
					if got := w.store.log(); !slices.Equal(got, []string{"claim claimed", "claim claimed", "claim claimed"}) {
						t.Errorf("got writes %v, want three claims", got)
					}
					return
				}
				wantKind(t, o, err, intent.Executed)
				w.wantRuns(1)
			})
		})
	}
}

// The completion cannot be written: nobody is told that it was, and the claim
// lapses.
func TestCompletionFails(t *testing.T) {
	unreachable := errors.New("store is out of reach")
	for _, name := range []string{"nil", "Refuse", "NotApplied"} {
		v := verdicts[name]
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, c class) {
				w := newWorld(t)
				w.effect = v.effect
				w.store.plan = on("amend "+string(v.freshKeyed.state), 1, fault{err: unreachable, dropped: true})
				o, err := w.deliver(c, book)
				if !errors.Is(err, intent.ErrUnknown) || !errors.Is(err, unreachable) || o.Kind != "" {
					t.Errorf("got %+v and error %v, want ErrUnknown and the store's", o, err)
				}
				if name == "NotApplied" && !causedBy(err, errProvider) {
					t.Errorf("got %v, want the effect's error beside the store's", err)
				}
				w.wantState(intent.StateClaimed)
			})
		})
	}
}
