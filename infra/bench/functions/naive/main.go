// Command naive is the Lambda function that one writes without a library: for each message of the batch, side by side, put the key on
// condition that it is not there, do the work, and mark it done with its result. The client has the SDK's defaults.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/bench/charge"
)

const retention = 90 * 24 * time.Hour

func main() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	c := charger{db: dynamodb.NewFromConfig(cfg), table: os.Getenv("INTENT_TABLE")}
	lambda.Start(c.handle)
}

type charger struct {
	db    *dynamodb.Client
	table string
}

func (c charger) handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	errs := make([]error, len(event.Records))
	var running sync.WaitGroup
	for i, m := range event.Records {
		running.Go(func() { errs[i] = c.charge(ctx, m.Body) })
	}
	running.Wait()
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for i, err := range errs {
		if err != nil {
			slog.WarnContext(ctx, "message listed", "message_id", event.Records[i].MessageId, "error", err.Error())
			response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: event.Records[i].MessageId})
		}
	}
	return response, nil
}

func (c charger) charge(ctx context.Context, body string) error {
	var o charge.Order
	if err := json.Unmarshal([]byte(body), &o); err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	_, err := c.db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &c.table,
		Item: map[string]types.AttributeValue{
			"id":         &types.AttributeValueMemberS{Value: o.Key},
			"status":     &types.AttributeValueMemberS{Value: "started"},
			"expires_at": &types.AttributeValueMemberN{Value: strconv.FormatInt(time.Now().Add(retention).Unix(), 10)},
		},
		ConditionExpression: aws.String("attribute_not_exists(id)"),
	})
	if seen := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &seen) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("put key: %w", err)
	}
	result, err := json.Marshal(o.Receipt())
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	_, err = c.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                &c.table,
		Key:                      map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: o.Key}},
		UpdateExpression:         aws.String("SET #status = :done, #result = :result"),
		ExpressionAttributeNames: map[string]string{"#status": "status", "#result": "result"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":done":   &types.AttributeValueMemberS{Value: "done"},
			":result": &types.AttributeValueMemberS{Value: string(result)},
		},
	})
	if err != nil {
		return fmt.Errorf("mark done: %w", err)
	}
	return nil
}
