package main

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The users table: its key and what a letter needs of it. "name" is a word of DynamoDB's own
// language, so the projection speaks of it as #name.
const (
	userIDAttribute  = "user_id"
	addressAttribute = "email"
	nameAttribute    = "name"
)

// itemGetter is the one call that reading a user takes. IAM: dynamodb:GetItem on the users table.
type itemGetter interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// usersTable finds recipients in DynamoDB.
type usersTable struct {
	client itemGetter
	name   string
}

// user reads one row. The read is consistent: a user is welcomed right after the row was written.
func (t usersTable) user(ctx context.Context, id string) (recipient, bool, error) {
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:                &t.name,
		Key:                      map[string]types.AttributeValue{userIDAttribute: &types.AttributeValueMemberS{Value: id}},
		ConsistentRead:           aws.Bool(true),
		ProjectionExpression:     aws.String(userIDAttribute + ", " + addressAttribute + ", #name"),
		ExpressionAttributeNames: map[string]string{"#name": nameAttribute},
	})
	if err != nil {
		return recipient{}, false, err
	}
	return recipient{address: strings.TrimSpace(text(out.Item[addressAttribute])), name: text(out.Item[nameAttribute])}, out.Item != nil, nil
}

// text is a string attribute, or "" for one that is absent or of another type.
func text(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}
