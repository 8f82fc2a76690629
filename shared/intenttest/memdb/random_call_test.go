package memdb

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// call draws one call. What the engines are known to differ in is not asked for.
func (d *dice) call() (what string, call asked) {
	values := item{}
	switch d.IntN(12) {
	case 0, 1:
		in := dynamodb.PutItemInput{
			TableName: &d.items, Item: d.item(d.id()), ConditionExpression: d.maybeCondition(values), ExpressionAttributeValues: orNil(values),
			ReturnValues: pick(d, "", types.ReturnValueAllOld), ReturnValuesOnConditionCheckFailure: d.show(), ReturnConsumedCapacity: total,
		}
		return fmt.Sprintf("put %s", encode(in)), putting(in)
	case 2, 3:
		text := d.update(values, false)
		in := dynamodb.UpdateItemInput{
			TableName: &d.items, Key: item{"id": s(d.id())}, UpdateExpression: &text, ConditionExpression: d.maybeCondition(values),
			ExpressionAttributeValues: orNil(values),
			ExpressionAttributeNames:  namesOf(text), ReturnValues: pick(d, "", types.ReturnValueAllOld, types.ReturnValueAllNew),
			ReturnValuesOnConditionCheckFailure: d.show(), ReturnConsumedCapacity: total,
		}
		return fmt.Sprintf("update %s", encode(in)), updating(in)
	case 4:
		in := dynamodb.DeleteItemInput{
			TableName: &d.items, Key: item{"id": s(d.id())}, ConditionExpression: d.maybeCondition(values), ExpressionAttributeValues: orNil(values),
			ReturnValues: pick(d, "", types.ReturnValueAllOld), ReturnValuesOnConditionCheckFailure: d.show(), ReturnConsumedCapacity: total,
		}
		return fmt.Sprintf("delete %s", encode(in)), deleting(in)
	case 5:
		in := dynamodb.GetItemInput{
			TableName: &d.items, Key: item{"id": s(d.id())}, ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: total,
			ProjectionExpression: pick(d, nil, aws.String("id, n"), aws.String("m.n, l[1], l[0]"), aws.String("ss, m")),
		}
		return fmt.Sprintf("get %s", encode(in)), getting(in)
	case 6, 7:
		return d.transaction()
	case 8:
		return d.statements()
	case 9:
		ids := d.ids(1 + d.IntN(4))
		var keys []map[string]types.AttributeValue
		for _, id := range ids {
			keys = append(keys, item{"id": s(id)})
		}
		in := dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{d.items: {Keys: keys,
			ConsistentRead: aws.Bool(d.IntN(2) == 0)}}}
		return fmt.Sprintf("get %v", ids), batchGetting(in)
	case 10:
		in := dynamodb.PutItemInput{TableName: &d.sorted, Item: item{"user": s(pick(d, "u", "v")),
			"nr": n(pick(d, "1", "2", "3.5", "-1", "1e2", "0.1")), "n": d.number()}}
		return fmt.Sprintf("put %s", encode(in)), putting(in)
	}
	operator, limit := pick(d, "<", "<=", ">", ">=", "="), pick(d, nil, aws.Int32(1), aws.Int32(2), aws.Int32(9))
	if strings.Contains(operator, "=") {
		limit = nil
	}
	values[":u"], values[":n"] = s(pick(d, "u", "v")), d.number()
	in := dynamodb.QueryInput{
		TableName: &d.sorted, KeyConditionExpression: aws.String("#u = :u AND nr " + operator + " :n"),
		ExpressionAttributeNames: map[string]string{"#u": "user"}, ExpressionAttributeValues: values,
		ScanIndexForward: aws.Bool(d.IntN(2) == 0), Limit: limit,
		FilterExpression: pick(d, nil, aws.String("n > :n"), aws.String("attribute_exists(n)")),
	}
	return fmt.Sprintf("query %s", encode(in)), querying(in)
}

// ids are that many keys, all of them different.
func (d *dice) ids(count int) []string {
	var ids []string
	for _, i := range d.Perm(6)[:count] {
		ids = append(ids, fmt.Sprint("k", i))
	}
	return ids
}

func (d *dice) transaction() (string, asked) {
	var actions []types.TransactWriteItem
	for _, id := range d.ids(1 + d.IntN(4)) {
		values := item{}
		key := item{"id": s(id)}
		switch d.IntN(4) {
		case 0:
			actions = append(actions, types.TransactWriteItem{Put: &types.Put{TableName: &d.items, Item: d.item(id),
				ConditionExpression: d.maybeCondition(values), ExpressionAttributeValues: orNil(values),
				ReturnValuesOnConditionCheckFailure: d.show()}})
		case 1:
			text := d.update(values, true)
			actions = append(actions, types.TransactWriteItem{Update: &types.Update{TableName: &d.items, Key: key, UpdateExpression: &text,
				ConditionExpression: d.maybeCondition(values), ExpressionAttributeValues: orNil(values),
				ExpressionAttributeNames: namesOf(text), ReturnValuesOnConditionCheckFailure: d.show()}})
		case 2:
			actions = append(actions, types.TransactWriteItem{Delete: &types.Delete{TableName: &d.items, Key: key,
				ConditionExpression: d.maybeCondition(values), ExpressionAttributeValues: orNil(values),
				ReturnValuesOnConditionCheckFailure: d.show()}})
		case 3:
			condition := d.condition(values)
			actions = append(actions, types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: &d.items, Key: key,
				ConditionExpression: &condition, ExpressionAttributeValues: orNil(values), ReturnValuesOnConditionCheckFailure: d.show()}})
		}
	}
	return fmt.Sprintf("transaction %s", encode(actions)), transacting(dynamodb.TransactWriteItemsInput{TransactItems: actions})
}

func (d *dice) statements() (string, asked) {
	var statements []types.BatchStatementRequest
	reads := d.IntN(4) == 0
	for _, id := range d.ids(1 + d.IntN(5)) {
		text, parameters := "SELECT * FROM $items WHERE id=?", []types.AttributeValue{s(id)}
		switch kind := d.IntN(4); {
		case reads:
		case kind == 0:
			it := d.item(id)
			var members []string
			parameters = nil
			for _, name := range slices.Sorted(maps.Keys(it)) {
				members = append(members, "'"+name+"':?")
				parameters = append(parameters, it[name])
			}
			text = "INSERT INTO $items VALUE {" + strings.Join(members, ", ") + "}"
		case kind == 1:
			text, parameters = `UPDATE $items SET "state"=? SET n=? REMOVE s WHERE id=? AND (n=? OR "state"=?) RETURNING ALL NEW *`,
				[]types.AttributeValue{d.word(), d.number(), s(id), d.number(), d.word()}
		case kind == 2:
			text, parameters = "UPDATE $items SET hits=? WHERE id=? AND n >= ? AND NOT s = ?",
				[]types.AttributeValue{n(1), s(id), d.number(), d.word()}
		default:
			text, parameters = "DELETE FROM $items WHERE id=? AND n=? RETURNING ALL OLD *", []types.AttributeValue{s(id), d.number()}
		}
		statements = append(statements, d.statement(text, "", parameters...))
	}
	return fmt.Sprintf("statements %s", encode(statements)), batching(dynamodb.BatchExecuteStatementInput{Statements: statements})
}
