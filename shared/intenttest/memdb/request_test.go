package memdb

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	total   = types.ReturnConsumedCapacityTotal
	indexes = types.ReturnConsumedCapacityIndexes
	allOld  = types.ReturnValuesOnConditionCheckFailureAllOld
)

// numbers are written in every way that there is, and some more.
var numbers = []string{
	"1e100", "1E-10", "00012.300", "1e5", "12345678901234567890123456789012345678000", "1.5e-3", "-1e2",
	"9.9999999999999999999999999999999999999E+125",
	"1e-130", "0e999", "-0", "0.000", strings.Repeat("0", 50) + "1", "1e+3", ".5", "5.", "-.5", "+7", "0", "10", "-10", "100.01", "0.1e1",
	"1e126", "1e-131",
	"-1e126", strings.Repeat("1", 38), strings.Repeat("1", 39), strings.Repeat("1", 39) + "0", "1." + strings.Repeat("0", 60) + "1", "",
	" 1 ", "0x1", "abc", "1_000", "1e", "e1", ".", "-", "--1", "1.2.3", "NaN", "Infinity", "1d", "1e1.5", "1,5",
}

func TestNumbers(t *testing.T) {
	e := newEngines(t)
	for i, number := range numbers {
		e.same(t, "put "+number, putting(dynamodb.PutItemInput{TableName: &e.items, Item: item{"id": s(fmt.Sprint(i)), "n": n(number)}}))
	}
	e.sameItems(t)
	// As a sort key, where their order shows.
	for _, number := range numbers {
		it := item{"user": s("u"), "nr": n(number)}
		e.same(t, "put key "+number, putting(dynamodb.PutItemInput{TableName: &e.sorted, Item: it, ReturnValues: types.ReturnValueAllOld}))
	}
	e.same(t, "query", querying(dynamodb.QueryInput{
		TableName: &e.sorted, KeyConditionExpression: aws.String("#u = :u"), ExpressionAttributeNames: map[string]string{"#u": "user"},
		ExpressionAttributeValues: item{":u": s("u")},
	}))
}

// items are puts that stand or fall by their values, their key or their size.
func TestPuts(t *testing.T) {
	e := newEngines(t)
	put := func(it item) asked {
		return putting(dynamodb.PutItemInput{TableName: &e.items, Item: it, ReturnConsumedCapacity: total, ReturnValues: types.ReturnValueAllOld})
	}
	nested := func(levels int, inside types.AttributeValue, in func(types.AttributeValue) types.AttributeValue) types.AttributeValue {
		for range levels {
			inside = in(inside)
		}
		return inside
	}
	list := func(v types.AttributeValue) types.AttributeValue { return l(v) }
	mapped := func(v types.AttributeValue) types.AttributeValue { return m(item{"a": v}) }
	for i, it := range []item{
		{}, {"x": s("a")}, {"id": n(1)}, {"id": s("")}, {"id": b("x")}, {"id": null()}, {"id": s("a")}, sample("a"),
		{"id": s("a"), "": n(1)}, {"id": s("a"), "e": s(""), "b": b(""), "l": l(), "m": m(item{}), "s": ss("")},
		{"id": s("a"), "x": ss()}, {"id": s("a"), "x": ns()}, {"id": s("a"), "x": bs()}, {"id": s("a"), "x": ss("a", "a")},
		{"id": s("a"), "x": ns("1", "1.0")}, {"id": s("a"), "x": bs("a", "a")}, {"id": s("a"), "x": &types.AttributeValueMemberNULL{}},
		{"id": s("a"), "x": nested(31, l(), list)}, {"id": s("a"), "x": nested(30, l(), list)},
		{"id": s("a"), "x": nested(31, s("a"), list)}, {"id": s("a"), "x": nested(32, s("a"), list)},
		{"id": s("a"), "x": nested(30, m(item{}), mapped)}, {"id": s("a"), "x": nested(31, m(item{}), mapped)},
		{"id": s("a"), "x": nested(31, s("a"), mapped)},
		{"id": s(long(2048))}, {"id": s(long(2049))}, {"id": s("a"), "x": s(long(maxItem - 5))}, {"id": s("a"), "x": s(long(maxItem - 4))},
		{"id": s("a"), "x": s(long(maxItem - 3))}, {"id": s("a"), "x": s(long(1024 - 4))}, {"id": s("a"), "x": s(long(1024 - 3))}, {"id": s("a")},
	} {
		e.same(t, fmt.Sprintf("put %d %.100s", i, encode(it)), put(it))
	}
	for i, it := range []item{{"user": s("u")}, {"nr": n(1)}, {"user": s("u"), "nr": s("1")}, {"user": s(""), "nr": n(1)},
		{"user": s("u"), "nr": n("1.0")}, {"user": s("u"), "nr": n(1), "x": s("y")}, {"user": s("u"), "nr": n("x")}} {
		e.same(t, fmt.Sprint("put with a sort key ", i), putting(dynamodb.PutItemInput{TableName: &e.sorted, Item: it,
			ReturnValues: types.ReturnValueAllOld}))
	}
	for name, in := range map[string]dynamodb.PutItemInput{
		"no table":        {TableName: aws.String("nobodys"), Item: sample("a")},
		"ALL_NEW":         {TableName: &e.items, Item: sample("a"), ReturnValues: types.ReturnValueAllNew},
		"BOGUS":           {TableName: &e.items, Item: sample("a"), ReturnValues: "BOGUS"},
		"values, no use":  {TableName: &e.items, Item: sample("a"), ExpressionAttributeValues: item{":a": n(1)}},
		"names, no use":   {TableName: &e.items, Item: sample("a"), ExpressionAttributeNames: map[string]string{"#a": "x"}},
		"empty condition": {TableName: &e.items, Item: sample("a"), ConditionExpression: aws.String("")},
		"condition":       {TableName: &e.items, Item: sample("a"), ConditionExpression: aws.String("attribute_not_exists(id)")},
		"condition, ALL_OLD": {TableName: &e.items, Item: sample("a"), ConditionExpression: aws.String("attribute_not_exists(id)"),
			ReturnValuesOnConditionCheckFailure: allOld},
		"show BOGUS": {TableName: &e.items, Item: sample("a"), ConditionExpression: aws.String("attribute_not_exists(id)"),
			ReturnValuesOnConditionCheckFailure: "BOGUS"},
		"units by index": {TableName: &e.items, Item: sample("b"), ReturnConsumedCapacity: indexes},
	} {
		e.same(t, name, putting(in))
	}
	e.sameItems(t)
}

// What a value weighs shows where it brings an item over 1 KB.
func TestSizes(t *testing.T) {
	e := newEngines(t)
	values := []types.AttributeValue{s(""), s("é"), b("xyz"), boolean(true), null(), l(), l(n(1), s("abc")), m(item{}),
		m(item{"a": s("bcd"), "b": m(item{})}), ss("ab", "c"), ns("1", "123"), bs("abc", "d")}
	for _, number := range []string{"0", "1", "12", "123", "-1", "-12", "1.5", "0.001", "100", "1e20", "-123",
		"12345678901234567890123456789012345678", "1717171717171", "0.1", "0.01", "10.5", "100.01", "1e-130", "9e125", "-0.01", "12.5", "0.12345"} {
		values = append(values, n(number))
	}
	for i, v := range values {
		it := item{"id": s(fmt.Sprint(i)), "v": v}
		taken, err := takeItem(it, 0)
		if err != nil {
			t.Fatal(err)
		}
		for over := range 2 {
			it["x"] = s(long(1024 - sizeOf(taken) - 1 + over))
			e.same(t, fmt.Sprintf("%s, %d over 1 KB", encode(v), over),
				putting(dynamodb.PutItemInput{TableName: &e.items, Item: it, ReturnConsumedCapacity: total}))
			e.same(t, "delete", deleting(dynamodb.DeleteItemInput{TableName: &e.items, Key: item{"id": it["id"]}, ReturnConsumedCapacity: total}))
		}
	}
}

func TestKeysAndReads(t *testing.T) {
	e := newEngines(t)
	e.same(t, "put", putting(dynamodb.PutItemInput{TableName: &e.items, Item: sample("a")}))
	for i, key := range []item{{}, {"id": n(1)}, {"x": s("a")}, {"id": s("a"), "x": s("b")}, {"id": s("")}, {"id": s("absent")}, {"id": s("a")}} {
		what := fmt.Sprint("key ", i)
		e.same(t, "get "+what, getting(dynamodb.GetItemInput{TableName: &e.items, Key: key, ReturnConsumedCapacity: total}))
		e.same(t, "update "+what, updating(dynamodb.UpdateItemInput{TableName: &e.items, Key: key, ReturnConsumedCapacity: total}))
		e.same(t, "batch "+what, batchGetting(dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{e.items: {Keys: []map[string]types.AttributeValue{key}}}}))
	}
	get := func(projection string, names map[string]string) asked {
		return getting(dynamodb.GetItemInput{TableName: &e.items, Key: item{"id": s("a")}, ProjectionExpression: &projection,
			ExpressionAttributeNames: names, ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: indexes})
	}
	for _, p := range []string{"n, m.y.z, l[2], l[0], q", "n,n", "m, m.x", "m.x, m", "", "n,", ",n", "owner", "q", "m[0]", "m[0], m.x",
		"m.x, m.l[1].k, m.l[0]", "m.q", "l[9]", "l[0].x", "l[0][1]", "n.x", "id", "m.y", "m.y.q", "n s", "size(n)", ":v", "l[1], l", "a.b",
		"m.l[7].k", "ss, bs, z, b"} {
		e.same(t, "project "+p, get(p, nil))
	}
	e.same(t, "project by names", get("#a, #m.#x", map[string]string{"#a": "a.b", "#m": "m", "#x": "x"}))
	e.same(t, "unused name", get("n", map[string]string{"#a": "a.b"}))
	e.same(t, "undefined name", get("#b", map[string]string{"#a": "a.b"}))
	e.same(t, "names without projection", getting(dynamodb.GetItemInput{TableName: &e.items, Key: item{"id": s("a")},
		ExpressionAttributeNames: map[string]string{"#a": "n"}}))
	e.same(t, "no table", getting(dynamodb.GetItemInput{TableName: aws.String("nobodys"), Key: item{"id": s("a")}}))
	for _, consistent := range []bool{true, false} {
		e.same(t, "big", putting(dynamodb.PutItemInput{TableName: &e.items, Item: item{"id": s("big"), "x": s(long(9000))}}))
		e.same(t, "get big", getting(dynamodb.GetItemInput{TableName: &e.items, Key: item{"id": s("big")}, ConsistentRead: &consistent,
			ReturnConsumedCapacity: total}))
	}
	condition := aws.String("n = :v")
	for _, v := range []int{4, 5} {
		e.same(t, "delete", deleting(dynamodb.DeleteItemInput{
			TableName: &e.items, Key: item{"id": s("a")}, ConditionExpression: condition, ExpressionAttributeValues: item{":v": n(v)},
			ReturnValues: types.ReturnValueAllOld, ReturnValuesOnConditionCheckFailure: allOld, ReturnConsumedCapacity: total,
		}))
	}
	e.same(t, "delete ALL_NEW", deleting(dynamodb.DeleteItemInput{TableName: &e.items, Key: item{"id": s("a")},
		ReturnValues: types.ReturnValueAllNew}))
	e.sameItems(t)
}

func TestBatchGets(t *testing.T) {
	e := newEngines(t)
	keys := func(ids ...string) (keys []map[string]types.AttributeValue) {
		for _, id := range ids {
			keys = append(keys, item{"id": s(id)})
		}
		return keys
	}
	many := make([]string, maxKeys+1)
	for i := range many {
		many[i] = fmt.Sprint("k", i)
	}
	for _, id := range []string{"a", "b"} {
		e.same(t, "put", putting(dynamodb.PutItemInput{TableName: &e.items, Item: sample(id)}))
		e.same(t, "put", putting(dynamodb.PutItemInput{TableName: &e.sorted, Item: item{"user": s(id), "nr": n(1)}}))
	}
	for name, requests := range map[string]map[string]types.KeysAndAttributes{
		"two":        {e.items: {Keys: keys("a", "b")}},
		"consistent": {e.items: {Keys: keys("a", "b"), ConsistentRead: aws.Bool(true)}},
		"two tables": {e.items: {Keys: keys("a", "b")}, e.sorted: {Keys: []map[string]types.AttributeValue{{"user": s("a"),
			"nr": n("1.0")}}, ConsistentRead: aws.Bool(true)}},
		"twice":         {e.items: {Keys: keys("a", "a")}},
		"none":          {},
		"too many":      {e.items: {Keys: keys(many...)}},
		"no table":      {"nobodys": {Keys: keys("a")}},
		"projection":    {e.items: {Keys: keys("a", "b"), ProjectionExpression: aws.String("n, m.x")}},
		"nothing of it": {e.items: {Keys: keys("a"), ProjectionExpression: aws.String("q")}},
	} {
		e.same(t, name, batchGetting(dynamodb.BatchGetItemInput{RequestItems: requests, ReturnConsumedCapacity: total}))
	}
}
