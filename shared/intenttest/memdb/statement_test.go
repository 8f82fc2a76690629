package memdb

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// text is a statement with the tables' names, which stand quoted.
func (e *engines) text(statement string) *string {
	return aws.String(strings.NewReplacer("$items", `"`+e.items+`"`, "$sorted", `"`+e.sorted+`"`).Replace(statement))
}

func (e *engines) statement(text string, show types.ReturnValuesOnConditionCheckFailure,
	parameters ...types.AttributeValue) types.BatchStatementRequest {
	return types.BatchStatementRequest{Statement: e.text(text), Parameters: parameters, ReturnValuesOnConditionCheckFailure: show}
}

type worded struct {
	statement  string
	parameters []types.AttributeValue
}

func with(statement string, parameters ...types.AttributeValue) worded {
	return worded{statement, parameters}
}

func TestStatements(t *testing.T) {
	e := newEngines(t)
	e.same(t, "put", putting(dynamodb.PutItemInput{TableName: &e.items, Item: sample("a")}))
	for i, st := range []worded{
		with("INSERT INTO $items VALUE {'id':?, 'n':?}", s("p1"), n(1)), with("INSERT INTO $items VALUE {'id':?, 'n':?}", s("p1"), n(1)),
		with("insert into $items value {'id':'p2', 'n':1, 'q':1.50, 'l':[1,'x'], 'm':{'a':true,'b':null}, 'ss':<<'a','b'>>, 'ns':<<1,2.0>>, 'neg':-5, 'e':'', 'le':[], 'me':{}}"),
		with("SELECT * FROM $items WHERE id='p2'"), with("INSERT INTO $items VALUE {'id':'it''s', 'x':?}", m(item{"a": l(n(1), s("b"))})),
		with("SELECT x FROM $items WHERE id='it''s'"), with("INSERT INTO $items VALUE {'id':?}", s("")),
		with("INSERT INTO $items VALUE {'id':?}"), with("INSERT INTO $items VALUE {'id':?};", s("p7")),
		with("INSERT INTO nobodys VALUE {'id':?}", s("p")), with("INSERT INTO $items VALUES {'id':?}", s("p")), with(""),
		with("UPDATE $items SET n=? WHERE id=?", n(6), s("a")), with("UPDATE $items SET n=? WHERE id=? AND s=?", n(7), s("a"), s("no")),
		with("UPDATE $items SET n=? WHERE id=?", n(6), s("absent")),
		with("UPDATE $items SET n=? SET s=? REMOVE l WHERE id=? AND (s=? OR s='x') RETURNING ALL NEW *", n(7), s("hey"), s("a"), s("hello")),
		with("UPDATE $items SET n=?, s=? WHERE id=? RETURNING ALL OLD *", n(8), s("h"), s("a")),
		with("UPDATE $items SET n=?, s=? WHERE id=? RETURNING MODIFIED NEW *", n(8), s("h"), s("a")),
		with("UPDATE $items SET n=?, s=? WHERE id=? RETURNING MODIFIED OLD *", n(8), s("h"), s("a")),
		with("UPDATE $items SET n=n+? WHERE id=? RETURNING ALL NEW *", n(1), s("a")),
		with("UPDATE $items SET m.x=? WHERE id=? RETURNING ALL NEW *", n(1), s("a")),
		with("UPDATE $items SET n=? WHERE s=?", n(1), s("a")), with("UPDATE $items SET n=? WHERE id=? OR id=?", n(1), s("a"), s("b")),
		with("UPDATE $items SET n=?", n(1)), with("UPDATE $items WHERE id=?", s("a")),
		with("UPDATE $items SET id=? WHERE id=?", s("b"), s("a")),
		with(`UPDATE $items SET "n"=? WHERE "id"=? AND "n">?`, n(1), s("a"), n(0)),
		with("UPDATE $items SET state=? SET owner=? WHERE id=?", s("st"), s("ow"), s("a")),
		with(`UPDATE $items SET "state"=?, "owner"=? WHERE id=? AND "state"=?`, s("st"), s("ow"), s("a"), s("st")),
		with("UPDATE $items SET n=? WHERE id=? AND state=? AND owner=?", n(2), s("a"), s("st"), s("ow")),
		with("UPDATE $items SET n=? WHERE id=? AND n IN [1,2,?]", n(2), s("a"), n(3)),
		with("UPDATE $items SET n=? WHERE id=? AND n IN (1,2,?)", n(2), s("a"), n(3)),
		with("UPDATE $items SET n=? WHERE id=? AND n BETWEEN 1 AND ?", n(2), s("a"), n(3)),
		with("UPDATE $items SET n=? WHERE id=? AND q IS MISSING", n(2), s("a")),
		with("UPDATE $items SET n=? WHERE id=? AND q IS NOT MISSING", n(2), s("a")),
		with("UPDATE $items SET n=? WHERE id=? AND n IS NOT MISSING AND NOT s = 'z' AND attribute_type(n,'N') AND begins_with(s,'h') AND contains(s,'h') AND size(s) > 0", n(2), s("a")),
		with("UPDATE $items SET n=? WHERE id=? AND n <> ?", n(2), s("a"), n(9)),
		with("UPDATE $items SET n=? WHERE id=? AND n != ?", n(2), s("a"), n(9)), with("UPDATE $items SET n=? WHERE ?=id", n(2), s("a")),
		with("UPDATE $items SET n=? WHERE (id=? AND n > 0)", n(2), s("a")), with("UPDATE $items SET n=? WHERE id IN [?]", n(2), s("a")),
		with("UPDATE $items REMOVE z REMOVE b WHERE id=?", s("a")), with("UPDATE $items REMOVE n, s WHERE id=?", s("a")),
		with("UPDATE $items SET z=? REMOVE zz SET y=? WHERE id=?", n(1), n(2), s("a")),
		with("UPDATE $items SET z=?, z=? WHERE id=?", n(1), n(2), s("a")), with("UPDATE $items SET z=nothere WHERE id=?", s("a")),
		with("UPDATE $items SET z=list_append(l,?) WHERE id=?", l(n(1)), s("a")),
		with("UPDATE $items SET z=set_add(ss,?) WHERE id=?", ss("q"), s("a")),
		with("UPDATE $items SET ss=set_add(ss,?) WHERE id=?", ss("q"), s("a")),
		with("UPDATE $items SET ss=set_delete(ss,?) WHERE id=?", ss("q", "a"), s("a")),
		with("UPDATE $items SET z=if_not_exists(z,?) WHERE id=?", n(1), s("a")),
		with("UPDATE $items SET n=? WHERE id=? AND attribute_not_exists(q)", n(2), s("a")),
		with("UPDATE $items SET n=? WHERE id=? AND attribute_exists(q)", n(2), s("a")), with("SELECT * FROM $items WHERE id=?", s("p1")),
		with("SELECT id, n FROM $items WHERE id=? AND n > 0", s("p1")), with("SELECT id FROM $items WHERE id=? AND n > 5", s("p1")),
		with(`SELECT "id" FROM $items WHERE id=?`, s("absent")),
		with("DELETE FROM $items WHERE id=? AND n=?", s("a"), n(-1)), with("DELETE FROM $items WHERE id=? RETURNING ALL OLD *", s("a")),
		with("DELETE FROM $items WHERE id=?", s("a")), with("DELETE FROM $items WHERE id=? AND n=?", s("a"), n(1)),
		with("DELETE FROM $items WHERE n=?", n(1)), with("DELETE FROM $items"),
		with("UPDATE $items SET n=? WHERE id=? RETURNING ALL *", n(1), s("p1")),
		with("INSERT INTO $sorted VALUE {'user':'u','nr':1}"), with("INSERT INTO $sorted VALUE {'user':'u','nr':2}"),
		with("UPDATE $sorted SET x='y' WHERE \"user\"='u' AND nr=1"), with("UPDATE $sorted SET x='y' WHERE \"user\"='u'"),
		with("SELECT * FROM $sorted WHERE \"user\"='u'"), with("SELECT nr FROM $sorted WHERE \"user\"='u' AND nr=2.0"),
		with("DELETE FROM $sorted WHERE \"user\"='u' AND nr=?", n(1)),
	} {
		for _, show := range []types.ReturnValuesOnConditionCheckFailure{"", allOld} {
			if show == "" || !strings.Contains(st.statement, "DELETE") && !strings.Contains(st.statement, "VALUE") {
				e.same(t, fmt.Sprint(i, st.statement, show), executing(dynamodb.ExecuteStatementInput{Statement: e.text(st.statement),
					Parameters: st.parameters, ReturnValuesOnConditionCheckFailure: show}))
			}
		}
	}
	e.sameItems(t)
}

func TestBatchStatements(t *testing.T) {
	e := newEngines(t)
	const insert, change = "INSERT INTO $items VALUE {'id':?}", "UPDATE $items SET n=? WHERE id=? AND n=?"
	many := make([]types.BatchStatementRequest, maxStatements+1)
	for i := range many {
		many[i] = e.statement(insert, "", s(fmt.Sprint("z", i)))
	}
	for i, statements := range [][]types.BatchStatementRequest{
		{e.statement(insert, "", s("a")), e.statement(insert, "", s("b"))},
		{e.statement(insert, "", s("a")), e.statement(insert, "", s("c")), e.statement(insert, "", s("b"))},
		{e.statement(insert, "", s("d")), e.statement(insert, "", s("d"))},
		{e.statement(insert, "", s("d")), e.statement("UPDATE $items SET n=1 WHERE id='d'", "")},
		{e.statement(insert, "", s("d")), e.statement("SELECT * FROM $items WHERE id='e'", "")},
		{},
		many[:maxStatements],
		{e.statement(change, "", n(1), s("a"), n(0)), e.statement(change, "", n(1), s("b"), n(0)),
			e.statement(change, allOld, n(1), s("nope"), n(0)), e.statement("UPDATE $items SET n=1 WHERE id='c'", "")},
		{e.statement("SELECT * FROM $items WHERE id='a'", ""), e.statement("SELECT * FROM $items WHERE id='none'", ""),
			e.statement("SELECT n FROM $items WHERE id='c'", "")},
		{e.statement(insert, "", n(1)), e.statement(insert, "", s("f1"))},
		{e.statement("INSERT INTO nobodys VALUE {'id':'a'}", ""), e.statement(insert, "", s("f2"))},
		{e.statement("UPDATE $items SET n=q WHERE id='c'", ""), e.statement(insert, "", s("f3"))},
		{e.statement(insert, ""), e.statement(insert, "", s("f4"))},
		{e.statement("SELECT * FROM $items WHERE id='a'", ""), e.statement("SELECT * FROM $items WHERE id='a'", "")},
		{e.statement("DELETE FROM $items WHERE id='a' RETURNING ALL OLD *", ""),
			e.statement("UPDATE $items SET n=9 WHERE id='c' RETURNING ALL NEW *", "")},
		{e.statement("INSERT INTO $items VALUE {'id':'x','n':?}", "", n("abc")), e.statement(insert, "", s("f5"))},
		{e.statement("INSERT INTO $items VALUE {'id':'x','n':?}", "", s(long(maxItem))), e.statement(insert, "", s("f6"))},
		{e.statement("UPDATE $items SET id='q' WHERE id='c'", ""), e.statement(insert, "", s("f7"))},
		{e.statement(insert, "", s("")), e.statement(insert, "", s("f8"))},
	} {
		e.same(t, fmt.Sprint("batch ", i), batching(dynamodb.BatchExecuteStatementInput{Statements: statements}))
		if i == 3 { // of which DynamoDB Local has done a part
			e.local.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &e.items, Key: item{"id": s("d")}})
		}
	}
	if _, err := e.memory.BatchExecuteStatement(t.Context(), &dynamodb.BatchExecuteStatementInput{Statements: many}); err == nil {
		t.Errorf("a batch of %d statements was run", len(many))
	}
	e.sameItems(t)
}
