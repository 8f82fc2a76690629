package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// naive is what tutorials call an idempotent consumer: put the key on condition that it is not there, then do the work; a key that is
// there means a duplicate, which is done. The put has a TTL, and the client the SDK's defaults.
func naive(s settings) (handler, error) {
	db := dynamodb.NewFromConfig(s.aws)
	message := func(ctx context.Context, body string) error {
		var order struct {
			Key int64 `json:"idempotency_key"`
		}
		if err := json.Unmarshal([]byte(body), &order); err != nil {
			return fmt.Errorf("read body: %w", err)
		}
		_, err := db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &s.table,
			Item: map[string]types.AttributeValue{
				"id":         &types.AttributeValueMemberS{Value: strconv.FormatInt(order.Key, 10)},
				"expires_at": &types.AttributeValueMemberN{Value: strconv.FormatInt(time.Now().Add(s.retention).Unix(), 10)},
			},
			ConditionExpression: aws.String("attribute_not_exists(id)"),
		})
		if seen := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &seen) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("put key: %w", err)
		}
		_, err = s.far.call(ctx, []byte(body))
		return err
	}
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
		for _, m := range event.Records {
			if err := message(ctx, m.Body); err != nil {
				slog.WarnContext(ctx, "message listed", "message_id", m.MessageId, "error", err.Error())
				response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
			}
		}
		return response, nil
	}, nil
}
