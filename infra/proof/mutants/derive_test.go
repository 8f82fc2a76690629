package mutants

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// library is where the sources are that are mutated.
func library(t *testing.T) string {
	t.Helper()
	roots, err := modules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return roots["library"]
}

// comparison is any clause of a condition, as whoever reads one finds it.
var comparison = regexp.MustCompile(`attribute_(not_)?exists\([#\w]+\)|[#\w]+ (=|<=|>=|<) :\w+|[#\w]+ IN \([^)]*\)`)

// Each constant that is a condition or an update is found. Of each condition every
// clause is dropped once and flipped once, and every AND and OR; of each update every
// assignment is dropped and every removal.
func TestExpressions(t *testing.T) {
	root := library(t)
	seen, owners := 0, 0
	for _, file := range expressionFiles {
		source, err := read(root, file)
		if err != nil {
			t.Fatal(err)
		}
		all, _, err := expressions(file, source)
		if err != nil {
			t.Fatal(err)
		}
		mutants, err := ofExpressions(file, source)
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]string{}
		for _, e := range all {
			values[e.name] = e.value
		}
		for _, d := range regexp.MustCompile(`(?m)^\t(condition|update)\w+ +=`).FindAllString(source, -1) {
			seen++
			name, _, _ := strings.Cut(strings.TrimSpace(d), " ")
			value := values[name]
			dropped := map[string]int{}
			var flips []string
			for _, m := range mutants {
				if what, ok := strings.CutPrefix(m.name, name+": "); ok {
					if clause, ok := strings.CutPrefix(what, "without "); ok {
						dropped[clause]++
					} else {
						flips = append(flips, what)
					}
				}
			}
			var clauses []string
			if strings.HasPrefix(name, "condition") {
				clauses = comparison.FindAllString(value, -1)
				if want := len(clauses) + len(joint.FindAllString(value, -1)); len(flips) != want {
					t.Errorf("%s: got %d flips, want %d of %s", name, len(flips), want, value)
				}
			} else {
				set, remove, removes := strings.Cut(strings.TrimPrefix(value, "SET "), " REMOVE ")
				clauses = strings.Split(set, ", ")
				if removes {
					clauses = append(clauses, "REMOVE "+remove)
				}
			}
			for _, clause := range clauses {
				if dropped[clause] != 1 {
					t.Errorf("%s: %q is dropped %d times, want once", name, clause, dropped[clause])
				}
				if strings.HasPrefix(name, "condition") && !slices.ContainsFunc(flips, func(f string) bool { return !strings.Contains(f, clause) || strings.Contains(f, "NOT "+clause) }) {
					t.Errorf("%s: %q is not flipped", name, clause)
				}
				if strings.HasPrefix(name, "condition") && strings.HasPrefix(clause, "#owner = ") {
					owners++
				}
			}
			if len(dropped) != len(clauses) {
				t.Errorf("%s: got %d clauses dropped, want %q", name, len(dropped), clauses)
			}
		}
	}
	if seen < 13 || owners != 4 {
		t.Errorf("got %d expressions and %d owner's clauses, want 13 and 4", seen, owners)
	}
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
			"attribute_exists(i) OR e < :n AND a = :a", "attribute_not_exists(i) AND e < :n AND a = :a", "attribute_not_exists(i) OR e >= :n AND a = :a",
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

func TestConditions(t *testing.T) {
	found, err := ofConditions("shared/intent/a.go", `package intent
func f(a, b int) bool {
	if err := g(); err != nil || a == 1 && !(b < 2) {
		return a > b
	}
	switch {
	case g() == nil:
	}
	return false
}`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range found {
		got = append(got, strings.TrimPrefix(m.name, "intent/a f: "))
	}
	want := []string{"a == 1: always", "a == 1: never", "!(b < 2): always", "!(b < 2): never", "b < 2: always", "b < 2: never",
		"a > b: always", "a > b: never", "g() == nil: always", "g() == nil: never"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Every text that a mutant by hand replaces is there, once, and no two mutants share
// their name.
func TestNames(t *testing.T) {
	found, err := all(library(t))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range found {
		if seen[m.name] {
			t.Errorf("two mutants are %q", m.name)
		}
		seen[m.name] = true
	}
	for _, s := range steps {
		if !seen[s.name] {
			t.Errorf("no mutant is %q", s.name)
		}
	}
	for _, name := range []string{"intent/run end: standing.Owner == next.Owner: always", "dynamo/ledger outcome: standing.Owner == ours.Owner: always"} {
		if !seen[name] {
			t.Errorf("no mutant is %q: an owner's check is not removed", name)
		}
	}
}

func TestTextThatIsNotThereOnce(t *testing.T) {
	for _, old := range []string{"nowhere", "a"} {
		if _, err := replacement("file", "a b a", old, ""); err == nil {
			t.Errorf("%q was replaced", old)
		}
	}
}
