package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/singleeffect/once/shared/intenttest"
)

// always spoils every call of an operation.
func always(operation string, fault intenttest.Fault) func(intenttest.Call) intenttest.Fault {
	return func(call intenttest.Call) intenttest.Fault {
		if call.Operation == operation {
			return fault
		}
		return intenttest.Fault{}
	}
}

// upTo spoils the first n calls of an operation.
func upTo(n int, operation string, fault intenttest.Fault) func(intenttest.Call) intenttest.Fault {
	return func(call intenttest.Call) intenttest.Fault {
		if call.Operation == operation && call.Number <= n {
			return fault
		}
		return intenttest.Fault{}
	}
}

func refusal(name string) intenttest.Fault {
	return intenttest.Fault{Reply: &intenttest.Reply{Status: 400, Body: `{"__type":"com.amazonaws.dynamodb.v20120810#` + name + `","message":"spoilt"}`}}
}

// withoutItem is an engine that leaves the item out of the error (C24).
var withoutItem = intenttest.Fault{Edit: func(r intenttest.Reply) intenttest.Reply {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(r.Body), &fields); err != nil {
		return intenttest.Reply{Status: 500, Body: `{"__type":"not JSON"}`}
	}
	delete(fields, "Item")
	body, err := json.Marshal(fields)
	if err != nil {
		return intenttest.Reply{Status: 500, Body: `{"__type":"not JSON"}`}
	}
	return intenttest.Reply{Status: r.Status, Body: string(body)}
}}

// The SDK sends the write again, which then meets its own time (C01 for an effect without a record).
func TestLostReply(t *testing.T) {
	w := newWorld(t)
	w.put(t, "8821", "packed", nil)
	w.faults.Plan = upTo(1, "UpdateItem", intenttest.Fault{LoseReply: true})
	w.wantDone(t, message("8821", noon))
	if got, want := w.row(t, "8821"), shippedRow("8821", noon); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := w.faults.Counts(); got["UpdateItem"] != 2 || got["GetItem"] != 0 {
		t.Errorf("requests: got %v, want two UpdateItem", got)
	}
}

// The order was delivered between a write whose reply was lost and the SDK's retry.
func TestLostReplyAndDelivered(t *testing.T) {
	w := newWorld(t)
	w.put(t, "8821", "packed", nil)
	w.faults.Plan = upTo(1, "UpdateItem", intenttest.Fault{LoseReply: true, After: func() { w.set(t, "8821", "delivered") }})
	w.wantDone(t, message("8821", noon))
	want := row(item{orderIDAttribute: text("8821"), "customer": text("7"), statusAttribute: text("delivered"), shippedAtAttribute: number(noon)})
	if got := w.row(t, "8821"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What may pass is never quarantined: the message is listed, and done once it has passed.
func TestPassingFaults(t *testing.T) {
	for name, c := range map[string]struct {
		plan func(intenttest.Call) intenttest.Fault
		done bool // by the SDK's own retries
	}{
		"throttled once":                  {upTo(1, "UpdateItem", refusal("ProvisionedThroughputExceededException")), true},
		"throttled for long":              {always("UpdateItem", refusal("ProvisionedThroughputExceededException")), false},
		"throttled on demand":             {always("UpdateItem", refusal("ThrottlingException")), false},
		"a transaction is under way":      {always("UpdateItem", refusal("TransactionConflictException")), false},
		"connections die":                 {always("UpdateItem", intenttest.Fault{Drop: true}), false},
		"the service has an error":        {always("UpdateItem", intenttest.Fault{Reply: &intenttest.Reply{Status: 500, Body: `{"__type":"InternalServerError"}`}}), false},
		"not allowed, as after a rollout": {always("UpdateItem", refusal("AccessDeniedException")), false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put(t, "8821", "packed", nil)
			w.faults.Plan = c.plan
			if !c.done {
				before := w.row(t, "8821")
				w.wantListed(t, message("8821", noon))
				if got := w.row(t, "8821"); got != before {
					t.Errorf("got %s, want %s as it was", got, before)
				}
				w.faults.Plan = nil
			}
			w.wantDone(t, message("8821", noon))
			if got, want := w.row(t, "8821"), shippedRow("8821", noon); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// Where the error comes without the item, a consistent read decides as the item would have (C24).
func TestErrorWithoutItem(t *testing.T) {
	w := newWorld(t)
	reads := 0
	w.faults.Plan = func(call intenttest.Call) intenttest.Fault {
		if call.Operation == "GetItem" {
			reads++
			if !bytes.Contains(call.Body, []byte(`"ConsistentRead":true`)) {
				t.Errorf("got read %s, want a consistent one", call.Body)
			}
		}
		return always("UpdateItem", withoutItem)(call)
	}
	w.put(t, "8821", "delivered", nil)
	delivered := w.row(t, "8821")
	w.wantDone(t, message("8821", noon))
	if got := w.row(t, "8821"); got != delivered {
		t.Errorf("got %s, want %s as it was", got, delivered)
	}
	w.put(t, "8821", shipped, item{shippedAtAttribute: number(noon)})
	w.wantDone(t, message("8821", noon))
	w.put(t, "8821", "lost", nil)
	w.wantQuarantined(t, message("8821", noon), "status is neither before shipped nor past it")
	if reads != 3 {
		t.Errorf("got %d reads, want 3", reads)
	}
}

// The order that is read need not be the one that refused: what it says now is not guessed from.
func TestOrderChangesBeforeTheRead(t *testing.T) {
	for name, now := range map[string]item{
		"not yet shipped any more":  {statusAttribute: text("packed")},
		"no status any more":        {},
		"shipped earlier":           {statusAttribute: text(shipped), shippedAtAttribute: number(noon - 1)},
		"shipped without a time":    {statusAttribute: text(shipped)},
		"put back, shipped earlier": {statusAttribute: text("packed"), shippedAtAttribute: number(noon - 1)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put(t, "8821", "lost", nil)
			fault := withoutItem
			fault.After = func() { w.put(t, "8821", "", now) }
			w.faults.Plan = upTo(1, "UpdateItem", fault)
			w.wantListed(t, message("8821", noon))
			w.wantDone(t, message("8821", noon))
			if got, want := w.row(t, "8821"), shippedRow("8821", noon); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	t.Run("the read fails", func(t *testing.T) {
		w := newWorld(t)
		w.faults.Plan = always("GetItem", refusal("ThrottlingException"))
		w.wantListed(t, message("9999", noon)) // its absence is not established
		w.faults.Plan = nil
		w.wantQuarantined(t, message("9999", noon), "unknown order")
	})
}
