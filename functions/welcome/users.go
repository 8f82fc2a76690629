package main

import (
	"context"
	"net/mail"
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

// user reads one row. The read is consistent: a user is welcomed in the breath in which the row was
// written, must not be refused as unknown, and a refusal is final.
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

// maxAddress is the most that an address may have: 64 characters, an @ and 255 (RFC 5321, 4.5.3.1).
const maxAddress = 320

// deliverable reports whether an address is one bare address, and one that SES can take: all of it
// ASCII, the domain in Punycode if need be
// (https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_Destination.html). SES would say so
// itself, but to a list of addresses it would send.
func deliverable(address string) bool {
	parsed, err := mail.ParseAddress(address)
	return err == nil && parsed.Name == "" && parsed.Address == address && len(address) <= maxAddress && ascii(address)
}

func ascii(s string) bool {
	for _, b := range []byte(s) {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return true
}
