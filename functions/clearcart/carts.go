package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

// The carts table has one row for each thing in a cart: user_id (S, partition key), item_id (S, sort key) and added_at (N, ms
// since 1970, by the clock that checked_out_at is told by).
const (
	keyOfUser      = "user_id = :user"
	projectionKeys = "user_id, item_id" // nothing else, so that what is read is what to delete by

	// The one bound, of the query and of each delete. A comparison with an attribute that is absent or no
	// number is false: what has no time stays, since nobody can say that it was in the cart at the checkout.
	conditionInCart = "added_at <= :at"
)

// sideBySide is how many items of a cart are deleted at once. A batch works on up to ten carts.
const sideBySide = 4

type item = map[string]types.AttributeValue

// cartsAPI is what clearing a cart calls of DynamoDB. IAM: dynamodb:Query and DeleteItem on the carts table.
type cartsAPI interface {
	dynamodb.QueryAPIClient
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// cartsTable holds the carts of all users in DynamoDB.
type cartsTable struct {
	client cartsAPI
	name   string
}

// clear is the effect: it deletes what was in the cart at the checkout, up to and with the very
// millisecond, and nothing that was put in since, however late it comes. A cart may be of any size. What
// an error leaves undone, the next delivery does.
//
// An item without added_at stays, and so does one that is written after the last delivery with a time
// from before the checkout: whoever sends the checkout has written its items.
//
// Not in batches: BatchWriteItem takes no conditions, and in a transaction one item that was taken out
// and put in again would keep all others where they are.
func (t cartsTable) clear(ctx context.Context, c checkout, _ intent.Attempt) error {
	at := &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(c.CheckedOutAt), 10)}
	pages := dynamodb.NewQueryPaginator(t.client, &dynamodb.QueryInput{
		TableName:                 &t.name,
		KeyConditionExpression:    aws.String(keyOfUser),
		FilterExpression:          aws.String(conditionInCart),
		ProjectionExpression:      aws.String(projectionKeys),
		ExpressionAttributeValues: item{":user": &types.AttributeValueMemberS{Value: string(c.UserID)}, ":at": at},
		// Else an item that was put in right before the checkout may be missed, and this may be the last delivery.
		ConsistentRead: aws.Bool(true),
	})
	for pages.HasMorePages() { // also after a page of which the filter left nothing
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("read cart: %w", err)
		}
		if err := t.deleteAll(ctx, page.Items, at); err != nil {
			return fmt.Errorf("delete from cart: %w", err)
		}
	}
	return nil
}

// deleteAll deletes items, a few side by side, up to the first error or the end of ctx.
func (t cartsTable) deleteAll(ctx context.Context, keys []item, at types.AttributeValue) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	slots := make(chan struct{}, sideBySide)
	var running sync.WaitGroup
	for _, key := range keys {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		running.Go(func() {
			defer func() { <-slots }()
			if err := t.delete(ctx, key, at); err != nil {
				stop(err)
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// delete deletes an item if it still is the one from before the checkout. If it is not, it was deleted
// already, by another delivery or by a write of ours whose reply was lost, or put in again since: both
// are well.
func (t cartsTable) delete(ctx context.Context, key item, at types.AttributeValue) error {
	_, err := t.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 &t.name,
		Key:                       key,
		ConditionExpression:       aws.String(conditionInCart),
		ExpressionAttributeValues: item{":at": at},
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return nil
	}
	return err
}
