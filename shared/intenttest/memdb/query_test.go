package memdb

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestQueries(t *testing.T) {
	e := newEngines(t)
	for i, nr := range []string{"10", "9", "-1", "1.5", "0", "1e3", "-20"} {
		for _, user := range []string{"u", "v"} {
			e.same(t, "put", putting(dynamodb.PutItemInput{TableName: &e.sorted,
				Item: item{"user": s(user), "nr": n(nr), "n": n(i), "m": m(item{"x": n(i)})}}))
		}
	}
	names := map[string]string{"#u": "user"}
	query := func(in dynamodb.QueryInput, keys string, values item) {
		in.TableName, in.KeyConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = &e.sorted, &keys, names, values
		if in.ReturnConsumedCapacity == "" {
			in.ReturnConsumedCapacity = total
		}
		e.same(t, fmt.Sprintf("%s %s %s", keys, encode(values), encode(in)), querying(in))
	}
	u := item{":u": s("u")}
	with := func(values ...any) item {
		it := item{":u": s("u")}
		for i := 0; i < len(values); i += 2 {
			it[values[i].(string)] = values[i+1].(types.AttributeValue)
		}
		return it
	}
	for _, operator := range []string{"=", "<", "<=", ">", ">=", "<>"} {
		query(dynamodb.QueryInput{}, "#u = :u AND nr "+operator+" :a", with(":a", n("1.50")))
		query(dynamodb.QueryInput{}, "#u = :u AND :a "+operator+" nr", with(":a", n("9")))
	}
	for keys, values := range map[string]item{
		"#u = :u": u, "(#u = :u)": u, ":u = #u": u, "#u = :u AND nr BETWEEN :a AND :b": with(":a", n(-1), ":b", n(9)),
		"nr > :a AND #u = :u": with(":a", n(0)), "(#u = :u) AND (nr = :a)": with(":a", n(9)),
		"#u = :u AND nr BETWEEN :b AND :a": with(":a", n(-1), ":b", n(9)), "#u = :u AND begins_with(nr, :a)": with(":a", n(1)),
		"#u = :u AND begins_with(nr, :b)": with(":b", s("1")), "#u > :u": u, "nr = :u AND #u = :u": u, "#u = :u AND n = :u": u,
		"#u = :u OR nr = :u":     u,
		"#u = :u AND nr IN (:u)": u, "#u = :u AND contains(nr, :u)": u, "#u = :u AND #u = :u": u, "#u = :a": {":a": n(1)},
		"#u = :u AND NOT nr = :u": u, "#u = :u AND nr = :a AND n = :a": with(":a", n(9)), "#u = :e": {":e": s("")},
		"#u = :u AND nr > :s": with(":s", s("x")), "#u = :x": u, "": u,
		"#u = :u AND size(nr) > :a": with(":a", n(9)), "#u = #u": u, "#u = :u AND attribute_exists(nr)": u, "#u.x = :u": u,
		"#u = :u AND nr > :a AND nr < :a": with(":a", n(9)), "#u begins_with :u": u, "begins_with(#u, :u)": u,
	} {
		query(dynamodb.QueryInput{}, keys, values)
	}
	query(dynamodb.QueryInput{ReturnConsumedCapacity: types.ReturnConsumedCapacityNone}, "#u = :none", item{":none": s("none")})
	from := func(user, nr string) item { return item{"user": s(user), "nr": n(nr)} }
	for _, in := range []dynamodb.QueryInput{
		{Limit: aws.Int32(2)}, {Limit: aws.Int32(7)}, {Limit: aws.Int32(8)}, {Limit: aws.Int32(0)},
		{ScanIndexForward: aws.Bool(false), Limit: aws.Int32(2)}, {ScanIndexForward: aws.Bool(true)}, {ConsistentRead: aws.Bool(true)},
		{Select: types.SelectCount}, {Select: types.SelectCount, Limit: aws.Int32(3)},
		{ExclusiveStartKey: from("u", "0")}, {ExclusiveStartKey: from("u", "0.5"), ScanIndexForward: aws.Bool(false)},
		{ExclusiveStartKey: from("u", "1000"), ReturnConsumedCapacity: types.ReturnConsumedCapacityNone},
		{ProjectionExpression: aws.String("nr, m.x")}, {ProjectionExpression: aws.String("nr, nr")},
		{ProjectionExpression: aws.String("nr"), Select: types.SelectCount}, {ReturnConsumedCapacity: indexes},
	} {
		query(in, "#u = :u", u)
	}
	for _, filter := range []string{"n > :n", "m.x = :n", "attribute_exists(nope) AND n = :n", "nr = :n", "n > :n AND #u = :u", "", "n >",
		"size(nr) > :n", "n BETWEEN :n AND :n"} {
		query(dynamodb.QueryInput{FilterExpression: &filter}, "#u = :u", with(":n", n(2)))
		query(dynamodb.QueryInput{FilterExpression: &filter, Limit: aws.Int32(3), ConsistentRead: aws.Bool(true)}, "#u = :u", with(":n", n(2)))
	}
	e.same(t, "no key condition", querying(dynamodb.QueryInput{TableName: &e.sorted}))
	e.same(t, "no table", querying(dynamodb.QueryInput{TableName: aws.String("nobodys"), KeyConditionExpression: aws.String("id = :u"),
		ExpressionAttributeValues: u}))
	e.same(t, "by the only key", querying(dynamodb.QueryInput{TableName: &e.items, KeyConditionExpression: aws.String("id = :u"),
		ExpressionAttributeValues: u}))
}

// A page ends once it has read 1 MB, whatever the filter leaves of that, and a paginator brings all of them.
func TestPages(t *testing.T) {
	e := newEngines(t)
	const rows, weight = 9, 256 << 10
	for i := range rows {
		it := item{"user": s("u"), "nr": n(i), "x": nil}
		it["x"] = s(long(weight - len("useruatx") - numberSize(fmt.Sprint(i)) - i%2)) // four are 1 MB, or two bytes less
		e.same(t, "put", putting(dynamodb.PutItemInput{TableName: &e.sorted, Item: it}))
	}
	for _, in := range []dynamodb.QueryInput{{}, {ScanIndexForward: aws.Bool(false)}, {ExclusiveStartKey: item{"user": s("u"), "nr": n(1)}},
		{FilterExpression: aws.String("attribute_exists(nope)")}, {ConsistentRead: aws.Bool(true)}} {
		in.TableName, in.KeyConditionExpression, in.ReturnConsumedCapacity = &e.sorted, aws.String("#u = :u"), total
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = map[string]string{"#u": "user", "#x": "x"}, item{":u": s("u")}
		in.ProjectionExpression = aws.String("nr, missing.#x")
		e.same(t, string(encode(in)), querying(in))
	}
	pages, read := dynamodb.NewQueryPaginator(e.memory, &dynamodb.QueryInput{
		TableName: &e.sorted, KeyConditionExpression: aws.String("#u = :u"), ExpressionAttributeNames: map[string]string{"#u": "user"},
		ExpressionAttributeValues: item{":u": s("u")},
	}), 0
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		read += len(page.Items)
	}
	if read != rows {
		t.Errorf("pages held %d items, want %d", read, rows)
	}
}
