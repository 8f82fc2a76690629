package mutants

import (
	"go/ast"
	"go/parser"
	"go/types"
)

// compiles reports whether the package compiles with one edit of this file.
func (s *source) compiles(e edit) bool {
	changed, err := parser.ParseFile(s.set, s.file, apply(s.text, 0, len(s.text), e), parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	files := []*ast.File{changed}
	for _, f := range s.files {
		if f != s.syntax {
			files = append(files, f)
		}
	}
	_, err = (&types.Config{Importer: s.imports}).Check(s.pkg.Path(), s.set, files, nil)
	return err == nil
}
