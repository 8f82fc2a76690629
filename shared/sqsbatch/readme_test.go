package sqsbatch_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
	"github.com/singleeffect/once/shared/sqsbatch"
)

type order struct {
	AmountCents int64 `json:"amount_cents"`
}

// provider is a far side that counts what it is asked for, without honouring keys.
type provider struct{ charges []string }

func (p *provider) Charge(_ context.Context, key string, _ int64) (string, error) {
	p.charges = append(p.charges, key)
	return "ch_1", nil
}

func handler(db *dynamodb.Client, table string, stripe *provider) (*sqsbatch.Batch, error) {
	return sqsbatch.New(sqsbatch.Config{Handler: &intent.Keyed[order]{
		Config: intent.Config{Scope: "shop", Operation: "charge", Store: dynamo.New(db, table)},
		Window: 24 * time.Hour, // how long the provider remembers a key
		Effect: func(ctx context.Context, o order, a intent.Attempt) (any, error) {
			return stripe.Charge(ctx, a.Downstream, o.AmountCents)
		},
	}})
}

// The handler that README shows is the one above, and does what README says.
func TestREADMEHandler(t *testing.T) {
	t.Parallel()
	shown, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(shown), "```go\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed || !strings.Contains(string(source), block) {
		t.Fatalf("README's Go block is not the handler of this test:\n%s", block)
	}

	db := intenttest.Engine(t, dynamo.Tune)
	far := &provider{}
	batch, err := handler(db, intenttest.Table(t, db, "intent"), far)
	if err != nil {
		t.Fatal(err)
	}
	message := func(id string) events.SQSMessage {
		return events.SQSMessage{MessageId: id, Body: `{"idempotency_key":"order-8821","amount_cents":4999}`}
	}
	for _, deliveries := range [][]events.SQSMessage{{message("a"), message("b")}, {message("a")}, {message("c")}} {
		answer, err := batch.Handle(t.Context(), events.SQSEvent{Records: deliveries})
		if err != nil || len(answer.BatchItemFailures) != 0 {
			t.Fatalf("got %v, %v, want nothing listed", answer, err)
		}
	}
	if len(far.charges) != 1 {
		t.Errorf("got %d charges, want 1", len(far.charges))
	}
}
