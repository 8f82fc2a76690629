package sqsbatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// newShop is a rig whose handler is a cashier on an empty store.
func newShop(t *testing.T, change ...func(*sqsbatch.Config)) (*rig, *memory, *till) {
	t.Helper()
	m, c := &memory{}, &till{}
	r := newRig(t, append([]func(*sqsbatch.Config){func(c2 *sqsbatch.Config) { c2.Handler = cashier(m, c) }}, change...)...)
	return r, m, c
}

func TestFold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		messages []events.SQSMessage
		outcomes map[intent.Kind]int
	}{
		{"same message twice", []events.SQSMessage{asking("1", "k"), asking("1", "k")}, map[intent.Kind]int{intent.Executed: 1, intent.Replayed: 1}},
		{"one intent twice", []events.SQSMessage{asking("1", "k"), asking("2", "k")}, map[intent.Kind]int{intent.Executed: 1, intent.Replayed: 1}},
		{"written in two ways", []events.SQSMessage{
			message("1", `{"idempotency_key":"k","amount_cents":100}`),
			message("2", "{ \"amount_cents\" : 100,\n\"idempotency_\\u006bey\":\"k\"}"),
		}, map[intent.Kind]int{intent.Executed: 1, intent.Replayed: 1}},
		{"others between", []events.SQSMessage{asking("1", "k"), asking("2", "j"), asking("3", "k"), asking("4", "k")}, map[intent.Kind]int{intent.Executed: 2, intent.Replayed: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, m, c := newShop(t)
			wantIDs(t, "listed", r.handle(tt.messages...))
			want(t, "outcomes", r.report().Outcomes, tt.outcomes, maps.Equal[map[intent.Kind]int])
			want(t, "charges", c.total(), tt.outcomes[intent.Executed], func(a, b int) bool { return a == b })
			for _, record := range m.all() {
				if record.State != intent.StateCompleted || record.Attempt != 1 {
					t.Errorf("got record %+v, want one run to its end", record)
				}
			}
		})
	}
}

// A follower has its leader's outcome, but for what its leader did itself.
func TestFollowers(t *testing.T) {
	t.Parallel()
	for name, ending := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.hand.do = ending.do
			got := r.handle(asking("1", "k"), asking("2", "k"), asking("1", "k"))
			wantIDs(t, "run", r.hand.keys(), "k")
			if ending.done {
				wantIDs(t, "listed", got)
			} else {
				wantIDs(t, "listed", got, "1", "2")
			}
			outcomes := map[intent.Kind]int{}
			if o, err := settled(ending.do); err == nil && o.Kind != "" {
				outcomes[o.Kind]++
				if o.Kind == intent.Executed {
					o.Kind = intent.Replayed
				}
				outcomes[o.Kind] += 2
			}
			want(t, "outcomes", r.report().Outcomes, outcomes, maps.Equal[map[intent.Kind]int])
			hidden := slices.Sorted(maps.Keys(r.queue.hidden))
			if _, err := settled(ending.do); name == "in progress" || err != nil && name != "goexit" {
				wantIDs(t, "hidden", hidden, "receipt-1 of "+queueURL, "receipt-2 of "+queueURL)
			} else {
				wantIDs(t, "hidden", hidden)
			}
		})
	}
}

// settled is what a handler answers, in a goroutine that it may end.
func settled(do func(context.Context, intent.Delivery) (intent.Outcome, error)) (o intent.Outcome, err error) {
	err = errors.New("never came back")
	var over sync.WaitGroup
	over.Go(func() {
		_ = intent.Contain(func() error {
			o, err = do(context.Background(), intent.Delivery{})
			return nil
		})
	})
	over.Wait()
	return o, err
}

func TestC44AnotherPayloadInTheBatch(t *testing.T) {
	t.Parallel()
	r, m, c := newShop(t)
	first := message("1", `{"idempotency_key":"k","amount_cents":100}`)
	other := message("2", `{"idempotency_key":"k","amount_cents":200}`)
	again := message("3", `{"idempotency_key":"k","amount_cents":100}`)
	wantIDs(t, "listed", r.handle(first, other, again), "2")
	want(t, "outcomes", r.report().Outcomes, map[intent.Kind]int{intent.Executed: 1, intent.Replayed: 1, intent.Conflict: 1}, maps.Equal[map[intent.Kind]int])
	if line := r.log.about(t, "2"); line["outcome"] != string(intent.Conflict) || line["reason"] == nil {
		t.Errorf("got log line %v, want the conflict and its reason", line)
	}
	before := m.all()
	wantIDs(t, "listed of a later batch", r.handle(other), "2")
	if after := m.all(); !reflect.DeepEqual(before, after) {
		t.Errorf("the record changed from %+v to %+v", before, after)
	}
	want(t, "charges", c.total(), 1, func(a, b int) bool { return a == b })
	f := intenttest.Payload(t, first.Body).Fingerprint()
	for _, record := range before {
		if record.Fingerprint != f || record.MessageID != "1" {
			t.Errorf("got record %+v, want the first message's", record)
		}
	}
}

// What the fingerprint leaves out may be what the effect's payload needs. One message
// that cannot be decoded takes no other along.
func TestFoldOfOnePayloadAlone(t *testing.T) {
	t.Parallel()
	type sale struct {
		Key    string    `json:"idempotency_key"`
		User   intent.ID `json:"user"`
		Amount int       `json:"amount"`
	}
	amount := func(body []byte) ([]byte, error) {
		var fields map[string]json.RawMessage
		err := json.Unmarshal(body, &fields)
		return fields["amount"], err
	}
	for name, c := range map[string]struct {
		pick        func([]byte) ([]byte, error)
		first, then string
	}{
		"a part is selected": {amount, `{"idempotency_key":"1","user":true,"amount":5}`, `{"idempotency_key":"1","user":"u","amount":5}`},
		"another key's type": {nil, `{"idempotency_key":1,"user":"u","amount":5}`, `{"idempotency_key":"1","user":"u","amount":5}`},
	} {
		for _, order := range [][]string{{c.first, c.then}, {c.then, c.first}} {
			runs := 0
			r := newRig(t, quarantining, func(config *sqsbatch.Config) {
				config.Select = c.pick
				config.Handler = &intent.Keyed[sale]{Config: shop(&memory{}), Window: 24 * time.Hour,
					Effect: func(context.Context, sale, intent.Attempt) (any, error) { runs++; return "sold", nil }}
			})
			wantIDs(t, name+": listed", r.handle(message("1", order[0]), message("2", order[1])))
			if sent := r.queue.taken(); runs != 1 || len(sent) != 1 || *sent[0].MessageBody != c.first {
				t.Errorf("%s: ran %d times, %d in quarantine, want the good one run once", name, runs, len(sent))
			}
		}
	}
}

// An intent comes again with another message id: out of the dead-letter queue,
// or because its producer never heard that it was sent.
func TestC15NewMessageID(t *testing.T) {
	t.Parallel()
	r, m, c := newShop(t)
	wantIDs(t, "listed", r.handle(asking("1", "k")))
	before := m.all()
	redriven := asking("a new id", "k")
	redriven.Attributes = map[string]string{"ApproximateReceiveCount": "1", "DeadLetterQueueSourceArn": queueARN}
	wantIDs(t, "listed", r.handle(redriven, asking("of the producer's retry", "k")))
	want(t, "outcomes", r.report().Outcomes, map[intent.Kind]int{intent.Replayed: 2}, maps.Equal[map[intent.Kind]int])
	want(t, "charges", c.total(), 1, func(a, b int) bool { return a == b })
	if after := m.all(); !reflect.DeepEqual(before, after) {
		t.Errorf("the record changed from %+v to %+v", before, after)
	}
}

// Key and fingerprint are fixed before the effect, whatever it does to its
// input: to what was decoded, and to the bytes.
func TestC28EffectChangesItsInput(t *testing.T) {
	t.Parallel()
	m, c := &memory{}, &till{}
	keyed := &intent.Keyed[map[string]any]{Config: shop(m), Window: 24 * time.Hour, Effect: func(_ context.Context, o map[string]any, a intent.Attempt) (any, error) {
		o["idempotency_key"] = "another"
		o["amount_cents"] = 0
		o["item"].(map[string]any)["sent"] = true
		return c.charge(a), nil
	}}
	r := newRig(t)
	r.hand.do = func(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
		defer clear(d.Payload.Canonical())
		defer clear(d.Payload.Field("item"))
		return keyed.Deliver(ctx, d)
	}
	const body = `{"idempotency_key":"k","amount_cents":100,"item":{"name":"book"}}`
	for range 2 {
		wantIDs(t, "listed", r.handle(message("1", body), message("2", body)))
	}
	want(t, "charges", c.total(), 1, func(a, b int) bool { return a == b })
	f := intenttest.Payload(t, body).Fingerprint()
	records := m.all()
	if record := records["shop#charge#k"]; len(records) != 1 || record.State != intent.StateCompleted || record.Fingerprint != f {
		t.Errorf("got records %+v, want one of what was sent", records)
	}
}

// Of what could not be read nothing counts, also not a key that was found beside the
// error: it is no duplicate of the message next to it in its group.
func TestUnreadableIsNobodysDuplicate(t *testing.T) {
	t.Parallel()
	for name, ids := range map[string][]string{"first": {"bad", "good"}, "last": {"good", "bad"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *sqsbatch.Config) {
				c.QueueURL, c.DeadLetterURL = queueURL+".fifo", deadLetterURL+".fifo"
				c.Key = func(m events.SQSMessage) (string, error) {
					if m.MessageId == "bad" {
						return "k", &intent.KeyError{Field: "key", Reason: "is out of date"}
					}
					return "k", nil
				}
			})
			var messages []events.SQSMessage
			for _, id := range ids {
				messages = append(messages, grouped(message(id, `{"amount_cents":100}`), "A"))
			}
			wantIDs(t, "listed", r.handle(messages...))
			wantIDs(t, "run", r.hand.keys(), "k")
			if report := r.report(); report.Quarantined != 1 || report.Outcomes[intent.Executed] != 1 || report.Outcomes[intent.Replayed] != 0 {
				t.Errorf("got %+v, want one executed and one in quarantine", report)
			}
		})
	}
}

// On a standard queue nothing waits for what is not done, and a duplicate joins its
// like whatever stands between.
func TestOneKeyManyPayloads(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	away := errors.New("store is away")
	r.hand.do = always(intent.Outcome{}, away)
	got := r.handle(message("1", `{"idempotency_key":"k","amount_cents":1}`), message("2", `{"idempotency_key":"k","amount_cents":2}`),
		message("3", `{"idempotency_key":"k","amount_cents":1}`))
	wantIDs(t, "listed", got, "1", "2", "3")
	wantIDs(t, "run", r.hand.keys(), "k", "k")
}
