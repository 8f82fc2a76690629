// Command clearcart is the naive twin of functions/clearcart.
package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/naive"
)

func main() { naive.StartUnmarked(clearCart) }

// clearCart deletes what is in the cart now: nothing the second time, as long as
// nobody puts anything in.
func clearCart(db *dynamodb.Client) naive.Effect {
	return func(ctx context.Context, body []byte) error {
		var c struct {
			UserID string `json:"user_id"`
		}
		if err := json.Unmarshal(body, &c); err != nil {
			return err
		}
		carts := aws.String(os.Getenv("CARTS_TABLE"))
		pages := dynamodb.NewQueryPaginator(db, &dynamodb.QueryInput{
			TableName:                 carts,
			KeyConditionExpression:    aws.String("user_id = :user"),
			ProjectionExpression:      aws.String("user_id, item_id"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":user": &types.AttributeValueMemberS{Value: c.UserID}},
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return err
			}
			for _, key := range page.Items {
				if _, err := db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: carts, Key: key}); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
