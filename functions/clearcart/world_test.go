package main

import (
	"context"
	"fmt"
	"log/slog"
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

// noon is the checked_out_at of most messages, in ms.
const noon = 1_795_953_600_000 // 2026-11-29T12:00:00Z

// world is the carts table and the dead-letter queue that several workers share. The workers' requests meet the
// faults.
type world struct {
	db     *dynamodb.Client
	carts  string
	faults *intenttest.Faults
	dead   *intenttest.DeadLetters
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db := intenttest.Engine(t)
	return &world{db, calls.Name("CARTS_TABLE", intenttest.Table(t, db, "user_id", "item_id")), new(intenttest.Faults), new(intenttest.DeadLetters)}
}

// reasons are those of what was quarantined so far, in that order.
func (w *world) reasons() []string { return w.dead.Values(sqsbatch.ReasonAttribute) }

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }

// add puts an item into a user's cart at a time, in ms.
func (w *world) add(t *testing.T, user, name string, at int64) {
	t.Helper()
	w.put(t, item{"user_id": text(user), "item_id": text(name), "added_at": number(at)})
}

func (w *world) put(t *testing.T, row item) {
	t.Helper()
	if _, err := w.db.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &w.carts, Item: row}); err != nil {
		t.Error(err)
	}
}

// cart is the ids of the items in a user's cart, in order.
func (w *world) cart(t *testing.T, user string) []string {
	t.Helper()
	var names []string
	pages := dynamodb.NewQueryPaginator(w.db, &dynamodb.QueryInput{
		TableName: &w.carts, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("user_id = :user"),
		ExpressionAttributeValues: item{":user": text(user)},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range page.Items {
			names = append(names, row["item_id"].(*types.AttributeValueMemberS).Value)
		}
	}
	return names
}

// wantCart says what is in the cart of user 7.
func (w *world) wantCart(t *testing.T, want ...string) {
	t.Helper()
	if got := w.cart(t, "7"); !slices.Equal(got, want) {
		t.Errorf("cart: got %v, want %v", got, want)
	}
}

// worker is one of several, with a client of its own.
func (w *world) worker(t *testing.T) *sqsbatch.Batch {
	t.Helper()
	client := intenttest.Engine(t, dynamo.Tune, func(o *dynamodb.Options) { o.HTTPClient = w.faults.Client() })
	batch, err := sqsbatch.New(sqsbatch.Config{
		Handler:       &intent.Natural[checkout]{Effect: cartsTable{client: client, name: w.carts}.clear},
		Queue:         w.dead,
		QueueURL:      "https://sqs.us-east-1.amazonaws.com/123456789012/once-clearcart",
		DeadLetterURL: "https://sqs.us-east-1.amazonaws.com/123456789012/once-clearcart-dead",
		Log:           slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func handle(t *testing.T, ctx context.Context, worker *sqsbatch.Batch, messages ...events.SQSMessage) []string {
	t.Helper()
	response, err := worker.Handle(ctx, events.SQSEvent{Records: messages})
	if err != nil {
		t.Error(err)
	}
	var listed []string
	for _, failure := range response.BatchItemFailures {
		listed = append(listed, failure.ItemIdentifier)
	}
	return listed
}

// wantDone delivers a message to a worker of its own that is to acknowledge it.
func (w *world) wantDone(t *testing.T, m events.SQSMessage) {
	t.Helper()
	if listed := handle(t, t.Context(), w.worker(t), m); len(listed) != 0 || len(w.reasons()) != 0 {
		t.Errorf("listed %v, quarantined %q, want the message done", listed, w.reasons())
	}
}

// wantListed delivers a message that is to be delivered again.
func (w *world) wantListed(t *testing.T, ctx context.Context, m events.SQSMessage) {
	t.Helper()
	if listed := handle(t, ctx, w.worker(t), m); len(listed) != 1 || len(w.reasons()) != 0 {
		t.Errorf("listed %v, quarantined %q, want the message listed", listed, w.reasons())
	}
}

func message(user string, at int64) events.SQSMessage {
	return events.SQSMessage{
		MessageId:      fmt.Sprintf("message-of-%s-at-%d", user, at),
		EventSourceARN: "arn:aws:sqs:us-east-1:123456789012:once-clearcart",
		Body:           fmt.Sprintf(`{"user_id":%q,"checked_out_at":%d}`, user, at),
	}
}

// fill puts n items of a size into the cart of user 7, the last of them at noon.
func (w *world) fill(t *testing.T, n, bytes int) {
	t.Helper()
	for i := range n {
		w.put(t, item{
			"user_id": text("7"), "item_id": text(fmt.Sprintf("item-%03d", i)), "added_at": number(noon - int64(n-1-i)),
			"note": text(strings.Repeat("x", bytes)),
		})
	}
}
