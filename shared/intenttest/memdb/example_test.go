package memdb_test

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/memdb"
)

// charge is the payload of the handler under test.
type charge struct {
	AmountCents int64 `json:"amount_cents"`
}

// provider stands in for one that takes an idempotency key: it charges once for each.
type provider map[string]int64

func (p provider) charge(_ context.Context, c charge, a intent.Attempt) (any, error) {
	if _, done := p[a.Downstream]; !done {
		p[a.Downstream] = c.AmountCents
	}
	return "receipt", nil
}

// A Keyed handler meets the day on which the reply to its claim is lost, and then the one to its completion.
func Example() {
	db := memdb.New(memdb.Config{
		Tables: []memdb.Table{{Name: "records", Keys: []string{"intent"}, TTL: "expires_at"}},
		Plan: func(c memdb.Call) memdb.Fault {
			return memdb.Fault{LoseReply: c.Number == 1} // of each operation the first
		},
	})
	charged := provider{}
	handler := &intent.Keyed[charge]{
		Config: intent.Config{Scope: "shop", Operation: "charge", Store: dynamo.New(db, "records")},
		Window: 24 * time.Hour,
		Effect: charged.charge,
	}
	payload, err := intent.ParsePayload([]byte(`{"amount_cents":4999}`))
	if err != nil {
		panic(err)
	}
	message := intent.Delivery{Key: "order-8821", Payload: payload, Fingerprint: payload.Fingerprint(), MessageID: "message-1"}
	for range 2 {
		outcome, err := handler.Deliver(context.Background(), message)
		fmt.Println(outcome.Kind, string(outcome.Result.JSON), err)
	}
	fmt.Println(len(charged), "charge")
	fmt.Println(db.Items("records")[0]["state"].(*types.AttributeValueMemberS).Value, "in", db.Usage()["PutItem"].Calls, "puts and",
		db.Usage()["UpdateItem"].Calls, "updates")
	// Output:
	// executed "receipt" <nil>
	// replayed "receipt" <nil>
	// 1 charge
	// completed in 3 puts and 2 updates
}
