// Package naive is the handler of the tutorials, the twin that the guarded
// functions are shown beside: look whether the message was seen, do the work,
// then mark it as seen. Between the work and the mark it may be killed.
//
// For what sets or deletes the tutorials say that it is idempotent by nature and
// needs no mark. It is, until the world has moved on before a redelivery.
package naive

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Effect does the work of one message body.
type Effect func(ctx context.Context, body []byte) error

// Handler answers SQS events as the tutorials do.
type Handler struct {
	DB     *dynamodb.Client
	Marks  string // table of the keys that were seen, partition key intent; none looks for no marks and leaves none
	Effect Effect
}

// Start hands the twin to Lambda. Its marks go to the table that INTENT_TABLE
// names, under the same partition key that the guarded function uses.
func Start(effect func(*dynamodb.Client) Effect) { start(effect, os.Getenv("INTENT_TABLE")) }

// StartUnmarked hands over a twin that leaves no marks.
func StartUnmarked(effect func(*dynamodb.Client) Effect) { start(effect, "") }

func start(effect func(*dynamodb.Client) Effect, marks string) {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		slog.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	db := dynamodb.NewFromConfig(cfg)
	h := Handler{DB: db, Marks: marks, Effect: effect(db)}
	lambda.Start(h.Handle)
}

// Handle works through the event; what fails is listed.
func (h Handler) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for _, m := range event.Records {
		if err := h.message(ctx, []byte(m.Body)); err != nil {
			slog.Warn("message listed", "message_id", m.MessageId, "error", err.Error())
			response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
		}
	}
	return response, nil
}

func (h Handler) message(ctx context.Context, body []byte) error {
	if h.Marks == "" {
		return h.Effect(ctx, body)
	}
	var named struct {
		Key string `json:"idempotency_key"`
	}
	if err := json.Unmarshal(body, &named); err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	mark := map[string]types.AttributeValue{"intent": &types.AttributeValueMemberS{Value: named.Key}}
	seen, err := h.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &h.Marks, Key: mark, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return fmt.Errorf("look for the mark: %w", err)
	}
	if seen.Item != nil {
		return nil
	}
	if err := h.Effect(ctx, body); err != nil {
		return fmt.Errorf("do the work: %w", err)
	}
	if _, err := h.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: &h.Marks, Item: mark}); err != nil {
		return fmt.Errorf("mark as seen: %w", err)
	}
	return nil
}
