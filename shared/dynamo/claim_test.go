package dynamo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

func TestC01_ClaimReplyLost(t *testing.T) {
	b := newBench(t)
	p := new(provider)
	d := message(t, `{"cents":10}`)
	w := b.worker(t)
	w.plan = on("PutItem", loseReply)(w)
	h := w.keyed(p)
	var before map[string]int
	h.Effect = func(_ context.Context, _ charge, a intent.Attempt) (any, error) {
		before = w.faults.Counts()
		return p.charge(a.Downstream), nil
	}
	o, err := w.deliver(h, d)
	want(t, "delivery", o, err, intent.Executed)
	if requests := map[string]int{"PutItem": 2}; !maps.Equal(before, requests) {
		t.Errorf("requests to claim: got %v, want %v", before, requests)
	}
	if o.Attempt != 1 {
		t.Errorf("attempt: got %d, want 1", o.Attempt)
	}
	p.want(t, 1, 1)
}

// Of 10,000 intents with a key each, one in 20 requests gets no reply. Nobody
// may take an intent's own record for a duplicate.
func TestC02_OneInTwentyRepliesLost(t *testing.T) {
	intents, workers, oneIn := 10_000, 16, 20
	if testing.Short() {
		intents = 500
	}
	b := newBench(t)
	p := new(provider)
	w := b.worker(t)
	requests, lost := 0, 0
	w.plan = func(intenttest.Call) intenttest.Fault {
		if requests++; requests%oneIn == 0 {
			lost++
			return intenttest.Fault{LoseReply: true}
		}
		return intenttest.Fault{}
	}
	h := w.keyed(p)
	first := message(t, `{"cents":10}`)
	var next atomic.Int64
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for i := next.Add(1); i <= int64(intents) && !t.Failed(); i = next.Add(1) {
				d := first
				d.Key = fmt.Sprintf("%s-%d", first.Key, i)
				o, err := w.deliver(h, d)
				want(t, d.Key, o, err, intent.Executed)
			}
		})
	}
	running.Wait()
	if len(p.calls) != intents || p.effects != intents {
		t.Errorf("got %d calls and %d effects, want %d of each", len(p.calls), p.effects, intents)
	}
	if lost < intents/oneIn {
		t.Errorf("got %d lost replies, want %d or more", lost, intents/oneIn)
	}
}

// C12: a claim that cannot be finished is not made.
func TestC12_NoTimeLeft(t *testing.T) {
	b := newBench(t)
	for _, left := range []time.Duration{-time.Second, 0, 900 * time.Millisecond} {
		t.Run(left.String(), func(t *testing.T) {
			p := new(provider)
			w := b.worker(t)
			account := message(t, `{"cents":10}`).Key
			b.open(t, account, 100)
			for name, h := range map[string]handler{"Keyed": w.keyed(p), "Blind": w.blind(p), "Ledger": w.ledger(account)} {
				ctx, cancel := context.WithTimeout(t.Context(), left)
				o, err := h.Deliver(ctx, message(t, `{"cents":10}`))
				cancel()
				if !errors.Is(err, intent.ErrNoTime) {
					t.Errorf("%s: got %s, want ErrNoTime", name, describe(o, err))
				}
			}
			if got := w.writes(); got != 0 {
				t.Errorf("requests that write: got %d, want 0", got)
			}
			p.want(t, 0, 0)
			b.wantBalance(t, account, 100)
		})
	}
}

// C12: no claim without a lease, whatever the context says.
func TestC12_EveryClaimHasALease(t *testing.T) {
	b := newBench(t)
	p := new(provider)
	w := b.worker(t)
	w.plan = func(call intenttest.Call) intenttest.Fault {
		var put struct {
			Item map[string]struct{ N string }
		}
		if err := json.Unmarshal(call.Body, &put); call.Operation == "PutItem" && (err != nil || put.Item["lease_until"].N == "") {
			t.Errorf("claim %s has no lease (error %v)", call.Body, err)
		}
		return intenttest.Fault{}
	}
	for name, ctx := range map[string]context.Context{"no deadline": t.Context(), "a deadline": deadline(t, budget)} {
		began := time.Now()
		d := message(t, `{"cents":10}`)
		h := w.keyed(p)
		h.Effect = func(context.Context, charge, intent.Attempt) (any, error) {
			if until := b.record(t, d).LeaseUntil; until.Before(began.Add(budget-time.Second)) || until.After(time.Now().Add(lapse)) {
				t.Errorf("%s: lease until %v, want about %v from %v", name, until, budget, began)
			}
			return nil, nil
		}
		o, err := h.Deliver(ctx, d)
		want(t, name, o, err, intent.Executed)
	}
}

// C12: a claim that could not be confirmed in time is given back, so that nobody
// waits for it.
func TestC12_ClaimHeardTooLate(t *testing.T) {
	b := newBench(t)
	for name, class := range map[string]func(*worker, *provider) handler{
		"Keyed": func(w *worker, p *provider) handler { return w.keyed(p) },
		"Blind": func(w *worker, p *provider) handler { return w.blind(p) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits
			p := new(provider)
			d := message(t, `{"cents":10}`)
			w := b.worker(t)
			w.plan = func(call intenttest.Call) intenttest.Fault {
				return intenttest.Fault{LoseReply: call.Operation == "PutItem"}
			}
			if o, err := class(w, p).Deliver(deadline(t, 2*time.Second), d); err == nil {
				t.Errorf("delivery: got %s, want an error", describe(o, err))
			}
			p.want(t, 0, 0)
			if got := b.record(t, d).State; got != intent.StateReleased {
				t.Errorf("state: got %q, want released", got)
			}
			next := b.worker(t)
			o, err := next.deliver(class(next, p), d)
			want(t, "next delivery", o, err, intent.Executed)
			p.want(t, 1, 1)
		})
	}
}

func deadline(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// C45, C17: an expired record that TTL has not deleted yet is replaced whole.
func TestC45_ExpiredRecordIsReplacedWhole(t *testing.T) {
	b := newBench(t)
	p := new(provider)
	d := message(t, `{"cents":10}`)
	w := b.worker(t)
	o, err := w.deliver(w.keyed(p), d)
	want(t, "first delivery", o, err, intent.Executed)
	expires, ok := b.item(t, intentOf(d))["expires_at"].(*types.AttributeValueMemberN)
	if !ok || len(strings.TrimLeft(expires.Value, "-")) != len("1700000000") {
		t.Errorf("expires_at: got %v, want a number of seconds", expires)
	}

	const retention = 90 * 24 * time.Hour
	before := b.later(t, retention-time.Minute)
	o, err = before.deliver(before.keyed(p), d)
	want(t, "delivery within the retention", o, err, intent.Replayed)
	p.want(t, 1, 1)

	after := b.later(t, retention+time.Minute)
	p.forget()
	h := after.keyed(p)
	h.Effect = func(_ context.Context, _ charge, a intent.Attempt) (any, error) {
		for _, old := range []string{"expires_at", "completed_at", "result"} {
			if left, ok := b.item(t, intentOf(d))[old]; ok {
				t.Errorf("a running claim still has %s %v: TTL deletes it", old, left)
			}
		}
		if a.Number != 1 {
			t.Errorf("attempt: got %d, want 1", a.Number)
		}
		return p.charge(a.Downstream), nil
	}
	o, err = after.deliver(h, d)
	want(t, "delivery after the retention", o, err, intent.Executed)
	p.want(t, 2, 2)
}
