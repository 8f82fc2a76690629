package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

// The orders table: its key and what a shipment reads and writes of it. status is a reserved word.
const (
	orderIDAttribute   = "order_id"   // S
	statusAttribute    = "status"     // S
	shippedAtAttribute = "shipped_at" // N, ms since 1970
)

const (
	updateShipped = "SET #status = :shipped, shipped_at = :at"

	// Without attribute_exists the update of an unknown order would create it. Without the list a late
	// redelivery undoes delivered. Without the time the end state depends on the order of two deliveries,
	// and a late copy ships an order again that somebody has put back.
	conditionUnshipped = "attribute_exists(order_id)" +
		" AND (attribute_not_exists(#status) OR #status IN (:pending, :placed, :confirmed, :paid, :processing, :packed, :shipped))" +
		" AND (attribute_not_exists(shipped_at) OR shipped_at < :at)"

	projectionOrder = "order_id, #status, shipped_at"
)

type item = map[string]types.AttributeValue

// ordersAPI is what a shipment calls of DynamoDB. IAM: dynamodb:UpdateItem and GetItem on the orders table.
type ordersAPI interface {
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// ordersTable marks orders as shipped in DynamoDB.
type ordersTable struct {
	client ordersAPI
	name   string
}

// ship is the effect: one conditional write, after which the order is shipped at the latest time that
// any shipment has named, or as others made it since: past shipped, or put back. So it does not matter
// how many deliveries there are, nor in which order they come. (An order that is delivered before the
// first of them keeps having no shipped_at.)
//
// The SDK's retry of a write whose reply was lost meets its own time: equal, and well.
func (t ordersTable) ship(ctx context.Context, s shipment, a intent.Attempt) error {
	key := item{orderIDAttribute: text(string(s.OrderID))}
	values := item{":shipped": text(shipped), ":at": &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(s.ShippedAt), 10)}}
	for _, status := range before {
		values[":"+status] = text(status)
	}
	_, err := t.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                           &t.name,
		Key:                                 key,
		UpdateExpression:                    aws.String(updateShipped),
		ConditionExpression:                 aws.String(conditionUnshipped),
		ExpressionAttributeNames:            map[string]string{"#status": statusAttribute},
		ExpressionAttributeValues:           values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var failed *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &failed):
		return fmt.Errorf("mark order as shipped: %w", err)
	}
	order := failed.Item
	if len(order) == 0 { // there is none, or the engine left it out
		if order, err = t.read(ctx, key); err != nil {
			return fmt.Errorf("read order that was not marked as shipped: %w", err)
		}
	}
	return s.refused(order, a)
}

func (t ordersTable) read(ctx context.Context, key item) (item, error) {
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:                &t.name,
		Key:                      key,
		ConsistentRead:           aws.Bool(true),
		ProjectionExpression:     aws.String(projectionOrder),
		ExpressionAttributeNames: map[string]string{"#status": statusAttribute},
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
