package dynamo_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

func TestContract(t *testing.T) {
	table := intenttest.Table(t, intenttest.Engine(t), "intent")
	intenttest.Contract(t, func(t testing.TB, faults *intenttest.Faults) intent.Store {
		return dynamo.New(client(t, faults), table)
	})
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
