// Command batched is the naive Lambda function in calls for a whole batch: it puts all keys in one, reads the records of duplicates in one,
// and marks the others done in one. The client has the SDK's defaults. It tells how cheap such calls can be: its records have no owner,
// lease or fingerprint, it trusts that no key comes twice in a batch, and it fails a batch whole.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
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
	table := os.Getenv("INTENT_TABLE")
	c := charger{
		db: dynamodb.NewFromConfig(cfg), table: table,
		// An INSERT is conditional on attribute_not_exists of the key.
		claim:    aws.String(`INSERT INTO "` + table + `" VALUE {'id': ?, 'status': ?, 'expires_at': ?}`),
		complete: aws.String(`UPDATE "` + table + `" SET "status"=? SET "result"=? WHERE "id"=? AND "status"=?`),
	}
	lambda.Start(c.handle)
}

type charger struct {
	db              *dynamodb.Client
	table           string
	claim, complete *string
}

func (c charger) handle(ctx context.Context, event events.SQSEvent) (response events.SQSEventResponse, err error) {
	response.BatchItemFailures = []events.SQSBatchItemFailure{}
	orders := make([]charge.Order, len(event.Records))
	claims := make([]types.BatchStatementRequest, len(event.Records))
	expires := number(time.Now().Add(retention).Unix())
	for i, m := range event.Records {
		if err := json.Unmarshal([]byte(m.Body), &orders[i]); err != nil {
			return response, fmt.Errorf("read body: %w", err)
		}
		claims[i] = statement(c.claim, text(orders[i].Key), text("started"), expires)
	}
	answers, err := c.execute(ctx, claims)
	if err != nil {
		return response, fmt.Errorf("claim: %w", err)
	}
	var completions []types.BatchStatementRequest
	var unseen []map[string]types.AttributeValue
	for i, a := range answers {
		switch {
		case a.Error == nil:
			result, err := json.Marshal(orders[i].Receipt())
			if err != nil {
				return response, fmt.Errorf("write result: %w", err)
			}
			completions = append(completions, statement(c.complete, text("done"), text(string(result)), text(orders[i].Key), text("started")))
		case a.Error.Code != types.BatchStatementErrorCodeEnumDuplicateItem:
			return response, fmt.Errorf("claim: %s: %s", a.Error.Code, aws.ToString(a.Error.Message))
		case len(a.Error.Item) == 0:
			unseen = append(unseen, map[string]types.AttributeValue{"id": text(orders[i].Key)})
		}
	}
	if len(unseen) > 0 {
		out, err := c.db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			c.table: {Keys: unseen, ConsistentRead: aws.Bool(true)},
		}})
		if err != nil {
			return response, fmt.Errorf("read: %w", err)
		}
		if got := len(out.Responses[c.table]); got != len(unseen) {
			return response, fmt.Errorf("read: %d records of %d", got, len(unseen))
		}
	}
	if len(completions) > 0 {
		if answers, err = c.execute(ctx, completions); err != nil {
			return response, fmt.Errorf("complete: %w", err)
		}
		for _, a := range answers {
			if a.Error != nil {
				return response, fmt.Errorf("complete: %s: %s", a.Error.Code, aws.ToString(a.Error.Message))
			}
		}
	}
	return response, nil
}

func (c charger) execute(ctx context.Context, statements []types.BatchStatementRequest) ([]types.BatchStatementResponse, error) {
	out, err := c.db.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{Statements: statements})
	if err != nil {
		return nil, err
	}
	return out.Responses, nil
}

func statement(s *string, parameters ...types.AttributeValue) types.BatchStatementRequest {
	return types.BatchStatementRequest{
		Statement: s, Parameters: parameters,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
