package mutants

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// ofFields leaves each field of what a package builds of its own types empty, one by one, and each of a request that says
// under which condition it is made. Where another of the same type is at hand, it keeps that one's: a takeover the
// owner, the lease or the window of whom it replaces. A time that is kept is told anew.
func ofFields(s *source) (found []mutant) {
	field := func(value ast.Expr, t types.Type, text string, old string) {
		name, ok := s.write(t)
		if !ok {
			return
		}
		if old != "" && types.Comparable(t) && !types.IsInterface(t) && s.of(value) != old {
			found = append(found, s.mutant("field", text+": as in "+old, value, s.around(value, "mutantOld["+name+"]("+old+", ", ")")...))
		}
		if _, copied := value.(*ast.SelectorExpr); copied && isTime(t) {
			found = append(found, s.mutant("field", text+": now", value, s.around(value, "mutantNow(", ")")...))
		}
	}
	s.walk(func(n ast.Node, outer []ast.Node) {
		switch n := n.(type) {
		case *ast.CompositeLit:
			t := s.typeOf(n)
			made, ok := t.Underlying().(*types.Struct)
			if !ok {
				return
			}
			other := s.another(outer, t)
			for _, e := range n.Elts {
				kv, ok := e.(*ast.KeyValueExpr)
				if !ok {
					return
				}
				name, value := kv.Key.(*ast.Ident).Name, kv.Value
				if s.info.Types[value].IsNil() || !s.own(t) && !slices.Contains(conditional, name) {
					continue
				}
				for f := range made.Fields() {
					if f.Name() != name {
						continue
					}
					text := name + ": " + s.short(value)
					if _, compared := value.(*ast.BinaryExpr); compared && types.Identical(f.Type().Underlying(), types.Typ[types.Bool]) {
						continue // a condition
					}
					if typ, ok := s.write(f.Type()); ok {
						found = append(found, s.mutant("field", text+": empty", value, s.around(value, "mutantZero["+typ+"](", ")")...))
					}
					if isTime(f.Type()) || isDuration(f.Type()) {
						found = append(found, s.ofBound(value, text)[1:]...)
					}
					old := ""
					if other != "" {
						old = other + "." + name
					}
					field(value, f.Type(), text, old)
				}
			}
		case *ast.AssignStmt:
			if n.Tok != token.ASSIGN || len(n.Lhs) != len(n.Rhs) || len(n.Lhs) == 1 {
				return // one alone is left out
			}
			for i, left := range n.Lhs {
				if sel, ok := left.(*ast.SelectorExpr); ok && s.remembers(s.typeOf(sel.X)) {
					field(n.Rhs[i], s.typeOf(left), s.short(left)+" = "+s.short(n.Rhs[i]), s.of(left))
				}
			}
		}
	})
	return found
}

// conditional are the fields of requests that say under which condition a request is made, and for what.
var conditional = []string{"ConditionExpression", "ConsistentRead", "ReturnValuesOnConditionCheckFailure", "MessageGroupId", "MessageDeduplicationId"}

// remembers reports an exported type of package intent, or of one inside of it: what a value of one keeps was handed on.
func (s *source) remembers(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Exported() && named.Obj().Pkg() != nil && strings.HasPrefix(named.Obj().Pkg().Path(), intentPackage)
}

// own reports a type of the library.
func (s *source) own(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && (named.Obj().Pkg() == s.pkg || strings.HasPrefix(named.Obj().Pkg().Path(), library))
}

// another is a parameter of the type; empty if there is none.
func (s *source) another(outer []ast.Node, t types.Type) string {
	for _, o := range outer {
		var list *ast.FieldList
		switch o := o.(type) {
		case *ast.FuncDecl:
			list = o.Type.Params
		case *ast.FuncLit:
			list = o.Type.Params
		default:
			continue
		}
		for _, f := range list.List {
			for _, name := range f.Names {
				if name.Name != "_" && types.Identical(s.typeOf(f.Type), t) {
					return name.Name
				}
			}
		}
	}
	return ""
}

// ofAttributes drops each attribute of an item.
func ofAttributes(s *source) (found []mutant) {
	s.walk(func(n ast.Node, _ []ast.Node) {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return
		}
		if m, ok := s.typeOf(lit).Underlying().(*types.Map); !ok || !is(m.Elem(), sdkTypes, "AttributeValue") {
			return
		}
		for _, e := range lit.Elts {
			kv := e.(*ast.KeyValueExpr)
			key := s.info.Types[kv.Key].Value
			if key == nil || key.Kind() != constant.String {
				continue
			}
			if name := constant.StringVal(key); name != "" && name[0] != ':' && name[0] != '#' {
				found = append(found, s.mutant("field", s.short(kv)+": dropped", kv, s.instead(kv.Key, `"mutant"`)))
			}
		}
	})
	return found
}

const sdkTypes = "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// ofKeys leaves each part out of what is put together to a key.
func ofKeys(s *source) (found []mutant) {
	s.walk(func(n ast.Node, outer []ast.Node) {
		whole, ok := n.(*ast.BinaryExpr)
		if !ok || !s.concatenates(whole) {
			return
		}
		if in, ok := outer[len(outer)-1].(*ast.BinaryExpr); ok && s.concatenates(in) {
			return
		}
		words := false
		var part func(e ast.Expr)
		part = func(e ast.Expr) {
			if b, ok := e.(*ast.BinaryExpr); ok {
				part(b.X)
				part(b.Y)
				return
			}
			if v := s.info.Types[e].Value; v != nil && strings.ContainsAny(constant.StringVal(v), " ") {
				words = true
			}
			if !s.constant(e) {
				found = append(found, s.mutant("key", s.short(whole)+": without "+s.short(e), e, s.around(e, `mutantFirst[string]("", `, ")")...))
			}
		}
		before := len(found)
		if part(whole); words {
			found = found[:before] // a sentence, a statement
		}
	})
	return found
}

func (s *source) concatenates(e *ast.BinaryExpr) bool {
	t, ok := s.typeOf(e).(*types.Basic)
	return ok && t.Kind() == types.String && e.Op == token.ADD && !s.constant(e)
}
