package intent_test

import (
	"context"
	"fmt"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// A message that is delivered twice charges once, and the second delivery gets
// the first one's result.
func ExampleKeyed() {
	type order struct {
		AmountCents int64 `json:"amount_cents"`
	}
	charge := &intent.Keyed[order]{
		Config: intent.Config{Scope: "shop", Operation: "charge", Store: table()}, // dynamo.New(client, "intents")
		Window: 24 * time.Hour,                                                    // how long the provider remembers a key
		Effect: func(_ context.Context, o order, a intent.Attempt) (any, error) {
			fmt.Println("charge", o.AmountCents, "cents under key", a.Downstream)
			return "ch_1", nil
		},
	}
	for range 2 {
		outcome, err := charge.Deliver(context.Background(), sent("order-8821", `{"amount_cents":4999}`))
		fmt.Println(outcome.Kind, string(outcome.Result.JSON), err)
	}
	// Output:
	// charge 4999 cents under key e50b9b3b-9a33-8348-a9da-9fbb778ea0a4
	// executed "ch_1" <nil>
	// replayed "ch_1" <nil>
}

// The business's no is an outcome like any other: it is remembered, and the
// producer can ask for it.
func ExampleLookup() {
	store := table() // dynamo.New(client, "intents")
	charge := &intent.Keyed[struct{}]{
		Config: intent.Config{Scope: "shop", Operation: "charge", Store: store},
		Window: 24 * time.Hour,
		Effect: func(context.Context, struct{}, intent.Attempt) (any, error) {
			return nil, intent.Refuse("card declined")
		},
	}
	key := intent.Key{Scope: "shop", Operation: "charge", ID: "order-8821"}

	_, err := intent.Lookup(context.Background(), store, key)
	fmt.Println(err)

	if _, err := charge.Deliver(context.Background(), sent("order-8821", `{}`)); err != nil {
		fmt.Println(err)
	}
	outcome, err := intent.Lookup(context.Background(), store, key)
	fmt.Println(outcome.Kind, string(outcome.Result.JSON), err)
	// Output:
	// no record of this intent
	// refused "card declined" <nil>
}

func table() intent.Store { return newMemory(nil) }

// sent is what sqsbatch makes of a message.
func sent(key, payload string) intent.Delivery {
	p, err := intent.ParsePayload([]byte(payload))
	if err != nil {
		panic(err)
	}
	return intent.Delivery{Key: key, Payload: p, Fingerprint: p.Fingerprint(), MessageID: "message-1"}
}
