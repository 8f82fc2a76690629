package mutants

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// decisions are the packages whose code decides what becomes of an intent. Every file in them is mutated but for those of
// undecided: a new file or package is found by itself.
var decisions = []string{"./shared/intent/...", "./shared/dynamo/...", "./shared/sqsbatch/...", "./functions/..."}

// undecided are the files that decide nothing, each with why; a star stands for a function.
var undecided = map[string]string{
	"functions/*/main.go":        "wiring, whose faults end the function at its start",
	"shared/intent/canonical.go": "the canonical form, which a fuzz test holds to another package's",
}

// source is one file of the library with its types.
type source struct {
	file    string // from the root of the library
	text    string
	syntax  *ast.File
	set     *token.FileSet
	pkg     *types.Package
	info    *types.Info
	files   []*ast.File       // of the package
	imports types.Importer    // of the package
	aliases map[string]string // of the imports that only mutants need, by path
}

// sources loads packages of the library that lies there. replaced are files to read in place of those on the disk.
func sources(ctx context.Context, root string, replaced map[string][]byte, patterns ...string) ([]*source, error) {
	set := token.NewFileSet()
	pkgs, err := packages.Load(&packages.Config{
		Context: ctx, Dir: root, Fset: set, Overlay: replaced,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	var all []*source
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %w", p.PkgPath, p.Errors[0])
		}
		for _, f := range p.Syntax {
			name := set.Position(f.Package).Filename
			file, err := filepath.Rel(root, name)
			if err != nil {
				return nil, err
			}
			file = filepath.ToSlash(file)
			if _, ok := undecidedBy(file); ok {
				continue
			}
			text, ok := replaced[name]
			if !ok {
				if text, err = os.ReadFile(name); err != nil {
					return nil, err
				}
			}
			all = append(all, &source{
				file: file, text: string(text), syntax: f, set: set, pkg: p.Types, info: p.TypesInfo, files: p.Syntax,
				imports: loaded(p.Imports), aliases: map[string]string{},
			})
		}
	}
	return all, nil
}

// undecidedBy is the pattern of undecided that a file matches.
func undecidedBy(file string) (pattern string, ok bool) {
	for pattern := range undecided {
		if matches, err := path.Match(pattern, file); err == nil && matches {
			return pattern, true
		}
	}
	return "", false
}

// loaded are the packages that one imports.
type loaded map[string]*packages.Package

func (l loaded) Import(path string) (*types.Package, error) {
	if p := l[path]; p != nil && p.Types != nil {
		return p.Types, nil
	}
	return nil, errors.New("not imported")
}

// of is the text of a node.
func (s *source) of(n ast.Node) string { return s.text[s.at(n.Pos()):s.at(n.End())] }

// at is the byte of a position.
func (s *source) at(p token.Pos) int { return s.set.Position(p).Offset }

// short is the text of a node in one line, without its particulars where it is long.
func (s *source) short(n ast.Node) string {
	text := strings.Join(strings.Fields(s.of(n)), " ")
	const most = 120
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && text[cut]&0xc0 == 0x80 {
		cut--
	}
	return text[:cut] + "…"
}

// typeOf is the type of an expression; nil if it has none.
func (s *source) typeOf(e ast.Expr) types.Type { return s.info.TypeOf(e) }

// constant reports whether an expression's value is known to the compiler.
func (s *source) constant(e ast.Expr) bool { return s.info.Types[e].Value != nil }

// write is a type as this file can name it. False: it cannot.
func (s *source) write(t types.Type) (string, bool) {
	ok := true
	text := types.TypeString(t, func(p *types.Package) string {
		if p == s.pkg {
			return ""
		}
		if strings.Contains(p.Path(), "/internal/") {
			ok = false
		}
		alias := "mutant_" + strings.NewReplacer("/", "_", ".", "_", "-", "_").Replace(p.Path())
		s.aliases[p.Path()] = alias
		return alias
	})
	return text, ok && !strings.Contains(text, "untyped")
}

// callee is the function or method that a call names; nil if it calls a value.
func (s *source) callee(c *ast.CallExpr) *types.Func {
	fun := ast.Unparen(c.Fun)
	if i, ok := fun.(*ast.IndexExpr); ok {
		fun = i.X
	}
	switch f := fun.(type) {
	case *ast.Ident:
		fn, _ := s.info.Uses[f].(*types.Func)
		return fn
	case *ast.SelectorExpr:
		fn, _ := s.info.Uses[f.Sel].(*types.Func)
		return fn
	}
	return nil
}

// signature is of what a call calls; nil for a conversion and a builtin.
func (s *source) signature(c *ast.CallExpr) *types.Signature {
	t := s.info.Types[c.Fun]
	if t.IsType() || t.IsBuiltin() || t.Type == nil {
		return nil
	}
	sig, _ := t.Type.Underlying().(*types.Signature)
	return sig
}

// says reports code that only says what happened: an error's text and a line of the log.
func (s *source) says(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return n.Name.Name == "Error" && n.Recv != nil || s.onlyLogs(n)
	case *ast.CompositeLit:
		t := s.typeOf(n)
		return t != nil && (types.Implements(t, anError) || types.Implements(types.NewPointer(t), anError))
	case *ast.CallExpr:
		fn := s.callee(n)
		if fn == nil || fn.Pkg() == nil {
			return false
		}
		return slices.Contains([]string{"fmt", "errors", "log/slog"}, fn.Pkg().Path()) && fn.Name() != "As" && fn.Name() != "Is" && fn.Name() != "Join"
	}
	return false
}

// onlyLogs reports a function that writes a line of the log and does nothing else.
func (s *source) onlyLogs(f *ast.FuncDecl) bool {
	if f == nil || f.Body == nil || f.Type.Results != nil {
		return false
	}
	logs, acts := false, false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			logs = logs || s.logs(c)
			acts = acts || !s.says(c) && s.takesContext(c)
		}
		return true
	})
	return logs && !acts
}

// declaration is where a function of this package is declared; nil if it is not.
func (s *source) declaration(fn *types.Func) *ast.FuncDecl {
	for _, f := range s.files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && fn != nil && s.info.Defs[d.Name] == fn.Origin() {
				return d
			}
		}
	}
	return nil
}

// logs reports a call that writes a line of the log.
func (s *source) logs(c *ast.CallExpr) bool {
	fn := s.callee(c)
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == "log/slog" && fn.Signature().Recv() != nil
}

var anError = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// walk visits what a file's functions and variables are made of, the outermost first, but for what only says what happened.
func (s *source) walk(visit func(n ast.Node, outer []ast.Node)) {
	for _, d := range s.syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body == nil || s.says(d) {
				continue
			}
		case *ast.GenDecl:
			if d.Tok != token.VAR {
				continue
			}
		}
		ast.PreorderStack(d, nil, func(n ast.Node, outer []ast.Node) bool {
			if s.says(n) {
				return false
			}
			visit(n, outer)
			return true
		})
	}
}

// mutant makes one of an operator. text is what it breaks.
func (s *source) mutant(operator, text string, at ast.Node, edits ...edit) mutant {
	return mutant{
		name:     path.Base(path.Dir(s.file)) + " " + operator + ": " + text,
		function: s.within(at), operator: operator, file: s.file, line: s.set.Position(at.Pos()).Line, edits: edits,
	}
}

// within names the function that a node stands in; empty if it stands in none.
func (s *source) within(n ast.Node) string {
	for _, d := range s.syntax.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Pos() <= n.Pos() && n.End() <= f.End() {
			return f.Name.Name
		}
	}
	return ""
}

// around puts something before and behind a node.
func (s *source) around(n ast.Node, before, behind string) []edit {
	return []edit{{s.at(n.Pos()), s.at(n.Pos()), before}, {s.at(n.End()), s.at(n.End()), behind}}
}

// instead puts a text in the place of a node.
func (s *source) instead(n ast.Node, text string) edit {
	return edit{s.at(n.Pos()), s.at(n.End()), text}
}

// is reports whether a type is the named one.
func is(t types.Type, pkg, name string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == name && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == pkg
}

func isTime(t types.Type) bool     { return t != nil && is(t, "time", "Time") }
func isDuration(t types.Type) bool { return t != nil && is(t, "time", "Duration") }
