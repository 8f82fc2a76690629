package memdb

import (
	"context"
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// CreateTable is a *dynamodb.Client's. The table is active at once. It has no indexes and no streams.
func (db *DB) CreateTable(ctx context.Context, in *dynamodb.CreateTableInput, _ ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error) {
	return serve(ctx, db, "CreateTable", in, createTable)
}

// DescribeTable is a *dynamodb.Client's, as far as the key schema and the status go.
func (db *DB) DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, _ ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	return serve(ctx, db, "DescribeTable", in, func(r *request, in *dynamodb.DescribeTableInput) (*dynamodb.DescribeTableOutput, error) {
		t, err := r.table(in.TableName)
		if err != nil {
			return nil, err
		}
		return &dynamodb.DescribeTableOutput{Table: t.describe(types.TableStatusActive)}, nil
	})
}

// DeleteTable is a *dynamodb.Client's. The table is gone at once.
func (db *DB) DeleteTable(ctx context.Context, in *dynamodb.DeleteTableInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteTableOutput, error) {
	return serve(ctx, db, "DeleteTable", in, func(r *request, in *dynamodb.DeleteTableInput) (*dynamodb.DeleteTableOutput, error) {
		t, err := r.table(in.TableName)
		if err != nil {
			return nil, err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.tables, t.name)
		return &dynamodb.DeleteTableOutput{TableDescription: t.describe(types.TableStatusDeleting)}, nil
	})
}

// UpdateTimeToLive is a *dynamodb.Client's. What it turns on, Expire does.
func (db *DB) UpdateTimeToLive(ctx context.Context, in *dynamodb.UpdateTimeToLiveInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error) {
	return serve(ctx, db, "UpdateTimeToLive", in, updateTimeToLive)
}

func createTable(r *request, in *dynamodb.CreateTableInput) (*dynamodb.CreateTableOutput, error) {
	if !isTableName(aws.ToString(in.TableName)) {
		return nil, invalidTableName()
	}
	err := unsupported(feature{"GlobalSecondaryIndexes", in.GlobalSecondaryIndexes != nil},
		feature{"LocalSecondaryIndexes", in.LocalSecondaryIndexes != nil}, feature{"StreamSpecification", in.StreamSpecification != nil},
		feature{"DeletionProtectionEnabled", aws.ToBool(in.DeletionProtectionEnabled)})
	if err != nil {
		return nil, err
	}
	if len(in.KeySchema) < 1 || len(in.KeySchema) > 2 || len(in.KeySchema) != len(in.AttributeDefinitions) {
		return nil, invalid("One or more parameter values were invalid: a table needs a definition for each of one or two key attributes and for nothing else")
	}
	t := &table{name: *in.TableName, partitions: map[string][]*row{}}
	for i, element := range in.KeySchema {
		if want := []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]; element.KeyType != want {
			return nil, invalid("Invalid KeySchema: The KeyType of element %d is %s, want %s", i+1, element.KeyType, want)
		}
		attribute := keyAttribute{name: aws.ToString(element.AttributeName)}
		for _, definition := range in.AttributeDefinitions {
			if aws.ToString(definition.AttributeName) == attribute.name {
				attribute.kind = definition.AttributeType
			}
		}
		switch {
		case len(attribute.name) > maxKeyName:
			return nil, invalid("1 validation error detected: Value at 'keySchema.member.attributeName' failed to satisfy constraint: Member must have length less than or equal to %d", maxKeyName)
		case attribute.kind != "" && !slices.Contains(attribute.kind.Values(), attribute.kind):
			return nil, unknown("attributeDefinitions.member.attributeType", attribute.kind, "B, N, S")
		case attribute.kind == "":
			return nil, invalid("One or more parameter values were invalid: Some index key attributes are not defined in AttributeDefinitions. Keys: [%s]", attribute.name)
		}
		t.keys = append(t.keys, attribute)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tables[t.name] != nil {
		return nil, &types.ResourceInUseException{Message: aws.String("Table already exists: " + t.name)}
	}
	r.tables[t.name] = t
	return &dynamodb.CreateTableOutput{TableDescription: t.describe(types.TableStatusActive)}, nil
}

// isTableName reports a name that a table may have (Amazon DynamoDB, "Constraints", "Naming rules").
var isTableName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,255}$`).MatchString

func invalidTableName() error {
	return invalid("Invalid table/index name.  Table/index names must be between 3 and 255 characters long, and may contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'")
}

func (t *table) describe(status types.TableStatus) *types.TableDescription {
	d := &types.TableDescription{TableName: aws.String(t.name), TableStatus: status}
	for i, attribute := range t.keys {
		kind := []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]
		d.KeySchema = append(d.KeySchema, types.KeySchemaElement{AttributeName: aws.String(attribute.name), KeyType: kind})
		d.AttributeDefinitions = append(d.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: aws.String(attribute.name), AttributeType: attribute.kind})
	}
	return d
}

func updateTimeToLive(r *request, in *dynamodb.UpdateTimeToLiveInput) (*dynamodb.UpdateTimeToLiveOutput, error) {
	t, err := r.table(in.TableName)
	if err != nil {
		return nil, err
	}
	s := in.TimeToLiveSpecification
	if s == nil || aws.ToString(s.AttributeName) == "" || s.Enabled == nil {
		return nil, invalid("1 validation error detected: Value null at 'timeToLiveSpecification' failed to satisfy constraint: Member must not be null")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.ttl = ""
	if *s.Enabled {
		t.ttl = *s.AttributeName
	}
	return &dynamodb.UpdateTimeToLiveOutput{TimeToLiveSpecification: s}, nil
}
