package dynamo_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// wired is an item as it stands in a reply.
func wired(it item) map[string]any {
	out := map[string]any{}
	for name, v := range it {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			out[name] = map[string]any{"S": v.Value}
		case *types.AttributeValueMemberN:
			out[name] = map[string]any{"N": v.Value}
		}
	}
	return out
}

// Where the item comes with the error, as DynamoDB has it, nothing is read.
func TestGroupItemComesWithTheError(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, ten := new(provider), messages(t, 10)
	first, w := b.worker(t), b.patient(t)
	outcomes, errs := first.batch(first.keyed(p), ten...)
	wantAll(t, "delivery", outcomes, errs, intent.Executed)
	w.plan = func(call intenttest.Call) intenttest.Fault {
		keys := keysIn(call.Body)
		if asked := bytes.Count(call.Body, []byte(`"ReturnValuesOnConditionCheckFailure":"ALL_OLD"`)); asked != len(keys) {
			t.Errorf("%d of %d statements ask for what stands", asked, len(keys))
		}
		return intenttest.Fault{Edit: editing(t, func(responses []any) {
			for i, key := range keys {
				failure := responses[i].(map[string]any)["Error"].(map[string]any)
				if failure["Code"] != "DuplicateItem" {
					t.Errorf("%s: got %v, want DuplicateItem", key, failure)
				}
				failure["Item"] = wired(b.item(t, key))
			}
		})}
	}
	outcomes, errs = w.batch(w.keyed(p), ten...)
	wantAll(t, "redelivery", outcomes, errs, intent.Replayed)
	w.wantRequests(t, "redelivery", map[string]int{grouped: 1})
	p.wantTotal(t, 10, 10)
}

// Where it does not, the items are read consistently, as often as DynamoDB leaves
// some of them for later; if they cannot be read each is asked for alone.
func TestGroupItemsAreRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, ten := new(provider), messages(t, 10)
	first := b.worker(t)
	outcomes, errs := first.batch(first.keyed(p), ten...)
	wantAll(t, "delivery", outcomes, errs, intent.Executed)

	// later leaves all but three items of a reply unprocessed.
	later := func(r intenttest.Reply) intenttest.Reply {
		var reply struct{ Responses map[string][]map[string]any }
		if err := json.Unmarshal([]byte(r.Body), &reply); err != nil {
			t.Error(err)
		}
		items := reply.Responses[b.records]
		keys := []any{}
		for _, it := range items[min(3, len(items)):] {
			keys = append(keys, map[string]any{"intent": it["intent"]})
		}
		answer := map[string]any{"Responses": map[string]any{b.records: items[:min(3, len(items))]}}
		if len(keys) > 0 {
			answer["UnprocessedKeys"] = map[string]any{b.records: map[string]any{"Keys": keys, "ConsistentRead": true}}
		}
		body, err := json.Marshal(answer)
		if err != nil {
			t.Error(err)
		}
		return intenttest.Reply{Status: r.Status, Body: string(body)}
	}
	for name, c := range map[string]struct {
		fault    intenttest.Fault
		times    int
		requests map[string]int
	}{
		"some left for later": {intenttest.Fault{Edit: later}, 9, map[string]int{grouped: 1, "BatchGetItem": 4}},
		"throttled":           {intenttest.Fault{Reply: refused("ProvisionedThroughputExceededException")}, 4, map[string]int{grouped: 1, "BatchGetItem": 5}},
		"reply lost":          {intenttest.Fault{LoseReply: true}, 1, map[string]int{grouped: 1, "BatchGetItem": 2}},
		"not allowed":         {intenttest.Fault{Reply: refused("AccessDeniedException")}, 9, map[string]int{grouped: 1, "BatchGetItem": 1, "PutItem": 10}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := b.patient(t)
			w.plan = func(call intenttest.Call) intenttest.Fault {
				if call.Operation != "BatchGetItem" {
					return intenttest.Fault{}
				}
				if !bytes.Contains(call.Body, []byte(`"ConsistentRead":true`)) {
					t.Errorf("read %s is not consistent", call.Body)
				}
				if call.Number > c.times {
					return intenttest.Fault{}
				}
				return c.fault
			}
			outcomes, errs := w.batch(w.keyed(p), ten...)
			wantAll(t, "redelivery", outcomes, errs, intent.Replayed)
			w.wantRequests(t, "redelivery", c.requests)
			p.wantTotal(t, 10, 10)
		})
	}
}
