package dynamo_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// The provider's window is 24 h, an hour of it is kept free, and a claim must
// lapse before that.
const pastWindow = 23 * time.Hour

func TestWindow(t *testing.T) {
	b := newBench(t)
	t.Run("before its end: sent again", func(t *testing.T) {
		p := new(provider)
		d := b.lostAttempt(t, p)
		w := b.later(t, pastWindow-lapse-time.Minute)
		o, err := w.deliver(w.keyed(p), d)
		want(t, "delivery", o, err, intent.Executed)
		p.want(t, 2, 1)
	})
	t.Run("past the provider's window: not re-sent, in doubt", func(t *testing.T) {
		p := new(provider)
		d := b.lostAttempt(t, p)
		p.forget()
		// The claim would lapse after the window's end, though it starts before.
		for _, at := range []time.Duration{pastWindow - 10*time.Second, pastWindow, 30 * 24 * time.Hour} {
			w := b.later(t, at)
			o, err := w.deliver(w.keyed(p), d)
			want(t, "delivery", o, err, intent.InDoubt)
			if o.Reason == "" {
				t.Error("the doubt has no reason")
			}
		}
		if r := b.record(t, d); r.State != intent.StateInDoubt || !r.ExpiresAt.IsZero() {
			t.Errorf("record: got %s, expires %v, want in doubt and never forgotten", r.State, r.ExpiresAt)
		}
		p.want(t, 1, 1)
	})
	t.Run("past the provider's window: a probe settles", func(t *testing.T) {
		for name, c := range map[string]struct {
			verdict intent.Verdict
			err     error
			outcome intent.Kind
			calls   int
		}{
			"yes":     {intent.Yes, nil, intent.Replayed, 1},
			"no":      {intent.No, nil, intent.Executed, 2},
			"unknown": {intent.Unknown, nil, intent.InDoubt, 1},
			"error":   {intent.Yes, errors.New("503"), intent.InDoubt, 1},
		} {
			t.Run(name, func(t *testing.T) {
				p := new(provider)
				d := b.lostAttempt(t, p)
				p.forget()
				w := b.later(t, pastWindow)
				h := w.keyed(p)
				h.Probe = func(_ context.Context, _ charge, a intent.Attempt) (intent.Verdict, any, error) {
					if a.Downstream != p.calls[0] {
						t.Errorf("the probe asks for %q, the effect came under %q", a.Downstream, p.calls[0])
					}
					return c.verdict, "ch_1", c.err
				}
				o, err := w.deliver(h, d)
				want(t, "delivery", o, err, c.outcome)
				if len(p.calls) != c.calls {
					t.Errorf("calls: got %d, want %d", len(p.calls), c.calls)
				}
				if c.verdict == intent.Yes && c.err == nil && string(o.Result.JSON) != `"ch_1"` {
					t.Errorf("result: got %s, want the probe's", o.Result.JSON)
				}
			})
		}
	})
	t.Run("the window starts anew once the effect is known not to have happened", func(t *testing.T) {
		p := new(provider)
		d := message(t, `{"cents":10}`)
		first := b.worker(t)
		if o, err := first.deliver(first.answering(p, intent.NotApplied(errors.New("429"))), d); !errors.Is(err, intent.ErrReleased) {
			t.Errorf("first delivery: got %s, want ErrReleased", describe(o, err))
		}
		second := b.later(t, pastWindow)
		o, err := second.deliver(second.answering(p, errors.New("connection reset")), d)
		if !errors.Is(err, intent.ErrUnknown) {
			t.Errorf("second delivery: got %s, want ErrUnknown", describe(o, err))
		}
		third := b.later(t, 2*pastWindow-lapse-time.Minute)
		o, err = third.deliver(third.keyed(p), d)
		want(t, "third delivery, within the window of the second", o, err, intent.Executed)
		p.want(t, 1, 1)
	})
}

// A probe's "no" counts only when no request of an attempt can still be on its
// way; until then the doubt is put off like a running claim.
func TestProbeWaitsForItsTime(t *testing.T) {
	b := newBench(t)
	p := new(provider)
	d := message(t, `{"cents":10}`)
	first := b.worker(t)
	h := first.blind(p)
	h.Effect = func(context.Context, charge, intent.Attempt) (any, error) { return nil, errors.New("connection reset") }
	o, err := first.deliver(h, d)
	want(t, "first delivery", o, err, intent.InDoubt)
	asked := 0
	probing := func(w *worker) handler {
		h := w.blind(p)
		h.ProbeAfter = 5 * time.Minute
		h.Probe = func(context.Context, charge, intent.Attempt) (intent.Verdict, any, error) {
			asked++
			return intent.No, nil, nil
		}
		return h
	}
	w := b.worker(t)
	// Of the looks at a doubt the second one is the first that counts.
	for _, ahead := range []time.Duration{0, lapse, lapse + 4*time.Minute} {
		w.ahead.Store(int64(ahead))
		o, err = w.deliver(probing(w), d)
		want(t, "delivery after "+ahead.String(), o, err, intent.InProgress)
		if latest := 20*time.Minute - ahead; o.Wait <= 0 || o.Wait > latest {
			t.Errorf("the message is put off for %v, want at most %v", o.Wait, latest)
		}
	}
	if asked != 0 || p.effects != 0 {
		t.Errorf("got %d probes and %d effects before their time, want none", asked, p.effects)
	}
	w.advance(o.Wait)
	o, err = w.deliver(probing(w), d)
	want(t, "delivery when the time has come", o, err, intent.Executed)
	p.want(t, 1, 1)
}
