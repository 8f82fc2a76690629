package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intenttest"
	"github.com/singleeffect/once/shared/intenttest/calls"
)

// The whole suite calls of AWS what testdata/calls.txt lists, and nothing else: what the function's role is to allow.
func TestMain(m *testing.M) {
	os.Exit(calls.Main(m, map[string]string{
		"users": "USERS_TABLE",
		arn:     "STRIPE_SECRET_ARN",
	}))
}

// A batch that comes again is answered by the records, with either claim. DynamoDB Local tells a batch of claims that they failed and
// not why, which takes a read of them all.
func TestBatchAgain(t *testing.T) {
	for _, claim := range []string{"batch", "put"} {
		t.Run(claim, func(t *testing.T) {
			db, p := intenttest.Engine(t), newProvider(t, paymentIntent("succeeded"))
			values := deployed()
			values["CLAIM"], values["STRIPE_API_BASE"], values["AWS_ENDPOINT_URL_DYNAMODB"] = claim, p.url, *db.Options().BaseEndpoint
			values["INTENT_TABLE"], values["USERS_TABLE"] = intenttest.Table(t, db, "intent"), intenttest.Table(t, db, userIDAttribute)
			users := values["USERS_TABLE"]
			if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &users, Item: row("cus_7", "pm_card_visa")}); err != nil {
				t.Fatal(err)
			}
			batch, err := wire(t.Context(), environment.NewVariables(calls.Lookup(func(name string) (string, bool) {
				value, ok := values[name]
				return value, ok
			}), calls.Record))
			if err != nil {
				t.Fatal(err)
			}
			var event events.SQSEvent
			for n := range 3 {
				event.Records = append(event.Records, events.SQSMessage{
					MessageId: fmt.Sprint("message-", n),
					Body:      fmt.Sprintf(`{"idempotency_key":"order-%d","user_id":"7","amount_cents":4999,"currency":"usd"}`, n),
				})
			}
			for delivery := range 2 {
				response, err := batch.Handle(t.Context(), event)
				if err != nil || len(response.BatchItemFailures) != 0 || len(p.requests()) != 3 {
					t.Errorf("delivery %d: listed %v, error %v, %d charges, want none listed and 3", delivery, response.BatchItemFailures, err, len(p.requests()))
				}
			}
		})
	}
}
