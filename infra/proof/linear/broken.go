package linear

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
)

// breach is a condition that a broken worker's writes do without: what must not go
// unnoticed here.
type breach string

const (
	anyoneClaims  breach = "anyone claims"  // puts, alone and in a ledger's transaction
	anyoneChanges breach = "anyone changes" // takeovers, completions, releases
)

// broken is a table as a broken worker uses it.
type broken struct {
	dynamo.API
	breach
}

// whatever is a condition that holds for every record that stands, and uses the names
// and values that the one in its place did.
func whatever(condition *string) *string {
	always := "(" + *condition + ") OR attribute_exists(intent)"
	return &always
}

func (b broken) PutItem(ctx context.Context, in *dynamodb.PutItemInput, f ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	edited := *in
	if b.breach == anyoneClaims && in.ConditionExpression != nil {
		edited.ConditionExpression = whatever(in.ConditionExpression)
	}
	return b.API.PutItem(ctx, &edited, f...)
}

func (b broken) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, f ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	edited := *in
	if b.breach == anyoneChanges {
		edited.ConditionExpression = whatever(in.ConditionExpression)
	}
	return b.API.UpdateItem(ctx, &edited, f...)
}

func (b broken) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, f ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	edited := *in
	edited.TransactItems = append([]types.TransactWriteItem(nil), in.TransactItems...)
	if record := edited.TransactItems[0].Put; b.breach == anyoneClaims && record != nil {
		put := *record
		put.ConditionExpression = whatever(record.ConditionExpression)
		edited.TransactItems[0].Put = &put
	}
	return b.API.TransactWriteItems(ctx, &edited, f...)
}
