package memdb

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type action = types.TransactWriteItem

func (e *engines) put(it item, condition string, show types.ReturnValuesOnConditionCheckFailure) action {
	a := &types.Put{TableName: &e.items, Item: it, ReturnValuesOnConditionCheckFailure: show}
	if condition != "" {
		a.ConditionExpression = &condition
	}
	return action{Put: a}
}

func (e *engines) update(id, expression string, values item) action {
	return action{Update: &types.Update{TableName: &e.items, Key: item{"id": s(id)}, UpdateExpression: &expression,
		ExpressionAttributeValues: values}}
}

func (e *engines) check(id, condition string) action {
	return action{ConditionCheck: &types.ConditionCheck{TableName: &e.items, Key: item{"id": s(id)}, ConditionExpression: &condition,
		ReturnValuesOnConditionCheckFailure: allOld}}
}

func (e *engines) remove(id, condition string) action {
	a := &types.Delete{TableName: &e.items, Key: item{"id": s(id)}}
	if condition != "" {
		a.ConditionExpression = &condition
	}
	return action{Delete: a}
}

func TestTransactions(t *testing.T) {
	e := newEngines(t)
	const absent = "attribute_not_exists(id)"
	big := func(id string, size int) item { return item{"id": s(id), "x": s(long(size))} }
	id := func(id string) item { return item{"id": s(id)} }
	many := func(n, size int) (actions []action) {
		for i := range n {
			actions = append(actions, e.put(big(fmt.Sprint("k", i), size), "", ""))
		}
		return actions
	}
	for i, actions := range [][]action{
		{e.put(id("a"), "", ""), e.put(id("b"), "", "")},
		{e.put(item{"id": s("a"), "n": n(1)}, absent, allOld), e.put(id("c"), "", ""), e.put(id("b"), absent, "")},
		{e.put(id("a"), "", ""), e.put(id("a"), "", "")},
		{},
		{{}},
		{{Put: e.put(id("a"), "", "").Put, Delete: e.remove("b", "").Delete}},
		{e.put(item{"id": s("x"), "n": n("abc")}, "", "")}, {e.put(item{"id": s("x"), "n": ss()}, "", "")}, {e.put(id(""), "", "")},
		{e.remove("", "")},
		{{Put: &types.Put{TableName: aws.String("nobodys"), Item: id("a")}}},
		{e.update("a", "SET s = :v", item{":v": s("x")}), e.update("d", "SET s = :v", item{":v": s("x")}), e.remove("b", ""), e.check("c", absent)},
		{e.update("a", "SET s = ", nil)}, {e.update("a", "SET s = :v", nil)}, {e.update("a", "REMOVE s", item{":v": s("x")})},
		{e.put(id("a"), "foo", ""), e.put(id("b"), "", "")}, {e.put(id("a"), "id = :v", "")},
		{e.check("a", absent), e.remove("b", "attribute_exists(id)"), e.check("none", absent), e.put(id("e"), "", "")},
		{e.remove("a", "attribute_exists(id)"), e.remove("none", "")},
		many(maxActions+1, 1), many(maxActions, 1), many(11, 390000), many(10, 390000),
		{e.put(big("big", maxItem), "", "")}, {e.put(id("ok"), "", ""), e.put(big("big", maxItem), "", "")},
		{e.update("k1", "SET y = :v", item{":v": s(long(20000))})},
		{e.update("k1", "SET y = :v", item{":v": s(long(2000))}), e.check("k2", "attribute_exists(id)"), e.remove("k3", ""),
			e.put(big("k4", 10), "", "")},
		{{Put: &types.Put{TableName: &e.sorted, Item: item{"user": s("u"), "nr": n("1.0")}}}, e.put(id("z"), "", "")},
		{{Put: &types.Put{TableName: &e.sorted, Item: item{"user": s("u"), "nr": n("1.0")}}},
			{Delete: &types.Delete{TableName: &e.sorted, Key: item{"user": s("u"), "nr": n(1)}}}},
		{e.update("a", "SET id = :v", item{":v": s("x")})}, {e.put(id("f"), "", ""),
			{Delete: &types.Delete{TableName: &e.items, Key: item{"id": n(1)}}}},
	} {
		e.same(t, fmt.Sprint("transaction ", i), transacting(dynamodb.TransactWriteItemsInput{TransactItems: actions}))
	}
	e.sameItems(t)
}

func TestTokens(t *testing.T) {
	e := newEngines(t)
	now := time.Now()
	e.memory.now = func() time.Time { return now }
	token := e.items[len(e.items)-20:]
	with := func(token string, actions ...action) asked {
		return transacting(dynamodb.TransactWriteItemsInput{TransactItems: actions, ClientRequestToken: &token})
	}
	add := e.update("counter", "ADD n :one", item{":one": n(1)})
	e.same(t, "first", with(token, add))
	e.same(t, "again", with(token, add))
	e.same(t, "another input", with(token, e.update("counter", "ADD n :one", item{":one": n(2)})))
	e.same(t, "another token", with(token+"b", add))
	e.same(t, "long token", with(long(37), add))
	e.same(t, "maps in another order", with(token+"c", e.put(item{"id": s("o"), "a": n(1), "b": n(2), "c": n(3)}, "", "")))
	e.same(t, "maps in another order", with(token+"c", e.put(item{"c": n(3), "b": n(2), "a": n(1), "id": s("o")}, "", "")))
	first := e.put(item{"id": s("cancelled")}, "attribute_exists(id)", "")
	e.same(t, "cancelled", with(token+"d", first))
	e.same(t, "put", putting(dynamodb.PutItemInput{TableName: &e.items, Item: item{"id": s("cancelled"), "n": n(1)}}))
	e.same(t, "tried anew", with(token+"d", first))
	e.same(t, "and done", with(token+"d", first))
	e.sameItems(t)

	// Only an engine with a clock to be set can be asked about later.
	later := func(d time.Duration, want int) {
		t.Helper()
		now = now.Add(d)
		if _, err := with(token, add)(t.Context(), e.memory); err != nil {
			t.Fatal(err)
		}
		if got := e.memory.Items(e.items)[1]["n"].(*types.AttributeValueMemberN).Value; got != fmt.Sprint(want) {
			t.Errorf("counter is %s, want %d", got, want)
		}
	}
	later(tokenLife-time.Second, 2)
	later(time.Second, 3)
	later(tokenLife-time.Second, 3)
}

// C85: an action that is invalid is the transaction's only reason, so that what it does to the others cannot read as a duplicate.
// Of those that do not fit their table DynamoDB looks at no condition, nor whether two are on one item.
func TestInvalidActions(t *testing.T) {
	e := newEngines(t)
	e.same(t, "put", putting(dynamodb.PutItemInput{TableName: &e.items, Item: sample("a")}))
	failing := e.check("a", "attribute_not_exists(id)")
	for name, invalid := range map[string]action{
		"a key of another type":          e.wrongKey(),
		"a key of another shape":         {Delete: &types.Delete{TableName: &e.items, Key: item{"id": s("b"), "x": n(1)}}},
		"an item without its key":        e.put(item{"x": n(1)}, "", ""),
		"an item's key of another type":  e.put(item{"id": n(1)}, "", ""),
		"an update of the key":           e.update("b", "SET id = :v", item{":v": s("c")}),
		"an attribute that is not there": e.update("b", "SET q = nothing", nil),
		"a path that leads nowhere":      e.update("b", "SET q.x = :v", item{":v": n(1)}),
		"a sum of a text":                e.update("b", "SET n = id + :v", item{":v": n(1)}),
	} {
		for order, actions := range map[string][]action{"first": {invalid, failing}, "last": {failing, invalid}, "beside a good one": {e.put(item{"id": s("good")}, "", ""), invalid}} {
			_, err := e.memory.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: actions})
			want := "[ValidationError, None]"
			if order != "first" {
				want = "[None, ValidationError]"
			}
			var cancelled *types.TransactionCanceledException
			if !errors.As(err, &cancelled) || !strings.Contains(cancelled.ErrorMessage(), want) {
				t.Errorf("%s, %s: error %v, want %s", name, order, err, want)
			}
		}
	}
	twice := e.put(item{"id": s("twice")}, "", "")
	_, err := e.memory.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []action{twice, twice, e.wrongKey(), e.wrongKey()}})
	if want := "[None, None, ValidationError, None]"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("two on one item beside two that do not fit: error %v, want %s", err, want)
	}
	e.same(t, "an empty key is the whole request's error", inOne(failing, e.put(item{"id": s("")}, "", "")))
	e.sameItems(t)
}
