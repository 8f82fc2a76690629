package dynamo_test

import (
	"context"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

func TestContract(t *testing.T) {
	t.Parallel() // it waits more than it works
	table := intenttest.Table(t, intenttest.Engine(t), "intent")
	intenttest.Contract(t, func(t testing.TB, faults *intenttest.Faults) intent.Store {
		return dynamo.New(client(t, faults), table)
	})
}

// A group keeps to the same contract: what a record is told does not depend on who
// shares its call.
func TestContractInGroup(t *testing.T) {
	t.Parallel()
	table := intenttest.Table(t, intenttest.Engine(t), "intent")
	intenttest.Contract(t, func(t testing.TB, faults *intenttest.Faults) intent.Store {
		return &accompanied{dynamo.New(client(t, faults), table)}
	})
}

// accompanied is a store whose every claim and end by the owner shares its call with
// the claim of another intent.
type accompanied struct{ *dynamo.Store }

func (s *accompanied) Claim(ctx context.Context, next intent.Record) (intent.Record, error) {
	return s.beside(func(g intent.Store) (intent.Record, error) { return g.Claim(ctx, next) })
}

func (s *accompanied) Amend(ctx context.Context, next intent.Record) (intent.Record, error) {
	return s.beside(func(g intent.Store) (intent.Record, error) { return g.Amend(ctx, next) })
}

func (s *accompanied) beside(f func(intent.Store) (intent.Record, error)) (intent.Record, error) {
	g, leave := s.Group(2)
	ctx, cancel := context.WithCancel(context.Background())
	var other sync.WaitGroup
	other.Go(func() {
		defer leave()
		_, _ = g.Claim(ctx, intenttest.Draft())
	})
	r, err := f(g)
	cancel()
	leave()
	other.Wait()
	return r, err
}

// client is tuned as the functions' own, and its requests meet the faults.
func client(t testing.TB, faults *intenttest.Faults) *dynamodb.Client {
	return intenttest.Engine(t, dynamo.Tune, func(o *dynamodb.Options) { o.HTTPClient = faults.Client() })
}

func TestContractWrites(t *testing.T) {
	db := intenttest.Engine(t)
	table, rows := intenttest.Table(t, db, "intent"), intenttest.Table(t, db, "row")
	intenttest.ContractWrites(t, func(t testing.TB, faults *intenttest.Faults) intent.Store {
		return dynamo.New(client(t, faults), table)
	}, tableRows{db, rows})
}

// tableRows are rows in a table of their own.
type tableRows struct {
	db    *dynamodb.Client
	table string
}

func (r tableRows) Writes(names ...string) any {
	var items []types.TransactWriteItem
	for _, name := range names {
		items = append(items, types.TransactWriteItem{Put: &types.Put{
			TableName: &r.table, Item: item{"row": s(name)}, ConditionExpression: aws.String("attribute_not_exists(#row)"),
			ExpressionAttributeNames: map[string]string{"#row": "row"},
		}})
	}
	return dynamo.WithWrites(nil, items...).(intent.Completion).Writes
}

func (r tableRows) There(t testing.TB, name string) bool {
	t.Helper()
	out, err := r.db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &r.table, Key: item{"row": s(name)}, ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Item) > 0
}
