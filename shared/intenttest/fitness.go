package intenttest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Property is one thing an engine must do for a test on it to mean anything.
type Property string

// The properties that Fitness probes, in this order.
const (
	// OneWinner: of 64 puts at once of one key, each on the condition that
	// the key is not there, exactly one succeeds.
	OneWinner Property = "one winner"
	// LoserSeesItem: a put that fails such a condition gets the item that is
	// there, with ReturnValuesOnConditionCheckFailure=ALL_OLD.
	LoserSeesItem Property = "the loser sees the item"
	// TokenAppliedOnce: 16 transactions at once with one ClientRequestToken
	// and the same input are applied once.
	TokenAppliedOnce Property = "one token is applied once"
	// CancellationReasons: a cancelled transaction gives a reason for each of
	// its writes, with the item where a condition failed, and applies none.
	CancellationReasons Property = "cancellation reasons with items"
)

// FitnessError is returned when an engine fails a property, by its fault or
// because it did not answer.
type FitnessError struct {
	Property Property
	Err      error
}

func (e *FitnessError) Error() string {
	return fmt.Sprintf("the engine is not fit: %s: %v", e.Property, e.Err)
}

func (e *FitnessError) Unwrap() error { return e.Err }

// Fitness probes the engine. Emulators have been found to let two writers
// win (case C23): a suite that runs on such an engine proves nothing, and
// blames the code under test when it fails. The error is a *FitnessError.
func Fitness(ctx context.Context, db *dynamodb.Client) error {
	for _, probe := range []struct {
		property Property
		run      func(context.Context, *dynamodb.Client, string) error
	}{
		{OneWinner, probeOneWinner},
		{LoserSeesItem, probeLoserSeesItem},
		{TokenAppliedOnce, probeTokenAppliedOnce},
		{CancellationReasons, probeCancellationReasons},
	} {
		if err := inTable(ctx, db, probe.run); err != nil {
			return &FitnessError{Property: probe.property, Err: err}
		}
	}
	return nil
}

func inTable(ctx context.Context, db *dynamodb.Client, run func(context.Context, *dynamodb.Client, string) error) error {
	table, err := createTable(ctx, db, probeKey)
	if err != nil {
		return fmt.Errorf("create the probe's table: %w", err)
	}
	return errors.Join(run(ctx, db, table), deleteTable(ctx, db, table))
}

const (
	probeKey  = "id"
	ifAbsent  = "attribute_not_exists(id)"
	increment = "ADD n :one"
	// probeToken begins the tokens of the probe; DynamoDB allows 36 characters.
	probeToken = "fitness-"
)

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func probeOneWinner(ctx context.Context, db *dynamodb.Client, table string) error {
	var won, lost atomic.Int64
	err := atOnce(64, func(i int) error {
		_, err := db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName:           &table,
			Item:                map[string]types.AttributeValue{probeKey: text("contended"), "by": text(fmt.Sprint(i))},
			ConditionExpression: aws.String(ifAbsent),
		})
		if failed := new(types.ConditionalCheckFailedException); errors.As(err, &failed) {
			lost.Add(1)
			return nil
		}
		if err == nil {
			won.Add(1)
		}
		return err
	})
	if err != nil {
		return err
	}
	if won.Load() != 1 {
		return fmt.Errorf("%d of 64 conditional puts succeeded and %d failed their condition, want 1 and 63", won.Load(), lost.Load())
	}
	return nil
}

func probeLoserSeesItem(ctx context.Context, db *dynamodb.Client, table string) error {
	put := func(by string) error {
		_, err := db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName:                           &table,
			Item:                                map[string]types.AttributeValue{probeKey: text("held"), "by": text(by)},
			ConditionExpression:                 aws.String(ifAbsent),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	}
	if err := put("first"); err != nil {
		return err
	}
	err := put("second")
	failed := new(types.ConditionalCheckFailedException)
	if !errors.As(err, &failed) {
		return fmt.Errorf("a second put ended with %v, want ConditionalCheckFailedException", err)
	}
	return holdsFirst(failed.Item)
}

func holdsFirst(item map[string]types.AttributeValue) error {
	if by, ok := item["by"].(*types.AttributeValueMemberS); !ok || by.Value != "first" {
		return fmt.Errorf("the failed condition came with item %v, want the one that is there", item)
	}
	return nil
}

func probeTokenAppliedOnce(ctx context.Context, db *dynamodb.Client, table string) error {
	key := map[string]types.AttributeValue{probeKey: text("counter")}
	// An engine remembers tokens for ten minutes: this one is the probe's own.
	token := probeToken + rand.Text()
	err := atOnce(16, func(int) error {
		// Every map in here has one entry: Go orders a map's keys at random
		// and some engines take another order for another input (case C18).
		_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			ClientRequestToken: &token,
			TransactItems: []types.TransactWriteItem{{Update: &types.Update{
				TableName:                 &table,
				Key:                       key,
				UpdateExpression:          aws.String(increment),
				ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
			}}},
		})
		// AWS may answer a copy that meets the first one under way with these.
		if busy := new(types.TransactionInProgressException); errors.As(err, &busy) {
			return nil
		}
		if conflict := new(types.TransactionCanceledException); errors.As(err, &conflict) && isConflict(conflict) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	out, err := db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return err
	}
	if n, ok := out.Item["n"].(*types.AttributeValueMemberN); !ok || n.Value != "1" {
		return fmt.Errorf("16 transactions that each add 1 under one token left %v, want 1", out.Item["n"])
	}
	return nil
}

func isConflict(e *types.TransactionCanceledException) bool {
	return len(e.CancellationReasons) == 1 && aws.ToString(e.CancellationReasons[0].Code) == "TransactionConflict"
}

func probeCancellationReasons(ctx context.Context, db *dynamodb.Client, table string) error {
	item := func(key, by string) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{probeKey: text(key), "by": text(by)}
	}
	if _, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: item("held", "first")}); err != nil {
		return err
	}
	put := func(key string) types.TransactWriteItem {
		return types.TransactWriteItem{Put: &types.Put{
			TableName: &table, Item: item(key, "second"), ConditionExpression: aws.String(ifAbsent),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}}
	}
	_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{put("free"), put("held")},
	})
	cancelled := new(types.TransactionCanceledException)
	if !errors.As(err, &cancelled) {
		return fmt.Errorf("a transaction with one failed condition ended with %v, want TransactionCanceledException", err)
	}
	reasons := cancelled.CancellationReasons
	if len(reasons) != 2 || aws.ToString(reasons[0].Code) != "None" || aws.ToString(reasons[1].Code) != "ConditionalCheckFailed" {
		return fmt.Errorf("the reasons are %v, want None and ConditionalCheckFailed", codes(reasons))
	}
	if err := holdsFirst(reasons[1].Item); err != nil {
		return err
	}
	out, err := db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &table, Key: map[string]types.AttributeValue{probeKey: text("free")}, ConsistentRead: aws.Bool(true),
	})
	if err == nil && len(out.Item) > 0 {
		err = errors.New("a cancelled transaction applied its other write")
	}
	return err
}

func codes(reasons []types.CancellationReason) []string {
	var codes []string
	for _, reason := range reasons {
		codes = append(codes, aws.ToString(reason.Code))
	}
	return codes
}

// atOnce runs n calls that all start together and gives the errors of those
// that failed.
func atOnce(n int, call func(i int) error) error {
	start := make(chan struct{})
	errs := make([]error, n)
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() {
			<-start
			errs[i] = call(i)
		})
	}
	close(start)
	done.Wait()
	return errors.Join(errs...)
}
