package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/naive/naivetest"
	"github.com/singleeffect/once/shared/intenttest"
)

func TestLateRedelivery(t *testing.T) {
	db := intenttest.Engine(t)
	carts := intenttest.Table(t, db, "user_id", "item_id")
	t.Setenv("CARTS_TABLE", carts)
	add := func(ctx context.Context, name string, at int64) error {
		_, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &carts, Item: map[string]types.AttributeValue{
			"user_id":  &types.AttributeValueMemberS{Value: "7"},
			"item_id":  &types.AttributeValueMemberS{Value: name},
			"added_at": &types.AttributeValueMemberN{Value: fmt.Sprint(at)},
		}})
		return err
	}
	const checkedOut = 1795953600000 // 2026-11-29T12:00:00Z
	for i, name := range []string{"apple", "book"} {
		if err := add(t.Context(), name, checkedOut-60_000+int64(i)); err != nil {
			t.Fatal(err)
		}
	}
	naivetest.Redelivery(t, naivetest.Late{
		Effect: clearCart(db),
		Body:   `{"user_id":"7","checked_out_at":"2026-11-29T12:00:00Z"}`,
		State: func() string {
			out, err := db.Query(t.Context(), &dynamodb.QueryInput{
				TableName: &carts, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("user_id = :user"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":user": &types.AttributeValueMemberS{Value: "7"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, item := range out.Items {
				names = append(names, item["item_id"].(*types.AttributeValueMemberS).Value)
			}
			return "[" + strings.Join(names, " ") + "]"
		},
		Before: "[apple book]", Delivered: "[]",
		MoveOn: func(ctx context.Context) error { return add(ctx, "lamp", checkedOut+3_600_000) },
		Moved:  "[lamp]", Undone: "[]",
	})
}
