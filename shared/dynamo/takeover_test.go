package dynamo_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// C10: the provider acts, its answer does not come in time, the lease lapses.
func TestC10_TimeoutInsideTheEffect(t *testing.T) {
	b := newBench(t)
	cutOff := func(act func(key string)) intent.Effect[charge] {
		return func(ctx context.Context, _ charge, a intent.Attempt) (any, error) {
			act(a.Downstream)
			<-ctx.Done()
			return nil, ctx.Err()
		}
	}
	t.Run("Keyed runs again under the same downstream key", func(t *testing.T) {
		t.Parallel() // it waits
		p := new(provider)
		d := message(t, `{"cents":10}`)
		first := b.worker(t)
		h := first.keyed(p)
		h.Effect = cutOff(func(key string) { p.charge(key) })
		ctx := deadline(t, 2500*time.Millisecond)
		if o, err := h.Deliver(ctx, d); !errors.Is(err, intent.ErrUnknown) {
			t.Errorf("first delivery: got %s, want ErrUnknown", describe(o, err))
		}
		if ctx.Err() != nil {
			t.Error("the answer came after the deadline")
		}
		second := b.later(t, lapse)
		o, err := second.deliver(second.keyed(p), d)
		want(t, "second delivery", o, err, intent.Executed)
		if o.Attempt != 2 || string(o.Result.JSON) != `"ch_1"` {
			t.Errorf("second delivery: got attempt %d and result %s, want 2 and the first charge", o.Attempt, o.Result.JSON)
		}
		p.want(t, 2, 1)
	})
	t.Run("Blind is in doubt", func(t *testing.T) {
		t.Parallel()
		p := new(provider)
		d := message(t, `{"cents":10}`)
		first := b.worker(t)
		h := first.blind(p)
		h.Effect = cutOff(func(string) { p.send() })
		o, err := h.Deliver(deadline(t, 2500*time.Millisecond), d)
		want(t, "first delivery", o, err, intent.InDoubt)
		second := b.later(t, lapse)
		o, err = second.deliver(second.blind(p), d)
		want(t, "second delivery", o, err, intent.InDoubt)
		p.want(t, 1, 1)
	})
}

// C19: the move to the dead-letter queue happens on receive N+1. In the gap
// after receive N, and as long as the message lies there, the claim stands.
func TestC19_ClaimSurvivesTheMove(t *testing.T) {
	b := newBench(t)
	t.Run("the last receive crashed", func(t *testing.T) {
		p := new(provider)
		d := message(t, `{"cents":10}`)
		last := b.worker(t)
		last.plan = on("UpdateItem", crashBefore)(last)
		_, _ = last.deliver(last.keyed(p), d)
		if expires, ok := b.item(t, intentOf(d))["expires_at"]; ok {
			t.Errorf("an undecided record has expires_at %v: TTL would forget the effect", expires)
		}
		redriven := repeated(t, d, "message-2", string(d.Payload.Canonical()))
		soon := b.later(t, 20*time.Hour)
		o, err := soon.deliver(soon.keyed(p), redriven)
		want(t, "redriven within the window", o, err, intent.Executed)
		if o.Attempt != 2 || string(o.Result.JSON) != `"ch_1"` {
			t.Errorf("redriven: got attempt %d and result %s, want 2 and the first charge", o.Attempt, o.Result.JSON)
		}
		p.want(t, 2, 1)
	})
	t.Run("the last receive crashed, redriven past the window", func(t *testing.T) {
		p := new(provider)
		d := message(t, `{"cents":10}`)
		last := b.worker(t)
		last.plan = on("UpdateItem", crashBefore)(last)
		_, _ = last.deliver(last.keyed(p), d)
		p.forget()
		late := b.later(t, 13*24*time.Hour)
		o, err := late.deliver(late.keyed(p), repeated(t, d, "message-2", string(d.Payload.Canonical())))
		want(t, "redriven", o, err, intent.InDoubt)
		p.want(t, 1, 1)
	})
	t.Run("the last receive still runs", func(t *testing.T) {
		p := new(provider)
		d := message(t, `{"cents":10}`)
		redriven := repeated(t, d, "message-2", string(d.Payload.Canonical()))
		last, next := b.worker(t), b.worker(t)
		h := last.keyed(p)
		h.Effect = func(_ context.Context, _ charge, a intent.Attempt) (any, error) {
			o, err := next.deliver(next.keyed(p), redriven)
			want(t, "redriven meanwhile", o, err, intent.InProgress)
			return p.charge(a.Downstream), nil
		}
		o, err := last.deliver(h, d)
		want(t, "last delivery", o, err, intent.Executed)
		o, err = next.deliver(next.keyed(p), redriven)
		want(t, "redriven", o, err, intent.Replayed)
		p.want(t, 1, 1)
	})
}

// C37: between a taker's look and its write the owner's own write lands, which
// was still in flight.
func TestC37_OwnersWriteLandsBeforeTheTakeover(t *testing.T) {
	b := newBench(t)
	for class, h := range map[string]func(*worker, *provider) handler{
		"Keyed": func(w *worker, p *provider) handler { return w.keyed(p) },
		"Blind": func(w *worker, p *provider) handler { return w.blind(p) },
	} {
		t.Run(class+"/completion", func(t *testing.T) {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			owner, taker := b.worker(t), b.later(t, lapse)
			sent, arrive, landed := make(chan struct{}), make(chan struct{}), make(chan struct{})
			owner.plan = on("UpdateItem", func(*worker) intenttest.Fault {
				return intenttest.Fault{Before: func() { close(sent); <-arrive }}
			})(owner)
			go func() {
				defer close(landed)
				o, err := owner.deliver(h(owner, p), d)
				want(t, "owner", o, err, intent.Executed)
			}()
			taker.plan = on("UpdateItem", func(*worker) intenttest.Fault {
				return intenttest.Fault{Before: func() { close(arrive); <-landed }}
			})(taker)
			<-sent
			o, err := taker.deliver(h(taker, p), d)
			want(t, "taker", o, err, intent.Replayed)
			p.want(t, 1, 1)
			if got := taker.faults.Counts()["UpdateItem"]; got != 1 {
				t.Errorf("the taker tried %d times to take over, want 1", got)
			}
		})
		t.Run(class+"/renewal", func(t *testing.T) {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			owner, taker := b.worker(t), b.later(t, lapse)
			owner.plan = on("PutItem", crashAfter)(owner)
			_, _ = owner.deliver(h(owner, p), d)
			renewed := b.record(t, d)
			renewed.LeaseUntil = renewed.LeaseUntil.Add(time.Hour)
			taker.plan = on("UpdateItem", func(*worker) intenttest.Fault {
				return intenttest.Fault{Before: func() {
					if _, err := b.worker(t).store.Amend(t.Context(), renewed); err != nil {
						t.Error(err)
					}
				}}
			})(taker)
			o, err := taker.deliver(h(taker, p), d)
			want(t, "taker", o, err, intent.InProgress)
			if got := b.record(t, d); !reflect.DeepEqual(got, renewed) {
				t.Errorf("record: got %+v, want the renewed %+v", got, renewed)
			}
			p.want(t, 0, 0)
		})
	}
}

// C38: a park's reply is lost, an operator settles, the SDK's late copy of the
// park lands.
func TestC38_LateCopyOfAPark(t *testing.T) {
	b := newBench(t)
	for _, verdict := range []intent.State{intent.StateCompleted, intent.StateRefused, intent.StateReleased} {
		t.Run("settled to "+string(verdict), func(t *testing.T) {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			w, operator := b.worker(t), b.worker(t)
			var settled item
			w.plan = on("UpdateItem", func(*worker) intenttest.Fault {
				return intenttest.Fault{LoseReply: true, After: func() {
					doubt := b.record(t, d)
					next := doubt.Finish(verdict, "by the operator", time.Now(), time.Hour)
					if verdict == intent.StateReleased {
						next = doubt
						next.State, next.Owner, next.ClaimedAt = verdict, intent.NewOwner(), time.Time{}
					}
					if got, err := operator.store.Replace(t.Context(), doubt, next); err != nil || got.State != verdict {
						t.Errorf("settle: got %+v, %v", got, err)
					}
					settled = b.item(t, intentOf(d))
				}}
			})(w)
			h := w.blind(p)
			h.Effect = func(context.Context, charge, intent.Attempt) (any, error) {
				p.send()
				return nil, errors.New("connection reset")
			}
			o, err := w.deliver(h, d)
			switch verdict {
			case intent.StateCompleted:
				want(t, "late copy", o, err, intent.Replayed)
			case intent.StateRefused:
				want(t, "late copy", o, err, intent.Refused)
			default:
				if !errors.Is(err, intent.ErrLost) {
					t.Errorf("late copy: got %s, want ErrLost", describe(o, err))
				}
			}
			if got := w.faults.Counts()["UpdateItem"]; got != 2 {
				t.Errorf("parks sent: got %d, want the one whose reply was lost and its copy", got)
			}
			wantUntouched(t, b, d, settled)
			p.want(t, 1, 1)
		})
	}
}

// C39: a claim is applied and its reply lost; before the SDK repeats it the
// lease ends, and another worker parks, probes "no" and releases.
func TestC39_ClaimRepeatedAfterItsLease(t *testing.T) {
	b := newBench(t)
	no := func(context.Context, charge, intent.Attempt) (intent.Verdict, any, error) { return intent.No, nil, nil }
	for name, c := range map[string]struct {
		// takeover is the fate of the other worker's third update: it parks, settles
		// and takes over.
		takeover intenttest.Fault
		outcome  intent.Kind
	}{
		"released by the other":         {intenttest.Fault{Drop: true}, intent.Executed},
		"released and run by the other": {intenttest.Fault{}, intent.Replayed},
	} {
		t.Run(name, func(t *testing.T) {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			w, other := b.worker(t), b.later(t, lapse+time.Minute)
			other.plan = func(call intenttest.Call) intenttest.Fault {
				if call.Operation == "UpdateItem" && call.Number == 3 {
					f := c.takeover
					if f.Drop {
						f.Before = other.crash
					}
					return f
				}
				return intenttest.Fault{}
			}
			w.plan = on("PutItem", func(*worker) intenttest.Fault {
				return intenttest.Fault{LoseReply: true, After: func() {
					h := other.blind(p)
					h.Probe = no
					first := b.record(t, d)
					_, _ = other.deliver(h, d)
					if r := b.record(t, d); c.takeover.Drop && (r.State != intent.StateReleased || r.Owner == first.Owner) {
						t.Errorf("record: got %s by %s, want it released and no longer of %s", r.State, r.Owner, first.Owner)
					}
					w.advance(lapse + time.Minute)
				}}
			})(w)
			o, err := w.deliver(w.blind(p), d)
			want(t, "late claim", o, err, c.outcome)
			if c.outcome == intent.Executed && o.Attempt != 2 {
				t.Errorf("attempt: got %d, want 2: the first claim was settled away", o.Attempt)
			}
			third := b.later(t, 3*lapse)
			o, err = third.deliver(third.blind(p), d)
			want(t, "third delivery", o, err, intent.Replayed)
			p.want(t, 1, 1)
		})
	}
}

// C39: a claim's reply is lost, and another worker, whose clock runs ahead by
// more than the margins, parks it before the SDK repeats it. By its own clock
// the lease still runs, but the claim is no longer one.
func TestC39_ClaimRepeatedAfterItWasParked(t *testing.T) {
	b := newBench(t)
	p := new(provider)
	d := message(t, `{"cents":10}`)
	w, other := b.worker(t), b.later(t, lapse)
	w.plan = on("PutItem", func(*worker) intenttest.Fault {
		return intenttest.Fault{LoseReply: true, After: func() {
			o, err := other.deliver(other.blind(p), d)
			want(t, "other", o, err, intent.InDoubt)
		}}
	})(w)
	o, err := w.deliver(w.blind(p), d)
	want(t, "late claim", o, err, intent.InDoubt)
	p.want(t, 0, 0)
}

// Others wait for the lease and the skew margin, to the millisecond.
func TestSkewMargin(t *testing.T) {
	b := newBench(t)
	for after, kind := range map[time.Duration]intent.Kind{
		0:                       intent.InProgress,
		1999 * time.Millisecond: intent.InProgress,
		2 * time.Second:         intent.Executed,
	} {
		t.Run(after.String(), func(t *testing.T) {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			b.standing(t, d, intent.StateClaimed)
			now := b.record(t, d).LeaseUntil.Add(after)
			w := b.worker(t)
			h := w.keyed(p)
			h.Now = func() time.Time { return now }
			o, err := w.deliver(h, d)
			want(t, "delivery", o, err, kind)
			if kind == intent.InProgress && o.Wait != 2*time.Second-after {
				t.Errorf("the message is put off for %v, want %v", o.Wait, 2*time.Second-after)
			}
		})
	}
}
