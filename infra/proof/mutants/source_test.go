package mutants

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// roots are where the modules lie, and decided their decision packages: loaded once for all tests.
var roots = sync.OnceValues(func() (map[string]string, error) { return modules(ctx) })

var decided = sync.OnceValues(func() ([]*source, error) {
	at, err := roots()
	if err != nil {
		return nil, err
	}
	return sources(ctx, at["library"], nil, decisions...)
})

// with loads a file with the rest of its package.
func with(t *testing.T, file, text string) *source {
	t.Helper()
	at, err := roots()
	if err != nil {
		t.Fatal(err)
	}
	all, err := sources(ctx, at["library"], map[string][]byte{filepath.Join(at["library"], filepath.FromSlash(file)): []byte(text)}, "./"+path.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.file == file {
			return s
		}
	}
	t.Fatalf("%s is not read", file)
	return nil
}

// libraryOf is where the sources lie, and what they are.
func libraryOf(t *testing.T) (root string, all []*source) {
	t.Helper()
	at, err := roots()
	if err != nil {
		t.Fatal(err)
	}
	all, err = decided()
	if err != nil {
		t.Fatal(err)
	}
	return at["library"], all
}

// Every file of the packages that decide is mutated, and no name is of two mutants.
func TestEveryFileIsMutated(t *testing.T) {
	root, all := libraryOf(t)
	mutated := map[string]bool{}
	for _, s := range all {
		mutated[s.file] = true
	}
	left := map[string]bool{}
	for _, pattern := range []string{"shared/intent/*.go", "shared/dynamo/*.go", "shared/sqsbatch/*.go", "functions/*/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, error %v", pattern, len(files), err)
		}
		for _, file := range files {
			file, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			file = filepath.ToSlash(file)
			if pattern, ok := undecidedBy(file); ok {
				left[pattern] = true
			} else if !strings.HasSuffix(file, "_test.go") && !mutated[file] {
				t.Errorf("%s is not mutated", file)
			}
		}
	}
	if len(left) < len(undecided) {
		t.Errorf("of the files that decide nothing only %q are files", slices.Sorted(maps.Keys(left)))
	}
}

// least is how many mutants there were when they were written by hand; of each operator there is one in each package that it is about.
const least = 761

func TestDerive(t *testing.T) {
	_, all := libraryOf(t)
	found, err := derive(all)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < least {
		t.Errorf("got %d mutants, want %d or more", len(found), least)
	}
	names, of := map[string]bool{}, map[string]int{}
	for _, m := range found {
		if names[m.name] {
			t.Errorf("two mutants are %q", m.name)
		}
		names[m.name] = true
		of[m.operator]++
	}
	for _, operator := range []string{"bound", "code", "condition", "expression", "field", "key", "kind", "later", "left out", "open", "order", "statement", "time", "verdict"} {
		if of[operator] == 0 {
			t.Errorf("there is no mutant of the operator %q", operator)
		}
	}
	for _, p := range explored {
		if !slices.ContainsFunc(found, func(m mutant) bool {
			what, ok := strings.CutPrefix(m.name, "intent ")
			return ok && p.MatchString(what)
		}) {
			t.Errorf("no mutant is %q, which the explorer is to find", p)
		}
	}
	if t.Logf("%d mutants: %v", len(found), of); len(of) != 14 {
		t.Errorf("got %d operators, want 14", len(of))
	}
}
