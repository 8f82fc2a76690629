package dynamo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

// Store keeps records in one DynamoDB table with the partition key "intent"
// (S), TTL on "expires_at". It must not be a replica of an eventually
// consistent global table: two Regions would both win a claim.
type Store struct {
	client         API
	table          string
	forms          func() forms  // of its statements; made when a group first needs them
	alone          bool          // no two records share a call
	linger         time.Duration // of a group's first write
	storeResultFor time.Duration // at the most, a large one
}

var _ intent.Store = (*Store)(nil)

// New returns the store on the table.
func New(client API, table string) *Store {
	return &Store{
		client: client, table: table, linger: linger, storeResultFor: storeResultFor,
		forms: sync.OnceValue(func() forms { return formsOn(table) }),
	}
}

// Alone returns the store that makes a call for each record, whatever its batch.
func (s *Store) Alone() *Store {
	alone := *s
	alone.alone = true
	return &alone
}

// Claim is one conditional PutItem.
func (s *Store) Claim(ctx context.Context, next intent.Record) (intent.Record, error) {
	standing, err := s.put(ctx, next)
	return standing, wrap("claim intent", err)
}

// put puts a record where none stands. The time that decides whether one is
// expired is the claim's own.
func (s *Store) put(ctx context.Context, next intent.Record) (intent.Record, error) {
	if next.Writes != nil {
		return intent.Record{}, fmt.Errorf("%w: there is no claim whose completion they could join", intent.ErrWritesRejected)
	}
	attribute := s.keep(ctx, &next)
	usedNames, usedValues := bind(absentValues(next.ClaimedAt), conditionAbsent)
	input := &dynamodb.PutItemInput{
		TableName:                           &s.table,
		Item:                                encode(next, attribute),
		ConditionExpression:                 aws.String(conditionAbsent),
		ExpressionAttributeNames:            usedNames,
		ExpressionAttributeValues:           usedValues,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	err := persist(ctx, func(ctx context.Context) error {
		_, err := s.client.PutItem(ctx, input)
		return err
	})
	return s.standing(ctx, next, err)
}

// Amend is one conditional UpdateItem that names the owner and the states; in a
// transaction where writes come with it.
func (s *Store) Amend(ctx context.Context, next intent.Record) (intent.Record, error) {
	attribute := s.keep(ctx, &next) // first: it changes next, where a result cannot be kept
	return s.amend(ctx, next, attribute)
}

// amend is Amend of a record whose result is kept.
func (s *Store) amend(ctx context.Context, next intent.Record, result types.AttributeValue) (intent.Record, error) {
	standing, err := s.change(ctx, next, conditionFor(next), values(next, result))
	return standing, wrap(string(next.State)+" by owner", err)
}

// Replace is one conditional UpdateItem that names the exact state, owner and
// lease that were shown.
func (s *Store) Replace(ctx context.Context, shown, next intent.Record) (intent.Record, error) {
	// The condition holds for any state that is shown, also for a final one.
	if !slices.Contains(intent.Sources(next.State, intent.ByShown), shown.State) {
		return s.Load(ctx, next.Intent)
	}
	attribute := s.keep(ctx, &next)
	v := values(next, attribute)
	v[":shown_state"] = text(string(shown.State))
	v[":shown_owner"] = text(shown.Owner)
	v[":shown_lease"] = number(shown.LeaseUntil.UnixMilli())
	standing, err := s.change(ctx, next, conditionShown, v)
	return standing, wrap(string(next.State)+" as shown", err)
}

func (s *Store) change(ctx context.Context, next intent.Record, condition string, v item) (intent.Record, error) {
	items, err := writes(next)
	if err != nil {
		return intent.Record{}, err
	}
	update := updateFor(next)
	usedNames, usedValues := bind(v, update, condition)
	own := types.Update{
		TableName:                           &s.table,
		Key:                                 item{attrIntent: text(next.Intent)},
		UpdateExpression:                    &update,
		ConditionExpression:                 &condition,
		ExpressionAttributeNames:            usedNames,
		ExpressionAttributeValues:           usedValues,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if len(items) > 0 {
		return s.complete(ctx, next, own, items)
	}
	err = persist(ctx, func(ctx context.Context) error {
		_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                           own.TableName,
			Key:                                 own.Key,
			UpdateExpression:                    own.UpdateExpression,
			ConditionExpression:                 own.ConditionExpression,
			ExpressionAttributeNames:            own.ExpressionAttributeNames,
			ExpressionAttributeValues:           own.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: own.ReturnValuesOnConditionCheckFailure,
		})
		return err
	})
	return s.standing(ctx, next, err)
}

// standing is the record that stands after a write of next that ended with err:
// next itself, or what its condition met. That comes with the error; some
// engines leave it out, and a consistent read brings it.
func (s *Store) standing(ctx context.Context, next intent.Record, err error) (intent.Record, error) {
	var failed *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		return next, nil
	case !errors.As(err, &failed):
		return intent.Record{}, err
	}
	return s.found(ctx, next.Intent, failed.Item)
}

// found reads the record that a failed condition came with.
func (s *Store) found(ctx context.Context, key string, it item) (intent.Record, error) {
	if len(it) > 0 {
		return s.record(ctx, it)
	}
	return s.load(ctx, key)
}

// Load is one consistent GetItem.
func (s *Store) Load(ctx context.Context, key string) (intent.Record, error) {
	r, err := s.load(ctx, key)
	return r, wrap("load intent", err)
}

func (s *Store) load(ctx context.Context, key string) (intent.Record, error) {
	it, err := s.get(ctx, key)
	if err != nil || len(it) == 0 {
		return intent.Record{}, err
	}
	return s.record(ctx, it)
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
