package memdb

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// difference is where DynamoDB Local does not answer as the service does, and the database not as DynamoDB Local.
type difference struct {
	name string
	// why says where the service's answer is known from.
	why string
	// ask shows it. before, if not nil, is done on both engines first.
	ask    func(*engines) asked
	before func(*engines) asked
	// local and memory are patterns of what the engines answer.
	local, memory string
	// as replaces both patterns where answers are compared: the engines differ in words. If it is empty they differ in more, and
	// what compares them does not ask that question.
	as string
}

const (
	dynalite  = "dynalite, whose tests were recorded against the service (architect/dynalite, validations/ and test/)"
	sdkText   = "the documentation of types.TransactionCanceledException in the SDK"
	guide     = "Amazon DynamoDB, Developer Guide: "
	reference = "Amazon DynamoDB, API Reference: "
)

func badPut(it item) func(*engines) asked {
	return func(e *engines) asked { return putting(dynamodb.PutItemInput{TableName: &e.items, Item: it}) }
}

func existing(e *engines) asked {
	return putting(dynamodb.PutItemInput{TableName: &e.items, Item: item{"id": s("existing"), "n": n(1)}})
}

func one(action types.TransactWriteItem) asked {
	return transacting(dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{action}, ReturnConsumedCapacity: total})
}

var differences = append([]difference{
	{
		name: "words: not a number", why: dynalite, ask: badPut(item{"id": s("a"), "n": n("x")}),
		local:  `A value provided cannot be converted into a number(?P<key> for key :\w+)?"`,
		memory: `The parameter cannot be converted to a numeric value(: [^"]*?)?(?P<key> for key :\w+)?"`, as: `not a number${key}"`,
	},
	{
		name: "words: too many digits", why: dynalite, ask: badPut(item{"id": s("a"), "n": n(strings.Repeat("1", 39))}),
		local: `DynamoDB only supports precision up to 38 digits`, memory: `Attempting to store more than 38 significant digits in a Number`,
		as: "too many digits",
	},
	{
		name: "words: an exponent out of all bounds", why: dynalite, ask: badPut(item{"id": s("a"), "n": n("1e9999999999")}),
		local: `A value provided cannot be converted into a number`, memory: `Number overflow`,
	},
	{
		name: "words: a set with duplicates", why: dynalite, ask: badPut(item{"id": s("a"), "x": ss("a", "a")}),
		local: `contains duplicates(?P<key> for key :\w+)?"`, memory: `contains duplicates\.(?P<key> for key :\w+)?"`, as: `duplicates${key}"`,
	},
	{
		name: "words: no key in the item", why: dynalite, ask: badPut(item{"x": s("a")}),
		local:  `One of the required keys was not given a value`,
		memory: `One or more parameter values were invalid: Missing the key \w+ in the item`, as: "wrong key",
	},
	{
		name: "words: a key of another type in the item", why: dynalite, ask: badPut(item{"id": n(1)}),
		local:  `One or more parameter values were invalid: Type mismatch for key"|Invalid attribute value type"`,
		memory: `One or more parameter values were invalid: Type mismatch for key \w+ expected: \w+ actual: \w+"`, as: `wrong key"`,
	},
	{
		name: "words: a key of another shape", why: dynalite,
		ask:   func(e *engines) asked { return getting(dynamodb.GetItemInput{TableName: &e.items, Key: item{}}) },
		local: `The number of conditions on the keys is invalid`, memory: `The provided key element does not match the schema`, as: "wrong key",
	},
	{
		name: "words: a key that is too long", why: dynalite, ask: badPut(item{"id": s(long(maxPartition + 1))}),
		local:  `Hash primary key values must be under 2048 bytes, and range primary key values must be under 1024 bytes`,
		memory: `One or more parameter values were invalid: Size of (hash|range)key has exceeded the maximum size limit of\d+ bytes`, as: "long key",
	},
	{
		name: "words: no such table", why: dynalite,
		ask: func(*engines) asked {
			return getting(dynamodb.GetItemInput{TableName: aws.String("nobodys"), Key: item{"id": s("a")}})
		},
		local: `Cannot do operations on a non-existent table`, memory: `Requested resource not found`, as: "no table",
	},
	{
		name: "words: a condition check that fails", why: "one message for all actions; AWS does not say whether it ends in a full stop",
		before: existing,
		ask: func(e *engines) asked {
			return one(types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: &e.items, Key: item{"id": s("existing")},
				ConditionExpression: aws.String("attribute_not_exists(id)")}})
		},
		local: `The conditional request failed\."`, memory: `The conditional request failed"`, as: `failed"`,
	},
	{
		name: "words: type names out of a Java set", why: "nobody can mean their order, nor types that no request has",
		ask: func(e *engines) asked {
			return deleting(dynamodb.DeleteItemInput{TableName: &e.items, Key: item{"id": s("a")},
				ConditionExpression: aws.String("attribute_type(n, m)")})
		},
		local: `operand type: \{[A-Z,]*DECIMAL[A-Z,]*\}`, memory: `operand type: \{N,BS,L,B,NULL,M,S,SS,NS,BOOL\}`, as: "operand type: {}",
	},
	{
		name: "words: validation of lengths", why: dynalite,
		ask: func(e *engines) asked {
			return batchGetting(dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{}})
		},
		local:  `BatchGetItem must have some requests set|The statement was empty\.`,
		memory: `1 validation error detected: Value '\{\}' at 'requestItems' failed to satisfy constraint: Member must have length greater than or equal to 1|1 validation error detected: Value '\[\]' at 'statements' failed to satisfy constraint: Member must have length greater than or equal to 1`, as: "too few",
	},
	{
		name: "words: validation of lengths in transactions", why: dynalite,
		ask: func(e *engines) asked {
			return transacting(dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{}})
		},
		local:  `"(Value \S+ at '\w+' failed to satisfy constraint: )?Member must have length`,
		memory: `"1 validation error detected: Value (\S+ )?at '\w+' failed to satisfy constraint: Member must have length`, as: `"length`,
	},
	{
		name: "words: validation of numbers", why: dynalite,
		ask: func(e *engines) asked {
			return querying(dynamodb.QueryInput{TableName: &e.items, KeyConditionExpression: aws.String("id = :v"),
				ExpressionAttributeValues: item{":v": s("a")}, Limit: aws.Int32(0)})
		},
		local: `Limit must be greater than or equal to 1`, memory: `1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1`, as: "limit",
	},
	{
		name: "words: another input under one token", why: "DynamoDB Local says nothing",
		before: func(e *engines) asked { return tokened(e, 1) },
		ask:    func(e *engines) asked { return tokened(e, 2) },
		local:  `IdempotentParameterMismatchException","message":""`, memory: `IdempotentParameterMismatchException","message":"[^"]+"`,
		as: "mismatch",
	},
	{
		name: "words: a duplicate's exception", why: reference + "ExecuteStatement: DuplicateItemException", before: existing,
		ask: func(e *engines) asked {
			return executing(dynamodb.ExecuteStatementInput{Statement: e.text("INSERT INTO $items VALUE {'id':'existing'}")})
		},
		local: `#DuplicateItem"`, memory: `#DuplicateItemException"`, as: `#Duplicate"`,
	},
	{
		name: "statements: a batch that is refused is done in part", why: reference + "BatchExecuteStatement: a request that is refused is not run",
		ask: func(e *engines) asked {
			return func(ctx context.Context, a api) (any, error) {
				insert := e.statement("INSERT INTO $items VALUE {'id':'in part'}", "")
				if _, err := a.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{insert, insert}}); err == nil {
					return "run", nil
				}
				return orErr(a.GetItem(ctx, &dynamodb.GetItemInput{TableName: &e.items, Key: item{"id": s("in part")}}))
			}
		},
		local: `"in part"`, memory: `^\{\}$`,
	},
	{
		name: "units: a transaction", why: guide + "Read and write operations: twice the units of each item. DynamoDB Local bills the token that the SDK draws, and few of the items",
		ask:   func(e *engines) asked { return one(e.put(item{"id": s("units")}, "", "")) },
		local: `"WriteCapacityUnits":4`, memory: `"WriteCapacityUnits":2`,
	},
	{
		name: "units: a key of a batch that is not there", why: guide + "Read and write operations: reading what does not exist is billed",
		ask: func(e *engines) asked {
			return batchGetting(dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{e.items: {Keys: []map[string]types.AttributeValue{{"id": s("nothing")}}}}, ReturnConsumedCapacity: total})
		},
		local: `"CapacityUnits":0,`, memory: `"CapacityUnits":0.5,`,
	},
	{
		name: "units: a query that finds nothing", why: guide + "Read and write operations: reading what does not exist is billed",
		ask: func(e *engines) asked {
			return querying(dynamodb.QueryInput{TableName: &e.items, KeyConditionExpression: aws.String("id = :v"),
				ExpressionAttributeValues: item{":v": s("nothing")}, ReturnConsumedCapacity: total})
		},
		local: `"CapacityUnits":0,`, memory: `"CapacityUnits":0.5,`,
	},
	{
		name: "units: a delete of nothing says its units unasked", why: reference + "DeleteItem: only if ReturnConsumedCapacity was specified",
		ask: func(e *engines) asked {
			return deleting(dynamodb.DeleteItemInput{TableName: &e.items, Key: item{"id": s("nothing")}})
		},
		local: `"CapacityUnits":1`, memory: `^\{\}$`,
	},
	{
		name: "units: statements", why: reference + "ConsumedCapacity of ExecuteStatement and BatchExecuteStatement. DynamoDB Local reports none",
		ask: func(e *engines) asked {
			return batching(dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{e.statement("INSERT INTO $items VALUE {'id':'units of a statement'}", "")}, ReturnConsumedCapacity: total})
		},
		local: `^\{"Responses":\[\{"TableName":"[^"]+"\}\]\}$`, memory: `"CapacityUnits":1,`,
	},
	{
		name: "queries: a page that ends on its bound is the last",
		why:  reference + "Query, LastEvaluatedKey: there may be nothing behind it, and nobody may count on being told",
		before: func(e *engines) asked {
			return putting(dynamodb.PutItemInput{TableName: &e.sorted, Item: item{"user": s("bound"), "nr": n(7)}})
		},
		ask: func(e *engines) asked {
			return querying(dynamodb.QueryInput{
				TableName: &e.sorted, KeyConditionExpression: aws.String("#u = :u AND nr <= :n"),
				ExpressionAttributeNames:  map[string]string{"#u": "user"},
				ExpressionAttributeValues: item{":u": s("bound"), ":n": n(7)}, Limit: aws.Int32(1),
			})
		},
		local: `^\{"Count":1,"Items":\[[^]]*\],"ScannedCount":1\}$`, memory: `"LastEvaluatedKey":`,
	},
	{
		name: "numbers: sums keep their zeros", why: guide + "Data types: leading and trailing zeros are trimmed",
		ask: func(e *engines) asked {
			return func(ctx context.Context, a api) (any, error) {
				out, err := a.UpdateItem(ctx, &dynamodb.UpdateItemInput{
					TableName: &e.items, Key: item{"id": s("zeros")}, UpdateExpression: aws.String("SET n = :a + :b"),
					ExpressionAttributeValues: item{":a": n("1.50"), ":b": n(0)}, ReturnValues: types.ReturnValueAllNew,
				})
				if err != nil {
					return nil, err
				}
				return out.Attributes["n"].(*types.AttributeValueMemberN).Value, nil
			}
		},
		local: `"1\.50"`, memory: `"1\.5"`,
	},
	{
		name: "transactions: an update that cannot be made of the item", why: sdkText + ": ValidationError is the action's reason",
		ask:    func(e *engines) asked { return one(e.update("nothing", "SET a = b", nil)) },
		local:  `ValidationException","message":"The provided expression refers`,
		memory: `TransactionCanceledException.*"CancellationReasons":\[\{"Code":"ValidationError","Message":"The provided expression refers`,
	},
	{
		name: "transactions: an item without its key", why: sdkText + ": ValidationError is the action's reason",
		ask:   func(e *engines) asked { return one(e.put(item{"n": n(1)}, "", "")) },
		local: `ValidationException","message":"One of the required keys`, memory: `TransactionCanceledException.*"Code":"ValidationError"`,
	},
	{
		name:   "transactions: two actions on one item, of which a condition fails",
		why:    reference + "TransactWriteItems: no two of them can operate on the same item",
		before: existing,
		ask: func(e *engines) asked {
			return transacting(dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{e.put(item{"id": s("existing")}, "",
				""), e.check("existing", "attribute_not_exists(id)")}})
		},
		local: `TransactionCanceledException`, memory: `ValidationException","message":"Transaction request cannot include multiple operations on one item`,
	},
	{
		name: "statements: a duplicate shows no item", why: reference + "BatchStatementError, Item: set if ALL_OLD is asked for",
		before: existing,
		ask: func(e *engines) asked {
			return batching(dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{e.statement("INSERT INTO $items VALUE {'id':'existing'}", allOld)}})
		},
		local: `"Code":"DuplicateItem","Message":"[^"]+"\}`, memory: `"Code":"DuplicateItem","Item":\{"id":\{"S":"existing"\},"n":\{"N":"1"\}\},"Message":"[^"]+"\}`,
	},
	{
		name: "statements: a failed condition shows no item", why: reference + "BatchStatementError, Item: set if ALL_OLD is asked for",
		before: existing,
		ask: func(e *engines) asked {
			return batching(dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{e.statement("UPDATE $items SET n=2 WHERE id='existing' AND n=3", allOld)}})
		},
		local:  `"Code":"ConditionalCheckFailed","Message":"[^"]+"\}`,
		memory: `"Code":"ConditionalCheckFailed","Item":\{"id":\{"S":"existing"\},"n":\{"N":"1"\}\},"Message":"[^"]+"\}`,
	},
	{
		name: "statements: more parameters than places", why: "a mistake that DynamoDB Local lets pass where it is an INSERT's",
		ask: func(e *engines) asked {
			return executing(dynamodb.ExecuteStatementInput{Statement: e.text("INSERT INTO $items VALUE {'id':?}"),
				Parameters: []types.AttributeValue{s("many"), s("more")}})
		},
		local: `^\{"Items":\[\]\}$`, memory: `Number of parameters in request and statement don't match`,
	},
}, refusals...)

func tokened(e *engines, value int) asked {
	return transacting(dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{e.put(item{"id": s("tokened"),
		"n": n(value)}, "", "")}, ClientRequestToken: aws.String("token" + e.items[len(e.items)-20:])})
}

// reword brings the engines' words into one form.
func reword(answer string) string {
	if !strings.Contains(answer, `"message"`) && !strings.Contains(answer, `"Message"`) {
		return answer // no words, and maybe long
	}
	for i, d := range differences {
		if d.as == "" {
			continue
		}
		for _, pattern := range patterns[i] {
			answer = pattern.ReplaceAllString(answer, d.as)
		}
	}
	return answer
}

var patterns = func() (all [][]*regexp.Regexp) {
	for _, d := range differences {
		all = append(all, []*regexp.Regexp{regexp.MustCompile(d.local), regexp.MustCompile(d.memory)})
	}
	return all
}()

// Each difference is still one: what DynamoDB Local comes to do as the service does is no longer to be excused.
func TestDifferences(t *testing.T) {
	e := newEngines(t)
	for i, d := range differences {
		t.Run(d.name, func(t *testing.T) {
			if d.before != nil {
				for _, a := range []api{e.local, e.memory} {
					if _, err := d.before(e)(t.Context(), a); err != nil {
						t.Fatal(err)
					}
				}
			}
			local, memory := e.answers(t, d.ask(e))
			if !patterns[i][0].MatchString(local) {
				t.Errorf("DynamoDB Local answers %.500s, which is not %s", local, d.local)
			}
			if !patterns[i][1].MatchString(memory) {
				t.Errorf("memdb answers %.500s, want %s (%s)", memory, d.memory, d.why)
			}
			if local == memory {
				t.Errorf("the engines agree: %.500s", local)
			}
		})
	}
}
