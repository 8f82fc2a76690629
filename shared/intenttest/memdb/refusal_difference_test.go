package memdb

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	alternator = "scylladb/scylladb, test/alternator, whose tests are run against the service: "
	floci      = "floci-io/floci, pull request 3674, checked against the service: "
	constraint = guide + "Constraints: "
)

// made updates an item that is not there, alone or in a transaction, and asks for what is there then.
func made(id, expression string, values item, transaction bool) func(*engines) asked {
	return func(e *engines) asked {
		return func(ctx context.Context, a api) (any, error) {
			var err error
			if transaction {
				_, err = a.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{e.update(id, expression, values)}})
			} else {
				_, err = a.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &e.items, Key: item{"id": s(id)}, UpdateExpression: &expression,
					ExpressionAttributeValues: values})
			}
			if err != nil {
				return nil, err
			}
			return orErr(a.GetItem(ctx, &dynamodb.GetItemInput{TableName: &e.items, Key: item{"id": s(id)}, ConsistentRead: aws.Bool(true)}))
		}
	}
}

func (e *engines) wrongKey() action {
	return action{Delete: &types.Delete{TableName: &e.items, Key: item{"id": n(1)}}}
}

func inOne(actions ...action) asked {
	return transacting(dynamodb.TransactWriteItemsInput{TransactItems: actions})
}

// ofUser queries the sorted table.
func (e *engines) ofUser(condition string, values, start item) asked {
	values[":u"] = s("u")
	return querying(dynamodb.QueryInput{TableName: &e.sorted, KeyConditionExpression: aws.String("#u = :u" + condition),
		ExpressionAttributeNames: map[string]string{"#u": "user"}, ExpressionAttributeValues: values, ExclusiveStartKey: start})
}

// refusals are differences about what the service refuses to do, or does not do (C83, C85, C86).
var refusals = []difference{
	{
		name: "updates: one that only removes makes an item", why: alternator + "test_item.py, test_update_item_non_existent",
		ask: made("removed", "REMOVE a", nil, false), local: `"id"`, memory: `^\{\}$`,
	},
	{
		name: "updates: one that only deletes from a set makes an item",
		why:  alternator + "test_item.py, test_update_item_delete, which says it of the parameters from before expressions",
		ask:  made("deleted", "DELETE a :v", item{":v": ss("x")}, false), local: `"id"`, memory: `^\{\}$`,
	},
	{
		name: "updates: a removed path has to be in an item that is not there",
		why:  alternator + "test_update_expression.py, test_nested_attribute_remove_from_missing_item",
		ask:  made("path", "REMOVE a.b, c[0]", nil, false), local: `The document path provided`, memory: `^\{\}$`,
	},
	{
		name: "transactions: an update that only removes makes an item", why: "as without a transaction",
		ask: made("removed at once", "REMOVE a", nil, true), local: `"id"`, memory: `^\{\}$`,
	},
	{
		name: "transactions: conditions count beside an action that does not fit its table", why: floci + "every other action gets None",
		ask:   func(e *engines) asked { return inOne(e.wrongKey(), e.check("nothing", "attribute_exists(id)")) },
		local: `\[ValidationError, ConditionalCheckFailed\]`, memory: `\[ValidationError, None\]`,
	},
	{
		name: "transactions: each action that does not fit its table has a reason", why: floci + "the first one alone has",
		ask: func(e *engines) asked {
			return inOne(e.wrongKey(), action{Delete: &types.Delete{TableName: &e.items, Key: item{"id": b("x")}}})
		},
		local: `\[ValidationError, ValidationError\]`, memory: `\[ValidationError, None\]`,
	},
	{
		name: "transactions: a check may look into a key", why: "the other actions may not, nor may anything else: " + dynalite,
		ask:   func(e *engines) asked { return inOne(e.check("nothing", "attribute_exists(id.x)")) },
		local: `\[ConditionalCheckFailed\]`, memory: `ValidationException","message":"Key attributes must be scalars`,
	},
	{
		name: "transactions: an empty token", why: reference + "TransactWriteItems, ClientRequestToken: minimum length of 1",
		ask: func(e *engines) asked {
			return transacting(dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(""),
				TransactItems: []types.TransactWriteItem{e.put(item{"id": s("no token")}, "", "")}})
		},
		local: `^\{\}$`, memory: `ValidationException`,
	},
	{
		name: "limits: all values of a request may have 1 MB", why: constraint + "2 MB for all names and values",
		ask: func(e *engines) asked {
			return deleting(dynamodb.DeleteItemInput{TableName: &e.items, Key: item{"id": s("large")}, ConditionExpression: aws.String("a = :v"),
				ExpressionAttributeValues: item{":v": s(long(3 << 19))}})
		},
		local: `Expression size has exceeded the maximum allowed size`, memory: `ConditionalCheckFailed`,
	},
	{
		name: "words: a key condition on a nested attribute", why: "ExtendDB/extenddb, pull request 195, captured from the service",
		ask:   func(e *engines) asked { return e.ofUser(" AND nr.x = :v", item{":v": n(1)}, nil) },
		local: `Key attributes must be scalars; [^"]*: Key: \w+`, memory: `Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes`,
		as: "nested key",
	},
	{
		name: "words: a starting key that does not fit the table", why: dynalite,
		ask:    func(e *engines) asked { return e.ofUser("", item{}, item{"user": s("u"), "nr": s("x")}) },
		local:  `Exclusive Start Key must have same size as table's key schema|Type mismatch for attribute to update`,
		memory: `The provided starting key is invalid: (The provided key element does not match the schema|wrong key)`,
		as:     "starting key",
	},
	{
		name: "words: a starting key of another partition", why: dynalite,
		ask: func(e *engines) asked {
			return e.ofUser(" AND nr > :v", item{":v": n(1)}, item{"user": s("w"), "nr": n(2)})
		},
		local: `The provided starting key does not match the range key predicate`, memory: `The query can return at most one row and cannot be restarted|The provided starting key is outside query boundaries based on provided conditions`,
		as: "outside",
	},
	{
		name: "words: units asked for in no known way", why: dynalite,
		ask: func(e *engines) asked {
			return getting(dynamodb.GetItemInput{TableName: &e.items, Key: item{"id": s("a")}, ReturnConsumedCapacity: "BOGUS"})
		},
		local:  `Cannot have null key for GetItem, DeleteItem, or UpdateItem`,
		memory: `1 validation error detected: Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: \[INDEXES, TOTAL, NONE\]`,
		as:     "units",
	},
	{
		name: "words: a selection of no known kind", why: dynalite,
		ask: func(e *engines) asked {
			return querying(dynamodb.QueryInput{TableName: &e.items, Select: "BOGUS", KeyConditionExpression: aws.String("id = :u"),
				ExpressionAttributeValues: item{":u": s("u")}})
		},
		local:  `Select must be ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES, COUNT, or SPECIFIC_ATTRIBUTES`,
		memory: `1 validation error detected: Value 'BOGUS' at 'select' failed to satisfy constraint: Member must satisfy enum value set: \[[A-Z_, ]+\]`,
		as:     "select",
	},
	{
		name: "units of statements may be asked for in no known way", why: reference + "ExecuteStatement, ReturnConsumedCapacity: valid values",
		ask: func(e *engines) asked {
			return executing(dynamodb.ExecuteStatementInput{Statement: e.text("SELECT * FROM $items WHERE id='nothing'"), ReturnConsumedCapacity: "BOGUS"})
		},
		local: `^\{"Items":\[\]\}$`, memory: `ValidationException`,
	},
	{
		name: "metrics of collections may be asked for in no known way", why: dynalite,
		ask: func(e *engines) asked {
			return putting(dynamodb.PutItemInput{TableName: &e.items, Item: item{"id": s("metrics")}, ReturnItemCollectionMetrics: "BOGUS"})
		},
		local: `^\{\}$`, memory: `ValidationException`,
	},
	{
		name: "words: a key of a type that has no order", why: "the shape of the service's messages for values of enumerations: " + dynalite,
		ask: func(*engines) asked {
			return func(ctx context.Context, a api) (any, error) {
				in := createInput("keys-without-order")
				in.AttributeDefinitions[0].AttributeType = "BOOL"
				return orErr(a.CreateTable(ctx, in))
			}
		},
		local:  `"Member must satisfy enum value set: \[B, N, S\]`,
		memory: `"1 validation error detected: Value 'BOOL' at 'attributeDefinitions.member.attributeType' failed to satisfy constraint: Member must satisfy enum value set: \[B, N, S\]`,
		as:     `"type of key`,
	},
	{
		name: "words: a long name of a key", why: "as for other lengths",
		ask: func(*engines) asked {
			return func(ctx context.Context, a api) (any, error) {
				in := createInput("long-key")
				in.AttributeDefinitions[0].AttributeName = aws.String(strings.Repeat("k", maxKeyName+1))
				in.KeySchema[0].AttributeName = in.AttributeDefinitions[0].AttributeName
				return orErr(a.CreateTable(ctx, in))
			}
		},
		local:  `"Names of key attributes and attributes projected into an index must be between 1 and 255 characters, inclusive`,
		memory: `"1 validation error detected: Value at 'keySchema.member.attributeName' failed to satisfy constraint: Member must have length less than or equal to 255`,
		as:     `"long name`,
	},
}
