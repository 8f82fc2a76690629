package mutants

import (
	"go/ast"
	"go/token"
	"slices"
)

// ofTimes leaves out each term of the arithmetic with times, one by one: each margin,
// lease, skew, window and retention. Of a minimum or maximum each operand is all that counts.
func ofTimes(s *source) (found []mutant) {
	s.walk(func(n ast.Node, _ []ast.Node) {
		e, ok := n.(ast.Expr)
		if !ok || s.constant(e) {
			return
		}
		whole := s.short(e)
		only := func(kept ast.Expr, rest ...ast.Expr) edit {
			t, _ := s.write(s.typeOf(e))
			text := "mutantFirst[" + t + "](" + s.of(kept)
			for _, r := range rest {
				text += ", " + s.of(r)
			}
			return s.instead(e, text+")")
		}
		switch e := e.(type) {
		case *ast.BinaryExpr:
			if !isDuration(s.typeOf(e)) {
				return
			}
			switch e.Op {
			case token.ADD, token.SUB, token.MUL, token.QUO:
				if !isDuration(s.typeOf(e.X)) || s.constant(e.X) && e.Op == token.MUL {
					return
				}
				found = append(found, s.mutant("time", whole+": without "+s.short(e.Y), e, only(e.X, e.Y)))
				if e.Op == token.ADD {
					found = append(found, s.mutant("time", whole+": without "+s.short(e.X), e, only(e.Y, e.X)))
				}
				if e.Op == token.SUB {
					found = append(found, s.mutant("time", whole+": plus "+s.short(e.Y), e, edit{s.at(e.OpPos), s.at(e.OpPos) + 1, "+"}))
				}
			}
		case *ast.CallExpr:
			if s.builtin(e, "min") || s.builtin(e, "max") {
				for i, a := range e.Args {
					found = append(found, s.mutant("time", whole+": only "+s.short(a), e, only(a, slices.Delete(slices.Clone(e.Args), i, i+1)...)))
				}
			}
			if fn := s.callee(e); fn != nil && fn.FullName() == "(time.Time).Add" {
				found = append(found, s.mutant("time", whole+": without "+s.short(e.Args[0]), e, only(e.Fun.(*ast.SelectorExpr).X, e.Args[0])))
			}
		}
	})
	return found
}

// ofBounds makes each time that a call is given none, and an hour more: each deadline,
// each limit and each wait.
func ofBounds(s *source) (found []mutant) {
	s.walk(func(n ast.Node, _ []ast.Node) {
		c, ok := n.(*ast.CallExpr)
		if !ok || s.signature(c) == nil {
			return
		}
		fn := s.callee(c)
		if fn != nil && fn.Pkg() != nil {
			switch fn.Pkg().Path() {
			case "time":
				if fn.Signature().Recv() != nil || fn.Name() == "Until" || fn.Name() == "Since" {
					return // arithmetic
				}
			case "math/rand/v2":
				return
			}
		}
		for _, a := range c.Args {
			if isTime(s.typeOf(a)) && !s.moved(a) && !s.takesContext(c) && (fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != "context") {
				continue // now, or a time in another form
			}
			found = append(found, s.ofBound(a, s.short(a)+" of "+s.short(c.Fun))...)
		}
	})
	return found
}

// moved reports a time that is made of another and of a duration.
func (s *source) moved(e ast.Expr) bool {
	c, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	fn := s.callee(c)
	return fn != nil && fn.FullName() == "(time.Time).Add"
}

// ofBound makes the mutants of one time.
func (s *source) ofBound(e ast.Expr, text string) []mutant {
	t := s.typeOf(e)
	switch {
	case isDuration(t):
		return []mutant{
			s.mutant("bound", text+": none", e, s.around(e, "mutantZero[mutantDuration](", ")")...),
			s.mutant("bound", text+": an hour more", e, s.around(e, "mutantMore(", ")")...),
		}
	case isTime(t):
		return []mutant{
			s.mutant("bound", text+": none", e, s.around(e, "mutantZero[mutantTime](", ")")...),
			s.mutant("bound", text+": an hour later", e, s.around(e, "mutantLateBy(", ")")...),
		}
	}
	return nil
}
