package main

import (
	"path/filepath"
	"slices"
	"strings"
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

// samples is where the sample events lie.
const samples = "../../events/"

// openingBalance is what account 7 has before a sample, in cents.
const openingBalance = 10_000

// function is the whole function, on DynamoDB, with account 7, and with account 9 whose balance is no number.
type function struct {
	batch    *sqsbatch.Batch
	db       *dynamodb.Client
	accounts string
}

// newFunction sends what it quarantines to dead; without one it lists it.
func newFunction(t *testing.T, dead *intenttest.DeadLetters) function {
	t.Helper()
	db := intenttest.Engine(t)
	accounts := calls.Name("ACCOUNTS_TABLE", intenttest.Table(t, db, "account_id"))
	for account, balance := range map[string]types.AttributeValue{"7": cents(openingBalance), "9": &types.AttributeValueMemberS{Value: "10000"}} {
		if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &accounts, Item: map[string]types.AttributeValue{
			"account_id": &types.AttributeValueMemberS{Value: account},
			"balance":    balance,
		}}); err != nil {
			t.Fatal(err)
		}
	}
	config := sqsbatch.Config{Handler: &dynamo.Ledger[adjustment]{
		Config: intent.Config{Scope: "once", Operation: "adjust", Store: dynamo.New(db, calls.Name("INTENT_TABLE", intenttest.Table(t, db, "intent")))},
		Effect: ledger(accounts).adjust,
	}}
	if dead != nil {
		config.Queue, config.QueueURL, config.DeadLetterURL = dead, queueURL, deadLetterURL
	}
	batch, err := sqsbatch.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return function{batch, db, accounts}
}

// The queues of a stack named once.
const (
	queueURL      = "https://sqs.us-east-1.amazonaws.com/123456789012/once-adjust.fifo"
	deadLetterURL = "https://sqs.us-east-1.amazonaws.com/123456789012/once-adjust-dead.fifo"
)

// handle runs one sample and returns the indexes of the messages that are listed.
func (f function) handle(t *testing.T, name string) []int {
	t.Helper()
	return intenttest.Listed(t, name, f.batch.Handle)
}

func (f function) wantBalance(t *testing.T, want string) {
	t.Helper()
	out, err := f.db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &f.accounts, ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"account_id": &types.AttributeValueMemberS{Value: "7"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := out.Item["balance"].(*types.AttributeValueMemberN); !ok || got.Value != want {
		t.Errorf("balance: got %+v, want %s", out.Item["balance"], want)
	}
}

func TestSampleEvents(t *testing.T) {
	stories := map[string]struct {
		balance string
		hold    []int    // what is quarantined, by its place in the event
		reasons []string // their codes
		listed  []int    // either way
	}{
		"first-delivery":               {balance: "9000"},
		"redelivery":                   {balance: "9000"}, // on its own, as after a crash before the record
		"redriven-with-new-message-id": {balance: "9000"},
		"duplicate-in-batch":           {balance: "9000"},
		"conflicting-payload":          {balance: "9000", hold: []int{1}, reasons: []string{"conflict"}},
		"no-key":                       {balance: "10000", hold: []int{0, 1, 2}, reasons: []string{"no_key", "no_key", "no_key"}},
		"poison":                       {balance: "9000", hold: []int{1}, reasons: []string{"unreadable"}},
		// C14: [9 fails, 7, 9]: the second of account 9 does not overtake the first, 7 goes on.
		"failure-stops-its-group": {balance: "9000", listed: []int{0, 2}},
	}
	files, err := filepath.Glob(samples + "adjust-*.json")
	if err != nil || len(files) != len(stories) {
		t.Fatalf("got samples %v and error %v, want one a story", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "adjust-"), ".json")
		story, ok := stories[name]
		if !ok {
			t.Fatalf("no test knows the story %s", name)
		}
		t.Run(name, func(t *testing.T) {
			dead := new(intenttest.DeadLetters)
			f := newFunction(t, dead)
			if got := f.handle(t, file); !slices.Equal(got, story.listed) {
				t.Errorf("listed: got %v, want %v", got, story.listed)
			}
			var reasons []string
			for _, in := range dead.Sent() {
				code, _, _ := strings.Cut(*in.MessageAttributes[sqsbatch.ReasonAttribute].StringValue, ":")
				reasons = append(reasons, code)
				// The group goes on as one in the dead-letter queue, and there no two hide each other (C16).
				if id := in.MessageAttributes[sqsbatch.OriginalIDAttribute].StringValue; *in.QueueUrl != deadLetterURL ||
					aws.ToString(in.MessageGroupId) != "7" || aws.ToString(in.MessageDeduplicationId) != aws.ToString(id) {
					t.Errorf("sent to %s in group %q under %q, want to the dead-letter queue in group 7 under %s",
						*in.QueueUrl, aws.ToString(in.MessageGroupId), aws.ToString(in.MessageDeduplicationId), aws.ToString(id))
				}
			}
			if !slices.Equal(reasons, story.reasons) {
				t.Errorf("quarantined: got %v, want %v", reasons, story.reasons)
			}
			f.wantBalance(t, story.balance)
		})
		t.Run(name+", without a dead-letter queue to send to", func(t *testing.T) {
			f := newFunction(t, nil)
			if got, want := f.handle(t, file), slices.Concat(story.hold, story.listed); !slices.Equal(got, want) {
				t.Errorf("listed: got %v, want %v", got, want)
			}
			f.wantBalance(t, story.balance)
		})
	}
}

// One after the other they are one intent: one change, and nobody is left waiting for an answer.
func TestSampleEventsOfOneIntent(t *testing.T) {
	f := newFunction(t, new(intenttest.DeadLetters))
	for _, name := range []string{"first-delivery", "redelivery", "redriven-with-new-message-id", "duplicate-in-batch"} {
		if got := f.handle(t, samples+"adjust-"+name+".json"); len(got) != 0 {
			t.Errorf("%s: listed %v, want none", name, got)
		}
	}
	f.wantBalance(t, "9000")
}

// Poison does not hold its group up: what comes after it runs, since waiting would not mend it. Only where it cannot be
// sent away does it stop its group.
func TestGroupGoesOnAfterPoison(t *testing.T) {
	for name, c := range map[string]struct {
		dead    *intenttest.DeadLetters
		listed  []string
		balance string
	}{
		"quarantined": {new(intenttest.DeadLetters), nil, "9000"},
		"listed":      {nil, []string{"poison", "behind it"}, "10000"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFunction(t, c.dead)
			behind := message("order-8821-adjust", "7", -1000)
			behind.MessageId = "behind it"
			batch := []events.SQSMessage{{MessageId: "poison", Body: "{"}, behind}
			for i := range batch {
				batch[i].EventSourceARN = "arn:aws:sqs:us-east-1:123456789012:once-adjust.fifo"
				batch[i].Attributes = map[string]string{"MessageGroupId": "7"}
			}
			response, err := f.batch.Handle(t.Context(), events.SQSEvent{Records: batch})
			if err != nil {
				t.Fatal(err)
			}
			var listed []string
			for _, failure := range response.BatchItemFailures {
				listed = append(listed, failure.ItemIdentifier)
			}
			if !slices.Equal(listed, c.listed) {
				t.Errorf("listed: got %v, want %v", listed, c.listed)
			}
			f.wantBalance(t, c.balance)
		})
	}
}
