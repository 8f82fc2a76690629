package dynamo_test

import (
	"bytes"
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
			p := new(provider)
			d := message(t, `{"cents":10}`)
			w := b.worker(t)
			w.plan = func(call intenttest.Call) intenttest.Fault {
				return intenttest.Fault{LoseReply: call.Operation == "PutItem"}
			}
			if o, err := class(w, p).Deliver(deadline(t, 1300*time.Millisecond), d); err == nil {
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

// stripItem takes the items out of a failed condition, as some engines leave
// them out.
func stripItem(r intenttest.Reply) intenttest.Reply {
	var reply struct {
		Type                string `json:"__type"`
		Message             string
		CancellationReasons []struct{ Code string } `json:",omitempty"`
	}
	if r.Status == 200 || json.Unmarshal([]byte(r.Body), &reply) != nil {
		return r
	}
	body, err := json.Marshal(reply)
	if err != nil {
		return r
	}
	return intenttest.Reply{Status: r.Status, Body: string(body)}
}

func TestC24_ItemMissingFromTheError(t *testing.T) {
	b := newBench(t)
	// strip makes a worker whose failed conditions come without the item; of the
	// reads that follow, the first n find nothing.
	strip := func(t *testing.T, n int) *worker {
		w := b.worker(t)
		w.plan = func(call intenttest.Call) intenttest.Fault {
			switch {
			case call.Operation != "GetItem":
				return intenttest.Fault{Edit: stripItem}
			case !bytes.Contains(call.Body, []byte(`"ConsistentRead":true`)):
				t.Errorf("read %s is not consistent", call.Body)
			case call.Number <= n:
				return intenttest.Fault{Reply: &intenttest.Reply{Status: 200, Body: "{}"}}
			}
			return intenttest.Fault{}
		}
		return w
	}
	for _, class := range []string{"Keyed", "Ledger"} {
		put := map[string]string{"Keyed": "PutItem", "Ledger": "TransactWriteItems"}[class]
		// done makes an intent that was executed, and a way to deliver it again.
		done := func(t *testing.T, p *provider) (d intent.Delivery, h func(*worker) handler) {
			d = message(t, `{"cents":10}`)
			b.open(t, d.Key, 100)
			h = func(w *worker) handler {
				if class == "Keyed" {
					return w.keyed(p)
				}
				return w.ledger(d.Key)
			}
			w := b.worker(t)
			o, err := w.deliver(h(w), d)
			want(t, "first delivery", o, err, intent.Executed)
			return d, h
		}
		for _, c := range []struct {
			name   string
			vanish int
			counts map[string]int
			err    error
		}{
			{"found by a consistent read", 0, map[string]int{put: 1, "GetItem": 1}, nil},
			{"found by the second read", 1, map[string]int{put: 2, "GetItem": 2}, nil},
			{"never found", 9, map[string]int{put: 3, "GetItem": 3}, intent.ErrVanished},
		} {
			t.Run(class+"/"+c.name, func(t *testing.T) {
				p := new(provider)
				d, h := done(t, p)
				w := strip(t, c.vanish)
				o, err := w.deliver(h(w), d)
				if c.err == nil {
					want(t, "redelivery", o, err, intent.Replayed)
				} else if !errors.Is(err, c.err) {
					t.Errorf("redelivery: got %s, want %v", describe(o, err), c.err)
				}
				if got := w.faults.Counts(); !maps.Equal(got, c.counts) {
					t.Errorf("requests: got %v, want %v", got, c.counts)
				}
				if len(p.calls) > 1 {
					t.Errorf("got %d calls, want 1 at most", len(p.calls))
				}
				b.wantBalance(t, d.Key, map[string]int64{"Keyed": 100, "Ledger": 90}[class])
			})
		}
	}
	t.Run("gone meanwhile, claimed again", func(t *testing.T) {
		p := new(provider)
		d := message(t, `{"cents":10}`)
		other := b.worker(t)
		if _, err := other.store.Claim(t.Context(), intent.Record{
			Intent: intentOf(d), State: intent.StateClaimed, Owner: intent.NewOwner(), Attempt: 1,
			LeaseUntil: time.Now().Add(time.Minute), ClaimedAt: time.Now(), Fingerprint: d.Fingerprint,
		}); err != nil {
			t.Fatal(err)
		}
		w := strip(t, 0)
		stripped := w.plan
		w.plan = func(call intenttest.Call) intenttest.Fault {
			f := stripped(call)
			if call.Operation == "PutItem" && call.Number == 1 {
				f.After = func() { b.remove(t, intentOf(d)) }
			}
			return f
		}
		o, err := w.deliver(w.keyed(p), d)
		want(t, "delivery", o, err, intent.Executed)
		p.want(t, 1, 1)
	})
	t.Run("completion refused without the record", func(t *testing.T) {
		p := new(provider)
		d := message(t, `{"cents":10}`)
		w := strip(t, 0)
		stripped := w.plan
		w.plan = func(call intenttest.Call) intenttest.Fault {
			f := stripped(call)
			f.LoseReply = call.Operation == "UpdateItem" && call.Number == 1
			return f
		}
		o, err := w.deliver(w.keyed(p), d)
		want(t, "delivery", o, err, intent.Executed)
		p.want(t, 1, 1)
	})
}

type deliverFunc func(context.Context, intent.Delivery) (intent.Outcome, error)

func (f deliverFunc) Deliver(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
	return f(ctx, d)
}

// C36: 64 deliveries of one intent at once.
func TestC36_Race(t *testing.T) {
	b := newBench(t)
	const deliveries, processes = 64, 4
	race := func(t *testing.T, d intent.Delivery, h func(*worker) handler) map[intent.Kind]int {
		t.Helper()
		var workers []*worker
		for range processes {
			workers = append(workers, b.worker(t))
		}
		start := make(chan struct{})
		var running sync.WaitGroup
		var mu sync.Mutex
		kinds := map[intent.Kind]int{}
		for i := range deliveries {
			running.Go(func() {
				w := workers[i%processes]
				<-start
				o, err := w.deliver(h(w), d)
				if err != nil {
					t.Errorf("delivery: got %s", describe(o, err))
				}
				mu.Lock()
				defer mu.Unlock()
				kinds[o.Kind]++
			})
		}
		close(start)
		running.Wait()
		if kinds[intent.Executed] != 1 {
			t.Errorf("outcomes: got %v, want 1 executed", kinds)
		}
		return kinds
	}
	t.Run("Keyed, the losers meet the running claim", func(t *testing.T) {
		p := new(provider)
		losers := make(chan struct{}, deliveries)
		kinds := race(t, message(t, `{"cents":10}`), func(w *worker) handler {
			h := w.keyed(p)
			h.Effect = func(ctx context.Context, _ charge, a intent.Attempt) (any, error) {
				for range deliveries - 1 {
					select {
					case <-losers:
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}
				return p.charge(a.Downstream), nil
			}
			return deliverFunc(func(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
				defer func() { losers <- struct{}{} }()
				return h.Deliver(ctx, d)
			})
		})
		if kinds[intent.InProgress] != deliveries-1 {
			t.Errorf("outcomes: got %v, want all others in progress", kinds)
		}
		p.want(t, 1, 1)
	})
	t.Run("Keyed", func(t *testing.T) {
		p := new(provider)
		kinds := race(t, message(t, `{"cents":10}`), func(w *worker) handler { return w.keyed(p) })
		if kinds[intent.Executed]+kinds[intent.InProgress]+kinds[intent.Replayed] != deliveries {
			t.Errorf("outcomes: got %v, want executed, in progress and replayed", kinds)
		}
		p.want(t, 1, 1) // the losers do not start their effect
	})
	t.Run("Ledger", func(t *testing.T) {
		d := message(t, `{"cents":10}`)
		b.open(t, d.Key, 1000)
		kinds := race(t, d, func(w *worker) handler { return w.ledger(d.Key) })
		if kinds[intent.Replayed] != deliveries-1 {
			t.Errorf("outcomes: got %v, want all others replayed", kinds)
		}
		b.wantBalance(t, d.Key, 990)
	})
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
