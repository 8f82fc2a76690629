package dynamo_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"testing"

	"github.com/singleeffect/once/shared/intent"
)

// classes are the handlers of each class. Their effects are counted at the
// provider and, for Ledger, in the account that has the name of the key.
var classes = map[string]func(w *worker, p *provider, account string) handler{
	"Keyed":  func(w *worker, p *provider, _ string) handler { return w.keyed(p) },
	"Blind":  func(w *worker, p *provider, _ string) handler { return w.blind(p) },
	"Ledger": func(w *worker, p *provider, account string) handler { return w.ledger(account) },
}

// executed makes an intent of which one delivery was executed.
func (b *bench) executed(t *testing.T, class string, p *provider) intent.Delivery {
	t.Helper()
	d := message(t, `{"cents":10}`)
	b.open(t, d.Key, 100)
	w := b.worker(t)
	o, err := w.deliver(classes[class](w, p, d.Key), d)
	want(t, "first delivery", o, err, intent.Executed)
	return d
}

// wantOneEffect of the class's kind.
func (b *bench) wantOneEffect(t *testing.T, class string, p *provider, d intent.Delivery) {
	t.Helper()
	if class == "Ledger" {
		p.want(t, 0, 0)
		b.wantBalance(t, d.Key, 90)
		return
	}
	p.want(t, 1, 1)
}

// C09: a completed duplicate is acknowledged and its record stays as it is. C15:
// so is one with another message id.
func TestC09_C15_CompletedDuplicate(t *testing.T) {
	b := newBench(t)
	for class, h := range classes {
		for name, id := range map[string]string{"C09 redelivered": "message-1", "C15 redriven with a new message id": "message-2"} {
			t.Run(class+"/"+name, func(t *testing.T) {
				p := new(provider)
				d := b.executed(t, class, p)
				before := b.item(t, intentOf(d))
				w := b.worker(t)
				again := repeated(t, d, id, `{ "cents" : 10 }`)
				o, err := w.deliver(h(w, p, d.Key), again)
				want(t, "duplicate", o, err, intent.Replayed)
				if !o.Done() {
					t.Error("the duplicate is not acknowledged")
				}
				wantUntouched(t, b, d, before)
				b.wantOneEffect(t, class, p, d)
				if got := w.writes(); got != 1 {
					t.Errorf("requests that write: got %d, want 1 for a duplicate", got)
				}
				if reads := w.faults.Counts()["GetItem"]; reads != 0 {
					t.Errorf("reads: got %d, want 0: the failed condition brings the record", reads)
				}
			})
		}
	}
}

// C26: neither a rejected duplicate nor a conflicting one changes a byte of the
// running owner's record. C33: the fingerprint is checked on the path where the
// failed condition brings the record, running or completed.
func TestC26_C33_RecordOfTheRunningOwner(t *testing.T) {
	b := newBench(t)
	for class, start := range map[string]func(*worker, *provider, intent.Effect[charge]) handler{
		"Keyed": func(w *worker, p *provider, e intent.Effect[charge]) handler { h := w.keyed(p); h.Effect = e; return h },
		"Blind": func(w *worker, p *provider, e intent.Effect[charge]) handler { h := w.blind(p); h.Effect = e; return h },
	} {
		t.Run(class, func(t *testing.T) {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			duplicates := func(running intent.Kind) {
				before := b.item(t, intentOf(d))
				w := b.worker(t)
				o, err := w.deliver(classes[class](w, p, d.Key), d)
				want(t, "duplicate", o, err, running)
				o, err = w.deliver(classes[class](w, p, d.Key), repeated(t, d, "message-2", `{"cents":11}`))
				want(t, "C33 another payload", o, err, intent.Conflict)
				wantUntouched(t, b, d, before)
			}
			w := b.worker(t)
			o, err := w.deliver(start(w, p, func(context.Context, charge, intent.Attempt) (any, error) {
				duplicates(intent.InProgress)
				return p.send(), nil
			}), d)
			want(t, "first delivery", o, err, intent.Executed)
			duplicates(intent.Replayed)
			p.want(t, 1, 1)
		})
	}
	t.Run("Ledger", func(t *testing.T) {
		p := new(provider)
		d := b.executed(t, "Ledger", p)
		before := b.item(t, intentOf(d))
		w := b.worker(t)
		o, err := w.deliver(w.ledger(d.Key), repeated(t, d, "message-2", `{"cents":11}`))
		want(t, "C33 another payload", o, err, intent.Conflict)
		wantUntouched(t, b, d, before)
		b.wantBalance(t, d.Key, 90)
	})
	t.Run("a lapsed claim is not taken over for another payload", func(t *testing.T) {
		p := new(provider)
		d := message(t, `{"cents":10}`)
		first := b.worker(t)
		first.plan = on("PutItem", crashAfter)(first)
		_, _ = first.deliver(first.keyed(p), d)
		before := b.item(t, intentOf(d))
		late := b.later(t, lapse)
		o, err := late.deliver(late.keyed(p), repeated(t, d, "message-2", `{"cents":11}`))
		want(t, "C33 another payload", o, err, intent.Conflict)
		wantUntouched(t, b, d, before)
		p.want(t, 0, 0)
	})
}

// A record whose effect is known not to have happened binds nobody to its
// payload.
func TestReleasedRecordTakesAnotherPayload(t *testing.T) {
	b := newBench(t)
	p := new(provider)
	d := message(t, `{"cents":10}`)
	w := b.worker(t)
	h := w.keyed(p)
	h.Effect = func(context.Context, charge, intent.Attempt) (any, error) {
		return nil, intent.NotApplied(errors.New("429"))
	}
	if o, err := w.deliver(h, d); !errors.Is(err, intent.ErrReleased) {
		t.Fatalf("first delivery: got %s, want ErrReleased", describe(o, err))
	}
	corrected := repeated(t, d, "message-2", `{"cents":11}`)
	o, err := w.deliver(w.keyed(p), corrected)
	want(t, "corrected payload", o, err, intent.Executed)
	o, err = w.deliver(w.keyed(p), d)
	want(t, "first payload", o, err, intent.Conflict)
	p.want(t, 1, 1)
}

// C27: an outer operation calls an inner one with the same key on the same store.
func TestC27_NestedOperation(t *testing.T) {
	b := newBench(t)
	p := new(provider)
	d := message(t, `{"cents":10}`)
	w := b.worker(t)
	inner := w.keyed(p)
	inner.Operation = "fee"
	outer := w.keyed(p)
	outer.Effect = func(ctx context.Context, _ charge, a intent.Attempt) (any, error) {
		if o, err := inner.Deliver(ctx, d); err != nil || o.Kind != intent.Executed {
			return nil, errors.New("inner: " + describe(o, err))
		}
		return p.charge(a.Downstream), nil
	}
	o, err := w.deliver(outer, d)
	want(t, "outer", o, err, intent.Executed)
	for operation, result := range map[string]string{"fee": `"ch_1"`, "charge": `"ch_2"`} {
		o, err := intent.Lookup(t.Context(), w.store, intent.Key{Scope: "test", Operation: operation, ID: d.Key})
		want(t, operation, o, err, intent.Replayed)
		if string(o.Result.JSON) != result {
			t.Errorf("%s: got result %s, want %s", operation, o.Result.JSON, result)
		}
	}
	o, err = w.deliver(outer, d)
	want(t, "redelivery", o, err, intent.Replayed)
	if len(p.calls) != 2 || p.effects != 2 {
		t.Errorf("got %d calls and %d effects, want 2 of each", len(p.calls), p.effects)
	}
}

// C28: the effect changes its decoded input; key and fingerprint are fixed.
func TestC28_EffectChangesItsInput(t *testing.T) {
	b := newBench(t)
	p := new(provider)
	d := message(t, `{"idempotency_key":"k","lines":[{"cents":10}]}`)
	w := b.worker(t)
	h := &intent.Keyed[map[string]any]{
		Config: w.config(), Window: w.keyed(p).Window,
		Effect: func(_ context.Context, payload map[string]any, a intent.Attempt) (any, error) {
			payload["idempotency_key"] = "another"
			payload["lines"].([]any)[0].(map[string]any)["cents"] = 11
			return p.charge(a.Downstream), nil
		},
	}
	o, err := w.deliver(h, d)
	want(t, "first delivery", o, err, intent.Executed)
	if got, want := b.record(t, d).Fingerprint, d.Fingerprint; got != want {
		t.Errorf("fingerprint: got %v, want %v", got, want)
	}
	o, err = w.deliver(h, repeated(t, d, "message-1", string(d.Payload.Canonical())))
	want(t, "redelivery", o, err, intent.Replayed)
	p.want(t, 1, 1)

	raw := message(t, `{"cents":10}`)
	o, err = w.deliver(&intent.Keyed[json.RawMessage]{
		Config: w.config(), Window: h.Window,
		Effect: func(_ context.Context, payload json.RawMessage, _ intent.Attempt) (any, error) {
			clear(payload)
			return nil, nil
		},
	}, raw)
	want(t, "effect that clears its bytes", o, err, intent.Executed)
	if string(raw.Payload.Canonical()) != `{"cents":10}` {
		t.Errorf("the message's body became %q", raw.Payload.Canonical())
	}
}

// C31: charge(o) then ship(o) with one key and one payload are two intents.
func TestC31_TwoOperations(t *testing.T) {
	b := newBench(t)
	p := new(provider)
	d := message(t, `{"cents":10}`)
	w := b.worker(t)
	o, err := w.deliver(w.keyed(p), d)
	want(t, "charge", o, err, intent.Executed)
	ship := w.keyed(p)
	ship.Operation = "ship"
	o, err = w.deliver(ship, d)
	want(t, "ship", o, err, intent.Executed)
	if string(o.Result.JSON) != `"ch_2"` || p.effects != 2 {
		t.Errorf("ship: got result %s and %d effects in all, want its own and 2", o.Result.JSON, p.effects)
	}
	other := w.keyed(p)
	other.Scope = "another stack"
	o, err = w.deliver(other, d)
	want(t, "charge of another stack", o, err, intent.Executed)
	if len(p.answers) != 3 {
		t.Errorf("got %d downstream keys, want 3", len(p.answers))
	}
}

// A duplicate of a running intent costs one request; it never writes.
func TestRunningDuplicateCostsOneRequest(t *testing.T) {
	b := newBench(t)
	p := new(provider)
	d := message(t, `{"cents":10}`)
	w, duplicate := b.worker(t), b.worker(t)
	h := w.keyed(p)
	h.Effect = func(context.Context, charge, intent.Attempt) (any, error) {
		o, err := duplicate.deliver(duplicate.keyed(p), d)
		want(t, "duplicate", o, err, intent.InProgress)
		return p.send(), nil
	}
	o, err := w.deliver(h, d)
	want(t, "first delivery", o, err, intent.Executed)
	if got, want := duplicate.faults.Counts(), map[string]int{"PutItem": 1}; !maps.Equal(got, want) {
		t.Errorf("the duplicate's requests: got %v, want %v", got, want)
	}
}
