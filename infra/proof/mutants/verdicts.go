package mutants

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// library is where the module's own types are declared.
const library = "github.com/singleeffect/once/"

const intentPackage = library + "shared/intent"

// ofKinds exchanges each value of a set of constants, such as states, outcomes and
// verdicts, for the next of its set where one is written, handed on or returned.
func ofKinds(s *source) (found []mutant) {
	s.walk(func(n ast.Node, outer []ast.Node) {
		e, ok := n.(ast.Expr)
		if !ok {
			return
		}
		c, ok := s.named(e)
		if !ok || !s.valued(e, outer) {
			return
		}
		other := next(c)
		if other == nil || s.pkg != c.Pkg() && !other.Exported() {
			return
		}
		text := other.Name()
		if sel, ok := e.(*ast.SelectorExpr); ok {
			text = s.of(sel.X) + "." + text
		}
		found = append(found, s.mutant("kind", fmt.Sprintf("%s in %s: %s", s.of(e), s.short(outer[len(outer)-1]), text), e, s.instead(e, text)))
	})
	return found
}

// named is the constant of the module that an expression names.
func (s *source) named(e ast.Expr) (*types.Const, bool) {
	var id *ast.Ident
	switch e := e.(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel
	default:
		return nil, false
	}
	c, ok := s.info.Uses[id].(*types.Const)
	if !ok {
		return nil, false
	}
	t, ok := c.Type().(*types.Named)
	return c, ok && t.Obj().Pkg() == c.Pkg() && strings.HasPrefix(c.Pkg().Path(), library)
}

// valued reports whether an expression stands where a value is written, handed on or returned, and not where
// one is compared.
func (s *source) valued(e ast.Expr, outer []ast.Node) bool {
	switch in := outer[len(outer)-1].(type) {
	case *ast.KeyValueExpr:
		return in.Value == e
	case *ast.AssignStmt:
		return slices.Contains(in.Rhs, e)
	case *ast.ReturnStmt:
		return true
	case *ast.CallExpr:
		return s.signature(in) != nil && slices.Contains(in.Args, e)
	}
	return false
}

// next is the constant of the same type that is declared next, round in a circle.
func next(c *types.Const) *types.Const {
	var set []*types.Const
	for _, name := range c.Pkg().Scope().Names() {
		if other, ok := c.Pkg().Scope().Lookup(name).(*types.Const); ok && types.Identical(other.Type(), c.Type()) {
			set = append(set, other)
		}
	}
	slices.SortFunc(set, func(a, b *types.Const) int { return int(a.Pos() - b.Pos()) })
	if len(set) < 2 {
		return nil
	}
	return set[(slices.Index(set, c)+1)%len(set)]
}

// ofVerdicts exchanges what an effect says of its intent: refused becomes not applied,
// not applied and quarantine become unknown, an answer of the provider's becomes the effect's own
// check. What is said of nothing becomes not applied, and refused.
func ofVerdicts(s *source) (found []mutant) {
	claims := s.claims()
	unknown := func(e ast.Expr) string { return "mutantUnknown(" + s.of(e) + ")" }
	s.walk(func(n ast.Node, outer []ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			prefix := ""
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
				prefix = s.of(sel.X) + "."
			}
			text := s.short(n)
			switch s.verdict(n) {
			case "Refuse":
				if claims {
					found = append(found, s.mutant("verdict", text+": not applied", n, s.instead(n, prefix+"NotApplied(mutantUnknown("+s.of(n)+"))")))
				}
				found = append(found, s.mutant("verdict", text+": unknown", n, s.instead(n, unknown(n))))
			case "NotApplied":
				if !claims {
					return
				}
				found = append(found, s.mutant("verdict", text+": unknown", n, s.instead(n, unknown(n))))
				found = append(found, s.mutant("verdict", text+": refused", n, s.instead(n, prefix+"Refuse("+unknown(n)+".Error())")))
			case "Quarantine":
				found = append(found, s.mutant("verdict", text+": unknown", n, s.instead(n, unknown(n))))
			case "Answered":
				found = append(found, s.mutant("verdict", text+": by itself", n, s.instead(n, s.of(n.Args[0]))))
			}
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				return
			}
			last := n.Results[len(n.Results)-1]
			if !s.ofEffect(outer) || !types.Implements(s.typeOf(last), anError) || s.info.Types[last].IsNil() {
				return
			}
			if c, ok := last.(*ast.CallExpr); ok && s.verdict(c) != "" || s.inErrorBranch(n, outer) || s.ofIntent(last) {
				return
			}
			for _, to := range []string{"NotApplied", "Refuse", "Quarantine"} {
				if to == "NotApplied" && !claims {
					continue
				}
				if text, ok := s.saying(to, s.of(last)); ok {
					found = append(found, s.mutant("verdict", s.short(n)+": "+to, n, s.instead(last, text)))
				}
			}
		}
	})
	return found
}

// claims reports a package with an effect that runs under a claim: of others an error that is not applied is like any other.
func (s *source) claims() bool {
	for _, used := range s.info.Uses {
		if t, ok := used.(*types.TypeName); ok && t.Pkg() != nil && t.Pkg().Path() == intentPackage && (t.Name() == "Keyed" || t.Name() == "Blind") {
			return true
		}
	}
	return false
}

// verdict is which verdict of the package intent a call makes.
func (s *source) verdict(c *ast.CallExpr) string {
	fn := s.callee(c)
	if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != intentPackage {
		return ""
	}
	if slices.Contains([]string{"Refuse", "NotApplied", "Answered", "Quarantine"}, fn.Name()) && fn.Signature().Recv() == nil {
		return fn.Name()
	}
	return ""
}

// ofEffect reports code whose error may be what an effect says: it is a function's own, and takes a context or stands beside verdicts.
func (s *source) ofEffect(outer []ast.Node) bool {
	if s.pkg.Name() != "main" {
		return false
	}
	for _, o := range outer {
		if f, ok := o.(*ast.FuncDecl); ok && len(f.Type.Params.List) > 0 && is(s.typeOf(f.Type.Params.List[0].Type), "context", "Context") {
			return true
		}
	}
	beside := false
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && s.verdict(c) != "" {
			beside = true
		}
		return !beside
	})
	return beside
}

// inErrorBranch: `return err` passes another function's verdict on.
func (s *source) inErrorBranch(n *ast.ReturnStmt, outer []ast.Node) bool {
	i, ok := n.Results[len(n.Results)-1].(*ast.Ident)
	return ok && i.Name == "err"
}

// ofIntent reports an error that is of package intent, such as one of a payload.
func (s *source) ofIntent(e ast.Expr) bool {
	p, ok := s.typeOf(e).(*types.Pointer)
	if !ok {
		return false
	}
	named, ok := p.Elem().(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == intentPackage
}

// saying is an error as a verdict that the package says somewhere, too.
func (s *source) saying(verdict, e string) (string, bool) {
	for _, f := range s.files {
		says := false
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && s.verdict(c) == verdict {
				says = true
			}
			return !says
		})
		if says {
			s.aliases[intentPackage] = "mutant_intent"
			if verdict == "Refuse" {
				return "mutant_intent.Refuse((" + e + ").Error())", true
			}
			return "mutant_intent." + verdict + "(" + e + ")", true
		}
	}
	return "", false
}

// ofFailures answers each failure as success: where an outcome is returned with an
// error, or put beside one, it is executed and there is no error.
func ofFailures(s *source) (found []mutant) {
	outcome := func(t types.Type) bool { return is(t, intentPackage, "Outcome") }
	s.walk(func(n ast.Node, outer []ast.Node) {
		executed := func() string {
			t, _ := s.write(s.outcomeType())
			return t + `{Kind: "executed"}`
		}
		switch n := n.(type) {
		case *ast.ReturnStmt:
			if len(n.Results) < 2 {
				return
			}
			last := len(n.Results) - 1
			if !outcome(s.typeOf(n.Results[last-1])) || s.info.Types[n.Results[last]].IsNil() || !types.Implements(s.typeOf(n.Results[last]), anError) {
				return
			}
			found = append(found, s.mutant("open", s.short(n), n, append(s.around(n.Results[last-1], "mutantInstead["+typeName(s)+"](", ", "+executed()+")"), s.around(n.Results[last], "mutantNil(", ")")...)...))
		case *ast.CompositeLit:
			t, ok := s.typeOf(n).Underlying().(*types.Struct)
			if !ok {
				return
			}
			name := ""
			for i := range t.NumFields() {
				if outcome(t.Field(i).Type()) {
					name = t.Field(i).Name()
				}
			}
			if name == "" {
				return
			}
			for _, e := range n.Elts {
				kv, ok := e.(*ast.KeyValueExpr)
				if ok && types.Identical(s.typeOf(kv.Value), types.Universe.Lookup("error").Type()) {
					found = append(found, s.mutant("open", s.short(n), n, append(s.around(kv.Value, "mutantNil(", ")"), edit{s.at(n.Rbrace), s.at(n.Rbrace), ", " + name + ": " + executed()})...))
				}
			}
		case *ast.AssignStmt:
			if n.Tok != token.ASSIGN || len(n.Lhs) != 1 {
				return
			}
			sel, ok := n.Lhs[0].(*ast.SelectorExpr)
			if !ok || !types.Identical(s.typeOf(sel), types.Universe.Lookup("error").Type()) {
				return
			}
			t := s.typeOf(sel.X)
			if p, ok := t.Underlying().(*types.Pointer); ok {
				t = p.Elem()
			}
			st, ok := t.Underlying().(*types.Struct)
			if !ok {
				return
			}
			for i := range st.NumFields() {
				if outcome(st.Field(i).Type()) {
					found = append(found, s.mutant("open", s.short(n), n, append(s.around(n.Rhs[0], "mutantNil(", ")"),
						edit{s.at(n.End()), s.at(n.End()), "; if " + s.of(sel.X) + "." + st.Field(i).Name() + `.Kind == "" { ` + s.of(sel.X) + "." + st.Field(i).Name() + ` = ` + executed() + ` }`})...))
				}
			}
		}
	})
	return found
}

func typeName(s *source) string { t, _ := s.write(s.outcomeType()); return t }

// outcomeType is intent.Outcome as the package sees it.
func (s *source) outcomeType() types.Type {
	p := s.pkg
	if p.Path() != intentPackage {
		p, _ = s.imports.Import(intentPackage)
	}
	return p.Scope().Lookup("Outcome").Type()
}
