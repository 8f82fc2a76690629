package mutants

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// expressionFiles are where every expression stands that is ever sent as a constant:
// those of records, and those of the functions' own tables.
var expressionFiles = []string{"shared/dynamo/expressions.go", "functions/ship/orders.go", "functions/clearcart/carts.go"}

// expression is one of them.
type expression struct {
	name       string
	value      string // with what it is made of
	start, end int    // where its value stands
}

// condition and update report whether it is one. Others are declared with them.
func (e expression) condition() bool { return strings.HasPrefix(e.name, "condition") }
func (e expression) update() bool    { return strings.HasPrefix(e.name, "update") }

// expressions reads the constants of a file that are declared with a condition or an
// update among them, and where that declaration begins.
func expressions(file, source string) (all []expression, declared int, err error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, source, 0)
	if err != nil {
		return nil, 0, err
	}
	known := map[string]string{}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST || !strings.Contains(source[set.Position(g.Pos()).Offset:set.Position(g.End()).Offset], "\tcondition") {
			continue
		}
		if all != nil {
			return nil, 0, fmt.Errorf("%s: a second declaration of constants", file)
		}
		declared = set.Position(g.Pos()).Offset
		for _, s := range g.Specs {
			spec := s.(*ast.ValueSpec)
			if len(spec.Names) != 1 || len(spec.Values) != 1 {
				return nil, 0, fmt.Errorf("%s: want one constant for each name", file)
			}
			value, err := evaluate(spec.Values[0], known)
			if err != nil {
				return nil, 0, fmt.Errorf("%s: %s: %w", file, spec.Names[0], err)
			}
			known[spec.Names[0].Name] = value
			all = append(all, expression{spec.Names[0].Name, value, set.Position(spec.Values[0].Pos()).Offset, set.Position(spec.Values[0].End()).Offset})
		}
	}
	return all, declared, nil
}

// evaluate is the text that a constant's value comes to.
func evaluate(e ast.Expr, known map[string]string) (string, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(e.Value)
	case *ast.Ident:
		if value, ok := known[e.Name]; ok {
			return value, nil
		}
	case *ast.BinaryExpr:
		left, err := evaluate(e.X, known)
		if err != nil || e.Op != token.ADD {
			break
		}
		right, err := evaluate(e.Y, known)
		return left + right, err
	}
	return "", fmt.Errorf("a value that is not made of texts and of constants before it: %T", e)
}

// ofExpressions makes the mutants of each expression in a file's constants.
func ofExpressions(file, source string) ([]mutant, error) {
	all, _, err := expressions(file, source)
	if err != nil {
		return nil, err
	}
	var found []mutant
	for _, e := range all {
		for _, c := range changes(e) {
			found = append(found, mutant{e.name + ": " + c.what, file, edit{e.start, e.end, strconv.Quote(c.value)}})
		}
	}
	return found, nil
}

// changed is an expression with one change.
type changed struct{ what, value string }

// changes are of a condition each clause dropped and flipped, and each AND and OR; of
// an update each assignment and each removal dropped; of what is neither none.
func changes(e expression) []changed {
	switch {
	case e.condition():
		return append(dropsOfCondition(e.value), flips(e.value)...)
	case e.update():
		return dropsOfUpdate(e.value)
	}
	return nil
}

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
	{" = ", " <> "}, {" <= ", " > "}, {" >= ", " < "}, {" < ", " >= "},
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

func flips(condition string) (all []changed) {
	clauses, joints := parts(condition)
	for i, c := range clauses {
		value := condition[:c.start] + opposite(condition[c.start:c.end]) + condition[c.end:]
		all = append(all, changed{value, value})
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
		if len(assignments) == 1 && !removes {
			break // an update that does nothing is no request
		}
		rest := strings.Join(append(append([]string(nil), assignments[:i]...), assignments[i+1:]...), ", ")
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
