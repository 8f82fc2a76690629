package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The users table: its key and what a charge reads of it.
const (
	userIDAttribute        = "user_id"
	customerAttribute      = "stripe_customer"
	paymentMethodAttribute = "stripe_payment_method"
)

// itemGetter is the one call that reading a user takes. IAM: dynamodb:GetItem on the users table.
type itemGetter interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// usersTable finds payers in DynamoDB.
type usersTable struct {
	client itemGetter
	name   string
}

// user reads one row. The read is consistent: a user who signs up and pays in one breath must not be
// refused as unknown, and a refusal is final.
func (t usersTable) user(ctx context.Context, id string) (payer, bool, error) {
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:            &t.name,
		Key:                  map[string]types.AttributeValue{userIDAttribute: &types.AttributeValueMemberS{Value: id}},
		ConsistentRead:       aws.Bool(true),
		ProjectionExpression: aws.String(userIDAttribute + ", " + customerAttribute + ", " + paymentMethodAttribute),
	})
	if err != nil {
		return payer{}, false, err
	}
	return payer{
		customer:      text(out.Item[customerAttribute]),
		paymentMethod: text(out.Item[paymentMethodAttribute]),
	}, out.Item != nil, nil
}

// text is a string attribute, or "" for one that is absent or of another type: neither pays.
func text(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}
