package stack

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/local/template"
)

// newClient returns a client of the local engine for what surrounds the stack.
func newClient(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       Region,
		BaseEndpoint: &endpoint,
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

// createTables makes the template's tables. One that is there already, on an
// engine that somebody else runs, is left as it is.
func createTables(ctx context.Context, db *dynamodb.Client, tables []template.Table) error {
	for _, t := range tables {
		input := &dynamodb.CreateTableInput{TableName: aws.String(tableName(t)), BillingMode: types.BillingModePayPerRequest}
		for i, key := range t.Keys {
			role := types.KeyTypeHash
			if i > 0 {
				role = types.KeyTypeRange
			}
			input.KeySchema = append(input.KeySchema, types.KeySchemaElement{AttributeName: aws.String(key.Attribute), KeyType: role})
			input.AttributeDefinitions = append(input.AttributeDefinitions, types.AttributeDefinition{
				AttributeName: aws.String(key.Attribute), AttributeType: types.ScalarAttributeType(key.Type),
			})
		}
		var exists *types.ResourceInUseException
		if _, err := db.CreateTable(ctx, input); errors.As(err, &exists) {
			continue
		} else if err != nil {
			return fmt.Errorf("create table %s: %w", t.LogicalID, err)
		}
		described := &dynamodb.DescribeTableInput{TableName: input.TableName}
		if err := dynamodb.NewTableExistsWaiter(db).Wait(ctx, described, time.Minute); err != nil {
			return fmt.Errorf("wait for table %s: %w", t.LogicalID, err)
		}
		if t.TTLAttribute == "" {
			continue
		}
		_, err := db.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName:               input.TableName,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(t.TTLAttribute), Enabled: aws.Bool(true)},
		})
		if err != nil {
			return fmt.Errorf("set the TTL of table %s: %w", t.LogicalID, err)
		}
	}
	return nil
}

func tableName(t template.Table) string {
	if t.Name != "" {
		return t.Name
	}
	return t.LogicalID
}
