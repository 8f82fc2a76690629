package dynamo_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// nth is a plan for one call of an operation.
func nth(operation string, number int, fault intenttest.Fault) func(intenttest.Call) intenttest.Fault {
	return func(call intenttest.Call) intenttest.Fault {
		if call.Operation == operation && call.Number == number {
			return fault
		}
		return intenttest.Fault{}
	}
}

const grouped = "BatchExecuteStatement" // the call of a group: the first claims, the second completes

// Whatever becomes of a call as a whole, each intent has one effect, and each of its
// deliveries hears so.
func TestGroupCallSpoiled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, fault := range map[string]intenttest.Fault{
		"reply lost":         {LoseReply: true},
		"connection dropped": {Drop: true},
		"throttled":          {Reply: refused("ThrottlingException")},
		"capacity":           {Reply: refused("ProvisionedThroughputExceededException")},
		"server at fault":    {Reply: &intenttest.Reply{Status: 500, Body: `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"sorry"}`}},
		"not allowed":        {Reply: refused("AccessDeniedException")},
		"not read":           {Reply: refused("ValidationException")},
		"answers too few":    {Edit: func(r intenttest.Reply) intenttest.Reply { r.Body = `{"Responses":[{}]}`; return r }},
	} {
		for _, times := range []int{1, 5} { // the SDK makes up for the first, the store for all
			for what, first := range map[string]int{"claims": 1, "completions": 2} {
				t.Run(fmt.Sprintf("%s/%s %d times", name, what, times), func(t *testing.T) {
					t.Parallel() // they wait
					w, p, three := b.patient(t), new(provider), messages(t, 3)
					w.plan = func(call intenttest.Call) intenttest.Fault {
						if call.Operation == grouped && call.Number >= first && call.Number < first+times {
							return fault
						}
						return intenttest.Fault{}
					}
					outcomes, errs := w.batch(w.keyed(p), three...)
					wantAll(t, "delivery", outcomes, errs, intent.Executed)
					p.wantTotal(t, 3, 3)
					again := b.worker(t)
					outcomes, errs = again.batch(again.keyed(p), three...)
					wantAll(t, "redelivery", outcomes, errs, intent.Replayed)
					p.wantTotal(t, 3, 3)
				})
			}
		}
	}
}

// C02 in groups: of 150 intents in batches of ten, every third call gets no reply.
func TestGroupEveryThirdReplyLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, p := b.worker(t), new(provider)
	requests := 0
	w.plan = func(intenttest.Call) intenttest.Fault {
		requests++
		return intenttest.Fault{LoseReply: requests%3 == 0}
	}
	for range 15 {
		outcomes, errs := w.batch(w.keyed(p), messages(t, 10)...)
		wantAll(t, "delivery", outcomes, errs, intent.Executed)
	}
	p.wantTotal(t, 150, 150)
}

// editing changes the answers of a call, one for each statement.
func editing(t *testing.T, change func(responses []any)) func(intenttest.Reply) intenttest.Reply {
	return func(r intenttest.Reply) intenttest.Reply {
		var reply struct{ Responses []any }
		if err := json.Unmarshal([]byte(r.Body), &reply); err != nil || r.Status != 200 {
			t.Errorf("reply %d %q: %v", r.Status, r.Body, err)
		}
		change(reply.Responses)
		body, err := json.Marshal(reply)
		if err != nil {
			t.Error(err)
		}
		return intenttest.Reply{Status: r.Status, Body: string(body)}
	}
}

func statementError(code string) any {
	return map[string]any{"Error": map[string]any{"Code": code, "Message": "because"}}
}

// One statement that failed for another reason than what stands is asked again
// alone, and only that one; whether it had landed or not.
func TestGroupStatementFails(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, code := range []string{"ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded", "TransactionConflict",
		"InternalServerError", "ValidationError", "AccessDenied", "ResourceNotFound", "ItemCollectionSizeLimitExceeded", "Unheard"} {
		for _, landed := range []bool{true, false} {
			for what, c := range map[string]struct {
				number int
				alone  string
			}{"claim": {1, "PutItem"}, "completion": {2, "UpdateItem"}} {
				t.Run(fmt.Sprintf("%s/%s, landed %t", code, what, landed), func(t *testing.T) {
					t.Parallel()
					const failed = 3
					w, p, ten := b.patient(t), new(provider), messages(t, 10)
					var key string
					var before item
					var alone [][]byte
					w.plan = func(call intenttest.Call) intenttest.Fault {
						if call.Operation != grouped {
							alone = append(alone, call.Body)
						}
						if call.Operation != grouped || call.Number != c.number {
							return intenttest.Fault{}
						}
						key = keysIn(call.Body)[failed]
						f := intenttest.Fault{Edit: editing(t, func(responses []any) { responses[failed] = statementError(code) })}
						if !landed {
							f.Before = func() { before = b.item(t, key) }
							f.After = func() { b.putBack(t, key, before) }
						}
						return f
					}
					outcomes, errs := w.batch(w.keyed(p), ten...)
					wantAll(t, "delivery", outcomes, errs, intent.Executed)
					p.wantTotal(t, 10, 10)
					w.wantRequests(t, "delivery", map[string]int{grouped: 2, c.alone: 1})
					if len(alone) != 1 || !slices.Equal(keysIn(alone[0]), []string{key}) {
						t.Errorf("asked again alone: got %s, want %s", alone, key)
					}
				})
			}
		}
	}
}

// putBack is the record as it was, or none.
func (b *bench) putBack(t *testing.T, key string, it item) {
	t.Helper()
	if len(it) == 0 {
		b.remove(t, key)
		return
	}
	b.put(t, b.records, it)
}
