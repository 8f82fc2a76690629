package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
	"github.com/singleeffect/once/shared/intenttest/calls"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// books are the tables that several workers share. The workers' requests meet
// the faults.
type books struct {
	db                *dynamodb.Client
	records, accounts string
	faults            *intenttest.Faults
}

func newBooks(t *testing.T) *books {
	t.Helper()
	db := intenttest.Engine(t)
	return &books{db, calls.Name("INTENT_TABLE", intenttest.Table(t, db, "intent")), calls.Name("ACCOUNTS_TABLE", intenttest.Table(t, db, "account_id")), new(intenttest.Faults)}
}

func (b *books) open(t *testing.T, account string, balance types.AttributeValue) {
	t.Helper()
	if _, err := b.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &b.accounts, Item: map[string]types.AttributeValue{
		"account_id": &types.AttributeValueMemberS{Value: account}, "balance": balance,
	}}); err != nil {
		t.Fatal(err)
	}
}

// balance is the account's, or "none" where there is no such account.
func (b *books) balance(t *testing.T, account string) string {
	t.Helper()
	out, err := b.db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &b.accounts, ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"account_id": &types.AttributeValueMemberS{Value: account}},
	})
	if err != nil {
		t.Fatal(err)
	}
	switch balance := out.Item["balance"].(type) {
	case nil:
		if len(out.Item) == 0 {
			return "none"
		}
	case *types.AttributeValueMemberN:
		return balance.Value
	}
	return fmt.Sprint(out.Item)
}

// deliver runs one invocation of a worker of its own and returns the outcomes'
// counts and the ids that are listed.
func (b *books) deliver(t *testing.T, messages ...events.SQSMessage) (sqsbatch.Report, []string) {
	t.Helper()
	client := intenttest.Engine(t, dynamo.Tune, func(o *dynamodb.Options) { o.HTTPClient = b.faults.Client() })
	var report sqsbatch.Report
	batch, err := sqsbatch.New(sqsbatch.Config{
		Handler: &dynamo.Ledger[adjustment]{
			Config: intent.Config{Scope: "test", Operation: "adjust", Store: dynamo.New(client, b.records)},
			Effect: ledger(b.accounts).adjust,
		},
		Observe: func(_ context.Context, r sqsbatch.Report) { report = r },
		Log:     slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	response, err := batch.Handle(t.Context(), events.SQSEvent{Records: messages})
	if err != nil {
		t.Error(err)
	}
	var listed []string
	for _, failure := range response.BatchItemFailures {
		listed = append(listed, failure.ItemIdentifier)
	}
	return report, listed
}

func message(key, account string, delta int) events.SQSMessage {
	return events.SQSMessage{
		MessageId: "message-of-" + key,
		Body:      fmt.Sprintf(`{"idempotency_key":%q,"account_id":%q,"delta_cents":%d}`, key, account, delta),
	}
}

// wantOne is the one message's outcome.
func wantOne(t *testing.T, what string, report sqsbatch.Report, listed []string, kind intent.Kind) {
	t.Helper()
	if len(listed) != 0 || report.Outcomes[kind] != 1 {
		t.Errorf("%s: got outcomes %v, failed %d, listed %v, want one %s", what, report.Outcomes, report.Failed, listed, kind)
	}
}

// A refusal is the intent's answer, also after money came in: who wants another
// try sends another intent.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		account string
		delta   int
		before  string
		result  string
	}{
		"insufficient funds":                {"7", -1001, "1000", `{"reason":"insufficient funds"}`},
		"unknown account":                   {"8", -1, "none", `{"reason":"unknown account"}`},
		"unknown account that is to get":    {"8", 1, "none", `{"reason":"unknown account"}`},
		"the largest amount that is taken":  {"7", -1<<63 + 1, "1000", `{"reason":"insufficient funds"}`},
		"one cent more than there is, huge": {"9", -1 << 62, "4611686018427387903", `{"reason":"insufficient funds"}`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBooks(t)
			b.open(t, "7", cents(1000))
			b.open(t, "9", cents(1<<62-1))
			m := message("k", c.account, c.delta)
			report, listed := b.deliver(t, m)
			wantOne(t, "first delivery", report, listed, intent.Refused)
			if got := b.balance(t, c.account); got != c.before {
				t.Errorf("balance: got %s, want %s", got, c.before)
			}

			rich := &types.AttributeValueMemberN{Value: "99999999999999999999"}
			b.open(t, c.account, rich)
			report, listed = b.deliver(t, m)
			wantOne(t, "redelivery after money came in", report, listed, intent.Refused)
			if got := b.balance(t, c.account); got != rich.Value {
				t.Errorf("balance: got %s, want %s", got, rich.Value)
			}
			o, err := intent.Lookup(t.Context(), dynamo.New(b.db, b.records), intent.Key{Scope: "test", Operation: "adjust", ID: "k"})
			if err != nil || o.Kind != intent.Refused || string(o.Result.JSON) != c.result {
				t.Errorf("lookup: got %s %s, %v, want refused with %s", o.Kind, o.Result.JSON, err, c.result)
			}
		})
	}
}

// C65: the message may overtake its account's row. It is delivered again, and refused only from the fourth receive on.
func TestAccountComesLater(t *testing.T) {
	for _, delta := range []int{-400, 400} {
		b := newBooks(t)
		early := func(n int) events.SQSMessage {
			m := message("k", "7", delta)
			m.Attributes = map[string]string{"ApproximateReceiveCount": fmt.Sprint(n)}
			return m
		}
		for n := 1; n <= 3; n++ {
			if report, listed := b.deliver(t, early(n)); len(listed) != 1 || report.Failed != 1 {
				t.Errorf("%d, receive %d: got outcomes %v, failed %d, listed %v, want the message listed", delta, n, report.Outcomes, report.Failed, listed)
			}
		}
		if _, err := intent.Lookup(t.Context(), dynamo.New(b.db, b.records), intent.Key{Scope: "test", Operation: "adjust", ID: "k"}); !errors.Is(err, intent.ErrNoIntent) {
			t.Errorf("%d: got %v, want no record", delta, err)
		}
		b.open(t, "7", cents(1000))
		report, listed := b.deliver(t, early(4))
		wantOne(t, "when it is there", report, listed, intent.Executed)
		if got, want := b.balance(t, "7"), fmt.Sprint(1000+delta); got != want {
			t.Errorf("balance: got %s, want %s", got, want)
		}

		b = newBooks(t)
		report, listed = b.deliver(t, early(4))
		wantOne(t, "the fourth receive without it", report, listed, intent.Refused)
	}
}

func TestAdjusted(t *testing.T) {
	b := newBooks(t)
	b.open(t, "7", cents(1000))
	for _, c := range []struct {
		key     string
		delta   int
		balance string
	}{{"all of it", -1000, "0"}, {"in again", 250, "250"}, {"some", -50, "200"}} {
		m := message(c.key, "7", c.delta)
		report, listed := b.deliver(t, m)
		wantOne(t, c.key, report, listed, intent.Executed)
		m.MessageId = "another" // C15
		report, listed = b.deliver(t, m)
		wantOne(t, c.key+", again", report, listed, intent.Replayed)
		if got := b.balance(t, "7"); got != c.balance {
			t.Errorf("%s: got balance %s, want %s", c.key, got, c.balance)
		}
		o, err := intent.Lookup(t.Context(), dynamo.New(b.db, b.records), intent.Key{Scope: "test", Operation: "adjust", ID: c.key})
		if want := fmt.Sprintf(`{"account_id":"7","delta_cents":%d}`, c.delta); err != nil || string(o.Result.JSON) != want {
			t.Errorf("%s: got result %s, %v, want %s", c.key, o.Result.JSON, err, want)
		}
	}
}

// An account row that is damaged says nothing of the business: listed, and run
// once it is mended.
func TestDamagedAccount(t *testing.T) {
	b := newBooks(t)
	b.open(t, "7", &types.AttributeValueMemberS{Value: "1000"})
	m := message("k", "7", -10)
	if report, listed := b.deliver(t, m); len(listed) != 1 || report.Failed != 1 {
		t.Errorf("got outcomes %v, failed %d, listed %v, want the message listed", report.Outcomes, report.Failed, listed)
	}
	b.open(t, "7", cents(1000))
	report, listed := b.deliver(t, m)
	wantOne(t, "after it was mended", report, listed, intent.Executed)
	if got := b.balance(t, "7"); got != "990" {
		t.Errorf("balance: got %s, want 990", got)
	}
}

// Fifty intents, each delivered twice, take 100 each from 2,000: twenty get it.
// In one run the transactions' replies get lost, in another they meet conflicts,
// which the engine itself never raises.
func TestFiftyAtOnce(t *testing.T) {
	const conflict = `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"cancelled",` +
		`"CancellationReasons":[{"Code":"None"},{"Code":"TransactionConflict","Message":"Transaction is ongoing for the item"}]}`
	for name, fault := range map[string]intenttest.Fault{
		"undisturbed":          {},
		"every 3rd reply lost": {LoseReply: true},
		"every 3rd conflicts":  {Reply: &intenttest.Reply{Status: 400, Body: conflict}},
	} {
		t.Run(name, func(t *testing.T) {
			const intents, perBatch = 50, 10
			b := newBooks(t)
			b.open(t, "7", cents(2000))
			b.faults.Plan = func(call intenttest.Call) intenttest.Fault {
				if call.Operation == "TransactWriteItems" && call.Number%3 == 0 {
					return fault
				}
				return intenttest.Fault{}
			}
			var running sync.WaitGroup
			var mu sync.Mutex
			sum := map[intent.Kind]int{}
			for first := 0; first < intents; first += perBatch {
				var messages []events.SQSMessage
				for i := range perBatch {
					messages = append(messages, message(fmt.Sprint(first+i), "7", -100))
				}
				for range 2 {
					running.Go(func() {
						report, listed := b.deliver(t, messages...)
						mu.Lock()
						defer mu.Unlock()
						if len(listed) != 0 {
							t.Errorf("listed: %v", listed)
						}
						for kind, n := range report.Outcomes {
							sum[kind] += n
						}
					})
				}
			}
			running.Wait()
			if got := b.balance(t, "7"); got != "0" {
				t.Errorf("balance: got %s, want 0", got)
			}
			if sum[intent.Executed] != 20 || sum[intent.Replayed] != 20 || sum[intent.Refused] != 60 {
				t.Errorf("outcomes: got %v, want 20 executed, 20 replayed, and 30 refused twice", sum)
			}
		})
	}
}

// The changes of one account come in their order, since its queue is FIFO with one group an account: what is paid in
// can be spent right after, each time.
func TestOrderWithinAnAccount(t *testing.T) {
	b := newBooks(t)
	var messages []events.SQSMessage
	for i := range 10 {
		for _, account := range []string{"7", "8"} {
			if i == 0 {
				b.open(t, account, cents(0))
			}
			m := message(fmt.Sprintf("%s-%d", account, i), account, 100*(1-i%2*2))
			m.EventSourceARN = "arn:aws:sqs:us-east-1:123456789012:once-adjust.fifo"
			m.Attributes = map[string]string{"MessageGroupId": account}
			messages = append(messages, m)
		}
	}
	if report, listed := b.deliver(t, messages...); report.Outcomes[intent.Executed] != len(messages) {
		t.Errorf("got outcomes %v, listed %v, want all %d executed", report.Outcomes, listed, len(messages))
	}
	for _, account := range []string{"7", "8"} {
		if got := b.balance(t, account); got != "0" {
			t.Errorf("account %s: got balance %s, want 0", account, got)
		}
	}
}

func TestValidate(t *testing.T) {
	for body, field := range map[string]string{
		`{"account_id":"7","delta_cents":-1000}`:                "",
		`{"account_id":7,"delta_cents":1}`:                      "",
		`{"account_id":"7"}`:                                    "delta_cents",
		`{"account_id":"7","delta_cents":0}`:                    "delta_cents",
		`{"account_id":"7","delta_cents":1.5}`:                  "delta_cents",
		`{"account_id":"7","delta_cents":"1"}`:                  "delta_cents",
		`{"account_id":"7","delta_cents":-9223372036854775808}`: "delta_cents",
		`{"delta_cents":1}`:                                     "account_id",
		`{"account_id":"","delta_cents":1}`:                     "account_id",
		`{"account_id":null,"delta_cents":1}`:                   "account_id",
	} {
		_, err := intent.Decode[adjustment](intenttest.Payload(t, body))
		var payload *intent.PayloadError
		switch {
		case field == "" && err != nil:
			t.Errorf("%s: got %v, want no error", body, err)
		case field != "" && (!errors.As(err, &payload) || !strings.Contains(payload.Field, field)):
			t.Errorf("%s: got %v, want an error of the field %s", body, err, field)
		}
	}
}
