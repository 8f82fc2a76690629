package dynamo_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
)

// C35: what did not happen is run by the next delivery, at once.
func TestC35_NotAppliedIsReleased(t *testing.T) {
	b := newBench(t)
	notApplied := func(context.Context, charge, intent.Attempt) (any, error) {
		return nil, intent.NotApplied(errors.New("429"))
	}
	for class, failing := range map[string]func(*worker, *provider) handler{
		"Keyed": func(w *worker, p *provider) handler { h := w.keyed(p); h.Effect = notApplied; return h },
		"Blind": func(w *worker, p *provider) handler { h := w.blind(p); h.Effect = notApplied; return h },
		"Ledger": func(w *worker, _ *provider) handler {
			h := w.ledger("")
			h.Effect = func(context.Context, charge, intent.Attempt) (dynamo.Writes, error) {
				return dynamo.Writes{}, intent.NotApplied(errors.New("429"))
			}
			return h
		},
	} {
		t.Run(class, func(t *testing.T) {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			b.open(t, d.Key, 100)
			w := b.worker(t)
			o, err := w.deliver(failing(w, p), d)
			if err == nil || class != "Ledger" && !errors.Is(err, intent.ErrReleased) {
				t.Errorf("first delivery: got %s, want an error, ErrReleased where a claim was", describe(o, err))
			}
			next := b.worker(t)
			o, err = next.deliver(classes[class](next, p, d.Key), d)
			want(t, "next delivery", o, err, intent.Executed)
			b.wantOneEffect(t, class, p, d)
		})
	}
}

// unhurried is a provider that knows only the calls which have ended: two in
// flight under one key both happen.
type unhurried struct {
	mu      sync.Mutex
	ended   map[string]bool
	calls   int
	effects int
}

func (u *unhurried) begin(key string) (end func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls++
	if u.ended[key] {
		return func() {}
	}
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.effects++
		if u.ended == nil {
			u.ended = map[string]bool{}
		}
		u.ended[key] = true
	}
}

// C40: the worker is cut off while its request is in flight. Nobody else may
// call before the claim has lapsed.
func TestC40_CutOffInFlight(t *testing.T) {
	b := newBench(t)
	u := new(unhurried)
	d := message(t, `{"cents":10}`)
	charging := func(w *worker, wait bool, flight *func()) *intent.Keyed[charge] {
		h := w.keyed(nil)
		h.Effect = func(_ context.Context, _ charge, a intent.Attempt) (any, error) {
			end := u.begin(a.Downstream)
			if wait {
				end()
				return nil, nil
			}
			*flight = end
			return nil, errors.New("timeout awaiting response headers")
		}
		return h
	}
	var flight func()
	first := b.worker(t)
	if o, err := first.deliver(charging(first, false, &flight), d); !errors.Is(err, intent.ErrUnknown) {
		t.Errorf("first delivery: got %s, want ErrUnknown", describe(o, err))
	}
	second := b.worker(t)
	o, err := second.deliver(charging(second, true, nil), d)
	want(t, "second delivery, at once", o, err, intent.InProgress)
	if u.calls != 1 {
		t.Errorf("got %d calls while the first is in flight, want 1", u.calls)
	}
	flight()
	third := b.later(t, lapse)
	o, err = third.deliver(charging(third, true, nil), d)
	want(t, "third delivery, after the lease", o, err, intent.Executed)
	if u.calls != 2 || u.effects != 1 {
		t.Errorf("got %d calls and %d effects, want 2 and 1", u.calls, u.effects)
	}
}

// answering is the worker's handler whose effect ends with the verdict.
func (w *worker) answering(p *provider, verdict error) *intent.Keyed[charge] {
	h := w.keyed(p)
	h.Effect = func(context.Context, charge, intent.Attempt) (any, error) { return nil, verdict }
	return h
}

// lostAttempt is an intent whose first attempt charged and crashed.
func (b *bench) lostAttempt(t *testing.T, p *provider) intent.Delivery {
	t.Helper()
	d := message(t, `{"cents":10}`)
	first := b.worker(t)
	first.plan = on("UpdateItem", crashBefore)(first)
	_, _ = first.deliver(first.keyed(p), d)
	p.want(t, 1, 1)
	return d
}

// C41: an attempt that nobody knows the end of binds the intent to the window,
// whatever a later attempt says of itself.
func TestC41_OnlyTheAttemptThatSetTheWindowClearsIt(t *testing.T) {
	b := newBench(t)
	t.Run("released by attempt 2", func(t *testing.T) {
		p := new(provider)
		d := b.lostAttempt(t, p)
		claimed := b.record(t, d).ClaimedAt
		second := b.later(t, 20*time.Hour)
		o, err := second.deliver(second.answering(p, intent.Answered(intent.NotApplied(errors.New("429")))), d)
		if !errors.Is(err, intent.ErrReleased) {
			t.Errorf("second delivery: got %s, want ErrReleased", describe(o, err))
		}
		if r := b.record(t, d); r.State != intent.StateReleased || !r.ClaimedAt.Equal(claimed) {
			t.Errorf("record: got %s with claimed_at %v, want released with %v", r.State, r.ClaimedAt, claimed)
		}
		p.forget()
		third := b.later(t, 24*time.Hour)
		o, err = third.deliver(third.keyed(p), d)
		want(t, "third delivery, past the window", o, err, intent.InDoubt)
		p.want(t, 1, 1)
	})
	t.Run("released by attempt 1", func(t *testing.T) {
		p := new(provider)
		d := message(t, `{"cents":10}`)
		first := b.worker(t)
		if o, err := first.deliver(first.answering(p, intent.NotApplied(errors.New("429"))), d); !errors.Is(err, intent.ErrReleased) {
			t.Errorf("first delivery: got %s, want ErrReleased", describe(o, err))
		}
		if r := b.record(t, d); r.State != intent.StateReleased || !r.ClaimedAt.IsZero() {
			t.Errorf("record: got %s with claimed_at %v, want released without", r.State, r.ClaimedAt)
		}
		second := b.later(t, 48*time.Hour)
		o, err := second.deliver(second.keyed(p), d)
		want(t, "second delivery, days later", o, err, intent.Executed)
		p.want(t, 1, 1)
	})
}

// C43: after a crash the effect's own check sees its own charge. It must not be
// recorded as a refusal of the charge that was made.
func TestC43_OwnCheckAfterACrash(t *testing.T) {
	b := newBench(t)
	for name, own := range map[string]error{
		"refused":     intent.Refuse("already paid"),
		"not applied": intent.NotApplied(errors.New("already paid")),
	} {
		t.Run("attempt 2 by its own check/"+name, func(t *testing.T) {
			p := new(provider)
			d := b.lostAttempt(t, p)
			second := b.later(t, lapse)
			if o, err := second.deliver(second.answering(p, own), d); !errors.Is(err, intent.ErrUnknown) {
				t.Errorf("second delivery: got %s, want ErrUnknown", describe(o, err))
			}
			if got := b.record(t, d).State; got != intent.StateClaimed {
				t.Errorf("state: got %s, want claimed until it lapses", got)
			}
			third := b.later(t, 2*lapse)
			o, err := third.deliver(third.keyed(p), d)
			want(t, "third delivery", o, err, intent.Executed)
			p.want(t, 2, 1)
		})
	}
	t.Run("attempt 2 by the provider's answer to its key", func(t *testing.T) {
		p := new(provider)
		d := message(t, `{"cents":10}`)
		first := b.worker(t)
		_, _ = first.deliver(first.answering(p, errors.New("connection reset")), d)
		second := b.later(t, lapse)
		o, err := second.deliver(second.answering(p, intent.Answered(intent.Refuse("declined"))), d)
		want(t, "second delivery", o, err, intent.Refused)
		o, err = second.deliver(second.keyed(p), d)
		want(t, "third delivery", o, err, intent.Refused)
		if string(o.Result.JSON) != `"declined"` {
			t.Errorf("result: got %s, want the refusal's", o.Result.JSON)
		}
		p.want(t, 0, 0)
	})
	t.Run("attempt 1 by its own check", func(t *testing.T) {
		p := new(provider)
		d := message(t, `{"cents":10}`)
		first := b.worker(t)
		o, err := first.deliver(first.answering(p, intent.Refuse("unknown user")), d)
		want(t, "first delivery", o, err, intent.Refused)
		o, err = first.deliver(first.keyed(p), d)
		want(t, "second delivery", o, err, intent.Refused)
		p.want(t, 0, 0)
	})
}

// A panic is an outcome that nobody knows.
func TestPanicIsUnknown(t *testing.T) {
	b := newBench(t)
	p := new(provider)
	d := message(t, `{"cents":10}`)
	first := b.worker(t)
	h := first.keyed(p)
	h.Effect = func(_ context.Context, _ charge, a intent.Attempt) (any, error) {
		p.charge(a.Downstream)
		panic("index out of range")
	}
	_, err := first.deliver(h, d)
	var panicked *intent.PanicError
	if !errors.Is(err, intent.ErrUnknown) || !errors.As(err, &panicked) || len(panicked.Stack) == 0 {
		t.Errorf("first delivery: got %v, want ErrUnknown with the panic", err)
	}
	second := b.later(t, lapse)
	o, err := second.deliver(second.keyed(p), d)
	want(t, "second delivery", o, err, intent.Executed)
	p.want(t, 2, 1)
}
