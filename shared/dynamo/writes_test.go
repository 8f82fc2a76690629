package dynamo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// writing are handlers whose effect calls and then ends with what end makes.
var writing = map[string]func(w *worker, p *provider, end func() (any, error)) handler{
	"Keyed": func(w *worker, p *provider, end func() (any, error)) handler {
		h := w.keyed(p)
		h.Effect = func(_ context.Context, _ charge, a intent.Attempt) (any, error) {
			p.charge(a.Downstream)
			return end()
		}
		return h
	},
	"Blind": func(w *worker, p *provider, end func() (any, error)) handler {
		h := w.blind(p)
		h.Effect = func(context.Context, charge, intent.Attempt) (any, error) {
			p.send()
			return end()
		}
		return h
	},
}

// ends is a done effect's end with these writes.
func ends(result any, items ...types.TransactWriteItem) func() (any, error) {
	return func() (any, error) { return dynamo.WithWrites(result, items...), nil }
}

// rows are so many writes, of rows of their own.
func (b *bench) rows(key string, number int) (items []types.TransactWriteItem) {
	for i := range number {
		items = append(items, types.TransactWriteItem{Put: &types.Put{
			TableName: &b.accounts, Item: item{"account_id": s(fmt.Sprintf("%s-%d", key, i)), "balance": n(1)},
		}})
	}
	return items
}

// A completion with writes is one transaction, in which the record's part is the
// update that a plain completion is: the role needs no other right to the table.
func TestWritesAreOneTransaction(t *testing.T) {
	b := newBench(t)
	for class, h := range writing {
		for name, c := range map[string]struct {
			end      func(d intent.Delivery) func() (any, error)
			requests map[string]int
			actions  int
			kind     intent.Kind
		}{
			"completed": {
				func(d intent.Delivery) func() (any, error) { return ends("done", b.row(d)) },
				map[string]int{"PutItem": 1, "TransactWriteItems": 1}, 2, intent.Executed,
			},
			"refused": {
				func(d intent.Delivery) func() (any, error) {
					return func() (any, error) { return nil, intent.Refuse(dynamo.WithWrites("declined", b.row(d))) }
				},
				map[string]int{"PutItem": 1, "TransactWriteItems": 1}, 2, intent.Refused,
			},
			"completed with writes added to a result that has some": {
				func(d intent.Delivery) func() (any, error) {
					return ends(dynamo.WithWrites("done", b.row(d)), b.rows(d.Key, 1)...)
				},
				map[string]int{"PutItem": 1, "TransactWriteItems": 1}, 3, intent.Executed,
			},
			"no writes": {
				func(intent.Delivery) func() (any, error) { return ends("done") },
				map[string]int{"PutItem": 1, "UpdateItem": 1}, 0, intent.Executed,
			},
		} {
			t.Run(class+"/"+name, func(t *testing.T) {
				t.Parallel()
				p := new(provider)
				d := message(t, `{"cents":10}`)
				w := b.worker(t)
				var transaction []byte
				w.plan = func(call intenttest.Call) intenttest.Fault {
					if call.Operation == "TransactWriteItems" {
						transaction = call.Body
					}
					return intenttest.Fault{}
				}
				o, err := w.deliver(h(w, p, c.end(d)), d)
				want(t, "delivery", o, err, c.kind)
				if got := w.faults.Counts(); !maps.Equal(got, c.requests) {
					t.Errorf("requests: got %v, want %v", got, c.requests)
				}
				if c.actions > 0 {
					b.wantRows(t, d, 1)
					wantOwnUpdate(t, transaction, b.records, c.actions)
				}
				again := b.worker(t)
				o, err = again.deliver(classes[class](again, p, d.Key), d)
				want(t, "redelivery", o, err, map[intent.Kind]intent.Kind{intent.Executed: intent.Replayed, intent.Refused: intent.Refused}[c.kind])
				if got, want := string(o.Result.JSON), map[intent.Kind]string{intent.Replayed: `"done"`, intent.Refused: `"declined"`}[o.Kind]; got != want {
					t.Errorf("result: got %s, want %s", got, want)
				}
				p.want(t, 1, 1)
			})
		}
	}
}

// wantOwnUpdate: the transaction has so many actions, and the first is the only
// one on the table, an update.
func wantOwnUpdate(t *testing.T, body []byte, table string, actions int) {
	t.Helper()
	var transaction struct {
		TransactItems []map[string]struct{ TableName string }
	}
	if err := json.Unmarshal(body, &transaction); err != nil {
		t.Fatal(err)
	}
	if got := len(transaction.TransactItems); got != actions {
		t.Errorf("actions: got %d, want %d", got, actions)
	}
	for i, action := range transaction.TransactItems {
		for verb, of := range action {
			if own := of.TableName == table; own != (i == 0) || own && verb != "Update" {
				t.Errorf("action %d: got %s on %s, want the record's Update first and no other on its table", i, verb, of.TableName)
			}
		}
	}
}

// What says nothing of the conditions is tried again with the same input, and
// the row is there once, as the completion is.
func TestWritesThatMayPassWithACompletion(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct {
		class string
		fault intenttest.Fault
	}{
		"conflict at the row":                  {"Blind", intenttest.Fault{Reply: cancelled("None", "TransactionConflict")}},
		"conflict at the record":               {"Keyed", intenttest.Fault{Reply: cancelled("TransactionConflict", "None")}},
		"conflict beside a failed condition":   {"Blind", intenttest.Fault{Reply: cancelled("TransactionConflict", "ConditionalCheckFailed")}},
		"throttled":                            {"Keyed", intenttest.Fault{Reply: cancelled("None", "ThrottlingError")}},
		"throttled beside what would not pass": {"Blind", intenttest.Fault{Reply: cancelled("ThrottlingError", "ValidationError")}},
		"throttled as a whole":                 {"Keyed", intenttest.Fault{Reply: &intenttest.Reply{Status: 400, Body: throttling}}},
		"in progress under its token":          {"Blind", intenttest.Fault{Reply: refused("TransactionInProgressException")}},
		"token meets other parameters":         {"Keyed", intenttest.Fault{Reply: refused("IdempotentParameterMismatchException")}},
		"server at fault":                      {"Blind", intenttest.Fault{Reply: &intenttest.Reply{Status: 500, Body: `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"sorry"}`}}},
		"not reached":                          {"Keyed", intenttest.Fault{Drop: true}},
		"applied, its reply lost":              {"Blind", intenttest.Fault{LoseReply: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait
			p := new(provider)
			d := message(t, `{"cents":10}`)
			w := b.worker(t)
			var bodies [][]byte
			w.plan = func(call intenttest.Call) intenttest.Fault {
				if call.Operation != "TransactWriteItems" {
					return intenttest.Fault{}
				}
				bodies = append(bodies, call.Body)
				if call.Number > 4 { // more than the SDK's own attempts
					return intenttest.Fault{}
				}
				return c.fault
			}
			o, err := w.deliver(writing[c.class](w, p, ends("done", b.row(d))), d)
			want(t, "delivery", o, err, intent.Executed)
			b.wantRows(t, d, 1)
			wantSameInput(t, bodies, len(bodies))
			if len(bodies) < 4 {
				t.Errorf("transactions sent: got %d, want 4 or more", len(bodies))
			}
			p.want(t, 1, 1)
		})
	}
}

// A transaction that never gets through until the deadline was not rejected:
// whether it will pass is not known, also where a condition failed beside the
// conflict. The claim is left to its class.
func TestWritesThatDoNotPassInTime(t *testing.T) {
	b := newBench(t)
	for name, reply := range map[string]*intenttest.Reply{
		"conflict beside a failed condition": cancelled("None", "ConditionalCheckFailed", "TransactionConflict"),
		"throttled":                          {Status: 400, Body: throttling},
	} {
		for class, h := range writing {
			t.Run(name+"/"+class, func(t *testing.T) {
				t.Parallel() // they wait
				p := new(provider)
				d := message(t, `{"cents":10}`)
				w := b.worker(t)
				w.plan = stuck(reply)
				o, err := h(w, p, ends("done", b.row(d), b.rows(d.Key, 1)[0])).Deliver(deadline(t, 1600*time.Millisecond), d)
				if !errors.Is(err, intent.ErrUnknown) || errors.Is(err, intent.ErrWritesRejected) {
					t.Errorf("delivery: got %s, want ErrUnknown and nothing of a rejection", describe(o, err))
				}
				if got := b.record(t, d); got.State != intent.StateClaimed {
					t.Errorf("record: got %+v, want the claim to lapse", got)
				}
				b.wantRows(t, d, 0)
				next, kind, calls := b.later(t, lapse), intent.Executed, 2
				if class == "Blind" {
					kind, calls = intent.InDoubt, 1
				}
				o, err = next.deliver(h(next, p, ends("done", b.row(d))), d)
				want(t, "next delivery", o, err, kind)
				p.want(t, calls, 1)
				b.wantRows(t, d, calls-1)
			})
		}
		t.Run(name+"/Ledger", func(t *testing.T) {
			t.Parallel()
			d := message(t, `{"cents":10}`)
			w := b.worker(t)
			w.plan = stuck(reply)
			h := w.ledger(d.Key)
			h.Effect = func(context.Context, charge, intent.Attempt) (dynamo.Writes, error) {
				return dynamo.Writes{Items: b.rows(d.Key, 2), Failed: func(reasons []types.CancellationReason) error {
					t.Errorf("the effect is asked what %d reasons mean, though its writes may pass", len(reasons))
					return intent.Refuse("too early")
				}}, nil
			}
			if o, err := h.Deliver(deadline(t, 1300*time.Millisecond), d); err == nil || o.Kind != "" {
				t.Errorf("delivery: got %s, want an error", describe(o, err))
			}
			if it := b.item(t, intentOf(d)); len(it) != 0 {
				t.Errorf("record: got %v, want none", it)
			}
		})
	}
}

// stuck answers every transaction alike.
func stuck(reply *intenttest.Reply) func(intenttest.Call) intenttest.Fault {
	return func(call intenttest.Call) intenttest.Fault {
		if call.Operation == "TransactWriteItems" {
			return intenttest.Fault{Reply: reply}
		}
		return intenttest.Fault{}
	}
}

// A large result goes to its sibling beside the writes, and costs neither them
// nor the completion where it cannot be kept.
func TestWritesWithALargeResult(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		name    string
		size    int
		fault   intenttest.Fault // of the sibling's put
		omitted bool
		puts    int
	}{
		{"512 bytes", 512, intenttest.Fault{}, false, 1},
		{"513 bytes", 513, intenttest.Fault{}, false, 2},
		{"390 KiB", 390 << 10, intenttest.Fault{}, false, 2},
		{"390 KiB and a byte", 390<<10 + 1, intenttest.Fault{}, true, 1},
		{"a sibling that cannot be stored", 1000, intenttest.Fault{Reply: refused("ValidationException")}, true, 2},
	} {
		for class, h := range writing {
			t.Run(c.name+"/"+class, func(t *testing.T) {
				t.Parallel()
				p := new(provider)
				d := message(t, `{"cents":10}`)
				w := b.worker(t)
				w.store = w.store.Patient()
				w.plan = func(call intenttest.Call) intenttest.Fault {
					if call.Operation == "PutItem" && call.Number > 1 { // the first is the claim
						return c.fault
					}
					return intenttest.Fault{LoseReply: call.Operation == "TransactWriteItems" && call.Number == 1}
				}
				items := append(b.rows(d.Key, dynamo.MaxWrites-1), b.row(d)) // as many as there may be
				o, err := w.deliver(h(w, p, ends(text(c.size), items...)), d)
				want(t, "delivery", o, err, intent.Executed)
				wantResult(t, "delivery", o.Result, text(c.size), c.omitted)
				b.wantRows(t, d, 1)
				b.wantBalance(t, fmt.Sprintf("%s-%d", d.Key, dynamo.MaxWrites-2), 1)
				if got := w.faults.Counts()["PutItem"]; got != c.puts {
					t.Errorf("puts: got %d, want %d", got, c.puts)
				}
				again := b.worker(t)
				o, err = again.deliver(classes[class](again, p, d.Key), d)
				want(t, "redelivery", o, err, intent.Replayed)
				wantResult(t, "redelivery", o.Result, text(c.size), c.omitted)
				p.want(t, 1, 1)
			})
		}
	}
}

// Writes of another kind are not dropped: they stay where they were, in the result.
func TestWithWritesOfAnotherKind(t *testing.T) {
	foreign := intent.Completion{Result: "done", Writes: "rows"}
	if got := dynamo.WithWrites(foreign).(intent.Completion); got.Result != foreign {
		t.Errorf("got result %+v, want %+v", got.Result, foreign)
	}
}
