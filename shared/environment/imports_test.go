package environment_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/singleeffect/once"

// mayImport is the one way in which imports go: of this module's packages, the
// library's and then a function's. A package that is not here has no place yet.
var mayImport = map[string][]string{
	"shared/intent":      nil,
	"shared/dynamo":      {"shared/intent"},
	"shared/sqsbatch":    {"shared/intent"},
	"shared/telemetry":   {"shared/intent"},
	"shared/secret":      nil,
	"shared/arrival":     nil,
	"shared/environment": {"shared/intent", "shared/dynamo", "shared/sqsbatch", "shared/telemetry"},
	"functions/*":        {"shared/intent", "shared/dynamo", "shared/sqsbatch", "shared/telemetry", "shared/environment", "shared/secret", "shared/arrival"},
	// What reads template.yaml, and its rules: of the library, the names and the limits that the code has.
	"infra/template":  nil,
	"infra/doctor":    {"infra/template", "shared/intent", "shared/telemetry"},
	"infra/intentctl": {"infra/doctor", "infra/template"},
	// What tests are made of, and nothing else: the packages below it, too.
	"shared/intenttest": {"shared/intent", "shared/intenttest/memdb", "shared/intenttest/calls", "shared/intenttest/queue"},
}

// What is built into a function imports one way, and nothing that tests are made
// of; the core imports the standard library alone.
func TestImportsGoOneWay(t *testing.T) {
	seen := map[string]bool{}
	for file, imports := range production(t, "../..") {
		place := path.Dir(file)
		if strings.HasPrefix(place, "functions/") {
			place = "functions/*"
		}
		if strings.HasPrefix(place, "shared/intenttest/") {
			place = "shared/intenttest"
		}
		allowed, known := mayImport[place]
		if !known {
			t.Errorf("%s: nothing says what its package may import", file)
		}
		seen[place] = true
		for _, imported := range imports {
			own, ours := strings.CutPrefix(imported, module+"/")
			switch {
			case ours && !slices.Contains(allowed, own):
				t.Errorf("%s imports %s, and may import %v", file, own, allowed)
			case !ours && place == "shared/intent" && strings.Contains(strings.SplitN(imported, "/", 2)[0], "."):
				t.Errorf("%s imports %s: the core imports the standard library alone", file, imported)
			}
		}
	}
	for place := range mayImport {
		if !seen[place] {
			t.Errorf("%s has no files: the table is out of date", place)
		}
	}
}

// production is the imports of every file of this module that is not a test's,
// by its path from the root.
func production(t *testing.T, root string) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		if entry.IsDir() {
			_, err := os.Stat(filepath.Join(name, "go.mod"))
			if relative != "." && (err == nil || strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") {
				return fs.SkipDir // a module of its own, or none of Go's
			}
			return nil
		}
		if !strings.HasSuffix(relative, ".go") || strings.HasSuffix(relative, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		files[relative] = nil
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			files[relative] = append(files[relative], imported)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
