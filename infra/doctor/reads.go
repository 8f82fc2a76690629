package doctor

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// module is the path that the project's own packages begin with.
const module = "github.com/singleeffect/once/"

// lookups are what reads an environment variable: those of shared/environment, and of os.
var lookups = []string{"Required", "Optional", "Whole", "Switch", "Here", "Getenv", "LookupEnv"}

// Reads returns the names of the environment variables that each function's code reads, sorted, by the function's folder: those in its
// package, and in the project's packages that it is built of, but for AWS_…, which Lambda sets whatever a template declares. root is the
// project's folder.
//
// A name is a string literal where it is read. One that is not would go unseen, so it is an error.
func Reads(root string) (map[string][]string, error) {
	folders, err := os.ReadDir(filepath.Join(root, "functions"))
	if err != nil {
		return nil, fmt.Errorf("list functions: %w", err)
	}
	reads := map[string][]string{}
	for _, folder := range folders {
		r := reader{root: root, seen: map[string]bool{}, names: map[string]bool{}}
		if err := r.read("functions/" + folder.Name()); err != nil {
			return nil, err
		}
		reads[folder.Name()] = slices.Sorted(maps.Keys(r.names))
	}
	return reads, nil
}

type reader struct {
	root  string
	seen  map[string]bool // packages, by their path from the root
	names map[string]bool
}

// read reads one package and then those that it imports.
func (r *reader) read(path string) error {
	if r.seen[path] {
		return nil
	}
	r.seen[path] = true
	files, err := filepath.Glob(filepath.Join(r.root, filepath.FromSlash(path), "*.go"))
	if err != nil {
		return err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if err := r.file(set, file); err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if own, ok := strings.CutPrefix(imported, module); ok {
				if err := r.read(own); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *reader) file(set *token.FileSet, file *ast.File) error {
	var unseen error
	ast.Inspect(file, func(n ast.Node) bool {
		// A lookup may be made of another one, with the name that it was given.
		if f, ok := n.(*ast.FuncDecl); ok && slices.Contains(lookups, f.Name.Name) {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		if f, ok := call.Fun.(*ast.SelectorExpr); !ok || !slices.Contains(lookups, f.Sel.Name) {
			return true
		}
		literal, ok := call.Args[0].(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			unseen = fmt.Errorf("%s: the name of an environment variable is no string literal", set.Position(call.Pos()))
			return true
		}
		name, err := strconv.Unquote(literal.Value)
		if err != nil {
			unseen = err
		}
		if !strings.HasPrefix(name, "AWS_") {
			r.names[name] = true
		}
		return true
	})
	return unseen
}
