package memdb

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// times is a text a number of times, with commas or another separator between.
func times(count int, separator, text string) string {
	return strings.TrimSuffix(strings.Repeat(text+separator, count), separator)
}

// numbered are that many texts of a format that takes two letters, all different.
func numbered(count int, format string) string {
	var all []string
	for i := range count {
		all = append(all, fmt.Sprintf(format, 'a'+i/26, '0'+i%26/10, '0'+i%10))
	}
	return strings.Join(all, ",")
}

// C84: a request at a limit is run, one beyond it is refused (Amazon DynamoDB, "Constraints", "Expression parameters" and
// "Attributes").
func TestLimitsOfExpressions(t *testing.T) {
	e := newEngines(t)
	e.same(t, "put", putting(dynamodb.PutItemInput{TableName: &e.items, Item: sample("a")}))
	limit := func(what string, at int, call func(int) asked) {
		t.Helper()
		e.same(t, fmt.Sprint(what, " ", at), call(at))
		if _, err := call(at)(t.Context(), e.memory); isInvalid(err) && !strings.Contains(err.Error(), "does not exist in the item") {
			t.Errorf("%s %d: error %v", what, at, err)
		}
		e.same(t, fmt.Sprint(what, " ", at+1), call(at+1))
		e.refuses(t, fmt.Sprint(what, " ", at+1), call(at+1))
	}
	condition := func(text string, values item, names map[string]string) asked {
		return putting(dynamodb.PutItemInput{TableName: &e.items, Item: item{"id": s("a")}, ConditionExpression: &text,
			ExpressionAttributeValues: values, ExpressionAttributeNames: names})
	}
	project := func(text string, names map[string]string) asked {
		return getting(dynamodb.GetItemInput{TableName: &e.items, Key: item{"id": s("a")}, ProjectionExpression: &text, ExpressionAttributeNames: names})
	}
	update := func(text string, values item) asked {
		return updating(dynamodb.UpdateItemInput{TableName: &e.items, Key: item{"id": s("a")}, UpdateExpression: &text, ExpressionAttributeValues: values})
	}

	limit("bytes of a condition", maxExpression, func(n int) asked { return condition("q"+strings.Repeat(" ", n-4)+"= r", nil, nil) })
	limit("bytes of a filter", maxExpression, func(n int) asked {
		return e.scanning(dynamodb.ScanInput{FilterExpression: aws.String("q" + strings.Repeat(" ", n-4) + "= r")})
	})
	limit("bytes of a key condition", maxExpression, func(n int) asked {
		return querying(dynamodb.QueryInput{TableName: &e.items, KeyConditionExpression: aws.String("id" + strings.Repeat(" ", n-6) + "= :v"),
			ExpressionAttributeValues: item{":v": s("a")}, Select: types.SelectCount})
	})
	limit("bytes of a projection", maxExpression, func(n int) asked { return project(long(n), nil) })
	limit("bytes of an update", maxExpression, func(n int) asked { return update("REMOVE "+long(n-7), nil) })
	e.same(t, "length comes before syntax", condition(strings.Repeat("(", maxExpression+1), nil, nil))

	// Each text has as many operators and functions as it has times.
	for text, each := range map[string]int{"a<b1": 2, "attribute_exists(a)": 2, "a between b and c": 2, "a in (b)": 2, "size(a)<b1": 3, "not a<b1": 3} {
		e.same(t, text, condition(times((maxOperators+1)/each, " or ", text), nil, nil))
		e.same(t, text, condition(times((maxOperators+1)/each+1, " or ", text), nil, nil))
		e.refuses(t, text, condition(times((maxOperators+1)/each+1, " or ", text), nil, nil))
	}
	limit("negations", maxOperators, func(n int) asked { return condition(strings.Repeat("not ", n-1)+"a<b1", nil, nil) })
	limit("sums", maxOperators, func(n int) asked { return update("SET "+numbered(n, "%c%c%c=x+y"), nil) })
	limit("functions and sums", maxOperators, func(n int) asked {
		return update("SET "+numbered(100, "%c%c%c=list_append(b,c)")+","+numbered(n-100, "z%c%c%c=x-y"), nil)
	})
	e.same(t, "assignments are no operators", update("SET "+numbered(maxOperators+1, "%c%c%c=:v"), item{":v": n(1)}))
	e.same(t, "nor are removals", update("REMOVE "+numbered(maxOperators+1, "%c%c%c"), nil))

	limit("operands of IN", maxOperands, func(n int) asked { return condition("a IN ("+times(n, ",", "b1")+")", nil, nil) })
	for name, step := range map[string]string{"names": ".b", "indexes": "[0]"} {
		path := func(n int) string { return "q" + strings.Repeat(step, n-1) }
		limit("steps of a condition's path, "+name, maxPath, func(n int) asked { return condition("attribute_exists("+path(n)+")", nil, nil) })
		limit("steps of a projection's path, "+name, maxPath, func(n int) asked { return project(path(n), nil) })
		limit("steps of a source, "+name, maxPath, func(n int) asked { return update("SET z = "+path(n), nil) })
	}
	limit("bytes of a name's placeholder", maxPlaceholder, func(n int) asked {
		return condition("attribute_not_exists(#"+long(n-1)+")", nil, map[string]string{"#" + long(n-1): "id"})
	})
	limit("bytes of a value's placeholder", maxPlaceholder, func(size int) asked {
		return condition("a = :"+long(size-1), item{":" + long(size-1): n(1)}, nil)
	})
	limit("bytes of a name behind a placeholder", maxName, func(n int) asked {
		return condition("attribute_exists(#n)", nil, map[string]string{"#n": long(n)})
	})
	limit("bytes of a name in an item", maxName, func(size int) asked {
		return putting(dynamodb.PutItemInput{TableName: &e.items, Item: item{"id": s("named"), long(size): n(1)}})
	})
	limit("bytes of a name in a map", maxName, func(size int) asked {
		return putting(dynamodb.PutItemInput{TableName: &e.items, Item: item{"id": s("named"), "m": m(item{long(size): n(1)})}})
	})
	limit("bytes of a name in a value", maxName, func(size int) asked {
		return updating(dynamodb.UpdateItemInput{TableName: &e.items, Key: item{"id": s("named")}, UpdateExpression: aws.String("SET q = :v"),
			ExpressionAttributeValues: item{":v": m(item{long(size): n(1)})}})
	})
	names := map[string]string{}
	var list []string
	for i := range maxSubstitutions/65000 + 1 {
		name := fmt.Sprintf("#n%d", i)
		names[name], list = long(65000+i), append(list, name)
	}
	e.same(t, "bytes of all names", project(strings.Join(list, ","), names))
	e.refuses(t, "bytes of all names", project(strings.Join(list, ","), names))
	tooMany := condition("a = :v", item{":v": s(long(maxSubstitutions - 1))}, nil)
	e.same(t, "bytes of all values", tooMany)
	e.refuses(t, "bytes of all values", tooMany)
	e.refuses(t, "bytes of names and values", condition("#a = :v", item{":v": s(long(maxSubstitutions - 65000))}, map[string]string{"#a": long(65001)}))
	e.sameItems(t)
}

// C84: an update nests an item no deeper than a put may.
func TestLimitOfNesting(t *testing.T) {
	e := newEngines(t)
	nested := func(levels int) types.AttributeValue {
		v := n(1)
		for range levels {
			v = l(v)
		}
		return v
	}
	for levels := maxDepth - 1; levels <= maxDepth+1; levels++ {
		e.same(t, "put", putting(dynamodb.PutItemInput{TableName: &e.items, Item: item{"id": s("a"), "m": m(item{}), "l": nested(levels - 1)}}))
		for _, path := range []string{"x", "m.x", "m"} {
			e.same(t, fmt.Sprint(levels, path), updating(dynamodb.UpdateItemInput{TableName: &e.items, Key: item{"id": s("a")},
				UpdateExpression: aws.String("SET " + path + " = :v"), ExpressionAttributeValues: item{":v": nested(levels)}}))
		}
		e.same(t, fmt.Sprint(levels, "copy"), updating(dynamodb.UpdateItemInput{TableName: &e.items, Key: item{"id": s("a")},
			UpdateExpression: aws.String("SET l[0] = l")}))
	}
	e.sameItems(t)
}

// C84: so it is with statements.
func TestLimitsOfStatements(t *testing.T) {
	e := newEngines(t)
	e.same(t, "put", putting(dynamodb.PutItemInput{TableName: &e.items, Item: sample("a")}))
	ask := func(format string, args ...any) {
		t.Helper()
		text := fmt.Sprintf(format, args...)
		e.alike(t, text, executing(dynamodb.ExecuteStatementInput{Statement: e.text(text)}))
		e.alike(t, text, batching(dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{e.statement(text, "")}}))
	}
	for over := range 2 {
		empty := len(*e.text("SELECT n FROM $items WHERE id='a' AND s=''"))
		ask("SELECT n FROM $items WHERE id='a' AND s='%s'", long(maxStatement-empty+over))
		ask("UPDATE $items SET q=1 WHERE id='a' AND n IN [%s]", times(maxOperands+over, ",", "1"))
		ask("UPDATE $items SET q=1 WHERE id='a'%s", strings.Repeat(" AND n=5", maxOperators/2-1+over))
		ask("UPDATE $items SET q=1 WHERE id='a' AND (n=6%s)", strings.Repeat(" OR n=5", maxOperators/2-2+over))
		ask("UPDATE $items SET q=1 WHERE id='a' AND attribute_not_exists(q%s)", strings.Repeat(".x", maxPath-1+over))
	}
	for _, statement := range []string{
		"SELECT n FROM $items WHERE id='a' AND s='" + long(maxStatement) + "'",
		"UPDATE $items SET q=1 WHERE id='a'" + strings.Repeat(" AND n=5", maxOperators/2),
		"UPDATE $items SET q=1 WHERE id='a' AND n IN [" + times(maxOperands+1, ",", "1") + "]",
	} {
		e.refuses(t, statement, executing(dynamodb.ExecuteStatementInput{Statement: e.text(statement)}))
	}
	e.sameItems(t)
}
