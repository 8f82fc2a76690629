package mutants

import (
	"go/ast"
	"go/constant"
	"go/types"
)

// ofCodes drops each value out of a set: one of a switch, of a list, of a call's last arguments.
func ofCodes(s *source) (found []mutant) {
	drop := func(e ast.Expr, from string) {
		text := s.short(e) + " of " + from
		switch v := s.info.Types[e].Value; {
		case v == nil:
		case v.Kind() == constant.String:
			found = append(found, s.mutant("code", text+": dropped", e, s.instead(e, `"\x00mutant"`)))
		case v.Kind() == constant.Int && !isDuration(s.typeOf(e)):
			found = append(found, s.mutant("code", text+": dropped", e, s.instead(e, "0x7f")))
		}
	}
	s.walk(func(n ast.Node, outer []ast.Node) {
		switch n := n.(type) {
		case *ast.SwitchStmt:
			if n.Tag == nil {
				return
			}
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					drop(e, s.short(n.Tag))
				}
			}
		case *ast.CompositeLit:
			switch t := s.typeOf(n).Underlying().(type) {
			case *types.Slice:
				if types.IsInterface(t.Elem()) {
					return // of the log
				}
			case *types.Array:
			default:
				return
			}
			for _, e := range n.Elts {
				drop(e, s.short(n))
			}
		case *ast.CallExpr:
			sig := s.signature(n)
			if sig == nil || !sig.Variadic() || n.Ellipsis.IsValid() {
				return
			}
			for i := sig.Params().Len() - 1; i < len(n.Args); i++ {
				drop(n.Args[i], s.short(n.Fun))
			}
		}
	})
	return found
}
