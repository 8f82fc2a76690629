package stack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/template"
)

// local are the credentials of what surrounds the stack. Nobody looks at them.
var local = credentials.NewStaticCredentialsProvider("local", "local", "")

// newClient returns a client of the local engine for what surrounds the stack.
func newClient(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{Region: Region, BaseEndpoint: &endpoint, Credentials: local})
}

// createTables makes the template's tables. One that is there already, on an
// engine that somebody else runs, is left as it is.
func (s *Stack) createTables(ctx context.Context) error {
	for _, t := range s.Template.Tables {
		input := &dynamodb.CreateTableInput{TableName: aws.String(s.tableName(t)), BillingMode: types.BillingModePayPerRequest}
		input.KeySchema = defineKey(input, t.Keys)
		for _, index := range t.Indexes {
			input.GlobalSecondaryIndexes = append(input.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
				IndexName: aws.String(index.Name), KeySchema: defineKey(input, index.Keys),
				Projection: &types.Projection{ProjectionType: types.ProjectionType(index.Projection)},
			})
		}
		var exists *types.ResourceInUseException
		if _, err := s.DB.CreateTable(ctx, input); errors.As(err, &exists) {
			continue
		} else if err != nil {
			return fmt.Errorf("create table %s: %w", t.LogicalID, err)
		}
		described := &dynamodb.DescribeTableInput{TableName: input.TableName}
		if err := dynamodb.NewTableExistsWaiter(s.DB).Wait(ctx, described, time.Minute); err != nil {
			return fmt.Errorf("wait for table %s: %w", t.LogicalID, err)
		}
		if t.TTLAttribute == "" {
			continue
		}
		_, err := s.DB.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName:               input.TableName,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(t.TTLAttribute), Enabled: aws.Bool(true)},
		})
		if err != nil {
			return fmt.Errorf("set the TTL of table %s: %w", t.LogicalID, err)
		}
	}
	return nil
}

// defineKey is the key of a table or an index, whose attributes it defines unless they are.
func defineKey(input *dynamodb.CreateTableInput, keys []template.Key) (schema []types.KeySchemaElement) {
	for i, key := range keys {
		role := types.KeyTypeHash
		if i > 0 {
			role = types.KeyTypeRange
		}
		schema = append(schema, types.KeySchemaElement{AttributeName: aws.String(key.Attribute), KeyType: role})
		if !slices.ContainsFunc(input.AttributeDefinitions, func(a types.AttributeDefinition) bool { return *a.AttributeName == key.Attribute }) {
			input.AttributeDefinitions = append(input.AttributeDefinitions, types.AttributeDefinition{
				AttributeName: aws.String(key.Attribute), AttributeType: types.ScalarAttributeType(key.Type),
			})
		}
	}
	return schema
}

// deleteTables makes the engine forget the tables. If it does not, its owner
// will: the names are nobody else's.
func (s *Stack) deleteTables() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, t := range s.Template.Tables {
		if _, err := s.DB.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String(s.tableName(t))}); err != nil {
			fmt.Fprintf(s.options.Log, "delete table %s: %v\n", t.LogicalID, err)
		}
	}
}

// Table is the name of a table, by its logical id.
func (s *Stack) Table(logicalID string) string {
	for _, t := range s.Template.Tables {
		if t.LogicalID == logicalID {
			return s.tableName(t)
		}
	}
	return ""
}

func (s *Stack) tableName(t template.Table) string {
	name := t.Name
	if name == "" {
		name = t.LogicalID
	}
	return s.account.tablePrefix + name
}
