package mutants

import (
	"go/ast"
	"go/constant"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// expression is a text that DynamoDB is sent as a condition or an update.
type expression struct {
	name       string // of its constant; empty for one that stands in the code
	value      string // with what it is made of
	at         ast.Expr
	start, end int // where its value stands
}

// comparison is any clause of a condition, as whoever reads one finds it.
var comparison = regexp.MustCompile(`attribute_(not_)?exists\([#\w.]+\)|attribute_type\(|begins_with\(|contains\(|[#\w.]+ (=|<>|<=|>=|<|>) [:#]\w+|[#\w.]+ IN \(:`)

// update and condition report what a text is; a text may be neither.
func update(text string) bool {
	return strings.HasPrefix(text, "SET #") || strings.HasPrefix(text, "SET ") && strings.Contains(text, " = ")
}
func condition(text string) bool {
	return !update(text) && comparison.MatchString(text) && comparison.FindStringIndex(strings.TrimLeft(text, "("))[0] == 0
}

// expressions are those of a file: its constants, and those that stand in its code.
func (s *source) expressions() (all []expression) {
	text := func(e ast.Expr) (string, bool) {
		v := s.info.Types[e].Value
		if v == nil || v.Kind() != constant.String {
			return "", false
		}
		text := constant.StringVal(v)
		return text, update(text) || condition(text)
	}
	for _, d := range s.syntax.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			spec := spec.(*ast.ValueSpec)
			for i, e := range spec.Values {
				if value, ok := text(e); ok && s.sent(spec.Names[i]) {
					all = append(all, expression{spec.Names[i].Name, value, e, s.at(spec.Pos()), s.at(spec.End())})
				}
			}
		}
	}
	s.walk(func(n ast.Node, outer []ast.Node) {
		e, ok := n.(ast.Expr)
		if !ok {
			return
		}
		if _, ok := e.(*ast.Ident); ok {
			return
		}
		if in, ok := outer[len(outer)-1].(ast.Expr); ok && s.constant(in) {
			return
		}
		if value, ok := text(e); ok {
			all = append(all, expression{"", value, e, s.at(e.Pos()), s.at(e.End())})
		}
	})
	return all
}

// sent reports a constant that more is made of than other constants, whose mutants are the same.
func (s *source) sent(name *ast.Ident) bool {
	constant := s.info.Defs[name]
	for use, of := range s.info.Uses {
		if of == constant && !slices.ContainsFunc(s.syntax.Decls, func(d ast.Decl) bool {
			g, ok := d.(*ast.GenDecl)
			return ok && g.Tok == token.CONST && g.Pos() <= use.Pos() && use.End() <= g.End()
		}) {
			return true
		}
	}
	return false
}

// ofExpressions makes the mutants of each expression: of a condition each clause
// dropped and flipped, and each AND and OR; of an update each assignment and each
// removal dropped, and each sum turned into a difference.
func ofExpressions(s *source) (found []mutant) {
	for _, e := range s.expressions() {
		changes := dropsOfUpdate
		if condition(e.value) {
			changes = func(v string) []changed { return append(dropsOfCondition(v), flips(v)...) }
		}
		for _, c := range changes(e.value) {
			name := e.value
			if e.name != "" {
				name = e.name
			}
			m := s.mutant("expression", name+": "+c.what, e.at, edit{e.start, e.end, strconv.Quote(c.value)})
			m.constant = e.name
			found = append(found, m)
		}
	}
	return found
}

// ofStatementTexts drops and flips each clause of a statement in PartiQL behind its key's, one by one.
func ofStatementTexts(s *source) (found []mutant) {
	s.walk(func(n ast.Node, _ []ast.Node) {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return
		}
		fields := keyed(lit)
		text, parameters := fields["Statement"], fields["Parameters"]
		if text == nil || parameters == nil {
			return
		}
		for clause := 1; clause <= 2; clause++ {
			for _, opposite := range []string{"false", "true"} {
				name := "without"
				if opposite == "true" {
					name = "opposite of"
				}
				at := strconv.Itoa(clause)
				found = append(found, s.mutant("statement", s.short(text)+": "+name+" clause "+at, n,
					append(s.around(text, "mutantWhere(", ", "+at+", "+opposite+")"), s.around(parameters, "mutantParameters("+s.of(text)+", ", ", "+at+", "+opposite+")")...)...))
			}
		}
	})
	return found
}

// keyed are the fields of a literal by their names.
func keyed(lit *ast.CompositeLit) map[string]ast.Expr {
	fields := map[string]ast.Expr{}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if name, ok := kv.Key.(*ast.Ident); ok {
				fields[name.Name] = kv.Value
			}
		}
	}
	return fields
}

// used keeps a mutated expression a valid request. DynamoDB refuses one that defines a
// name or a value that it does not use: such a mutant would be killed by that, and not by
// what its expression no longer says.
func (s *source) used() (edits []edit) {
	s.walk(func(n ast.Node, _ []ast.Node) {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return
		}
		fields := keyed(lit)
		var expressions string
		for _, name := range []string{"ConditionExpression", "UpdateExpression", "KeyConditionExpression", "FilterExpression", "ProjectionExpression"} {
			if e := fields[name]; e != nil {
				expressions += ", " + s.of(e)
			}
		}
		for _, name := range []string{"ExpressionAttributeNames", "ExpressionAttributeValues"} {
			if e := fields[name]; e != nil {
				edits = append(edits, s.around(e, "mutantUsed(", expressions+")")...)
			}
		}
	})
	return edits
}

// changed is an expression with one change.
type changed struct{ what, value string }

// part is where a clause of a condition stands, or an AND or OR.
type part struct{ start, end int }

var joint = regexp.MustCompile(" AND | OR ")

// parts are a condition's clauses, and what stands between them.
func parts(condition string) (clauses, joints []part) {
	from := 0
	clause := func(to int) {
		start, end := from, to
		for condition[start] == '(' { // of a group, not of a function
			start++
		}
		for text := condition[start:end]; strings.Count(text, ")") > strings.Count(text, "("); text = condition[start:end] {
			end--
		}
		clauses = append(clauses, part{start, end})
	}
	for _, at := range joint.FindAllStringIndex(condition, -1) {
		clause(at[0])
		joints = append(joints, part{at[0], at[1]})
		from = at[1]
	}
	clause(len(condition))
	return clauses, joints
}

// flipped is what each operator becomes. The first that fits decides.
var flipped = []struct{ from, to string }{
	{"attribute_not_exists(", "attribute_exists("}, {"attribute_exists(", "attribute_not_exists("},
	{" = ", " <> "}, {" <> ", " = "}, {" <= ", " > "}, {" >= ", " < "}, {" < ", " >= "}, {" > ", " <= "},
}

// opposite is a clause that holds where it does not, but for attributes that are absent.
func opposite(clause string) string {
	for _, f := range flipped {
		if strings.Contains(clause, f.from) {
			return strings.Replace(clause, f.from, f.to, 1)
		}
	}
	return "NOT " + clause
}

// bounds moves the equal to the other side of a comparison.
var bounds = []struct{ from, to string }{{" <= ", " < "}, {" >= ", " > "}, {" < ", " <= "}, {" > ", " >= "}}

func flips(condition string) (all []changed) {
	clauses, joints := parts(condition)
	for i, c := range clauses {
		clause := condition[c.start:c.end]
		value := condition[:c.start] + opposite(clause) + condition[c.end:]
		all = append(all, changed{value, value})
		for _, b := range bounds {
			if strings.Contains(clause, b.from) {
				value := condition[:c.start] + strings.Replace(clause, b.from, b.to, 1) + condition[c.end:]
				all = append(all, changed{value, value})
				break
			}
		}
		if i < len(joints) {
			j, other := joints[i], " OR "
			if condition[j.start:j.end] == other {
				other = " AND "
			}
			value := condition[:j.start] + other + condition[j.end:]
			all = append(all, changed{value, value})
		}
	}
	return all
}

// dropsOfCondition drops each clause, with the AND or OR that joins it to its
// neighbour. One that stands alone always holds then.
func dropsOfCondition(condition string) (all []changed) {
	clauses, joints := parts(condition)
	for i, c := range clauses {
		clause := condition[c.start:c.end]
		value := clause + " OR NOT " + clause
		switch {
		case i > 0 && joints[i-1].end == c.start:
			value = condition[:joints[i-1].start] + condition[c.end:]
		case i < len(joints):
			value = condition[:c.start] + condition[joints[i].end:]
		}
		all = append(all, changed{"without " + clause, value})
	}
	return all
}

// dropsOfUpdate drops each assignment, and each removal.
func dropsOfUpdate(update string) (all []changed) {
	set, remove, removes := strings.Cut(strings.TrimPrefix(update, "SET "), " REMOVE ")
	assignments := strings.Split(set, ", ")
	for i, a := range assignments {
		for _, sum := range []struct{ from, to string }{{" + ", " - "}, {" - ", " + "}} {
			if strings.Contains(a, sum.from) {
				all = append(all, changed{"opposite of " + a, strings.Replace(update, a, strings.Replace(a, sum.from, sum.to, 1), 1)})
				break
			}
		}
		if len(assignments) == 1 && !removes {
			break // an update that does nothing is no request
		}
		rest := strings.Join(slices.Delete(slices.Clone(assignments), i, i+1), ", ")
		value := "SET " + rest
		if removes {
			value += " REMOVE " + remove
		}
		all = append(all, changed{"without " + a, value})
	}
	if removes {
		all = append(all, changed{"without REMOVE " + remove, "SET " + set})
	}
	return all
}
