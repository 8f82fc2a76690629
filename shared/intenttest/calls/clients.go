package calls

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	own = module + "shared/intenttest/calls"
	sdk = "github.com/aws/aws-sdk-go-v2/"
)

// recorded returns an error for each place in a function's package that makes clients which nobody records.
func recorded(folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	var errs []error
	for _, name := range files {
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		w := &clients{set: set, imports: map[string]string{}, allowed: map[ast.Node]bool{}}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			local := path.Base(imported)
			if spec.Name != nil {
				local = spec.Name.Name
			}
			w.imports[local] = imported
		}
		ast.Inspect(file, w.look)
		errs = append(errs, w.errs...)
	}
	return errors.Join(errs...)
}

// clients looks for what clients are made of in one file.
type clients struct {
	set     *token.FileSet
	imports map[string]string
	allowed map[ast.Node]bool
	errs    []error
}

// packageOf is the import path of the package in which an expression names this; empty where it does not.
func (c *clients) packageOf(e ast.Expr, name string) string {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != name {
		return ""
	}
	of, ok := selector.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return c.imports[of.Name]
}

func (c *clients) look(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		if c.packageOf(n.Fun, "Config") == own && len(n.Args) == 1 {
			c.allowed[n.Args[0]] = true
		}
		if c.packageOf(n.Fun, "NewVariables") == module+"shared/environment" && (len(n.Args) != 2 || c.packageOf(n.Args[1], "Record") != own) {
			c.fail(n, "environment.NewVariables without calls.Record")
		}
	case *ast.CompositeLit:
		if c.packageOf(n.Type, "Config") == sdk+"aws" && !c.allowed[n] {
			c.fail(n, "an aws.Config that is not made by calls.Config")
		}
		if strings.HasPrefix(c.packageOf(n.Type, "Options"), sdk+"service/") {
			c.fail(n, "a client of its own Options, and not of calls.Config")
		}
	}
	return true
}

func (c *clients) fail(n ast.Node, what string) {
	c.errs = append(c.errs, fmt.Errorf("%s: %s: nobody would record its calls", c.set.Position(n.Pos()), what))
}
