// Command ship is the naive twin of functions/ship.
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

func main() { naive.StartUnmarked(ship) }

// ship sets the status whatever it is: the same each time, as long as nobody
// else sets it.
func ship(db *dynamodb.Client) naive.Effect {
	return func(ctx context.Context, body []byte) error {
		var s struct {
			OrderID string `json:"order_id"`
		}
		if err := json.Unmarshal(body, &s); err != nil {
			return err
		}
		_, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                 aws.String(os.Getenv("ORDERS_TABLE")),
			Key:                       map[string]types.AttributeValue{"order_id": &types.AttributeValueMemberS{Value: s.OrderID}},
			UpdateExpression:          aws.String("SET #status = :shipped"),
			ExpressionAttributeNames:  map[string]string{"#status": "status"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":shipped": &types.AttributeValueMemberS{Value: "shipped"}},
		})
		return err
	}
}
