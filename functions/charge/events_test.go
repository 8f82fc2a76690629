package main

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intenttest"
	"github.com/singleeffect/once/shared/intenttest/calls"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// samples is where the sample events lie.
const samples = "../../events/"

// function is the whole function, on DynamoDB and a Stripe that takes every card, for user 7.
type function struct {
	batch    *sqsbatch.Batch
	provider *provider
}

func newFunction(t *testing.T) function {
	t.Helper()
	db := intenttest.Engine(t)
	users := calls.Name("USERS_TABLE", intenttest.Table(t, db, userIDAttribute))
	if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &users, Item: row("cus_7", "pm_card_visa")}); err != nil {
		t.Fatal(err)
	}
	p := newProvider(t, paymentIntent("succeeded"))
	store := dynamo.New(db, calls.Name("INTENT_TABLE", intenttest.Table(t, db, "intent")))
	batch, err := sqsbatch.New(sqsbatch.Config{Handler: chargingOf(store, p, usersTable{client: db, name: users}.user)})
	if err != nil {
		t.Fatal(err)
	}
	return function{batch, p}
}

// handle runs one sample and returns the indexes of the messages that are listed.
func (f function) handle(t *testing.T, name string) []int {
	t.Helper()
	return intenttest.Listed(t, name, f.batch.Handle)
}

func TestSampleEvents(t *testing.T) {
	stories := map[string]struct {
		listed  []int
		charges int
	}{
		"first-delivery":               {charges: 1},
		"redelivery":                   {charges: 1}, // on its own, as after a crash before the claim
		"redriven-with-new-message-id": {charges: 1},
		"duplicate-in-batch":           {charges: 1},
		"conflicting-payload":          {charges: 1, listed: []int{1}},
		"no-key":                       {listed: []int{0, 1, 2}},
		"poison":                       {charges: 1, listed: []int{1}},
		"in-sns-envelope":              {charges: 1}, // the key is an attribute of the notification
	}
	files, err := filepath.Glob(samples + "charge-*.json")
	if err != nil || len(files) != len(stories) {
		t.Fatalf("got samples %v and error %v, want one a story", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "charge-"), ".json")
		t.Run(name, func(t *testing.T) {
			story, ok := stories[name]
			if !ok {
				t.Fatal("no test knows this story")
			}
			f := newFunction(t)
			if got := f.handle(t, file); !slices.Equal(got, story.listed) {
				t.Errorf("listed: got %v, want %v", got, story.listed)
			}
			requests := f.provider.requests()
			if got := len(requests); got != story.charges {
				t.Errorf("charges: got %d, want %d", got, story.charges)
			}
			for _, r := range requests { // also where another message says another amount
				if form, err := url.ParseQuery(r.body); err != nil || form.Get("amount") != "4999" {
					t.Errorf("charged %s (error %v), want 4999", form.Get("amount"), err)
				}
			}
		})
	}
}

// One after the other they are one intent: one charge, and nobody is left waiting for an answer.
func TestSampleEventsOfOneIntent(t *testing.T) {
	f := newFunction(t)
	for _, name := range []string{"first-delivery", "redelivery", "redriven-with-new-message-id", "duplicate-in-batch"} {
		if got := f.handle(t, samples+"charge-"+name+".json"); len(got) != 0 {
			t.Errorf("%s: listed %v, want none", name, got)
		}
	}
	if got := f.provider.requests(); len(got) != 1 || got[0].header.Get("Idempotency-Key") != attempt("order-8821-charge", 1).Downstream {
		t.Errorf("requests to Stripe: got %+v, want one under the intent's key", got)
	}
}
