package memdb

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// sample is an item with a value of each kind.
func sample(id string) item {
	return item{
		"id": s(id), "n": n(5), "s": s("hello"), "l": l(n(1), n(2), n(3)),
		"m":  m(item{"x": n(1), "y": m(item{"z": n(9)}), "l": l(s("a"), m(item{"k": n(1)}))}),
		"ss": ss("b", "a"), "ns": ns("1", "2"), "bs": bs("x", "y"), "b": boolean(true), "z": null(), "bin": b("hello"), "a.b": n(3),
		"u": s("h\u00e9llo\U0001F600"),
	}
}

// probe is an expression with what its placeholders stand for.
type probe struct {
	expression string
	values     item
	names      map[string]string
}

func (p probe) String() string {
	return fmt.Sprintf("%s %s %v", p.expression, encode(p.values), p.names)
}

func seven(expressions ...string) (probes []probe) {
	for _, e := range expressions {
		probes = append(probes, probe{e, item{":v": n(7)}, nil})
	}
	return probes
}

func bare(expressions ...string) (probes []probe) {
	for _, e := range expressions {
		probes = append(probes, probe{e, nil, nil})
	}
	return probes
}

func conditions() []probe {
	probes := seven("state = :v", "n == :v", "n = :v AND", "(n = :v", "n = :w", "#n = :v", "n = :v foo", "attribute_exist(n)", "attribute_exists(:v)",
		"size(n) > :v", "contains(n)", "contains(n, :v)", "begins_with(n, :v)", "n BETWEEN :v AND :v", "NOT n = :v", "n IN (:v", "n IN (:v)",
		"attribute_type(n, :v)",
		"((n = :v))", "n = :v)", "n <> :v :v", "SET n = :v", ".n = :v", "m. x = :v", "l[a] = :v", "l[ 0 ] = :v", "l[-1] = :v",
		"n=:v AND AND n=:v", "n + :v = :v",
		":v = :v", ":v < :v", "size(:v) = :v", "@n = :v", "n = :v;", "attribute_exists(n) = :v", "n = attribute_exists(n)",
		"n = :v and n = :v or not n = :v",
		"n between :v and :v", "n in (:v)", "q = :v", "q <> :v", "NOT q = :v", "q < :v", "NOT q < :v", "q IN (:v)", "NOT q IN (:v)",
		"q BETWEEN :v AND :v",
		"size(q) < :v", "size(q) <> :v", "NOT size(q) = :v", "size(s) < :v", "size(l) < :v", "size(m) < :v", "size(ss) < :v", "size(b) < :v",
		"size(z) < :v", "size(bin) < :v",
		"size(n) < :v", "contains(s, :v)", "contains(l, :v)", "contains(ns, :v)", "contains(q, :v)", "b = :v", "b < :v", "l[0] < :v",
		"m.y.z > :v", "m.q.z <> :v", "l.x = :v", "m[0] = :v",
		"NOT NOT n = :v", "(n) = :v", "n = (:v)", "n BETWEEN :v AND n", "n BETWEEN n AND :v", "l[0] BETWEEN :v AND n", "n BETWEEN :v",
		"n BETWEEN :v OR :v", "1n = :v", "_n = :v", "n-1 = :v", "m.1 = :v",
		"m.state = :v", "m.y.status = :v", "n ! = :v", "n != :v", "n >= = :v", "between between :v and :v", "size = :v", "contains = :v",
		"attribute_exists = :v", "Set = :v", "éa = :v", "n\n=\t:v",
		"n > :v OR n < :v", "n = :v OR", "OR n = :v", "n = :v AND (s = :v", "a.b = :v", "n IN (:v, s, l)", "n IN (:v, n)", "n IN :v",
		"n IN (:v,)", "(n = :v) = :v", "(size(s)) = :v", "size(s, l) = :v", "size() = :v",
		"attribute_exists(n, s) AND n = :v", "attribute_type(n, s) AND n = :v", "attribute_exists(size(n)) AND n = :v",
		"begins_with(s) AND n = :v", "foo(n) = :v", "n = foo(n)", "l[99999999999] = :v", "l[0 = :v", "n. = :v", "n = :v AND id = :v",
		"attribute_exists() AND n = :v", "NOT (n = :v)", "NOT ((n = :v))", "(NOT n = :v)", "(n = :v) OR (s = :v)", "((n = :v) OR (s = :v))",
		"n = :v AND NOT s = :v OR l = :v", "NOT n = :v AND s = :v", "n <= :v", "n >= :v", ":v >= n", ":v = n", ": v = n", "# n = :v",
		"n = :", "n = #", "")
	probes = append(probes, bare("n", "n < n", "n = n", "id = id", "m.x = m.x", "contains(s,s)", "contains(l, n)", "begins_with(s,s)",
		"q <> r", "q = r", "n < s", "n = s OR n <> s", "size(s) = size(l)", "size(n)", "Attribute_Exists(n)",
		"attribute_exists(m.y.z)", "attribute_not_exists(m.y.q)", "attribute_not_exists(q.r)", "attribute_exists(l[2])",
		"attribute_exists(l[3])", "attribute_exists(n) AND attribute_exists(n)",
		"n = 5", "n = 'a'", "n = \"a\"", "attribute_exists(m.l[1].k)", "attribute_not_exists(n)", "attribute_exists(id)",
		"attribute_not_exists (id)", " ", "(", ")", "()", "n <", "attribute_exists(", "attribute_exists(n", "NOT", "BETWEEN", "#", ":",
		"attribute_exists((n))",
		"n IN ()", "size(s) < size(s)", "l[0] < l[1]", "l[2] < l[1]", "ss = ns", "bin = s", "m = l", "z = b", "contains(ss, s)",
		"begins_with(s, m.l[0])")...)
	for _, v := range []types.AttributeValue{
		s("hello"), s("he"), s(""), s("a"), n("5.0"), n("05"), b("he"), b(""), boolean(true), boolean(false), null(), l(),
		l(n("1.0"), n(2), n(3)), l(n(1)), m(item{}), ss("a", "b"), ss("b", "a"), ns("2", "1"), ns("1"), bs("y", "x"), bs("x"),
		m(item{"x": n(1), "y": m(item{"z": n(9)}), "l": l(s("a"), m(item{"k": n(1)}))})} {
		for _, e := range []string{"n = :v", "s = :v", "l = :v", "m = :v", "ss = :v", "ns = :v", "bs = :v", "b = :v", "z = :v", "bin = :v",
			"n <> :v", "n < :v", "s >= :v", "bin > :v", "contains(s, :v)", "contains(l, :v)", "contains(ss, :v)", "contains(bs, :v)",
			"contains(bin, :v)", "contains(:v, s)",
			"begins_with(s, :v)", "begins_with(bin, :v)", "begins_with(:v, s)", "attribute_type(n, :v)", "n BETWEEN :v AND :v", "n IN (:v)",
			"size(:v) = n", "q = :v"} {
			probes = append(probes, probe{e, item{":v": v}, nil})
		}
	}
	for _, v := range []types.AttributeValue{ss(), ns(), bs(), n(""), n("x"), n("1e126"), n("1e-131"), n(strings.Repeat("1", 39)),
		ss("a", "a"), ns("1", "1.0"), bs("a", "a"), &types.AttributeValueMemberNULL{}, l(n("x")), m(item{"": n(1)})} {
		probes = append(probes, probe{"n = :v", item{":v": v}, nil})
	}
	for _, kind := range []string{"S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"} {
		for _, name := range []string{"n", "s", "z", "bin", "ss", "q", "l", "m.y"} {
			probes = append(probes, probe{"attribute_type(" + name + ", :v)", item{":v": s(kind)}, nil})
		}
	}
	return append(probes,
		probe{"size(u) = :v", item{":v": n(6)}, nil},                          // characters
		probe{"size(u) = :v", item{":v": n(7)}, nil},                          // units of UTF-16
		probe{"size(u) = :v", item{":v": n(10)}, nil},                         // bytes of UTF-8
		probe{":a < :b", item{":a": s("\uFFFD"), ":b": s("\U0001F600")}, nil}, // by UTF-8, not by UTF-16
		probe{"u > :v", item{":v": s("h\u00e9llo\uFFFD")}, nil},
		probe{"contains(u, :v)", item{":v": s("\u00e9")}, nil},
		probe{"begins_with(u, :v)", item{":v": s("h\u00e9")}, nil},
		probe{"attribute_type(n, :v)", item{":v": s("X")}, nil},
		probe{"attribute_type(n, :v)", item{":v": s("n")}, nil},
		probe{"attribute_type(n, :v)", item{":v": s("")}, nil},
		probe{"n BETWEEN :a AND :b", item{":a": n(9), ":b": n(1)}, nil},
		probe{"n BETWEEN :a AND :b", item{":a": n(1), ":b": s("a")}, nil},
		probe{"n BETWEEN :a AND :b", item{":a": s("b"), ":b": s("a")}, nil},
		probe{"n BETWEEN :a AND :b", item{":a": n(1), ":b": n(9)}, nil},
		probe{"s BETWEEN :a AND :b AND n = :n", item{":a": s("h"), ":b": s("i"), ":n": n(5)}, nil},
		probe{"n IN (:a,:b)", item{":a": n(9), ":b": s("a")}, nil},
		probe{"n = :v", item{":v": n(5), ":w": n(1)}, nil},
		probe{"n = :v", item{":v": n(5)}, map[string]string{"#q": "x"}},
		probe{"n = :v", item{":v": n(5), ":w": n(1)}, map[string]string{"#q": "x"}},
		probe{"n = :v", item{":v": n(5), "w": n(1)}, nil},
		probe{"n = :v", item{":v": n(5)}, map[string]string{"q": "x"}},
		probe{"n = :v", item{":v": n(5)}, map[string]string{"#q": ""}},
		probe{"n = :v", item{":v": n(5), ":v-w": n(5)}, nil},
		probe{"n = :v", item{":v": n(5)}, map[string]string{"#a-b": "n"}},
		probe{"n = :v", item{}, nil},
		probe{"n = :v", item{":v": n(5)}, map[string]string{}},
		probe{"#a = :v", item{":v": n(3)}, map[string]string{"#a": "a.b"}},
		probe{"#m.#x = :v", item{":v": n(1)}, map[string]string{"#m": "m", "#x": "x"}},
		probe{"#m.x = :v", item{":v": n(1)}, map[string]string{"#m": "m"}},
		probe{"#1 = :1", item{":1": n(5)}, map[string]string{"#1": "n"}},
		probe{"#l[1] = :v", item{":v": n(2)}, map[string]string{"#l": "l"}},
		probe{"#state = :v", item{":v": n(2)}, map[string]string{"#state": "state"}},
		probe{"n > :v OR (n = :v AND s = :w) AND NOT (b = :w)", item{":v": n(5), ":w": s("hello")}, nil},
		probe{"(n > :v OR n = :v) AND (s = :w AND (b = :w OR attribute_exists(z)))", item{":v": n(5), ":w": s("hello")}, nil},
		probe{"(((n = :v) AND s=:w))", item{":v": n(5), ":w": s("hello")}, nil},
		probe{"((n = :v) AND s=:w)", item{":v": n(5), ":w": s("hello")}, nil},
		probe{"size(:v) > :w", item{":v": s("a"), ":w": n(0)}, nil},
		probe{"n = :v AND attribute_exists(#a)", item{":v": s("")}, map[string]string{"#a": "a.b"}},
	)
}

// Conditions are asked a hundred at a time, as checks of one transaction, which answers each; those that the database refuses
// to read are asked alone.
func TestConditions(t *testing.T) {
	e := newEngines(t)
	var puts []types.TransactWriteItem
	for i := range maxActions {
		puts = append(puts, types.TransactWriteItem{Put: &types.Put{TableName: &e.items, Item: sample(fmt.Sprint("c", i))}})
	}
	e.same(t, "items", transacting(dynamodb.TransactWriteItemsInput{TransactItems: puts}))
	check := func(p probe, id string) types.TransactWriteItem {
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: &e.items, Key: item{"id": s(id)}, ConditionExpression: &p.expression,
			ExpressionAttributeNames: p.names, ExpressionAttributeValues: p.values,
		}}
	}
	ask := func(probes []probe, prefix string) {
		var actions []types.TransactWriteItem
		var what []string
		for i, p := range probes {
			actions = append(actions, check(p, fmt.Sprint(prefix, i)))
			what = append(what, p.String())
		}
		e.same(t, prefix+" "+strings.Join(what, "; "), transacting(dynamodb.TransactWriteItemsInput{TransactItems: actions}))
	}
	var valid []probe
	for _, p := range conditions() {
		_, err := e.memory.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{check(p, "c0")}})
		if cancelled := new(types.TransactionCanceledException); err == nil || errors.As(err, &cancelled) {
			valid = append(valid, p)
			continue
		}
		ask([]probe{p}, "c")
	}
	if len(valid) < 500 {
		t.Errorf("%d valid conditions, want more than 500", len(valid))
	}
	for batch := range slices.Chunk(valid, maxActions) {
		ask(batch, "c")
		ask(batch, "absent")
	}
}
