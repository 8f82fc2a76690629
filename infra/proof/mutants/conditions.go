package mutants

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
)

// decisions are the files whose conditions decide what becomes of an intent, and
// wording their functions that only say so, or check a configuration.
var decisions = []string{
	"shared/intent/claim.go",
	"shared/intent/class.go",
	"shared/intent/config.go",
	"shared/intent/effect.go",
	"shared/intent/record.go",
	"shared/intent/run.go",
	"shared/intent/state.go",
	"shared/dynamo/expressions.go",
	"shared/dynamo/group.go",
	"shared/dynamo/item.go",
	"shared/dynamo/ledger.go",
	"shared/dynamo/result.go",
	"shared/dynamo/retry.go",
	"shared/dynamo/statement.go",
	"shared/dynamo/store.go",
	"shared/dynamo/transact.go",
	"shared/sqsbatch/batch.go",
	"shared/sqsbatch/envelope.go",
	"shared/sqsbatch/lane.go",
	"shared/sqsbatch/message.go",
	"shared/sqsbatch/quarantine.go",
	"shared/sqsbatch/visibility.go",
}

var wording = []string{"complain", "clip", "codes", "copyOf", "count", "printable", "size", "unwrap", "Validate", "validProbeAfter"}

// ofConditions makes two mutants of each part of each condition in a file: it always
// holds, it never holds. So each check of an owner, a state, a lease or a window is
// removed once, whichever way it faces; one that is negated would differ in more
// cases, and is easier to kill.
func ofConditions(file, source string) ([]mutant, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, source, 0)
	if err != nil {
		return nil, err
	}
	var found []mutant
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || slices.Contains(wording, fn.Name.Name) {
			continue
		}
		for _, c := range conditions(fn.Body) {
			start, end := set.Position(c.Pos()).Offset, set.Position(c.End()).Offset
			text := source[start:end]
			if text == "err != nil" {
				continue // passes an error on
			}
			name := fmt.Sprintf("%s/%s %s: %s: ", path.Base(path.Dir(file)), strings.TrimSuffix(path.Base(file), ".go"),
				fn.Name.Name, strings.Join(strings.Fields(text), " "))
			found = append(found, mutant{name + "always", file, edit{start, end, "((" + text + ") || true)"}},
				mutant{name + "never", file, edit{start, end, "((" + text + ") && false)"}})
		}
	}
	return found, nil
}

// conditions are the parts of conditions in a body, in their order, none of them made
// of others by && or ||.
func conditions(body ast.Node) (parts []ast.Expr) {
	seen := map[ast.Expr]bool{}
	var split func(e ast.Expr)
	split = func(e ast.Expr) {
		if e == nil || seen[e] {
			return
		}
		seen[e] = true
		switch e := e.(type) {
		case *ast.ParenExpr:
			split(e.X)
			return
		case *ast.BinaryExpr:
			if e.Op == token.LAND || e.Op == token.LOR {
				split(e.X)
				split(e.Y)
				return
			}
		}
		parts = append(parts, e)
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			split(n.Cond)
		case *ast.ForStmt:
			split(n.Cond)
		case *ast.SwitchStmt:
			if n.Tag != nil {
				break
			}
			for _, clause := range n.Body.List {
				for _, e := range clause.(*ast.CaseClause).List {
					split(e)
				}
			}
		case *ast.BinaryExpr: // wherever else it stands
			switch n.Op {
			case token.LAND, token.LOR, token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
				split(n)
			}
		}
		return true
	})
	return parts
}
