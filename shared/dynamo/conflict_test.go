package dynamo_test

import (
	"testing"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// Plain puts and updates, too, meet transactions under way, throttling and
// servers at fault: they are tried again, beyond the SDK's own attempts, and the
// effect takes place once.
func TestWritesThatMayPass(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct {
		reply *intenttest.Reply
		times int
	}{
		"TransactionConflict": {refused("TransactionConflictException"), 4},
		"throttled":           {&intenttest.Reply{Status: 400, Body: throttling}, 4},
		"server at fault":     {&intenttest.Reply{Status: 500, Body: `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"sorry"}`}, 4},
		"not reached":         {nil, 4},
	} {
		for _, operation := range []string{"PutItem", "UpdateItem", "GetItem"} {
			t.Run(name+"/"+operation, func(t *testing.T) {
				t.Parallel() // they wait
				p := new(provider)
				d := message(t, `{"cents":10}`)
				w := b.worker(t)
				w.plan = func(call intenttest.Call) intenttest.Fault {
					switch {
					case call.Operation == operation && call.Number <= c.times:
						return intenttest.Fault{Reply: c.reply, Drop: c.reply == nil}
					case operation == "GetItem" && call.Operation == "PutItem" && call.Number == 1:
						// A read is needed where the item is missing from the error.
						return intenttest.Fault{LoseReply: true}
					case operation == "GetItem":
						return intenttest.Fault{Edit: stripItem}
					}
					return intenttest.Fault{}
				}
				o, err := w.deliver(w.keyed(p), d)
				want(t, "delivery", o, err, intent.Executed)
				p.want(t, 1, 1)
				if got, want := w.faults.Counts()[operation], c.times+1; got != want {
					t.Errorf("%s requests: got %d, want %d", operation, got, want)
				}
			})
		}
	}
}
