package mutants

import (
	"context"
	"strings"
	"testing"
)

// ctx is of what all tests share.
var ctx = context.Background()

// skewed is the mutant that takes a claim over without the skew margin, and where it stands.
func skewed(t *testing.T) (all []*source, of *source, m mutant) {
	t.Helper()
	_, all = libraryOf(t)
	for _, s := range all {
		for _, m := range ofTimes(s) {
			if strings.Contains(m.name, "LeaseUntil.Add(r.SkewMargin): without") {
				return all, s, m
			}
		}
	}
	t.Fatal("no mutant is without the skew margin")
	return nil, nil, mutant{}
}

// A mutant that breaks the protocol is killed, and not the code as it is, and not one
// that is the same code.
func TestKill(t *testing.T) {
	all, s, broken := skewed(t)
	at, err := roots()
	if err != nil {
		t.Fatal(err)
	}
	same, panics, turns := broken, broken, broken
	same.edits = []edit{{broken.start(), broken.end(), s.text[broken.start():broken.end()]}}
	panics.edits = []edit{{broken.start(), broken.end(), `func() mutantTime { panic("here") }()`}}
	turns.edits = []edit{{broken.start(), broken.end(), `func() mutantTime { for { } }()`}}
	l, err := newLab(t.Context(), at, all, []mutant{same, broken, panics, turns})
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	first := l.trials[0]
	if err := first.ready(); err != nil { // the code as it is
		t.Fatal(err)
	}
	for i, want := range []string{"", "Test", "panics", "hangs"} {
		var r Result
		got, err := l.killedBy(t.Context(), first, i+1, &r)
		if err != nil || !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("mutant %d: got %q and error %v, want %q", i+1, got, err, want)
		}
	}
}

// What does not compile is no kill.
func TestThatDoesNotCompile(t *testing.T) {
	all, _, m := skewed(t)
	at, err := roots()
	if err != nil {
		t.Fatal(err)
	}
	m.edits = []edit{{m.start(), m.end(), "rec.Nonsense"}}
	l, err := newLab(t.Context(), at, all, []mutant{m})
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
	root, all := libraryOf(t)
	mutants, err := derive(all)
	if err != nil {
		t.Fatal(err)
	}
	list, err := overlay(t.TempDir(), root, all, mutants)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(t.Context(), root, "go", append([]string{"build", "-gcflags=-e", "-overlay", list}, decisions...)...); err != nil {
		t.Error(err)
	}
}

// A mutant that changes a request keeps it one that DynamoDB takes: no value is defined and not used.
func TestUsed(t *testing.T) {
	_, all := libraryOf(t)
	n := 0
	for _, s := range all {
		for _, e := range s.used() {
			if e.text == "mutantUsed(" {
				n++
			}
		}
	}
	if n < 8 {
		t.Errorf("got %d sets of names and values, want 8 or more", n)
	}
}
