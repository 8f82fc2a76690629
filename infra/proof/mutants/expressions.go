package mutants

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// expressionsFile is where every expression stands that is ever sent.
const expressionsFile = "shared/dynamo/expressions.go"

// expression is one of them.
type expression struct {
	name       string
	value      string // with what it is made of
	start, end int    // where its value stands
}

// condition reports whether it is one; else it is an update.
func (e expression) condition() bool { return strings.HasPrefix(e.name, "condition") }

// expressions reads the constants of expressions.go, and where their declaration
// begins.
func expressions(source string) (all []expression, declared int, err error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, expressionsFile, source, 0)
	if err != nil {
		return nil, 0, err
	}
	known := map[string]string{}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		if all != nil {
			return nil, 0, fmt.Errorf("%s: a second declaration of constants", expressionsFile)
		}
		declared = set.Position(g.Pos()).Offset
		for _, s := range g.Specs {
			spec := s.(*ast.ValueSpec)
			if len(spec.Names) != 1 || len(spec.Values) != 1 {
				return nil, 0, fmt.Errorf("%s: want one constant for each name", expressionsFile)
			}
			value, err := evaluate(spec.Values[0], known)
			if err != nil {
				return nil, 0, fmt.Errorf("%s: %s: %w", expressionsFile, spec.Names[0], err)
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

// ofExpressions makes the mutants of each expression: each clause dropped; of a
// condition each also flipped, and each AND and OR; of an update each assignment and
// each removal dropped.
func ofExpressions(source string) ([]mutant, error) {
	all, _, err := expressions(source)
	if err != nil {
		return nil, err
	}
	var found []mutant
	for _, e := range all {
		changes := dropsOfUpdate(e.value)
		if e.condition() {
			changes = append(dropsOfCondition(e.value), flips(e.value)...)
		}
		for _, c := range changes {
			found = append(found, mutant{e.name + ": " + c.what, expressionsFile, edit{e.start, e.end, strconv.Quote(c.value)}})
		}
	}
	return found, nil
}

// changed is an expression with one change.
type changed struct{ what, value string }

// flipped is what each operator becomes. The first that fits decides.
var flipped = []struct{ from, to string }{
	{"attribute_not_exists(", "attribute_exists("}, {"attribute_exists(", "attribute_not_exists("},
	{" = ", " <> "}, {" < ", " >= "},
	{" AND ", " OR "}, {" OR ", " AND "},
}

func flips(condition string) (all []changed) {
	for at := 0; at < len(condition); at++ {
		for _, f := range flipped {
			if rest, ok := strings.CutPrefix(condition[at:], f.from); ok {
				value := condition[:at] + f.to + rest
				all = append(all, changed{value, value})
				break
			}
		}
	}
	return all
}

// dropsOfCondition drops each comparison, with the AND or OR that joins it to its
// neighbour.
func dropsOfCondition(condition string) (all []changed) {
	clauses := strings.FieldsFunc(strings.NewReplacer(" AND ", "|", " OR ", "|").Replace(condition), func(c rune) bool { return c == '|' })
	for _, clause := range clauses {
		clause = strings.TrimPrefix(clause, "(") // of a group, not of a function
		if strings.Count(clause, ")") > strings.Count(clause, "(") {
			clause = strings.TrimSuffix(clause, ")")
		}
		value := condition
		for _, joined := range []string{clause + " AND ", clause + " OR ", " AND " + clause, " OR " + clause} {
			if strings.Contains(condition, joined) {
				value = strings.Replace(condition, joined, "", 1)
				break
			}
		}
		if value != condition {
			all = append(all, changed{"without " + clause, value})
		}
	}
	return all
}

// dropsOfUpdate drops each assignment, and each removal.
func dropsOfUpdate(update string) (all []changed) {
	set, remove, removes := strings.Cut(strings.TrimPrefix(update, "SET "), " REMOVE ")
	assignments := strings.Split(set, ", ")
	for i, a := range assignments {
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
