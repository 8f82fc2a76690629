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

// Each constant of expressions.go is found, and each of its clauses is dropped.
func TestExpressions(t *testing.T) {
	source, err := read(library(t), expressionsFile)
	if err != nil {
		t.Fatal(err)
	}
	found, err := ofExpressions(source)
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^\t(condition|update)\w+ +=`).FindAllString(source, -1)
	if len(declared) < 10 {
		t.Fatalf("got %d constants, want ten or more", len(declared))
	}
	for _, d := range declared {
		name, _, _ := strings.Cut(strings.TrimSpace(d), " ")
		drops := 0
		for _, m := range found {
			if strings.HasPrefix(m.name, name+": without ") {
				drops++
			}
		}
		if drops < 2 {
			t.Errorf("%s: %d clauses dropped, want two or more", name, drops)
		}
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
