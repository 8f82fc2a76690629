package mutants

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// ofCalls puts each call to what is outside off until after its answer: it is told as
// done, and a minute later it is. So the effect comes before the claim, the completion
// before the effect, and the answer before the completion.
func ofCalls(s *source) (found []mutant) {
	s.walk(func(n ast.Node, outer []ast.Node) {
		c, ok := n.(*ast.CallExpr)
		if !ok || !s.ends(c) || !s.outside(c) || !s.statement(outer) {
			return
		}
		if text, ok := s.later(c); ok {
			found = append(found, s.mutant("later", s.short(c), c, s.instead(c, text)))
		}
	})
	return found
}

// outside reports a call by which a package reaches what is not its own: of a value or of an interface, of another
// package, or of its own that others reach it by. One under nothing but a context only looks at that.
func (s *source) outside(c *ast.CallExpr) bool {
	if len(c.Args) < 2 {
		return false
	}
	fn := s.callee(c)
	if fn == nil {
		return true
	}
	recv := fn.Signature().Recv()
	return fn.Pkg() != s.pkg || fn.Exported() && recv != nil || recv != nil && types.IsInterface(recv.Type())
}

// statement reports whether what is inside of that is all that a statement does.
func (s *source) statement(outer []ast.Node) bool {
	switch in := outer[len(outer)-1].(type) {
	case *ast.ExprStmt:
		return true
	case *ast.AssignStmt:
		return len(in.Rhs) == 1
	case *ast.ReturnStmt:
		return len(in.Results) == 1
	}
	return false
}

// later is a call that answers first and is made then.
func (s *source) later(c *ast.CallExpr) (string, bool) {
	results := s.signature(c).Results()
	var b strings.Builder
	b.WriteString("func() (")
	for i := range results.Len() {
		t, ok := s.write(results.At(i).Type())
		if !ok {
			return "", false
		}
		fmt.Fprintf(&b, "%s, ", t)
	}
	b.WriteString(") {\n")
	args := []string{"mutantLateContext"}
	for i, a := range c.Args[1:] {
		text := s.of(a)
		if !s.constant(a) && !s.info.Types[a].IsNil() { // as it is now
			fmt.Fprintf(&b, "mutantArgument%d := %s\n", i, text)
			text = fmt.Sprintf("mutantArgument%d", i)
		}
		args = append(args, text)
	}
	spread := ""
	if c.Ellipsis != token.NoPos {
		spread = "..."
	}
	fmt.Fprintf(&b, "mutantLater(%s, func(mutantLateContext mutantContext) { %s(%s%s) })\nreturn ", s.of(c.Args[0]), s.of(c.Fun), strings.Join(args, ", "), spread)
	for i := range results.Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(s.told(results.At(i).Type(), c, args))
	}
	b.WriteString("\n}()")
	return b.String(), true
}

// told is what a call seems to have returned: what it was given where that is of the
// same type, such as the record that it writes; else nothing, and no error.
func (s *source) told(t types.Type, c *ast.CallExpr, args []string) string {
	for i := len(c.Args) - 1; i > 0; i-- {
		if types.Identical(s.typeOf(c.Args[i]), t) {
			return args[i]
		}
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		if text, ok := s.write(p.Elem()); ok {
			return "new(" + text + ")"
		}
	}
	text, _ := s.write(t)
	return "*new(" + text + ")"
}
