package mutants

import (
	"context"
	"strings"
	"testing"
)

// byHand is the mutant that a text makes of claim.go.
func byHand(t *testing.T, roots map[string]string, name, old, with string) mutant {
	t.Helper()
	source, err := read(roots["library"], claimFile)
	if err != nil {
		t.Fatal(err)
	}
	e, err := replacement(claimFile, source, old, with)
	if err != nil {
		t.Fatal(err)
	}
	return mutant{name, claimFile, e}
}

// A mutant that breaks the protocol is killed, and not the code as it is, and not one
// that is the same code.
func TestKill(t *testing.T) {
	roots, err := modules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const skew = "return rec.LeaseUntil.Add(r.SkewMargin).Sub(r.Now())"
	l, err := newLab(t.Context(), roots, []mutant{
		byHand(t, roots, "same", skew, skew),
		byHand(t, roots, "broken", skew, "return rec.LeaseUntil.Sub(r.Now())"),
		byHand(t, roots, "panics", skew, `panic("here")`),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	first := l.trials[0]
	if err := first.ready(); err != nil { // the code as it is
		t.Fatal(err)
	}
	for i, want := range []string{"", "Test", "panics"} {
		var r Result
		got, err := l.killedBy(t.Context(), first, i+1, &r)
		if err != nil || !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("mutant %d: got %q and error %v, want %q", i+1, got, err, want)
		}
	}
}

// What does not compile is no kill.
func TestThatDoesNotCompile(t *testing.T) {
	roots, err := modules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := byHand(t, roots, "nonsense", "shown.Attempt + 1", "shown.Nonsense")
	l, err := newLab(t.Context(), roots, []mutant{m})
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if r, err := l.kill(t.Context(), m, 1); err == nil || !strings.Contains(err.Error(), "Nonsense") || r.Killer != "" {
		t.Errorf("got %+v and error %v, want the compiler's", r, err)
	}
}

func TestRunIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := Run(ctx, nil, func(Result) {}); err == nil {
		t.Errorf("got %+v, want an error", r)
	}
}

func TestFailure(t *testing.T) {
	for _, tt := range []struct{ output, name, how string }{
		{"=== RUN   TestA\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n        --- FAIL: TestA/b/c (0.00s)\n--- FAIL: TestD (0.00s)\nFAIL\n", "TestA/b/c", ""},
		{"=== RUN   TestA\n=== RUN   TestA/b\n\npanic: no\n", "TestA/b", "panics"},
		{"=== RUN   TestA\npanic: test timed out after 1s\n", "TestA", "hangs"},
		{"=== RUN   TestA\n--- FAIL: TestA (0.00s)\npanic: no [recovered]\n", "TestA", "panics"},
		{"exit status 1\n", "", ""},
	} {
		if name, how := failure(tt.output); name != tt.name || how != tt.how {
			t.Errorf("got %q, %q, want %q, %q of\n%s", name, how, tt.name, tt.how, tt.output)
		}
	}
}

// All mutants together compile.
func TestCompile(t *testing.T) {
	roots, err := modules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mutants, err := all(roots["library"])
	if err != nil {
		t.Fatal(err)
	}
	list, err := overlay(t.TempDir(), roots["library"], mutants)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(t.Context(), roots["library"], "go", "build", "-gcflags=-e", "-overlay", list, "./shared/...", "./functions/..."); err != nil {
		t.Error(err)
	}
}
