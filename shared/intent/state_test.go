package intent_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"testing"

	"github.com/singleeffect/once/shared/intent"
)

var states = []intent.State{
	intent.StateClaimed, intent.StateReleased, intent.StateCompleted, intent.StateRefused, intent.StateInDoubt,
}

func TestStates(t *testing.T) {
	for _, s := range states {
		if !s.Known() {
			t.Errorf("%s is not known", s)
		}
		if got, want := s.Final(), s == intent.StateCompleted || s == intent.StateRefused; got != want {
			t.Errorf("%s is final: got %t", s, got)
		}
	}
	for _, s := range []intent.State{intent.StateAbsent, "elsewhere", "Claimed"} {
		if s.Known() || s.Final() {
			t.Errorf("%q is known or final", s)
		}
	}
}

// A final state is never left; every other one is entered and left; who creates
// a record finds none, and nobody else does.
func TestTransitions(t *testing.T) {
	entered, left := map[intent.State]bool{}, map[intent.State]bool{}
	for _, tr := range intent.Transitions {
		entered[tr.To], left[tr.From] = true, true
		if tr.From.Final() {
			t.Errorf("%s leaves the final state %s", tr.Verb, tr.From)
		}
		if !tr.To.Known() {
			t.Errorf("%s leads to %q", tr.Verb, tr.To)
		}
		if got, want := tr.Guard == intent.ByAbsence, tr.From == intent.StateAbsent; got != want {
			t.Errorf("%s from %q is guarded by %s", tr.Verb, tr.From, tr.Guard)
		}
	}
	for _, s := range states {
		if !entered[s] || left[s] == s.Final() {
			t.Errorf("%s: entered %t, left %t", s, entered[s], left[s])
		}
	}
}

func TestSources(t *testing.T) {
	for _, c := range []struct {
		to    intent.State
		guard intent.Guard
		want  []intent.State
	}{
		{intent.StateClaimed, intent.ByAbsence, []intent.State{intent.StateAbsent}},
		{intent.StateCompleted, intent.ByOwner, []intent.State{intent.StateClaimed, intent.StateInDoubt}},
		{intent.StateRefused, intent.ByOwner, []intent.State{intent.StateClaimed, intent.StateInDoubt}},
		{intent.StateReleased, intent.ByOwner, []intent.State{intent.StateClaimed}},
		{intent.StateInDoubt, intent.ByOwner, []intent.State{intent.StateClaimed}},
		{intent.StateClaimed, intent.ByOwner, []intent.State{intent.StateClaimed}},
		{intent.StateClaimed, intent.ByShown, []intent.State{intent.StateClaimed, intent.StateReleased, intent.StateClaimed}},
		{intent.StateInDoubt, intent.ByShown, []intent.State{intent.StateClaimed, intent.StateReleased}},
		{intent.StateReleased, intent.ByShown, []intent.State{intent.StateInDoubt}},
		{intent.StateInDoubt, intent.ByAbsence, nil},
	} {
		if got := intent.Sources(c.to, c.guard); !slices.Equal(got, c.want) {
			t.Errorf("to %s by %s: got %v, want %v", c.to, c.guard, got, c.want)
		}
	}
}

// The picture and the words of the package documentation have every state and
// every verb of the table, and every state constant has words of its own.
func TestDocumentationNamesTheTable(t *testing.T) {
	doc := comments(t, "doc.go")["package"]
	for _, tr := range intent.Transitions {
		for _, word := range []string{tr.Verb, string(tr.From), string(tr.To)} {
			if word != "" && !names(doc, word) {
				t.Errorf("package documentation does not name %s (%s leads from %q to %q)", word, tr.Verb, tr.From, tr.To)
			}
		}
	}
	if !names(doc, "absent") {
		t.Error("package documentation does not name absent")
	}
	described := comments(t, "state.go")
	for _, name := range []string{"StateAbsent", "StateClaimed", "StateReleased", "StateCompleted", "StateRefused", "StateInDoubt"} {
		if !names(described[name], name) {
			t.Errorf("%s says nothing of itself", name)
		}
	}
}

func names(text, word string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).MatchString(text)
}

// comments are a file's: the package's, and those of its constants.
func comments(t *testing.T, file string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"package": parsed.Doc.Text()}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for _, name := range spec.Names {
				all[name.Name] = spec.Doc.Text()
			}
		}
		return true
	})
	return all
}
