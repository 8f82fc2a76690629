package mutants

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// ofConditions makes two mutants of each part of each condition: it always holds, it
// never holds. So each check of an owner, a state, a lease or a window is
// removed once, whichever way it faces; one that is negated would differ in more
// cases, and is easier to kill. An error that is passed on is only ever ignored.
func ofConditions(s *source) (found []mutant) {
	seen := map[ast.Expr]bool{}
	s.walk(func(n ast.Node, outer []ast.Node) {
		for _, c := range conditions(n, seen) {
			if s.constant(c) {
				continue
			}
			text := s.short(c) + s.after(c, n, outer)
			if !s.passesOn(c) {
				found = append(found, s.mutant("condition", text+": always", c, s.around(c, "((", ") || true)")...))
			}
			found = append(found, s.mutant("condition", text+": never", c, s.around(c, "((", ") && false)")...))
		}
	})
	return found
}

// after tells a condition of one variable from others of its name: by the statement that gives the variable its value,
// where that stands right before it.
func (s *source) after(c ast.Expr, n ast.Node, outer []ast.Node) string {
	if not, ok := c.(*ast.UnaryExpr); ok {
		c = not.X
	}
	if b, ok := c.(*ast.BinaryExpr); ok && s.info.Types[b.Y].IsNil() {
		c = b.X
	}
	variable, ok := c.(*ast.Ident)
	in, isIf := n.(*ast.IfStmt)
	if !ok || !isIf {
		return ""
	}
	before := in.Init
	if block, ok := outer[len(outer)-1].(*ast.BlockStmt); ok && before == nil {
		if i := slices.Index(block.List, ast.Stmt(in)); i > 0 {
			before = block.List[i-1]
		}
	}
	if a, ok := before.(*ast.AssignStmt); ok {
		for _, left := range a.Lhs {
			if id, ok := left.(*ast.Ident); ok && id.Name == variable.Name {
				return " after " + s.short(a)
			}
		}
	}
	return ""
}

// passesOn reports `err != nil`.
func (s *source) passesOn(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	return ok && b.Op == token.NEQ && types.Identical(s.typeOf(b.X), types.Universe.Lookup("error").Type()) && s.info.Types[b.Y].IsNil()
}

// joins reports a condition that is made of others.
func joins(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	return ok && (b.Op == token.LAND || b.Op == token.LOR)
}

// conditions are the parts of the conditions that a node is or has, in their order,
// none of them made of others by && or ||, and none that was seen before.
func conditions(n ast.Node, seen map[ast.Expr]bool) (parts []ast.Expr) {
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
		case *ast.UnaryExpr:
			if x := ast.Unparen(e.X); e.Op == token.NOT && !joins(x) {
				seen[x] = true // it always holds where this never does
			}
		case *ast.BinaryExpr:
			if joins(e) {
				split(e.X)
				split(e.Y)
				return
			}
		}
		parts = append(parts, e)
	}
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
	return parts
}
