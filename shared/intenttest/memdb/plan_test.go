package memdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func put(id string) *dynamodb.PutItemInput {
	return &dynamodb.PutItemInput{
		TableName: aws.String("items"), Item: item{"id": s(id), "by": s("first")},
		ConditionExpression: aws.String("attribute_not_exists(id)"), ReturnValuesOnConditionCheckFailure: allOld,
	}
}

func putOf(id string) types.TransactWriteItem {
	in := put(id)
	return types.TransactWriteItem{Put: &types.Put{TableName: in.TableName, Item: in.Item, ConditionExpression: in.ConditionExpression,
		ReturnValuesOnConditionCheckFailure: allOld}}
}

func insertOf(id string) types.BatchStatementRequest {
	return types.BatchStatementRequest{Statement: aws.String("INSERT INTO items VALUE {'id':?}"), Parameters: []types.AttributeValue{s(id)},
		ReturnValuesOnConditionCheckFailure: allOld}
}

// A planned error comes as the SDK's client returns it, and nothing is done; through the client too.
func TestPlannedErrors(t *testing.T) {
	for name, fault := range map[string]error{
		"TransactionConflict": &types.TransactionConflictException{Message: aws.String("Transaction is ongoing for the item")},
		"ThrottlingException": &types.ThrottlingException{Message: aws.String("slow down"),
			ThrottlingReasons: []types.ThrottlingReason{{Reason: aws.String("TableWriteKeyRangeThroughputExceeded")}}},
		"ProvisionedThroughput":  &types.ProvisionedThroughputExceededException{Message: aws.String("slow down")},
		"RequestLimitExceeded":   &types.RequestLimitExceeded{Message: aws.String("slow down")},
		"InternalServerError":    &types.InternalServerError{Message: aws.String("sorry")},
		"TransactionInProgress":  &types.TransactionInProgressException{Message: aws.String("under way")},
		"AccessDeniedException":  &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not yours"},
		"TransactionCancelled":   &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: aws.String("None")}, {Code: aws.String("TransactionConflict")}}},
		"a connection that dies": syscall.ECONNRESET,
	} {
		t.Run(name, func(t *testing.T) {
			db := newDB(func(Call) Fault { return Fault{Err: fault} })
			for face, a := range map[string]api{"direct": db, "through the SDK": db.Client(once)} {
				_, err := a.PutItem(t.Context(), put("a"))
				var want, got smithy.APIError
				switch {
				case !errors.As(fault, &want):
					if !errors.Is(err, fault) {
						t.Errorf("%s: error %v, want %v", face, err, fault)
					}
				case !errors.As(err, &got) || written(nil, got) != written(nil, want):
					t.Errorf("%s: error %v, want %v", face, err, fault)
				}
				var operation *smithy.OperationError
				if !errors.As(err, &operation) || operation.Operation() != "PutItem" {
					t.Errorf("%s: error %v does not name the operation", face, err)
				}
				if server := name == "InternalServerError"; server && !retryable(err) {
					t.Errorf("%s: error %v is not retryable", face, err)
				}
			}
			if usage := db.Usage()["PutItem"]; usage != (Usage{Calls: 2}) || len(db.Items("items")) > 0 {
				t.Errorf("usage %v and %d items, want two calls and nothing else", usage, len(db.Items("items")))
			}
		})
	}
}

func retryable(err error) bool {
	return retry.NewStandard().IsErrorRetryable(err)
}

// What Before does the database sees first; what LoseReply loses is done; After runs in between.
func TestOrderOfFault(t *testing.T) {
	var db *DB
	var order []string
	step := func(what string) func() {
		return func() { order = append(order, fmt.Sprint(what, " ", len(db.Items("items")))) }
	}
	db = newDB(func(c Call) Fault {
		if c.Operation != "PutItem" {
			return Fault{}
		}
		return Fault{Before: step("before"), After: step("after"), LoseReply: true}
	})
	_, err := db.PutItem(t.Context(), put("a"))
	if !errors.Is(err, syscall.ECONNRESET) || !retryable(err) {
		t.Errorf("error %v, want a reset connection", err)
	}
	if want := []string{"before 0", "after 1"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

func TestHideItems(t *testing.T) {
	hide := false
	db := newDB(func(Call) Fault { return Fault{HideItems: hide} })
	if _, err := db.PutItem(t.Context(), put("a")); err != nil {
		t.Fatal(err)
	}
	for _, hide = range []bool{false, true} {
		_, err := db.PutItem(t.Context(), put("a"))
		var refused *types.ConditionalCheckFailedException
		if !errors.As(err, &refused) || (len(refused.Item) == 0) != hide {
			t.Errorf("hide %t: error %v with item %v", hide, err, refused)
		}
		_, err = db.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{putOf("a")}})
		var cancelled *types.TransactionCanceledException
		if !errors.As(err, &cancelled) || (len(cancelled.CancellationReasons[0].Item) == 0) != hide {
			t.Errorf("hide %t: error %v", hide, err)
		}
		out, err := db.BatchExecuteStatement(t.Context(), &dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{insertOf("a")}})
		if err != nil || (len(out.Responses[0].Error.Item) == 0) != hide {
			t.Errorf("hide %t: error %v", hide, err)
		}
	}
}

// partly is a plan that meets each part at the index with the error.
func partly(errs map[int]error) func(Call) Fault {
	return func(c Call) Fault { return Fault{Err: errs[c.Index]} } // errs[-1] is nil: the call itself passes
}

var (
	conflict  = &types.TransactionConflictException{Message: aws.String("Transaction is ongoing for the item")}
	throttled = &types.ThrottlingException{Message: aws.String("slow down")}
	exceeded  = &types.ProvisionedThroughputExceededException{Message: aws.String("slow down")}
)

// A transaction one of whose actions is met is cancelled, with the reasons of all of them.
func TestPlannedReasons(t *testing.T) {
	db := newDB(partly(map[int]error{1: conflict, 2: throttled, 3: exceeded, 4: &types.ItemCollectionSizeLimitExceededException{}}))
	if _, err := db.PutItem(t.Context(), put("held")); err != nil {
		t.Fatal(err)
	}
	var actions []types.TransactWriteItem
	for _, id := range []string{"a", "b", "c", "d", "e", "held"} {
		actions = append(actions, putOf(id))
	}
	_, err := db.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: actions})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		t.Fatalf("error %v, want a cancelled transaction", err)
	}
	var codes []string
	for _, r := range cancelled.CancellationReasons {
		codes = append(codes, *r.Code)
	}
	want := []string{"None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded", "ItemCollectionSizeLimitExceeded",
		"ConditionalCheckFailed"}
	if !slices.Equal(codes, want) || len(cancelled.CancellationReasons[5].Item) == 0 {
		t.Errorf("reasons %v, want %v and the item that is held", codes, want)
	}
	if usage := db.Usage()["TransactWriteItems"]; usage != (Usage{Calls: 1}) || len(db.Items("items")) != 1 {
		t.Errorf("usage %v, %d items; want nothing done", usage, len(db.Items("items")))
	}
}

// Statements go their own ways.
func TestPlannedStatementErrors(t *testing.T) {
	db := newDB(partly(map[int]error{0: throttled, 2: conflict, 3: &types.InternalServerError{}, 4: exceeded, 5: &types.RequestLimitExceeded{}}))
	in := &dynamodb.BatchExecuteStatementInput{}
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		in.Statements = append(in.Statements, insertOf(id))
	}
	out, err := db.BatchExecuteStatement(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, r := range out.Responses {
		if r.Error == nil {
			codes = append(codes, "")
			continue
		}
		codes = append(codes, string(r.Error.Code))
	}
	want := []string{"ThrottlingError", "", "TransactionConflict", "InternalServerError", "ProvisionedThroughputExceeded", "RequestLimitExceeded", ""}
	if !slices.Equal(codes, want) || len(db.Items("items")) != 2 {
		t.Errorf("codes %v and %d items, want %v and 2", codes, len(db.Items("items")), want)
	}
}

func TestPlannedUnprocessedKeys(t *testing.T) {
	db := newDB(partly(map[int]error{1: throttled}))
	for _, id := range []string{"a", "b", "c"} {
		if _, err := db.PutItem(t.Context(), put(id)); err != nil {
			t.Fatal(err)
		}
	}
	keys := types.KeysAndAttributes{ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String("id"),
		Keys: []map[string]types.AttributeValue{{"id": s("a")}, {"id": s("b")}, {"id": s("c")}}}
	out, err := db.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"items": keys}})
	if err != nil {
		t.Fatal(err)
	}
	keys.Keys = []map[string]types.AttributeValue{{"id": s("b")}}
	if got, want := string(encode(out.UnprocessedKeys)), string(encode(map[string]types.KeysAndAttributes{"items": keys})); got != want || len(out.Responses["items"]) != 2 {
		t.Errorf("unprocessed %s, want %s", got, want)
	}
}

// An answer holds 16 MB.
func TestUnprocessedKeysOfLargeItems(t *testing.T) {
	db := newDB(nil)
	const weight, count = 390_000, 60
	var keys []map[string]types.AttributeValue
	for i := range count {
		in := put(fmt.Sprintf("%02d", i))
		in.Item["x"] = s(long(weight))
		if _, err := db.PutItem(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, item{"id": in.Item["id"]})
	}
	out, err := db.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"items": {Keys: keys}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, left := len(out.Responses["items"]), len(out.UnprocessedKeys["items"].Keys); got != maxAnswer/weight || left != count-got {
		t.Errorf("%d items and %d keys left, want %d items and the rest", got, left, maxAnswer/weight)
	}
}

// A statement is a step: what comes before the second one finds the first one done.
func TestBetweenStatements(t *testing.T) {
	var db *DB
	seen := -1
	db = newDB(func(c Call) Fault {
		if c.Index == 1 {
			return Fault{Before: func() { seen = len(db.Items("items")) }}
		}
		return Fault{}
	})
	if _, err := db.BatchExecuteStatement(t.Context(), &dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{insertOf("a"), insertOf("b")}}); err != nil {
		t.Fatal(err)
	}
	if seen != 1 {
		t.Errorf("%d items before the second statement, want 1", seen)
	}
}

func TestCallerGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	db := newDB(nil)
	if _, err := db.PutItem(ctx, put("a")); !errors.Is(err, context.Canceled) || len(db.Usage()) != 0 {
		t.Errorf("error %v and usage %v, want a cancelled context and none", err, db.Usage())
	}
}

// Of many that put one item at once, one wins, and counting goes on undisturbed.
func TestAtOnce(t *testing.T) {
	db := New(Config{Tables: []Table{{Name: "items", Keys: []string{"id"}}}, Plan: func(Call) Fault { return Fault{} }})
	const workers = 16
	var running sync.WaitGroup
	won := make([]bool, workers)
	for i := range workers {
		running.Go(func() {
			_, err := db.PutItem(t.Context(), put("contended"))
			won[i] = err == nil
			for range 20 {
				if _, err := db.TransactWriteItems(t.Context(),
					&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Update: &types.Update{
						TableName: aws.String("items"), Key: item{"id": s("counter")}, UpdateExpression: aws.String("ADD n :one"),
						ExpressionAttributeValues: item{":one": n(1)},
					}}}}); err != nil {
					t.Error(err)
				}
				db.Items("items")
				db.Usage()
				db.Expire()
			}
		})
	}
	running.Wait()
	if winners := slices.DeleteFunc(won, func(w bool) bool { return !w }); len(winners) != 1 {
		t.Errorf("%d won, want one", len(winners))
	}
	if got, want := string(encode(db.Items("items")[1])), fmt.Sprintf(`{"id":{"S":"counter"},"n":{"N":"%d"}}`, workers*20); got != want {
		t.Errorf("counter is %s, want %s", got, want)
	}
}

// Nothing that a caller has given or got is the database's own.
func TestCopies(t *testing.T) {
	db := newDB(nil)
	nested := item{"x": n(1)}
	text := &types.AttributeValueMemberS{Value: "before"}
	in := put("a")
	in.Item["m"], in.Item["s"], in.Item["l"], in.Item["b"], in.Item["ss"] = m(nested), text, l(text), b("before"), ss("before")
	if _, err := db.PutItem(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	before := string(encode(db.Items("items")))
	spoil := func(it item) {
		it["m"].(*types.AttributeValueMemberM).Value["x"] = n(2)
		it["s"].(*types.AttributeValueMemberS).Value = "after"
		it["l"].(*types.AttributeValueMemberL).Value[0] = n(2)
		it["b"].(*types.AttributeValueMemberB).Value[0] = 'B'
		it["ss"].(*types.AttributeValueMemberSS).Value[0] = "after"
		it["new"] = n(1)
	}
	spoil(in.Item)
	spoil(db.Items("items")[0])
	_, err := db.PutItem(t.Context(), put("a"))
	var refused *types.ConditionalCheckFailedException
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	spoil(refused.Item)
	out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("items"), Key: item{"id": s("a")}})
	if err != nil {
		t.Fatal(err)
	}
	spoil(out.Item)
	if after := string(encode(db.Items("items"))); after != before {
		t.Errorf("items were %s and are %s", before, after)
	}
	old, err := db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("items"), Key: item{"id": s("a")}, UpdateExpression: aws.String("SET m.y = :v, l[5] = :v"),
		ExpressionAttributeValues: item{":v": s("v")}, ReturnValues: types.ReturnValueAllOld,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(encode([]item{old.Attributes})); got != before {
		t.Errorf("the item before an update is %s, want %s", got, before)
	}
}

// TTL deletes what is past, in seconds, and keeps what was written in milliseconds, or is no number, or is too long ago to be
// meant.
func TestExpire(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	db := New(Config{Tables: []Table{{Name: "items", Keys: []string{"id"}, TTL: "expires_at"}}, Now: func() time.Time { return now }})
	for id, at := range map[string]types.AttributeValue{
		"past": n(now.Unix() - 1), "now": n(now.Unix()), "C17 in milliseconds": n(now.UnixMilli()),
		"a string": s(fmt.Sprint(now.Unix() - 1)), "ages ago": n(1),
	} {
		in := put(id)
		in.Item["expires_at"] = at
		if _, err := db.PutItem(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	ids := func() (ids []string) {
		for _, it := range db.Items("items") {
			ids = append(ids, it["id"].(*types.AttributeValueMemberS).Value)
		}
		return ids
	}
	if got := db.Expire(); got != 1 || slices.Contains(ids(), "past") {
		t.Errorf("%d expired, left are %v", got, ids())
	}
	now = now.Add(time.Second)
	if got := db.Expire(); got != 1 || !slices.Equal(ids(), []string{"C17 in milliseconds", "a string", "ages ago"}) {
		t.Errorf("%d expired a second later, left are %v", got, ids())
	}
}
