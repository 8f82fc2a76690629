package memdb

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// What the database cannot do it says, by name; it is never left out in silence.
func TestUnsupported(t *testing.T) {
	table, id := aws.String("items"), item{"id": s("a")}
	condition := map[string]types.Condition{}
	for want, call := range map[string]asked{
		"Expected": putting(dynamodb.PutItemInput{TableName: table, Item: id,
			Expected: map[string]types.ExpectedAttributeValue{}}),
		"ConditionalOperator": deleting(dynamodb.DeleteItemInput{TableName: table, Key: id,
			ConditionalOperator: types.ConditionalOperatorAnd}),
		"AttributeUpdates": updating(dynamodb.UpdateItemInput{TableName: table, Key: id,
			AttributeUpdates: map[string]types.AttributeValueUpdate{}}),
		"UPDATED_NEW of a nested attribute": updating(dynamodb.UpdateItemInput{TableName: table, Key: id,
			UpdateExpression: aws.String("REMOVE a.b"), ReturnValues: types.ReturnValueUpdatedNew}),
		"AttributesToGet": getting(dynamodb.GetItemInput{TableName: table, Key: id, AttributesToGet: []string{"a"}}),
		"IndexName": querying(dynamodb.QueryInput{TableName: table, IndexName: aws.String("i"),
			KeyConditionExpression: aws.String("id = :a"), ExpressionAttributeValues: item{":a": s("a")}}),
		"KeyConditions": querying(dynamodb.QueryInput{TableName: table, KeyConditions: condition}),
		"Select ALL_ATTRIBUTES": querying(dynamodb.QueryInput{TableName: table, Select: types.SelectAllAttributes,
			KeyConditionExpression: aws.String("id = :a"), ExpressionAttributeValues: item{":a": s("a")}}),
		"TotalSegments": func(ctx context.Context, a api) (any, error) {
			return orErr(a.Scan(ctx, &dynamodb.ScanInput{TableName: table, TotalSegments: aws.Int32(2), Segment: aws.Int32(0)}))
		},
		"Segment": func(ctx context.Context, a api) (any, error) {
			return orErr(a.Scan(ctx, &dynamodb.ScanInput{TableName: table, Segment: aws.Int32(0)}))
		},
		"DeletionProtectionEnabled": func(ctx context.Context, a api) (any, error) {
			in := createInput("other")
			in.DeletionProtectionEnabled = aws.Bool(true)
			return orErr(a.CreateTable(ctx, in))
		},
		"Limit":                            executing(dynamodb.ExecuteStatementInput{Statement: aws.String("SELECT * FROM items WHERE id='a'"), Limit: aws.Int32(1)}),
		"SELECT without the partition key": executing(dynamodb.ExecuteStatementInput{Statement: aws.String("SELECT * FROM items")}),
		"SELECT of a nested attribute":     executing(dynamodb.ExecuteStatementInput{Statement: aws.String("SELECT a.b FROM items WHERE id='a'")}),
		"GlobalSecondaryIndexes": func(ctx context.Context, a api) (any, error) {
			in := createInput("other")
			in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{}
			return orErr(a.CreateTable(ctx, in))
		},
	} {
		_, err := call(t.Context(), newDB(nil))
		var lacking *UnsupportedError
		if !errors.As(err, &lacking) || lacking.What != want {
			t.Errorf("error %v, want %s unsupported", err, want)
		}
	}
}

// Tables come and go as the SDK's client asks for them, with a TTL attribute that is told later.
func TestTables(t *testing.T) {
	db := New(Config{})
	client := db.Client(once)
	ctx := t.Context()
	if _, err := client.CreateTable(ctx, createInput("made")); err != nil {
		t.Fatal(err)
	}
	described, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("made")})
	if err != nil || described.Table.TableStatus != types.TableStatusActive || *described.Table.KeySchema[0].AttributeName != "id" {
		t.Errorf("table is %+v, error %v", described, err)
	}
	var inUse *types.ResourceInUseException
	if _, err := client.CreateTable(ctx, createInput("made")); !errors.As(err, &inUse) {
		t.Errorf("second creation: error %v", err)
	}
	if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("made"),
		Item: item{"id": s("a"), "ttl": n(db.now().Unix() - 1)}}); err != nil {
		t.Fatal(err)
	}
	if got := db.Expire(); got != 0 {
		t.Errorf("without TTL: %d items expired", got)
	}
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String("made"), TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"),
			Enabled: aws.Bool(true)},
	})
	if got := db.Expire(); err != nil || got != 1 {
		t.Errorf("with TTL: %d items expired, error %v, want 1", got, err)
	}
	if _, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("made")}); err != nil {
		t.Fatal(err)
	}
	var notFound *types.ResourceNotFoundException
	if _, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("made")}); !errors.As(err, &notFound) {
		t.Errorf("table that was deleted: error %v", err)
	}
	for name, spoil := range map[string]func(*dynamodb.CreateTableInput){
		"no name":       func(in *dynamodb.CreateTableInput) { in.TableName = nil },
		"bad name":      func(in *dynamodb.CreateTableInput) { in.TableName = aws.String("a b c") },
		"short name":    func(in *dynamodb.CreateTableInput) { in.TableName = aws.String("ab") },
		"no such type":  func(in *dynamodb.CreateTableInput) { in.AttributeDefinitions[0].AttributeType = "M" },
		"no keys":       func(in *dynamodb.CreateTableInput) { in.KeySchema = nil },
		"no definition": func(in *dynamodb.CreateTableInput) { in.AttributeDefinitions[0].AttributeName = aws.String("other") },
		"range first":   func(in *dynamodb.CreateTableInput) { in.KeySchema[0].KeyType = types.KeyTypeRange },
	} {
		in := createInput("bad")
		spoil(in)
		if _, err := db.CreateTable(ctx, in); err == nil {
			t.Errorf("%s: the table was made", name)
		}
	}
}

func TestNewPanics(t *testing.T) {
	for name, tables := range map[string][]Table{
		"no name": {{Keys: []string{"id"}}}, "no keys": {{Name: "a"}}, "three keys": {{Name: "a", Keys: []string{"x", "y", "z"}}},
		"twice": {{Name: "a", Keys: []string{"x"}}, {Name: "a", Keys: []string{"x"}}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			New(Config{Tables: tables})
		}()
	}
}
