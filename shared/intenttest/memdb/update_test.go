package memdb

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func updates() []probe {
	probes := seven("SET n = :v", "SET n = n + :v", "SET n = n - :v", "SET q = n + :v", "SET n = q + :v", "SET q = if_not_exists(q,:v)",
		"SET q = if_not_exists(n,:v)+:v", "SET l[0] = :v", "SET l[7] = :v",
		"SET l[9] = :v, l[8]=n", "SET l[8] = n, l[9] = :v", "SET m.x = :v", "SET m.q = :v", "SET m.y.z = :v", "SET m.y.q.r = :v",
		"SET q.x = :v", "SET n.x = :v", "SET s[0] = :v", "SET m[0]=:v", "SET l.x = :v", "SET n = s + :v", "SET n = :v SET s=:v",
		"SET n=:v, n=:v", "SET m.x=:v, m=:v", "SET m=:v, m.x=:v", "SET m.x=:v, m[0]=:v", "SET id = :v", "SET id.x = :v",
		"SET n = :v + :v + :v", "SET n = (:v)", "SET n = (n + :v)", "SET n = ((n + :v))", "SET n = (n + :v) - :v",
		"SET n = :v - (:v + :v)", "SET n = (:v) + :v", "SET n :v", "SET", "SET n", "n = :v", "SET n = m.x",
		"SET n = list_append(l,:v)", "SET n = list_append(l,l) + :v", "SET n = :v - list_append(l,l)", "SET l[-1]=:v", "SET n = :v,", "SET n=:v REMOVE s ADD q :v", "SET n=:v REMOVE n", "ADD n :v",
		"ADD q :v", "ADD s :v", "ADD l :v", "ADD ss :v", "ADD m.x :v", "ADD l[0] :v", "ADD l[9] :v", "ADD m.q.r :v", "ADD n q", "ADD n",
		"ADD", "DELETE ss :v", "DELETE n :v", "DELETE", "ADD n :v, q :v",
		"SET state=:v", "SET n = state + :v", "SET n = n - - :v", "SET n = if_not_exists(:v,:v)", "SET n = if_not_exists(n)", "SET q = if_not_exists(n,n) + :v",
		"SET n = begins_with(n,:v)", "SET n = size(s)", "SET n = if_not_exists(if_not_exists(q,r),:v)",
		"SET n = if_not_exists(q,if_not_exists(r,:v))", "SET n = if_not_exists(q,n+:v)",
		"set n = :v remove s", "SET n = attribute_exists(n)", "SET n = foo(n)", "SET n = if_not_exists(q.x, :v)",
		"SET n = if_not_exists(m.x, :v)", "REMOVE n SET q = :v", "ADD q :v SET n = n + :v REMOVE s", "SET n = :v foo", "foo SET n = :v",
		"SET n = :v AND s = :v", "SET n = :v;", "SET q = l[1] + :v", "SET q = l + :v", "SET q = :v - m.x",
		"SET m.l[1].k = :v", "SET m.l[0] = :v", "SET m.l[5] = :v", "SET m.l[5].k = :v", "SET l[1] = l[0], l[0] = l[1], l[2] = :v",
		"SET q = list_append(if_not_exists(q, l), l), n = :v", "SET n = :w", "SET #n = :v", "REMOVE l[0], l[2] SET l[1] = :v",
		"SET l[5] = :v REMOVE l[1]", "ADD l[0] :v REMOVE l[2]",
		"SET l = list_append(list_append(l, l), l), n = :v", "SET a.b = :v", "SET n.a[0] = :v", "SET ss.x = :v", "SET q[0] = :v",
		"SET l[0].x = :v", "SET l[0][0] = :v")
	probes = append(probes, bare("REMOVE n", "REMOVE l[0]", "REMOVE l[0], l[1]", "REMOVE l[1], l[0]", "REMOVE l[0], l[1], l[2]",
		"REMOVE l[9]", "REMOVE q", "REMOVE m.x", "REMOVE m.q", "REMOVE m.q.r", "REMOVE q.r", "REMOVE q[0]", "REMOVE n.x", "REMOVE id",
		"REMOVE id.x", "REMOVE n,n", "REMOVE m, m.x", "REMOVE m.l[0], m.l[1].k",
		"SET l[0] = l[1] REMOVE l[1]", "SET l[5] = n REMOVE l[0]", "REMOVE s[0]", "REMOVE m[0]", "REMOVE l.x", "SET n = n",
		"SET s = n, n = s", "SET q = q", "SET q = l[9]", "SET q = m.y", "SET m.y = m", "", " ", "REMOVE", "SET n = 5", "SET n = 'a'",
		"REMOVE n s", "REMOVE n,", "REMOVE l[9].x", "REMOVE m.l[0], m.x SET m.new = m.l[1]", "SET q = list_append(l, l)",
		"SET q = list_append(l)", "SET q = if_not_exists(n, r)", "SET q = if_not_exists(r, n)", "SET q = if_not_exists(r, t)",
		"SET q = list_append(l, q)", "SET q = list_append(l, n)", "SET l = list_append(l, m.l)")...)
	for _, v := range []types.AttributeValue{s("a"), n("-5"), n("0.5"), b("x"), boolean(true), null(), l(), l(n(8)), m(item{}),
		m(item{"x": s("")}), ss("a"), ss("a", "b"), ss("a", "b", "c"), ss("c"), ns("1"), ns("1", "2.0"), ns("3"), bs("x"), bs("x", "y"),
		bs("z"), n("99999999999999999999999999999999999999")} {
		for _, e := range []string{"SET q = :v", "SET n = n + :v", "SET n = :v - n", "SET l = list_append(l, :v)",
			"SET l = list_append(:v, l)", "SET n = list_append(n, :v)", "ADD ss :v", "ADD ns :v", "ADD bs :v", "ADD n :v", "ADD q :v",
			"DELETE ss :v", "DELETE ns :v", "DELETE bs :v", "DELETE q :v", "DELETE n :v", "SET q = if_not_exists(q, :v)"} {
			probes = append(probes, probe{e, item{":v": v}, nil})
		}
	}
	for _, sum := range [][2]string{
		{"1e37", "1e-5"}, {"99999999999999999999999999999999999999", "1"}, {"9e125", "9e125"}, {"1e-130", "-1e-130"}, {"0.1", "0.2"},
		{"1e100", "1"}, {"1e20", "0"}, {"-5", "5"}, {"-0.1", "0.05"}, {"1E+3", "0"}, {"123456789012345678901234567890.12345678", "0"},
		{"1e38", "0"}, {"1e-5", "0"}, {"1.50", "0"}, {"99999999999999999999999999999999999999", "0.5"}, {"-0", "0"}, {"-0.0", "-0"},
		{"999999999999999999", "999999999999999999"}, {"-999999999999999999", "-999999999999999999"}, {"12345.678", "-0.0001"},
	} {
		probes = append(probes, probe{"SET q = :a + :b", item{":a": n(sum[0]), ":b": n(sum[1])}, nil},
			probe{"SET q = :a - :b", item{":a": n(sum[0]), ":b": n(sum[1])}, nil})
	}
	return append(probes,
		probe{"SET #a = :v", item{":v": n(1)}, map[string]string{"#a": "state"}},
		probe{"SET #a.#b = :v", item{":v": n(1)}, map[string]string{"#a": "m", "#b": "x.y"}},
		probe{"SET #a = :v", item{":v": n(1), ":w": n(2)}, map[string]string{"#a": "state"}},
		probe{"REMOVE #a", nil, map[string]string{"#a": "a.b"}},
		probe{"REMOVE n", item{":v": n(1)}, nil},
		probe{"REMOVE n", nil, map[string]string{"#a": "a.b"}},
		probe{"SET n = :v", item{":v": n("x")}, nil},
	)
}

// Each update has an item of its own, so that what comes of it stays to be compared at the end. Those that succeed are made a
// hundred at a time, in one transaction.
func TestUpdates(t *testing.T) {
	e := newEngines(t)
	ask := func(p probe, id string, want types.ReturnValue) {
		e.same(t, p.String()+" of "+id, updating(dynamodb.UpdateItemInput{
			TableName: &e.items, Key: item{"id": s(id)}, UpdateExpression: &p.expression,
			ExpressionAttributeNames: p.names, ExpressionAttributeValues: p.values, ReturnValues: want,
		}))
	}
	e.same(t, "item", putting(dynamodb.PutItemInput{TableName: &e.items, Item: sample("failing")}))
	var puts, valid []types.TransactWriteItem
	succeeds := func(p probe, it item) (ok, made bool) {
		scratch := New(Config{Tables: []Table{{Name: "items", Keys: []string{"id"}}}})
		table := "items"
		if len(it) > 0 {
			if _, err := scratch.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it}); err != nil {
				t.Fatal(err)
			}
		}
		_, err := scratch.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: &table, Key: item{"id": s("u")}, UpdateExpression: &p.expression, ExpressionAttributeNames: p.names,
			ExpressionAttributeValues: p.values,
		})
		return err == nil, len(scratch.Items(table)) > 0
	}
	for i, p := range updates() {
		for _, it := range []item{sample("u"), nil} {
			id := fmt.Sprint("u", i, len(it))
			ok, made := succeeds(p, it)
			if ok && !made {
				continue // one of the differences
			}
			if !ok {
				switch { // there are many that fail alike
				case it == nil && i%8 == 0:
					ask(p, id, types.ReturnValueAllNew)
				case it != nil && (i%3 == 0 || p.values[":v"] == nil || equal(p.values[":v"], n(7))):
					ask(p, "failing", types.ReturnValueAllNew)
				}
				continue
			}
			if it != nil {
				puts = append(puts, types.TransactWriteItem{Put: &types.Put{TableName: &e.items, Item: sample(id)}})
			}
			valid = append(valid, types.TransactWriteItem{Update: &types.Update{
				TableName: &e.items, Key: item{"id": s(id)}, UpdateExpression: &p.expression, ExpressionAttributeNames: p.names,
				ExpressionAttributeValues: p.values,
			}})
		}
	}
	if len(valid) < 200 {
		t.Errorf("%d updates succeed, want more than 200", len(valid))
	}
	for batch := range slices.Chunk(slices.Concat(puts, valid), maxActions) {
		e.same(t, "transaction", transacting(dynamodb.TransactWriteItemsInput{TransactItems: batch}))
	}
	e.sameItems(t)
}

func TestUpdateReturnValues(t *testing.T) {
	e := newEngines(t)
	whole := probe{"SET n = n + :v, q = :v REMOVE s, r", item{":v": n(1)}, nil}
	for _, v := range []types.ReturnValue{types.ReturnValueNone, types.ReturnValueAllOld, types.ReturnValueAllNew,
		types.ReturnValueUpdatedOld, types.ReturnValueUpdatedNew, "BOGUS"} {
		e.same(t, "item", putting(dynamodb.PutItemInput{TableName: &e.items, Item: sample("whole")}))
		for id, p := range map[string]probe{"whole": whole, "absent" + string(v): {"SET q = :v", item{":v": n(1)}, nil}} {
			e.same(t, p.String(), updating(dynamodb.UpdateItemInput{
				TableName: &e.items, Key: item{"id": s(id)}, UpdateExpression: &p.expression, ExpressionAttributeValues: p.values, ReturnValues: v,
			}))
		}
		if v != types.ReturnValueUpdatedNew { // an internal failure of DynamoDB Local's
			e.same(t, "no expression", updating(dynamodb.UpdateItemInput{TableName: &e.items, Key: item{"id": s("none" + string(v))},
				ReturnValues: v}))
		}
	}
	e.sameItems(t)
}

// C83: what only takes something away makes no item where none is, shows none, and does not care where its paths lead. DynamoDB
// Local makes one; what the service does is known from the tests that the differences name. An update of no effect makes one.
func TestUpdatesOfNothing(t *testing.T) {
	e := newEngines(t)
	set := item{":v": ss("x")}
	for i, p := range []probe{{"REMOVE a", nil, nil}, {"REMOVE a.b", nil, nil}, {"REMOVE a[0], b.c[1].d", nil, nil}, {"DELETE a :v", set, nil},
		{"DELETE a.b :v", set, nil}, {"REMOVE a DELETE b :v", set, nil}} {
		for _, want := range []types.ReturnValue{"", types.ReturnValueAllOld, types.ReturnValueAllNew} {
			out, err := e.memory.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: &e.items, Key: item{"id": s("nothing")},
				UpdateExpression: &p.expression, ExpressionAttributeValues: p.values, ReturnValues: want, ReturnConsumedCapacity: total})
			if err != nil || out.Attributes != nil || *out.ConsumedCapacity.CapacityUnits != 1 {
				t.Errorf("%s: %s, want no attributes and one unit", p, written(out, err))
			}
		}
		if _, err := e.memory.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			e.update("nothing", p.expression, p.values), e.put(item{"id": s(fmt.Sprint("beside ", i))}, "", "")}}); err != nil {
			t.Errorf("%s in a transaction: %v", p, err)
		}
	}
	for _, it := range e.memory.Items(e.items) {
		if id := it["id"].(*types.AttributeValueMemberS).Value; id == "nothing" {
			t.Errorf("there is an item %s", encode(it))
		}
	}
	e.memory.tables[e.items].partitions = map[string][]*row{}

	for i, p := range []probe{{"SET a = :v", set, nil}, {"ADD a :v", set, nil}, {"REMOVE a SET b = :v", set, nil},
		{"DELETE a :v ADD n :w", item{":v": ss("x"), ":w": n(0)}, nil}, {"SET a = if_not_exists(a, :v)", set, nil}} {
		e.same(t, p.String(), updating(dynamodb.UpdateItemInput{TableName: &e.items, Key: item{"id": s(fmt.Sprint(i))},
			UpdateExpression: &p.expression, ExpressionAttributeValues: p.values, ReturnValues: types.ReturnValueAllNew}))
	}
	e.same(t, "no update at all", updating(dynamodb.UpdateItemInput{TableName: &e.items, Key: item{"id": s("key only")},
		ReturnValues: types.ReturnValueAllNew}))
	e.same(t, "a path that leads nowhere", updating(dynamodb.UpdateItemInput{TableName: &e.items, Key: item{"id": s("path")},
		UpdateExpression: aws.String("REMOVE a.b SET c = :v"), ExpressionAttributeValues: set}))
	// A statement's condition names the key, and there is no such item.
	for _, statement := range []string{"UPDATE $items REMOVE a WHERE id='nothing'", "UPDATE $items REMOVE a.b WHERE id='nothing'",
		"UPDATE $items SET a=1 WHERE id='nothing'"} {
		e.same(t, statement, executing(dynamodb.ExecuteStatementInput{Statement: e.text(statement)}))
	}
	e.sameItems(t)
}
