package main

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
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

// noon is the shipped_at of most messages, in ms.
const noon = 1_795_953_600_000 // 2026-11-29T12:00:00Z

// world is the orders table and the dead-letter queue that several workers share. The workers' requests meet the
// faults.
type world struct {
	db     *dynamodb.Client
	orders string
	faults *intenttest.Faults
	dead   *intenttest.DeadLetters
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db := intenttest.Engine(t)
	return &world{db, calls.Name("ORDERS_TABLE", intenttest.Table(t, db, orderIDAttribute)), new(intenttest.Faults), new(intenttest.DeadLetters)}
}

// reasons are those of what was quarantined so far, in that order.
func (w *world) reasons() []string { return w.dead.Values(sqsbatch.ReasonAttribute) }

// put writes an order: its status, empty for none, and what else it has.
func (w *world) put(t *testing.T, id, status string, more item) {
	t.Helper()
	order := item{orderIDAttribute: text(id), "customer": text("7")}
	if status != "" {
		order[statusAttribute] = text(status)
	}
	for name, value := range more {
		order[name] = value
	}
	if _, err := w.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &w.orders, Item: order}); err != nil {
		t.Error(err)
	}
}

// set is another writer's, such as the carrier's delivered.
func (w *world) set(t *testing.T, id, status string) {
	t.Helper()
	if _, err := w.db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: &w.orders, Key: item{orderIDAttribute: text(id)},
		UpdateExpression: aws.String("SET #status = :status"), ExpressionAttributeNames: map[string]string{"#status": statusAttribute},
		ExpressionAttributeValues: item{":status": text(status)},
	}); err != nil {
		t.Error(err)
	}
}

// row is the whole order, written out, or "none".
func (w *world) row(t *testing.T, id string) string {
	t.Helper()
	out, err := w.db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &w.orders, ConsistentRead: aws.Bool(true), Key: item{orderIDAttribute: text(id)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.Item == nil {
		return "none"
	}
	return row(out.Item)
}

func row(order item) string {
	var parts []string
	for name, value := range order {
		switch value := value.(type) {
		case *types.AttributeValueMemberS:
			parts = append(parts, fmt.Sprintf("%s=%q", name, value.Value))
		case *types.AttributeValueMemberN:
			parts = append(parts, name+"="+value.Value)
		default:
			parts = append(parts, fmt.Sprintf("%s=%T%v", name, value, value))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// shippedRow is the row of an order that was put without more, once it is shipped.
func shippedRow(id string, at int64) string {
	return row(item{orderIDAttribute: text(id), "customer": text("7"), statusAttribute: text(shipped), shippedAtAttribute: number(at)})
}

func number(n int64) types.AttributeValue { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }

// worker is one of several, with a client of its own.
func (w *world) worker(t *testing.T) *sqsbatch.Batch {
	t.Helper()
	client := intenttest.Engine(t, dynamo.Tune, func(o *dynamodb.Options) { o.HTTPClient = w.faults.Client() })
	batch, err := sqsbatch.New(sqsbatch.Config{
		Handler:       &intent.Natural[shipment]{Effect: ordersTable{client: client, name: w.orders}.ship},
		Queue:         w.dead,
		QueueURL:      "https://sqs.us-east-1.amazonaws.com/123456789012/once-ship",
		DeadLetterURL: "https://sqs.us-east-1.amazonaws.com/123456789012/once-ship-dead",
		Log:           slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

// deliver hands messages to a worker of their own and returns the ids that are listed.
func (w *world) deliver(t *testing.T, messages ...events.SQSMessage) []string {
	t.Helper()
	return handle(t, w.worker(t), messages...)
}

func handle(t *testing.T, worker *sqsbatch.Batch, messages ...events.SQSMessage) []string {
	t.Helper()
	response, err := worker.Handle(t.Context(), events.SQSEvent{Records: messages})
	if err != nil {
		t.Error(err)
	}
	var listed []string
	for _, failure := range response.BatchItemFailures {
		listed = append(listed, failure.ItemIdentifier)
	}
	return listed
}

// wantDone delivers a message that is to be acknowledged and not quarantined.
func (w *world) wantDone(t *testing.T, m events.SQSMessage) {
	t.Helper()
	before := len(w.reasons())
	if listed := w.deliver(t, m); len(listed) != 0 || len(w.reasons()) != before {
		t.Errorf("listed %v, quarantined %q, want the message done", listed, w.reasons())
	}
}

// wantListed delivers a message that is to be delivered again.
func (w *world) wantListed(t *testing.T, m events.SQSMessage) {
	t.Helper()
	if listed := w.deliver(t, m); len(listed) != 1 || len(w.reasons()) != 0 {
		t.Errorf("listed %v, quarantined %q, want the message listed", listed, w.reasons())
	}
}

// wantQuarantined delivers a message that is to go to the dead-letter queue for that reason.
func (w *world) wantQuarantined(t *testing.T, m events.SQSMessage, reason string) {
	t.Helper()
	before := len(w.reasons())
	listed := w.deliver(t, m)
	reasons := w.reasons()[before:]
	if len(listed) != 0 || len(reasons) != 1 || !strings.HasPrefix(reasons[0], "unprocessable: ") || !strings.Contains(reasons[0], reason) {
		t.Errorf("listed %v, quarantined for %q, want the message quarantined for %q", listed, reasons, reason)
	}
}

func message(order string, at int64) events.SQSMessage {
	return events.SQSMessage{
		MessageId:      fmt.Sprintf("message-of-%s-at-%d", order, at),
		EventSourceARN: "arn:aws:sqs:us-east-1:123456789012:once-ship",
		Body:           fmt.Sprintf(`{"order_id":%q,"shipped_at":%d}`, order, at),
	}
}

// received is m at its nth receive.
func received(m events.SQSMessage, n int) events.SQSMessage {
	m.Attributes = map[string]string{"ApproximateReceiveCount": strconv.Itoa(n)}
	return m
}
