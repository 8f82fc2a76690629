// Command adjust is the naive twin of functions/adjust.
package main

import (
	"context"
	"encoding/json"
	"os"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/naive"
)

func main() { naive.Start(adjust) }

func adjust(db *dynamodb.Client) naive.Effect {
	return func(ctx context.Context, body []byte) error {
		var a struct {
			AccountID  string `json:"account_id"`
			DeltaCents int64  `json:"delta_cents"`
		}
		if err := json.Unmarshal(body, &a); err != nil {
			return err
		}
		_, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:        aws.String(os.Getenv("ACCOUNTS_TABLE")),
			Key:              map[string]types.AttributeValue{"account_id": &types.AttributeValueMemberS{Value: a.AccountID}},
			UpdateExpression: aws.String("SET balance = balance + :delta"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":delta": &types.AttributeValueMemberN{Value: strconv.FormatInt(a.DeltaCents, 10)},
			},
		})
		return err
	}
}
