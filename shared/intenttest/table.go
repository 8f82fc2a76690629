package intenttest

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table makes a table with a name of its own, which goes with the test. keys
// are the names of its partition key and, if there is one, its sort key; both
// of type S.
func Table(t testing.TB, db *dynamodb.Client, keys ...string) string {
	t.Helper()
	name, err := createTable(t.Context(), db, keys...)
	if err != nil {
		t.Fatalf("create table %v: %v", keys, err)
	}
	t.Cleanup(func() {
		// The test's own context is over by now.
		if err := deleteTable(context.Background(), db, name); err != nil {
			t.Errorf("delete table %s: %v", name, err)
		}
	})
	return name
}

func createTable(ctx context.Context, db *dynamodb.Client, keys ...string) (string, error) {
	name := "test-" + rand.Text()
	input := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest}
	for i, key := range keys {
		kind := types.KeyTypeHash
		if i > 0 {
			kind = types.KeyTypeRange
		}
		input.KeySchema = append(input.KeySchema, types.KeySchemaElement{AttributeName: &key, KeyType: kind})
		input.AttributeDefinitions = append(input.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: &key, AttributeType: types.ScalarAttributeTypeS})
	}
	if _, err := db.CreateTable(ctx, input); err != nil {
		return "", err
	}
	return name, dynamodb.NewTableExistsWaiter(db).Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, time.Minute)
}

func deleteTable(ctx context.Context, db *dynamodb.Client, name string) error {
	_, err := db.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name})
	return err
}
