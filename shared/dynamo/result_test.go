package dynamo_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// returning are handlers whose effect has the result.
var returning = map[string]func(w *worker, p *provider, account string, result any) handler{
	"Keyed": func(w *worker, p *provider, _ string, result any) handler {
		h := w.keyed(p)
		h.Effect = func(_ context.Context, _ charge, a intent.Attempt) (any, error) {
			p.charge(a.Downstream)
			return result, nil
		}
		return h
	},
	"Keyed, refused": func(w *worker, p *provider, _ string, result any) handler {
		h := w.keyed(p)
		h.Effect = func(_ context.Context, _ charge, a intent.Attempt) (any, error) {
			p.charge(a.Downstream) // which says no
			return nil, intent.Refuse(result)
		}
		return h
	},
	"Ledger": func(w *worker, _ *provider, account string, result any) handler {
		h := w.ledger(account)
		plan := h.Effect
		h.Effect = func(ctx context.Context, c charge, a intent.Attempt) (dynamo.Writes, error) {
			writes, err := plan(ctx, c, a)
			writes.Result = result
			return writes, err
		}
		return h
	},
}

// text is a result that measures so many bytes in JSON.
func text(bytes int) string { return strings.Repeat("x", bytes-2) }

// C30: the completion never depends on the result being storable, and the
// record stays small.
func TestC30_Results(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		name    string
		result  any
		sibling bool
		omitted bool
	}{
		{"nothing", nil, false, false},
		{"512 bytes", text(512), false, false},
		{"513 bytes", text(513), true, false},
		{"390 KiB", text(390 << 10), true, false},
		{"390 KiB and a byte", text(390<<10 + 1), false, true},
		{"500 KB", text(500_000), false, true},
		{"unmarshalable", map[string]any{"f": func() {}}, false, true},
	} {
		for class, h := range returning {
			t.Run(c.name+"/"+class, func(t *testing.T) {
				p := new(provider)
				d := message(t, `{"cents":10}`)
				b.open(t, d.Key, 100)
				first, final := intent.Executed, intent.Replayed
				if class == "Keyed, refused" {
					first, final = intent.Refused, intent.Refused
				}
				w := b.worker(t)
				w.store = w.store.Patient()
				o, err := w.deliver(h(w, p, d.Key, c.result), d)
				want(t, "first delivery", o, err, first)
				wantResult(t, "first delivery", o.Result, c.result, c.omitted)
				again := b.later(t, lapse)
				o, err = again.deliver(h(again, p, d.Key, c.result), d)
				want(t, "redelivery", o, err, final)
				wantResult(t, "redelivery", o.Result, c.result, c.omitted)
				if class == "Ledger" {
					b.wantBalance(t, d.Key, 90)
				} else {
					p.want(t, 1, 1)
				}

				it := b.item(t, intentOf(d))
				_, isSibling := it["result"].(*types.AttributeValueMemberM)
				if isSibling != c.sibling {
					t.Errorf("result attribute: got %T, want a sibling's name: %t", it["result"], c.sibling)
				}
				if size := sizeOf(t, it); size > 1024 {
					t.Errorf("record: got %d bytes, want a write unit, 1,024, or less", size)
				}
				if isSibling {
					b.withoutSibling(t, d, func() (intent.Outcome, error) {
						return again.deliver(h(again, p, d.Key, c.result), d)
					}, final)
				}
			})
		}
	}
}

// withoutSibling takes the sibling away: it has a TTL like the record's, and
// what is gone reads as omitted.
func (b *bench) withoutSibling(t *testing.T, d intent.Delivery, deliver func() (intent.Outcome, error), final intent.Kind) {
	t.Helper()
	it := b.item(t, intentOf(d))
	name, ok := it["result"].(*types.AttributeValueMemberM).Value["sibling"].(*types.AttributeValueMemberS)
	if !ok {
		t.Fatalf("result attribute: got %v, want the name of a sibling", it["result"])
	}
	sibling := b.item(t, name.Value)
	if got, want := sibling["expires_at"], it["expires_at"]; got == nil || *got.(*types.AttributeValueMemberN) != *want.(*types.AttributeValueMemberN) {
		t.Errorf("sibling's expires_at: got %v, want the record's %v", got, want)
	}
	if key := (intent.Key{Scope: "test", Operation: "charge", ID: strings.TrimPrefix(name.Value, "test#charge#")}).String(); key == name.Value {
		t.Errorf("sibling's key %q is one that an intent can have", name.Value)
	}
	b.remove(t, name.Value)
	o, err := deliver()
	want(t, "redelivery without the sibling", o, err, final)
	wantResult(t, "redelivery without the sibling", o.Result, nil, true)
}

func wantResult(t *testing.T, what string, got intent.Result, result any, omitted bool) {
	t.Helper()
	if omitted {
		if !got.Omitted || got.JSON != nil {
			t.Errorf("%s: got a result of %d bytes, want it omitted", what, len(got.JSON))
		}
		return
	}
	want, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if got.Omitted || string(got.JSON) != string(want) {
		t.Errorf("%s: got a result of %d bytes (omitted: %t), want %d bytes", what, len(got.JSON), got.Omitted, len(want))
	}
}

// sizeOf is the item's size as DynamoDB counts it: names and values, in bytes
// (Amazon DynamoDB, "Item sizes and formats"), taking numbers for their digits.
func sizeOf(t *testing.T, it item) (size int) {
	t.Helper()
	for name, value := range it {
		size += len(name)
		switch value := value.(type) {
		case *types.AttributeValueMemberS:
			size += len(value.Value)
		case *types.AttributeValueMemberN:
			size += len(value.Value)
		case *types.AttributeValueMemberNULL:
			size++
		case *types.AttributeValueMemberM:
			size += 3 + sizeOf(t, value.Value)
		default:
			t.Fatalf("attribute %s is a %T", name, value)
		}
	}
	return size
}

// C30: a sibling that cannot be stored costs the result, not the completion.
func TestC30_SiblingCannotBeStored(t *testing.T) {
	b := newBench(t)
	for name, fault := range map[string]intenttest.Fault{
		"dropped": {Drop: true},
		"refused": {Reply: &intenttest.Reply{Status: 400, Body: `{"__type":"com.amazon.coral.validate#ValidationException","message":"Item size has exceeded the maximum allowed size"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			w := b.worker(t)
			w.plan = func(call intenttest.Call) intenttest.Fault {
				if call.Operation == "PutItem" && call.Number > 1 { // the first is the claim
					return fault
				}
				return intenttest.Fault{}
			}
			began := time.Now()
			o, err := w.deliver(returning["Keyed"](w, p, "", text(1000)), d)
			want(t, "delivery", o, err, intent.Executed)
			wantResult(t, "delivery", o.Result, nil, true)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("the completion waited %v for its result", took)
			}
			next := b.worker(t)
			o, err = next.deliver(next.keyed(p), d)
			want(t, "redelivery", o, err, intent.Replayed)
			wantResult(t, "redelivery", o.Result, nil, true)
			p.want(t, 1, 1)
		})
	}
}

// C30: the completion is throttled, then not: it is tried until the deadline,
// and the effect is not run again.
func TestC30_CompletionThrottled(t *testing.T) {
	b := newBench(t)
	throttled := intenttest.Fault{Reply: &intenttest.Reply{Status: 400, Body: throttling}}
	t.Run("for a while", func(t *testing.T) {
		t.Parallel()
		p := new(provider)
		d := message(t, `{"cents":10}`)
		w := b.worker(t)
		w.plan = func(call intenttest.Call) intenttest.Fault {
			// More than the SDK's own attempts, three times over: 10 s of throttling
			// are no more tries, for the pauses grow.
			if call.Operation == "UpdateItem" && call.Number < 10 {
				return throttled
			}
			return intenttest.Fault{}
		}
		o, err := w.deliver(w.keyed(p), d)
		want(t, "delivery", o, err, intent.Executed)
		p.want(t, 1, 1)
		if got := w.faults.Counts()["UpdateItem"]; got != 10 {
			t.Errorf("completions sent: got %d, want 10", got)
		}
	})
	t.Run("to the deadline", func(t *testing.T) {
		t.Parallel()
		p := new(provider)
		d := message(t, `{"cents":10}`)
		w := b.worker(t)
		var last time.Time
		w.plan = func(call intenttest.Call) intenttest.Fault {
			if call.Operation == "UpdateItem" {
				last = time.Now()
				return throttled
			}
			return intenttest.Fault{}
		}
		const left = 4 * time.Second
		ctx := deadline(t, left)
		began := time.Now()
		o, err := w.keyed(p).Deliver(ctx, d)
		if !errors.Is(err, intent.ErrUnknown) {
			t.Errorf("delivery: got %s, want ErrUnknown", describe(o, err))
		}
		if ctx.Err() != nil {
			t.Error("the answer came after the deadline")
		}
		if tried := last.Sub(began); tried < left/2 {
			t.Errorf("the completion was last tried after %v of %v", tried, left)
		}
		next := b.later(t, lapse)
		o, err = next.deliver(next.keyed(p), d)
		want(t, "next delivery", o, err, intent.Executed)
		p.want(t, 2, 1)
	})
}

const throttling = `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"slow down"}`

// C30: the completion's reply is lost, however often: it is read back.
func TestC30_CompletionReplyLost(t *testing.T) {
	b := newBench(t)
	for class, operation := range map[string]string{"Keyed": "UpdateItem", "Blind": "UpdateItem", "Ledger": "TransactWriteItems"} {
		t.Run(class, func(t *testing.T) {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			b.open(t, d.Key, 100)
			w := b.worker(t)
			w.plan = func(call intenttest.Call) intenttest.Fault {
				return intenttest.Fault{LoseReply: call.Operation == operation && call.Number <= 5}
			}
			o, err := w.deliver(classes[class](w, p, d.Key), d)
			want(t, "delivery", o, err, intent.Executed)
			b.wantOneEffect(t, class, p, d)
		})
	}
}

// The record's own limits hold what a put may carry: the longest key beside an
// inline result and a sibling's name.
func TestLongestKey(t *testing.T) {
	b := newBench(t)
	p := new(provider)
	for _, size := range []int{512, 513, 390 << 10} {
		d := message(t, `{"cents":10}`)
		d.Key += strings.Repeat("k", intent.MaxKeyBytes-len(intentOf(d)))
		w := b.worker(t)
		o, err := w.deliver(returning["Keyed"](w, p, "", text(size)), d)
		want(t, "delivery", o, err, intent.Executed)
		o, err = w.deliver(w.keyed(p), d)
		want(t, "redelivery", o, err, intent.Replayed)
		wantResult(t, "redelivery", o.Result, text(size), false)
		out, err := b.db.Query(t.Context(), &dynamodb.QueryInput{
			TableName: &b.records, KeyConditionExpression: aws.String("intent = :key"),
			ExpressionAttributeValues: item{":key": s(intentOf(d))},
		})
		if err != nil || out.Count != 1 {
			t.Errorf("records under the key: got %d, %v, want 1", out.Count, err)
		}
	}
}
