package intenttest

import (
	"encoding/json"
	"testing"

	"github.com/singleeffect/once/shared/intent"
)

func isWrite(call Call) bool { return call.Operation != "GetItem" && call.Operation != "BatchGetItem" }

// onWrites is a plan for the store's n-th write, counted from 1 over all kinds.
func onWrites(plan func(n int) Fault) func(Call) Fault {
	var n int
	return func(call Call) Fault {
		if !isWrite(call) {
			return Fault{}
		}
		n++
		return plan(n)
	}
}

// losses are how many replies in a row get lost: one, which the backend's own
// client makes up for, and more than any client makes up for.
var losses = map[string]int{"once": 1, "five times": 5}

// losing is a store whose first n writes are applied without an answer; what
// happens meanwhile happens before the first repetition.
func (c *contract) losing(t testing.TB, n int, meanwhile func()) intent.Store {
	return c.newStore(t, &Faults{Plan: onWrites(func(write int) Fault {
		f := Fault{LoseReply: write <= n}
		if write == 1 {
			f.After = meanwhile
		}
		return f
	})})
}

// bare is a store whose backend refuses without showing the record, as some
// engines do. Vanishing: nor does it find one when asked.
func (c *contract) bare(t testing.TB, vanishing bool) intent.Store {
	return c.newStore(t, &Faults{Plan: func(call Call) Fault {
		switch {
		case isWrite(call):
			return Fault{Edit: withoutItem}
		case vanishing:
			return Fault{Reply: &Reply{200, "{}"}}
		}
		return Fault{}
	}})
}

// withoutItem takes the item out of an answer, and out of the reasons of a
// cancelled transaction. What is no object stays as it is.
func withoutItem(r Reply) Reply {
	var fields map[string]any
	if json.Unmarshal([]byte(r.Body), &fields) != nil {
		return r
	}
	delete(fields, "Item")
	if reasons, ok := fields["CancellationReasons"].([]any); ok {
		for _, reason := range reasons {
			if reason, ok := reason.(map[string]any); ok {
				delete(reason, "Item")
			}
		}
	}
	edited, err := json.Marshal(fields)
	if err != nil {
		return r
	}
	return Reply{r.Status, string(edited)}
}

// refusals are what a backend says when it may say otherwise later.
var refusals = map[string]Reply{
	"throttled": {400, `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"slow down"}`},
	"conflict":  {400, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionConflictException","message":"Transaction is ongoing for the item"}`},
	"at fault":  {500, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"sorry"}`},
}
