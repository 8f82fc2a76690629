package mutants

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// ofStatements leaves out each statement that is done for what it does: a call whose
// result nobody uses, a wait, an assignment, one that is deferred or runs beside. Left
// alone is what only frees memory.
func ofStatements(s *source) (found []mutant) {
	s.walk(func(n ast.Node, outer []ast.Node) {
		if !s.leftOut(n, outer) {
			return
		}
		found = append(found, s.mutant("left out", s.short(n), n, s.around(n, "if false { ", " }")...))
	})
	return found
}

func (s *source) leftOut(n ast.Node, outer []ast.Node) bool {
	if len(outer) > 0 {
		switch in := outer[len(outer)-1].(type) {
		case *ast.BlockStmt, *ast.CaseClause:
		case *ast.CommClause:
			if in.Comm == n {
				return false
			}
		default:
			return false // it is a part of a statement
		}
	}
	switch n := n.(type) {
	case *ast.ExprStmt:
		c, ok := n.X.(*ast.CallExpr)
		return !ok || !s.says(c) && !s.builtin(c, "panic") && !s.locks(c)
	case *ast.DeferStmt:
		return !s.frees(n.Call) && !s.locks(n.Call)
	case *ast.GoStmt:
		return true
	case *ast.AssignStmt:
		return n.Tok != token.DEFINE && slices.ContainsFunc(n.Lhs, stored)
	case *ast.IncDecStmt:
		return stored(n.X)
	}
	return false
}

// stored reports what outlives a function's own variables: a field, an element, what a pointer points to; and what is
// not kept at all.
func stored(e ast.Expr) bool {
	i, ok := e.(*ast.Ident)
	return !ok || i.Name == "_"
}

// locks reports a call of package sync, for which there is the race detector.
func (s *source) locks(c *ast.CallExpr) bool {
	fn := s.callee(c)
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == "sync" && fn.Signature().Recv() != nil && strings.HasSuffix(fn.Name(), "ock")
}

func (s *source) builtin(c *ast.CallExpr, name string) bool {
	i, ok := c.Fun.(*ast.Ident)
	return ok && i.Name == name && s.info.Types[c.Fun].IsBuiltin()
}

// frees reports a call that ends a context or closes what is read: without it only
// memory is held for longer.
func (s *source) frees(c *ast.CallExpr) bool {
	t := s.typeOf(c.Fun)
	if is(t, "context", "CancelFunc") || is(t, "context", "CancelCauseFunc") {
		return true
	}
	fn := s.callee(c)
	return fn != nil && fn.Name() == "Close"
}

// takesContext reports a call that may wait for something outside: its first parameter
// is a context.
func (s *source) takesContext(c *ast.CallExpr) bool {
	sig := s.signature(c)
	if sig == nil || sig.Params().Len() == 0 || !is(sig.Params().At(0).Type(), "context", "Context") {
		return false
	}
	fn := s.callee(c)
	return fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != "context"
}

// acts reports a statement that calls what is outside, by itself or in a function that it has called at once.
func (s *source) acts(n ast.Node) (acts bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return !acts
		}
		acts = acts || s.reaches(c)
		return !acts && (s.signature(c) == nil || s.saysOnlyHow(c)) // else it builds something of the functions that it is given
	})
	return acts
}

// saysOnlyHow reports a call that returns an error or nothing.
func (s *source) saysOnlyHow(c *ast.CallExpr) bool {
	results := s.signature(c).Results()
	return results.Len() == 0 || types.Identical(results.At(results.Len()-1).Type(), types.Universe.Lookup("error").Type())
}

// ends reports a call under a context that ends with an error, or with nothing to say.
func (s *source) ends(c *ast.CallExpr) bool { return s.reaches(c) && s.saysOnlyHow(c) }

// reaches reports a call under a context that may reach what is outside: it makes no other context, and does more than to log.
func (s *source) reaches(c *ast.CallExpr) bool {
	if !s.takesContext(c) || s.says(c) || s.onlyLogs(s.declaration(s.callee(c))) {
		return false
	}
	results := s.signature(c).Results()
	return results.Len() == 0 || !is(results.At(results.Len()-1).Type(), "context", "CancelFunc")
}

// ofOrders makes two statements change places that stand one behind the other: an act
// outside and what is done or looked at before it. Where the second needs the first it
// does not compile, and is no mutant.
func ofOrders(s *source) (found []mutant) {
	s.walk(func(n ast.Node, _ []ast.Node) {
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		case *ast.CommClause:
			list = n.Body
		}
		for i, second := range list {
			switch second.(type) {
			case *ast.ReturnStmt, *ast.CaseClause, *ast.CommClause:
				continue
			}
			if !s.acts(second) {
				continue
			}
			before := i - 1
			for before >= 0 && declares(list[before]) {
				before--
			}
			if before < 0 {
				continue
			}
			first := list[before]
			if !guards(first) && !s.acts(first) && !called(first) {
				continue
			}
			between := s.text[s.at(first.End()):s.at(second.Pos())]
			e := edit{s.at(first.Pos()), s.at(second.End()), strings.TrimSpace(between) + "\n" + s.of(second) + "\n" + s.of(first)}
			if s.compiles(e) {
				found = append(found, s.mutant("order", s.short(second)+" before "+s.short(first), second, e))
			}
		}
	})
	return found
}

// guards reports a condition under which what follows is not reached.
func guards(n ast.Stmt) bool {
	i, ok := n.(*ast.IfStmt)
	if !ok || len(i.Body.List) == 0 {
		return false
	}
	switch i.Body.List[len(i.Body.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	}
	return false
}

func declares(n ast.Stmt) bool { _, ok := n.(*ast.DeclStmt); return ok }

// called reports a statement that is a call, or assigns what one returns.
func called(n ast.Stmt) bool {
	switch n := n.(type) {
	case *ast.ExprStmt:
		_, ok := n.X.(*ast.CallExpr)
		return ok
	case *ast.AssignStmt:
		_, ok := n.Rhs[0].(*ast.CallExpr)
		return ok && n.Tok != token.DEFINE
	}
	return false
}

// ofConcatenations turns each concatenation of two slices round.
func ofConcatenations(s *source) (found []mutant) {
	s.walk(func(n ast.Node, _ []ast.Node) {
		c, ok := n.(*ast.CallExpr)
		if !ok || !s.builtin(c, "append") || !c.Ellipsis.IsValid() || len(c.Args) != 2 || !types.Identical(s.typeOf(c.Args[0]), s.typeOf(c.Args[1])) {
			return
		}
		found = append(found, s.mutant("order", s.short(c.Args[1])+" before "+s.short(c.Args[0]), n,
			s.instead(n, "append("+s.of(c.Args[1])+"[:len("+s.of(c.Args[1])+"):len("+s.of(c.Args[1])+")], "+s.of(c.Args[0])+"...)")))
	})
	return found
}
