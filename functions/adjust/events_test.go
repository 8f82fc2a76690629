package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
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

func newFunction(t *testing.T) function {
	t.Helper()
	db := intenttest.Engine(t)
	accounts := intenttest.Table(t, db, "account_id")
	for account, balance := range map[string]types.AttributeValue{"7": cents(openingBalance), "9": &types.AttributeValueMemberS{Value: "10000"}} {
		if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &accounts, Item: map[string]types.AttributeValue{
			"account_id": &types.AttributeValueMemberS{Value: account},
			"balance":    balance,
		}}); err != nil {
			t.Fatal(err)
		}
	}
	batch, err := sqsbatch.New(sqsbatch.Config{Handler: &dynamo.Ledger[adjustment]{
		Config: intent.Config{Scope: "test", Operation: "adjust", Store: dynamo.New(db, intenttest.Table(t, db, "intent"))},
		Effect: ledger(accounts).adjust,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return function{batch, db, accounts}
}

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
		listed  []int
		balance string
	}{
		"first-delivery":               {balance: "9000"},
		"redelivery":                   {balance: "9000"}, // on its own, as after a crash before the record
		"redriven-with-new-message-id": {balance: "9000"},
		"duplicate-in-batch":           {balance: "9000"},
		"conflicting-payload":          {balance: "9000", listed: []int{1}},
		"no-key":                       {balance: "10000", listed: []int{0, 1, 2}},
		"poison":                       {balance: "9000", listed: []int{1}},
		// C14: [9 fails, 7, 9]: the second of account 9 does not overtake the first, 7 goes on.
		"failure-stops-its-group": {balance: "9000", listed: []int{0, 2}},
	}
	files, err := filepath.Glob(samples + "adjust-*.json")
	if err != nil || len(files) != len(stories) {
		t.Fatalf("got samples %v and error %v, want one a story", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "adjust-"), ".json")
		t.Run(name, func(t *testing.T) {
			story, ok := stories[name]
			if !ok {
				t.Fatal("no test knows this story")
			}
			f := newFunction(t)
			if got := f.handle(t, file); !slices.Equal(got, story.listed) {
				t.Errorf("listed: got %v, want %v", got, story.listed)
			}
			f.wantBalance(t, story.balance)
		})
	}
}

// One after the other they are one intent: one change, and nobody is left waiting for an answer.
func TestSampleEventsOfOneIntent(t *testing.T) {
	f := newFunction(t)
	for _, name := range []string{"first-delivery", "redelivery", "redriven-with-new-message-id", "duplicate-in-batch"} {
		if got := f.handle(t, samples+"adjust-"+name+".json"); len(got) != 0 {
			t.Errorf("%s: listed %v, want none", name, got)
		}
	}
	f.wantBalance(t, "9000")
}
