package sqsbatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// A batch with two messages of one intent, and one that names none: one effect,
// and one message that is delivered again.
func Example() {
	batch, err := sqsbatch.New(sqsbatch.Config{
		Handler: &intent.Keyed[order]{
			Config: intent.Config{Scope: "shop", Operation: "charge", Store: &memory{}}, // dynamo.New(client, "intents")
			Window: 24 * time.Hour,                                                      // how long the provider remembers a key
			Effect: func(_ context.Context, o order, a intent.Attempt) (any, error) {
				fmt.Println("charge", o.AmountCents, "cents under key", a.Downstream)
				return "ch_1", nil
			},
		},
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	// lambda.Start(batch.Handle)
	answer, err := batch.Handle(context.Background(), events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "a", Body: `{"idempotency_key":"order-8821","amount_cents":4999}`},
		{MessageId: "b", Body: `{"idempotency_key":"order-8821","amount_cents":4999}`},
		{MessageId: "c", Body: `{"amount_cents":4999}`},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	encoded, err := json.Marshal(answer)
	fmt.Println(string(encoded), err)
	// Output:
	// charge 4999 cents under key e50b9b3b-9a33-8348-a9da-9fbb778ea0a4
	// {"batchItemFailures":[{"itemIdentifier":"c"}]} <nil>
}
