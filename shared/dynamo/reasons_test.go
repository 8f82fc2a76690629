package dynamo_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// cancelled is a transaction that ended with these reasons, one for each action.
func cancelled(codes ...string) *intenttest.Reply {
	var reasons []string
	for _, code := range codes {
		reasons = append(reasons, fmt.Sprintf(`{"Code":%q,"Message":"because"}`, code))
	}
	return &intenttest.Reply{Status: 400, Body: `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",` +
		`"Message":"Transaction cancelled","CancellationReasons":[` + strings.Join(reasons, ",") + `]}`}
}

// refused is a whole transaction or write that was refused.
func refused(exception string) *intenttest.Reply {
	return &intenttest.Reply{Status: 400, Body: `{"__type":"com.amazonaws.dynamodb.v20120810#` + exception + `","message":"because"}`}
}

// withoutToken is a transaction without its token: its input.
func withoutToken(t *testing.T, body []byte) (input any, token string) {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		t.Error(err)
	}
	token, _ = fields["ClientRequestToken"].(string)
	delete(fields, "ClientRequestToken")
	return fields, token
}

// C25: only a failed condition at the record's own index is a duplicate. What
// says nothing of the conditions is tried again with the same input; C18: under
// the same token only byte for byte.
func TestC25_C18_CancellationReasons(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		name  string
		reply *intenttest.Reply
		times int
	}{
		{"conflict at the account", cancelled("None", "TransactionConflict"), 4},
		{"conflict at the record", cancelled("TransactionConflict", "None"), 4},
		{"conflict beside a failed condition", cancelled("TransactionConflict", "ConditionalCheckFailed"), 4},
		{"throttled", cancelled("None", "ThrottlingError"), 4},
		{"capacity", cancelled("ProvisionedThroughputExceeded", "None"), 4},
		{"still in progress", cancelled("None", "TransactionInProgress"), 4},
		{"in progress under its token", refused("TransactionInProgressException"), 2},
		{"token meets other parameters", refused("IdempotentParameterMismatchException"), 2},
		{"conflict as a whole", refused("TransactionConflictException"), 4},
		{"throttled as a whole", refused("ThrottlingException"), 2},
		{"server at fault", &intenttest.Reply{Status: 500, Body: `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"sorry"}`}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := message(t, `{"cents":10}`)
			b.open(t, d.Key, 100)
			w := b.worker(t)
			var bodies [][]byte
			w.plan = func(call intenttest.Call) intenttest.Fault {
				bodies = append(bodies, call.Body)
				if call.Number <= c.times {
					return intenttest.Fault{Reply: c.reply}
				}
				return intenttest.Fault{}
			}
			o, err := w.deliver(w.ledger(d.Key), d)
			want(t, "delivery", o, err, intent.Executed)
			b.wantBalance(t, d.Key, 90)
			wantSameInput(t, bodies, c.times+1)
		})
	}
}

// C18: the same for re-sends after lost replies, by the SDK and by the store.
func TestC18_ResendsAfterLostReplies(t *testing.T) {
	b := newBench(t)
	d := message(t, `{"cents":10}`)
	b.open(t, d.Key, 100)
	w := b.worker(t)
	var bodies [][]byte
	w.plan = func(call intenttest.Call) intenttest.Fault {
		bodies = append(bodies, call.Body)
		// Three are lost to the SDK, which repeats them under their token. The fourth
		// is the store's, under another, and finds the record.
		return intenttest.Fault{LoseReply: call.Number <= 3}
	}
	o, err := w.deliver(w.ledger(d.Key), d)
	want(t, "delivery", o, err, intent.Executed)
	b.wantBalance(t, d.Key, 90)
	wantSameInput(t, bodies, 4)
}

func wantSameInput(t *testing.T, bodies [][]byte, requests int) {
	t.Helper()
	if len(bodies) != requests {
		t.Errorf("transactions: got %d, want %d", len(bodies), requests)
	}
	byToken := map[string][]byte{}
	first, _ := withoutToken(t, bodies[0])
	for _, body := range bodies {
		input, token := withoutToken(t, body)
		if length := len(token); length < 1 || length > 36 {
			t.Errorf("token %q has %d characters, want 1 to 36", token, length)
		}
		if earlier, ok := byToken[token]; ok && !bytes.Equal(earlier, body) {
			t.Errorf("inputs under one token differ:\n%s\n%s", earlier, body)
		}
		byToken[token] = body
		if got, want := fmt.Sprint(input), fmt.Sprint(first); got != want {
			t.Errorf("re-sent with another input:\n%s\n%s", got, want)
		}
	}
}

// C25: what will not pass is listed, neither retried nor taken for a refusal or
// a duplicate.
func TestC25_ReasonsThatStay(t *testing.T) {
	b := newBench(t)
	for name, reply := range map[string]*intenttest.Reply{
		"invalid update":            cancelled("None", "ValidationError"),
		"item collection too large": cancelled("None", "ItemCollectionSizeLimitExceeded"),
		"invalid as a whole":        refused("ValidationException"),
		"cancelled without reasons": refused("TransactionCanceledException"),
		"reasons of another number": cancelled("None"),
	} {
		t.Run(name, func(t *testing.T) {
			d := message(t, `{"cents":10}`)
			b.open(t, d.Key, 100)
			w := b.worker(t)
			w.plan = func(call intenttest.Call) intenttest.Fault {
				if call.Operation == "TransactWriteItems" {
					return intenttest.Fault{Reply: reply}
				}
				return intenttest.Fault{}
			}
			o, err := w.deliver(w.ledger(d.Key), d)
			if err == nil {
				t.Errorf("delivery: got %s, want an error", describe(o, err))
			}
			if got := w.writes(); got != 1 {
				t.Errorf("requests that write: got %d, want 1", got)
			}
			next := b.worker(t)
			o, err = next.deliver(next.ledger(d.Key), d)
			want(t, "next delivery", o, err, intent.Executed)
			b.wantBalance(t, d.Key, 90)
		})
	}
}

// C25: a record in the way decides, whatever else is among the reasons.
func TestC25_RecordsOwnReasonIsReadFirst(t *testing.T) {
	b := newBench(t)
	for _, beside := range []string{"TransactionConflict", "ThrottlingError", "ValidationError", "ConditionalCheckFailed"} {
		t.Run(beside, func(t *testing.T) {
			d := b.executed(t, "Ledger", new(provider))
			w := b.worker(t)
			w.plan = func(call intenttest.Call) intenttest.Fault {
				if call.Operation == "TransactWriteItems" {
					return intenttest.Fault{Reply: cancelled("ConditionalCheckFailed", beside)}
				}
				return intenttest.Fault{}
			}
			o, err := w.deliver(w.ledger(d.Key), d)
			want(t, "redelivery", o, err, intent.Replayed)
			if got := w.writes(); got != 1 {
				t.Errorf("requests that write: got %d, want 1", got)
			}
			b.wantBalance(t, d.Key, 90)
		})
	}
}
