package main

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/naive/naivetest"
	"github.com/singleeffect/once/shared/intenttest"
)

func TestLateRedelivery(t *testing.T) {
	db := intenttest.Engine(t)
	orders := intenttest.Table(t, db, "order_id")
	t.Setenv("ORDERS_TABLE", orders)
	key := map[string]types.AttributeValue{"order_id": &types.AttributeValueMemberS{Value: "8821"}}
	set := func(ctx context.Context, status string) error {
		_, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &orders, Item: map[string]types.AttributeValue{
			"order_id": key["order_id"], "status": &types.AttributeValueMemberS{Value: status},
		}})
		return err
	}
	if err := set(t.Context(), "packed"); err != nil {
		t.Fatal(err)
	}
	naivetest.Redelivery(t, naivetest.Late{
		Effect: ship(db),
		Body:   `{"order_id":"8821","shipped_at":"2026-11-29T12:00:00Z"}`,
		State: func() string {
			out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &orders, Key: key, ConsistentRead: aws.Bool(true)})
			if err != nil {
				t.Fatal(err)
			}
			status, _ := out.Item["status"].(*types.AttributeValueMemberS)
			return status.Value
		},
		Before: "packed", Delivered: "shipped",
		MoveOn: func(ctx context.Context) error { return set(ctx, "delivered") },
		Moved:  "delivered", Undone: "shipped",
	})
}
