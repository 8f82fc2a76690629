package dynamo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/singleeffect/once/shared/intent"
)

// MaxWrites is how many writes an effect may ask for: a transaction takes 100
// actions and 4 MB (Amazon DynamoDB quotas, "Transactions"), of which the record
// takes one and a large result another.
const MaxWrites = 98

// WithWrites is the result of a Keyed or Blind effect whose completion commits
// writes with it, in one transaction: both are there afterwards, or neither. The
// items are up to MaxWrites actions, none of them on the record table. They are
// written after the effect happened, so none should be able to fail: one that
// does leaves the record without its completion (intent.ErrWritesRejected), and
// the intent to its class: a Keyed effect is asked again, a Blind one is in doubt.
//
// The role of the function needs, beside what the writes need,
// dynamodb:UpdateItem on the record table.
func WithWrites(result any, items ...types.TransactWriteItem) any {
	c, _ := result.(intent.Completion)
	if more, ok := c.Writes.([]types.TransactWriteItem); ok { // it has some already
		result, items = c.Result, slices.Concat(more, items)
	}
	return intent.Completion{Result: result, Writes: items}
}

// writes are those that commit with a record.
func writes(r intent.Record) ([]types.TransactWriteItem, error) {
	if r.Writes == nil {
		return nil, nil
	}
	items, ok := r.Writes.([]types.TransactWriteItem)
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: they are a %T, want what dynamo.WithWrites makes", intent.ErrWritesRejected, r.Writes)
	case len(items) > MaxWrites:
		return nil, fmt.Errorf("%w: they are %d, the limit is %d", intent.ErrWritesRejected, len(items), MaxWrites)
	}
	return items, nil
}

// verdict is what a transaction says of its actions when its own one, on the
// record, or another was refused by a condition. The zero verdict: it is done.
type verdict struct {
	inTheWay *types.CancellationReason  // the record's own condition failed
	rejected []types.CancellationReason // else these, one for each of the items, of which a condition failed
}

// transact writes the record's own action and the items in one transaction, and
// then what else there is to write with them.
func (s *Store) transact(ctx context.Context, own types.TransactWriteItem, items []types.TransactWriteItem, more ...types.TransactWriteItem) (verdict, error) {
	actions := append(append([]types.TransactWriteItem{own}, items...), more...)
	var v verdict
	err := persist(ctx, func(ctx context.Context) error {
		// No token of ours: the SDK draws one for each call and keeps the bytes the
		// same over its own retries. A token would not be the guard anyway, it is
		// good for ten minutes; the record's condition is.
		_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: actions})
		// The record's own reason is read first: whatever else is among them, a
		// record in the way decides.
		if reasons := cancelled(err); len(reasons) > 0 && conditionFailed(reasons[0]) {
			v.inTheWay = &reasons[0]
			return nil
		}
		return err
	})
	// A transaction given up while it was not decided may still pass, whatever
	// condition failed beside the conflict.
	if reasons := cancelled(err); len(reasons) == len(actions) && !transient(err) {
		own := reasons[1 : 1+len(items)]
		if slices.ContainsFunc(own, conditionFailed) {
			return verdict{rejected: own}, nil
		}
	}
	return v, err
}

// complete moves a record to a final state and commits its writes with that.
func (s *Store) complete(ctx context.Context, next intent.Record, own types.Update, items []types.TransactWriteItem) (intent.Record, error) {
	v, err := s.transact(ctx, types.TransactWriteItem{Update: &own}, items)
	why := rejection(err)
	switch {
	case v.inTheWay != nil:
		return s.found(ctx, next.Intent, v.inTheWay.Item)
	case v.rejected != nil:
		return intent.Record{}, fmt.Errorf("%w: %v", intent.ErrWritesRejected, codes(v.rejected, 1))
	case why != "":
		return intent.Record{}, fmt.Errorf("%w: %s", intent.ErrWritesRejected, why) // err may quote values
	}
	return next, err
}

// rejection says why the same transaction can never pass; empty if that is not
// said. It is short, for the reason in a record is cut off.
func rejection(err error) string {
	var answer smithy.APIError
	switch reasons := cancelled(err); {
	case transient(err):
		return ""
	case len(reasons) > 0:
		return fmt.Sprint(codes(reasons, 0))
	case errors.As(err, &answer) && answer.ErrorCode() == "ValidationException":
		return answer.ErrorCode() // its message may quote values
	}
	return ""
}

// cancelled returns the reasons of a cancelled transaction, one for each action.
func cancelled(err error) []types.CancellationReason {
	var c *types.TransactionCanceledException
	if !errors.As(err, &c) {
		return nil
	}
	return c.CancellationReasons
}

// codes names the reasons of the actions that have one, by their places in the
// transaction: the record's is 0.
func codes(reasons []types.CancellationReason, first int) []string {
	var codes []string
	for i, r := range reasons {
		if code := aws.ToString(r.Code); code != "None" {
			codes = append(codes, fmt.Sprintf("%d: %s", first+i, code))
		}
	}
	return codes
}

func conditionFailed(r types.CancellationReason) bool {
	return aws.ToString(r.Code) == "ConditionalCheckFailed"
}
