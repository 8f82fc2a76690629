package memdb

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// standIns are what the operands of random expressions stand for, and how a statement writes it.
var standIns = []struct {
	name, literal string
	value         types.AttributeValue
}{
	{":n", "1", n(1)}, {":s", "'S'", s("S")}, {":b", "true", boolean(true)}, {":l", "[1]", l(n(1))}, {":z", "null", null()},
	{":m", "{'a':1}", m(item{"a": n(1)})}, {":t", "<<'a'>>", ss("a")},
}

func (d *dice) somePath() string {
	return pick(d, "n", "s", "l", "m", "ss", "b", "q", "m.x", "l[0]", "id", "id.x", "m.l[1].k")
}

// operand draws an operand of any type, which most places do not take.
func (d *dice) operand(depth int) string {
	kind := d.IntN(9)
	if depth > 1 {
		kind = 3 + d.IntN(6)
	}
	switch kind {
	case 0:
		return "size(" + d.operand(depth+1) + ")"
	case 1:
		return pick(d, "contains", "begins_with", "attribute_exists", "if_not_exists", "list_append", "attribute_type", "foo") +
			"(" + d.operand(depth+1) + pick(d, "", ", "+d.operand(depth+1)) + ")"
	case 2:
		return "(" + d.operand(depth+1) + ")"
	case 3, 4:
		return standIns[d.IntN(len(standIns))].name
	}
	return d.somePath()
}

func (d *dice) anyCondition(depth int) string {
	kind := d.IntN(9)
	if depth > 1 {
		kind = 3 + d.IntN(6)
	}
	switch kind {
	case 0:
		return d.anyCondition(depth+1) + pick(d, " AND ", " OR ") + d.anyCondition(depth+1)
	case 1:
		return "NOT " + d.anyCondition(depth+1)
	case 2:
		return "(" + d.anyCondition(depth+1) + ")"
	case 3:
		return d.operand(0) + " BETWEEN " + d.operand(0) + " AND " + d.operand(0)
	case 4:
		return d.operand(0) + " IN (" + d.operand(0) + pick(d, "", ", "+d.operand(0)) + ")"
	case 5, 6:
		return pick(d, "contains", "begins_with", "attribute_exists", "attribute_not_exists", "attribute_type") + "(" + d.operand(1) +
			pick(d, "", ", "+d.operand(1), ", "+d.operand(1)) + ")"
	}
	return d.operand(0) + pick(d, " = ", " <> ", " < ", " <= ", " > ", " >= ") + d.operand(0)
}

func (d *dice) anyUpdate() string {
	source := d.operand(0) + pick(d, "", "", " + "+d.operand(0), " - "+d.operand(0))
	if d.IntN(3) == 0 {
		source = pick(d, "if_not_exists", "list_append") + "(" + d.operand(0) + ", " + d.operand(1) + ")" + pick(d, "", " + "+d.operand(0))
	}
	text := "SET " + d.somePath() + " = " + source + pick(d, "", ", "+d.somePath()+" = "+d.somePath())
	return text + pick(d, "", "", " REMOVE "+d.somePath()) + pick(d, "", "", " ADD "+d.somePath()+" :n", " DELETE "+d.somePath()+" :t")
}

// valuesIn are those that the texts mention.
func valuesIn(texts ...string) item {
	values := item{}
	for _, v := range standIns {
		if strings.Contains(strings.Join(texts, " "), v.name) {
			values[v.name] = v.value
		}
	}
	return orNil(values)
}

func asStatement(text string) string {
	for _, v := range standIns {
		text = strings.ReplaceAll(text, v.name, v.literal)
	}
	return text
}

// TestRandomExpressions wants what DynamoDB Local refuses to be refused, and what runs on both to end the same. The database may
// refuse more: it reads less of PartiQL, and parentheses in fewer places.
func TestRandomExpressions(t *testing.T) {
	t.Parallel()
	for i := range *seeds {
		seed := *seed + uint64(i)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			e := newEngines(t)
			d := &dice{rand.New(rand.NewPCG(seed, 1)), e}
			renew := putting(dynamodb.PutItemInput{TableName: &e.items, Item: sample("a")})
			e.same(t, "put", renew)
			for range *steps {
				condition, update := d.anyCondition(0), d.anyUpdate()
				e.noLaxer(t, condition, renew, putting(dynamodb.PutItemInput{TableName: &e.items, Item: sample("a"),
					ConditionExpression: &condition, ExpressionAttributeValues: valuesIn(condition)}))
				e.noLaxer(t, update, renew, updating(dynamodb.UpdateItemInput{TableName: &e.items, Key: item{"id": s("a")},
					UpdateExpression: &update, ExpressionAttributeValues: valuesIn(update)}))
				for _, statement := range []string{"UPDATE $items SET q=1 WHERE id='a' AND " + asStatement(condition),
					"UPDATE $items " + asStatement(update) + " WHERE id='a'"} {
					e.noLaxer(t, statement, renew, executing(dynamodb.ExecuteStatementInput{Statement: e.text(statement)}))
				}
			}
			e.sameItems(t)
		})
	}
}

// noLaxer wants the same answer but for words, or a refusal of the database's own, after which the item is made anew on both.
// DynamoDB Local fails of some requests by itself.
func (e *engines) noLaxer(t *testing.T, what string, renew, call asked) {
	t.Helper()
	local, memory := e.answers(t, call)
	if wordsOfErrors.ReplaceAllString(local, "") == wordsOfErrors.ReplaceAllString(memory, "") {
		return
	}
	if !strings.Contains(memory, "ValidationException") && !strings.Contains(local, "InternalFailure") {
		t.Errorf("%s:\nDynamoDB Local: %.300s\nmemdb:          %.300s", what, local, memory)
	}
	e.same(t, "put", renew)
}
