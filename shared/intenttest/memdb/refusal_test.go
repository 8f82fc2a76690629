package memdb

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// onCondition asks the condition of a put, of an update, of a deletion, of each in a transaction, and as a filter.
func (e *engines) onCondition(condition string, values item) map[string]asked {
	key := item{"id": s("a")}
	remove := types.Delete{TableName: &e.items, Key: key, ConditionExpression: &condition, ExpressionAttributeValues: values}
	put := types.Put{TableName: &e.items, Item: key, ConditionExpression: &condition, ExpressionAttributeValues: values}
	update := types.Update{TableName: &e.items, Key: key, UpdateExpression: aws.String("REMOVE z"), ConditionExpression: &condition,
		ExpressionAttributeValues: values}
	return map[string]asked{
		"put": putting(dynamodb.PutItemInput{TableName: &e.items, Item: key, ConditionExpression: &condition, ExpressionAttributeValues: values}),
		"update": updating(dynamodb.UpdateItemInput{TableName: &e.items, Key: key, UpdateExpression: update.UpdateExpression,
			ConditionExpression: &condition, ExpressionAttributeValues: values}),
		"delete":          deleting(dynamodb.DeleteItemInput{TableName: &e.items, Key: key, ConditionExpression: &condition, ExpressionAttributeValues: values}),
		"put at once":     inOne(action{Put: &put}),
		"update at once":  inOne(action{Update: &update}),
		"delete at once":  inOne(action{Delete: &remove}),
		"filter of items": e.scanning(dynamodb.ScanInput{FilterExpression: &condition, ExpressionAttributeValues: values}),
	}
}

func (e *engines) scanning(in dynamodb.ScanInput) asked {
	in.TableName = &e.items
	return func(ctx context.Context, a api) (any, error) { return orErr(a.Scan(ctx, &in)) }
}

// C86: an operand of a type that its function cannot take, and a path that leads into a key, are refused in each place where an
// expression may stand. They must not read as a failed condition.
func TestOperandsThatNoItemCanHave(t *testing.T) {
	e := newEngines(t)
	one, text := item{":v": n(1)}, item{":v": s("S")}
	for _, p := range []probe{
		{"size(size(s)) = :v", one, nil}, {"size(size(size(s))) = :v", one, nil}, {"begins_with(size(s), :v)", text, nil},
		{"begins_with(s, size(s))", nil, nil}, {"begins_with(n, :v)", one, nil}, {"size(:v) = :v", one, nil},
		{"n < :v", item{":v": boolean(true)}, nil}, {"n BETWEEN :v AND :v", item{":v": l()}, nil},
		{"id.x = :v", one, nil}, {"id[0] = :v", one, nil}, {"attribute_exists(id.x)", nil, nil}, {"n = id.x", nil, nil},
		{"size(id.x) = :v", one, nil}, {"n IN (s, id.x)", nil, nil}, {"n BETWEEN id.x AND n", nil, nil}, {"contains(id.x, :v)", one, nil},
		{"contains(s, id.x)", nil, nil}, {"begins_with(s, id.x)", nil, nil}, {"attribute_type(id.x, :v)", text, nil},
		{"NOT n = :v OR attribute_not_exists(id.x)", one, nil},
	} {
		for name, call := range e.onCondition(p.expression, p.values) {
			what := name + " " + p.String()
			e.same(t, what, call)
			e.refuses(t, what, call)
		}
		e.refuses(t, "check "+p.String(), inOne(action{ConditionCheck: &types.ConditionCheck{TableName: &e.items, Key: item{"id": s("a")},
			ConditionExpression: &p.expression, ExpressionAttributeValues: p.values}}))
	}
	for _, p := range []probe{
		{"SET q = id.x", nil, nil}, {"SET q = if_not_exists(id.x, :v)", one, nil}, {"SET q = if_not_exists(q, id.x)", nil, nil},
		{"SET q = list_append(id.x, :v)", item{":v": l()}, nil}, {"SET q = :v - id[1]", one, nil}, {"SET id.x = :v", one, nil},
		{"REMOVE id.x", nil, nil},
	} {
		update := updating(dynamodb.UpdateItemInput{TableName: &e.items, Key: item{"id": s("a")}, UpdateExpression: &p.expression,
			ExpressionAttributeValues: p.values})
		e.same(t, p.String(), update)
		e.refuses(t, p.String(), update)
		e.same(t, "at once "+p.String(), inOne(e.update("a", p.expression, p.values)))
	}
	for _, projection := range []string{"id.x", "n, id[0]"} {
		for name, call := range map[string]asked{
			"get":   getting(dynamodb.GetItemInput{TableName: &e.items, Key: item{"id": s("a")}, ProjectionExpression: &projection}),
			"batch": batchGetting(dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{e.items: {Keys: []map[string]types.AttributeValue{{"id": s("a")}}, ProjectionExpression: &projection}}}),
			"scan":  e.scanning(dynamodb.ScanInput{ProjectionExpression: &projection}),
			"query": querying(dynamodb.QueryInput{TableName: &e.items, KeyConditionExpression: aws.String("id = :id"),
				ExpressionAttributeValues: item{":id": s("a")}, ProjectionExpression: &projection}),
		} {
			e.same(t, name+" "+projection, call)
			e.refuses(t, name+" "+projection, call)
		}
	}
}

// C86: what a request may ask for besides its answer is one of a few words.
func TestUnknownWords(t *testing.T) {
	e := newEngines(t)
	key, bogus := item{"id": s("a")}, types.ReturnConsumedCapacity("BOGUS")
	id, values := aws.String("id = :id"), item{":id": s("a")}
	keys := map[string]types.KeysAndAttributes{e.items: {Keys: []map[string]types.AttributeValue{key}}}
	put := []types.TransactWriteItem{e.put(key, "", "")}
	for name, call := range map[string]asked{
		"put":                putting(dynamodb.PutItemInput{TableName: &e.items, Item: key, ReturnConsumedCapacity: bogus}),
		"put, values":        putting(dynamodb.PutItemInput{TableName: &e.items, Item: key, ReturnValues: "BOGUS"}),
		"put, condition":     putting(dynamodb.PutItemInput{TableName: &e.items, Item: key, ReturnValuesOnConditionCheckFailure: "BOGUS"}),
		"update":             updating(dynamodb.UpdateItemInput{TableName: &e.items, Key: key, ReturnConsumedCapacity: bogus}),
		"update, values":     updating(dynamodb.UpdateItemInput{TableName: &e.items, Key: key, ReturnValues: "BOGUS"}),
		"delete":             deleting(dynamodb.DeleteItemInput{TableName: &e.items, Key: key, ReturnConsumedCapacity: bogus}),
		"delete, values":     deleting(dynamodb.DeleteItemInput{TableName: &e.items, Key: key, ReturnValues: "BOGUS"}),
		"get":                getting(dynamodb.GetItemInput{TableName: &e.items, Key: key, ReturnConsumedCapacity: bogus}),
		"batch get":          batchGetting(dynamodb.BatchGetItemInput{RequestItems: keys, ReturnConsumedCapacity: bogus}),
		"query":              querying(dynamodb.QueryInput{TableName: &e.items, KeyConditionExpression: id, ExpressionAttributeValues: values, ReturnConsumedCapacity: bogus}),
		"query, selection":   querying(dynamodb.QueryInput{TableName: &e.items, KeyConditionExpression: id, ExpressionAttributeValues: values, Select: "BOGUS"}),
		"scan":               e.scanning(dynamodb.ScanInput{ReturnConsumedCapacity: bogus}),
		"scan, selection":    e.scanning(dynamodb.ScanInput{Select: "BOGUS"}),
		"transaction":        transacting(dynamodb.TransactWriteItemsInput{TransactItems: put, ReturnConsumedCapacity: bogus}),
		"a table's bad name": getting(dynamodb.GetItemInput{TableName: aws.String("a b c"), Key: key}),
	} {
		e.same(t, name, call)
		e.refuses(t, name, call)
	}
	// DynamoDB Local does not look at these, or fails of them.
	metrics := types.ReturnItemCollectionMetrics("BOGUS")
	for name, call := range map[string]asked{
		"put, metrics":              putting(dynamodb.PutItemInput{TableName: &e.items, Item: key, ReturnItemCollectionMetrics: metrics}),
		"update, metrics":           updating(dynamodb.UpdateItemInput{TableName: &e.items, Key: key, ReturnItemCollectionMetrics: metrics}),
		"delete, metrics":           deleting(dynamodb.DeleteItemInput{TableName: &e.items, Key: key, ReturnItemCollectionMetrics: metrics}),
		"transaction, metrics":      transacting(dynamodb.TransactWriteItemsInput{TransactItems: put, ReturnItemCollectionMetrics: metrics}),
		"transaction, condition":    inOne(e.put(key, "", "BOGUS")),
		"update at once of nothing": inOne(action{Update: &types.Update{TableName: &e.items, Key: key}}),
		"statements":                batching(dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{e.statement("SELECT * FROM $items WHERE id='a'", "")}, ReturnConsumedCapacity: bogus}),
	} {
		e.refuses(t, name, call)
	}
	if items := e.memory.Items(e.items); len(items) > 0 {
		t.Errorf("requests that were refused have made %d items", len(items))
	}
}

// C86: a starting key that the condition excludes is no place to go on from; an empty page would read as the end.
func TestStartingKeys(t *testing.T) {
	e := newEngines(t)
	for i := range 5 {
		e.same(t, "put", putting(dynamodb.PutItemInput{TableName: &e.sorted, Item: item{"user": s("u"), "nr": n(i)}}))
	}
	for condition, values := range map[string]item{
		"": {}, " AND nr > :a": {":a": n("2.0")}, " AND nr < :a": {":a": n(2)}, " AND nr = :a": {":a": n(2)}, " AND nr >= :a": {":a": n(2)},
		" AND nr BETWEEN :a AND :b": {":a": n(1), ":b": n(3)},
	} {
		for _, start := range []item{
			{"user": s("u"), "nr": n(0)}, {"user": s("u"), "nr": n("2.00")}, {"user": s("u"), "nr": n(4)}, {"user": s("w"), "nr": n(2)},
			{"user": s("u")}, {"user": s("u"), "nr": s("x")}, {"user": s("u"), "nr": n(2), "z": n(1)}, {},
		} {
			e.same(t, fmt.Sprintf("%s from %s", condition, encode(start)), e.ofUser(condition, values, start))
		}
	}
	for _, start := range []int{0, 2} {
		e.refuses(t, "outside", e.ofUser(" AND nr > :a", item{":a": n(2)}, item{"user": s("u"), "nr": n(start)}))
	}
}

// C86: a statement that DynamoDB Local refuses is refused, and not evaluated. The words are the parser's own.
func TestMalformedStatements(t *testing.T) {
	e := newEngines(t)
	e.same(t, "put", putting(dynamodb.PutItemInput{TableName: &e.items, Item: sample("a")}))
	ask := func(statement string) {
		t.Helper()
		call := executing(dynamodb.ExecuteStatementInput{Statement: e.text(statement)})
		e.alike(t, statement, call)
		e.refuses(t, statement, call)
	}
	for _, condition := range []string{
		"n", "n =", "n = 1 AND", "(n = 1", "n = 1)", "size(size(s)) = 1", "begins_with(size(s), 'h')", "id.x = 1", "id[0] = 1", "n = id.x",
		"attribute_exists(id.x)", "attribute_exists(1)", "attribute_exists()", "attribute_exists(n, s)", "foo(n)", "foo(n) = 1", "size(1) = 1",
		"begins_with(s, 1)", "begins_with(s)", "contains(s)", "attribute_type(n, 'X')", "attribute_type(n, n)", "attribute_type(n, 1)",
		"n < true", "n < [1]", "n BETWEEN 2 AND 1", "n BETWEEN 1 AND 'a'", "n BETWEEN true AND true", "n = n", "n IN []", "n IN 1",
		"size(n) IS MISSING", "n = 1 OR", "NOT", "NOT n", "n = 1 n = 2", "n LIKE 'a'", "n = 1 + 1", "n + 1 = 2", "n = 'a", "n = 1x",
		"n = <<>>", "n = <<1,'a'>>", "n = {'a':1,'a':2}", "n = [?]", "l[-1] = 1", "id = 'b'", "exists(n)", "list_append(l, l) = l",
		"n = if_not_exists(n, 1)",
	} {
		ask("UPDATE $items SET n=n WHERE id='a' AND " + condition)
	}
	for _, statement := range []string{
		"UPDATE $items SET q=id.x WHERE id='a'", "UPDATE $items SET n=1 WHERE id='a' AND id='b'", "UPDATE $items SET n=foo(n) WHERE id='a'",
		"UPDATE $items SET m.x=1, m={} WHERE id='a'", "UPDATE $items SET n=1 WHERE id=1", "UPDATE $items SET n=1 WHERE id=''",
		"UPDATE $items SET q=1 WHERE \"a.b\"=3", "UPDATE $sorted SET q=1 WHERE \"user\"='u' AND nr=1 AND nr=2",
		"UPDATE $items SET ss=set_add(ss,<<>>) WHERE id='a'", "UPDATE $items SET n=1 WHERE", "UPDATE $items SET WHERE id='a'",
		"DELETE FROM $items WHERE id='a' AND size(size(s))=1", "DELETE FROM $items WHERE id='a' AND id='b'",
		"DELETE FROM $items WHERE id='a' AND n", "DELETE FROM $items WHERE id='a' RETURNING ALL NEW *",
		"INSERT INTO $items VALUE {'id':'a','n':<<>>}", "INSERT INTO $items VALUE {id:'a'}", "INSERT INTO $items VALUE ?",
		"INSERT INTO $items VALUE {'id':'x'} RETURNING ALL OLD *",
		"SELECT * FROM $items WHERE id='a' AND size(size(s))=1", "SELECT * FROM $items WHERE id='a' AND id.x=1",
		"SELECT id, id FROM $items WHERE id='a'", `SELECT n, "n" FROM $items WHERE id='a'`, "SELECT *, n FROM $items WHERE id='a'",
		"SELECT n AS q FROM $items WHERE id='a'", "SELECT count(*) FROM $items WHERE id='a'", "SELECT", "TRUNCATE $items",
	} {
		ask(statement)
	}
	e.sameItems(t)
	for _, statement := range []string{ // which name one item, twice the same
		"UPDATE $items SET q=1 WHERE id='a' AND id='a'", "DELETE FROM $items WHERE id='none' AND id='none'", "SELECT n FROM $items WHERE id='a' AND id='a'",
	} {
		e.same(t, statement, executing(dynamodb.ExecuteStatementInput{Statement: e.text(statement)}))
	}
}

// C86: a word of PartiQL's own is no name unless it stands in double quotes; a word that only expressions reserve is one.
func TestKeywordsOfStatements(t *testing.T) {
	e := newEngines(t)
	words := strings.Fields(strings.ToLower(partiqlKeywords) + " state owner status ttl name Zone")
	for chunk := range len(words)/maxStatements + 1 {
		var bare, quoted []types.BatchStatementRequest
		for i, word := range words[chunk*maxStatements : min(len(words), (chunk+1)*maxStatements)] {
			id := s(fmt.Sprint(i))
			bare = append(bare, e.statement("UPDATE $items SET "+word+"=1 WHERE id=?", "", id))
			quoted = append(quoted, e.statement(`UPDATE $items SET "`+word+`"=1 WHERE id=?`, "", id))
		}
		for _, statements := range [][]types.BatchStatementRequest{bare, quoted} {
			e.alike(t, string(encode(statements)), batching(dynamodb.BatchExecuteStatementInput{Statements: statements}))
		}
	}
}

// C86: one statement that is refused is its own error, and the others of its batch are run.
func TestRefusedInBatch(t *testing.T) {
	e := newEngines(t)
	e.same(t, "put", putting(dynamodb.PutItemInput{TableName: &e.items, Item: sample("a")}))
	for _, statement := range []string{
		"UPDATE $items SET q=1 WHERE id='a' AND size(size(s))=1", "UPDATE $items SET q=1 WHERE id='a' AND id.x=1",
		"UPDATE $items SET q=1 WHERE id='a' AND id='b'", "UPDATE $items SET order=1 WHERE id='a'",
	} {
		e.alike(t, statement, batching(dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{e.statement(statement, ""),
			e.statement("UPDATE $items SET n=n+1 WHERE id='a'", "")}}))
	}
	e.same(t, "a read of more than a key", batching(dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{
		e.statement("SELECT * FROM $items WHERE id='a' AND n>0", ""), e.statement("SELECT n FROM $items WHERE id='a'", "")}}))
	e.sameItems(t)
}
