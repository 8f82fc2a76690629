package mutants

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// bound is what only an expression has: a value that its request binds.
var bound = regexp.MustCompile(`[ (]:[a-z_]+`)

// Each text that is a condition or an update is found. Of each condition every clause is dropped once and flipped once,
// and every AND and OR; of each update every assignment is dropped and every removal.
func TestExpressions(t *testing.T) {
	_, all := libraryOf(t)
	seen, owners := 0, 0
	for _, s := range all {
		known := s.expressions()
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			if bound.MatchString(text) && !slices.ContainsFunc(known, func(e expression) bool { return strings.Contains(e.value, strings.TrimSpace(text)) }) {
				t.Errorf("%s: %q is no expression", s.file, text)
			}
			return true
		})
		mutants := ofExpressions(s)
		for _, e := range known {
			seen++
			name, what := e.value, map[string]int{}
			if e.name != "" {
				name = e.name
			}
			for _, m := range mutants {
				if _, change, ok := strings.Cut(m.name, " expression: "+name+": "); ok {
					what[change]++
				}
			}
			for _, clause := range comparison.FindAllString(e.value, -1) {
				if update(e.value) {
					break
				}
				if strings.HasPrefix(clause, "#owner = ") {
					owners++
				}
				flips := 0
				for change := range what {
					if !strings.HasPrefix(change, "without ") && (!strings.Contains(change, clause) || strings.Contains(change, "NOT "+clause)) {
						flips++
					}
				}
				if dropped := what["without "+whole(e.value, clause)]; dropped != 1 || flips == 0 {
					t.Errorf("%s: %q is dropped %d times and flipped %d times", name, clause, dropped, flips)
				}
			}
			if set, remove, removes := strings.Cut(strings.TrimPrefix(e.value, "SET "), " REMOVE "); update(e.value) {
				assignments := strings.Split(set, ", ")
				for _, a := range assignments {
					if len(assignments)+len(remove) > 1 && what["without "+a] != 1 {
						t.Errorf("%s: %q is dropped %d times, want once", name, a, what["without "+a])
					}
				}
				if removes && what["without REMOVE "+remove] != 1 {
					t.Errorf("%s: its removal is not dropped", name)
				}
			}
		}
	}
	if seen < 17 || owners < 4 {
		t.Errorf("got %d expressions and %d owner's clauses, want 17 and 4", seen, owners)
	}
}

// whole is a clause with the list behind its IN.
func whole(condition, clause string) string {
	if !strings.HasSuffix(clause, "(:") {
		return clause
	}
	_, list, _ := strings.Cut(condition, clause)
	list, _, _ = strings.Cut(list, ")")
	return clause + list + ")"
}

func TestChangesOfExpressions(t *testing.T) {
	for _, tt := range []struct {
		name string
		got  []changed
		want []string
	}{
		{"clauses of a condition", dropsOfCondition("#o = :o AND (#s = :a OR attribute_exists(b))"), []string{
			"(#s = :a OR attribute_exists(b))", "#o = :o AND (attribute_exists(b))", "#o = :o AND (#s = :a)",
		}},
		{"flips of a condition", flips("attribute_not_exists(i) OR e < :n AND a = :a"), []string{
			"attribute_exists(i) OR e < :n AND a = :a", "attribute_not_exists(i) AND e < :n AND a = :a",
			"attribute_not_exists(i) OR e >= :n AND a = :a", "attribute_not_exists(i) OR e <= :n AND a = :a",
			"attribute_not_exists(i) OR e < :n OR a = :a", "attribute_not_exists(i) OR e < :n AND a <> :a",
		}},
		{"groups", dropsOfCondition("a < :a AND (#s IN (:b, :c) OR (d = :d AND (attribute_exists(e) OR f <= :f)))"), []string{
			"(#s IN (:b, :c) OR (d = :d AND (attribute_exists(e) OR f <= :f)))", "a < :a AND ((d = :d AND (attribute_exists(e) OR f <= :f)))",
			"a < :a AND (#s IN (:b, :c) OR ((attribute_exists(e) OR f <= :f)))", "a < :a AND (#s IN (:b, :c) OR (d = :d AND (f <= :f)))",
			"a < :a AND (#s IN (:b, :c) OR (d = :d AND (attribute_exists(e))))",
		}},
		{"one alone", dropsOfCondition("f <= :f"), []string{"f <= :f OR NOT f <= :f"}},
		{"flips of one alone", flips("#s IN (:b, :c)"), []string{"NOT #s IN (:b, :c)"}},
		{"clauses of an update", dropsOfUpdate("SET #s = :s, b = :b REMOVE c"), []string{"SET b = :b REMOVE c", "SET #s = :s REMOVE c", "SET #s = :s, b = :b"}},
		{"a sum", dropsOfUpdate("SET b = b + :c"), []string{"SET b = b - :c"}},
	} {
		var got []string
		for _, c := range tt.got {
			got = append(got, c.value)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", tt.name, got, tt.want)
		}
	}
}
