package mutants

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// variable is the environment's that says which mutant a process runs, by its number
// from 1. Without it the code runs as it is.
const variable = "ONCE_MUTANT"

// number is the file that each package gets in addition: which mutant is to run.
func number(pkg string) string {
	return "package " + pkg + `

import (
	"os"
	"strconv"
)

var mutantNumber, _ = strconv.Atoi(os.Getenv("` + variable + `"))
`
}

// region is what holds the changes of some mutants whole: a function's body, or a
// value.
type region struct {
	start, end int
	value      bool // a text; else a function's body
	void       bool // of a function without results
}

// weave gives the source of a file with all its mutants in it, of which the process
// runs one: each region that any of them changes stands there once for each, and once
// as it was. One compilation serves for all. fixed are made in every one of them.
func weave(file, source string, fixed []edit, numbered map[int]mutant) (string, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, source, 0)
	if err != nil {
		return "", err
	}
	var edits []edit
	for _, r := range regions(set, f) {
		var variants strings.Builder
		for _, n := range slices.Sorted(maps.Keys(numbered)) {
			m := numbered[n]
			if m.start < r.start || m.end > r.end {
				continue
			}
			own := slices.DeleteFunc(slices.Clone(fixed), func(e edit) bool { return e.start == m.start && e.end == m.end })
			text := apply(source, r.start, r.end, append(own, m.edit)...)
			switch {
			case r.value:
				text = "return " + text
			case r.void:
				text += "\nreturn"
			}
			fmt.Fprintf(&variants, "\ncase %d:\n%s\n", n, text)
			delete(numbered, n)
		}
		if variants.Len() == 0 {
			continue
		}
		as := apply(source, r.start, r.end, fixed...)
		choice := "switch mutantNumber {" + variants.String() + "}\n"
		if r.value {
			edits = append(edits, edit{r.start, r.end, "func() string {\n" + choice + "return " + as + "\n}()"})
		} else {
			edits = append(edits, edit{r.start, r.end, "\n" + choice + as})
		}
	}
	for _, m := range numbered {
		return "", fmt.Errorf("%s: the mutant %q is inside of no function and no value", file, m.name)
	}
	for _, e := range fixed {
		if !slices.ContainsFunc(edits, func(outer edit) bool { return outer.start <= e.start && e.end <= outer.end }) {
			edits = append(edits, e)
		}
	}
	return apply(source, 0, len(source), edits...), nil
}

// regions are the bodies and values in a file that a mutant may change.
func regions(set *token.FileSet, f *ast.File) (all []region) {
	at := func(p token.Pos) int { return set.Position(p).Offset }
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				all = append(all, region{start: at(d.Body.Lbrace) + 1, end: at(d.Body.Rbrace), void: d.Type.Results == nil})
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				spec, ok := s.(*ast.ValueSpec)
				if !ok || len(spec.Values) != 1 {
					continue
				}
				all = append(all, region{start: at(spec.Values[0].Pos()), end: at(spec.Values[0].End()), value: true})
			}
		}
	}
	return all
}

// everywhere are the edits that all variants of a file need.
func everywhere(file, source string) ([]edit, error) {
	var edits []edit
	if slices.Contains(expressionFiles, file) {
		// Constants become variables, each made for itself: a mutant of one is none of
		// those that are made of it.
		all, declared, err := expressions(file, source)
		if err != nil {
			return nil, err
		}
		edits = append(edits, edit{declared, declared + len("const"), "var"})
		for _, e := range all {
			edits = append(edits, edit{e.start, e.end, strconv.Quote(e.value)})
		}
	}
	for _, a := range adaptations[file] {
		e, err := replacement(file, source, a.old, a.new)
		if err != nil {
			return nil, err
		}
		edits = append(edits, e)
	}
	return edits, nil
}

// replacement is the edit of a text that must occur exactly once.
func replacement(file, source, old, with string) (edit, error) {
	if n := strings.Count(source, old); n != 1 {
		return edit{}, fmt.Errorf("%s: this text occurs %d times, want 1: %s", file, n, old)
	}
	at := strings.Index(source, old)
	return edit{at, at + len(old), with}, nil
}

// adaptations keep a mutated expression a valid request. DynamoDB refuses one that
// defines a value that it does not use: such a mutant would be killed by that, and not
// by what its expression no longer says. And the statements are made of the
// expressions as long as these are assignments and comparisons joined by AND.
var adaptations = map[string][]struct{ old, new string }{
	"functions/ship/orders.go": {{"	_, err := t.client.UpdateItem(", `	maps.DeleteFunc(values, func(name string, _ types.AttributeValue) bool {
		return !regexp.MustCompile(name + "\\b").MatchString(updateShipped + conditionUnshipped)
	})
	_, err := t.client.UpdateItem(`}, {"import (\n", "import (\n\t\"maps\"\n\t\"regexp\"\n"}},
	"shared/dynamo/store.go":  {{bindNow, bindUsed}},
	"shared/dynamo/ledger.go": {{bindNow, bindUsed}},
	"shared/dynamo/statement.go": {{
		`	for condition := range strings.SplitSeq(conditionOwnClaim, " AND ") {
		b.WriteString(" AND " + term(condition))
	}
`, `	where := regexp.MustCompile("[#:]?[a-z_]+").ReplaceAllStringFunc(conditionOwnClaim, func(word string) string {
		if word[0] == ':' {
			f.takes = append(f.takes, word)
			return "?"
		}
		return quoted(word)
	})
	if strings.Contains(where, " OR ") {
		where = "(" + where + ")"
	}
	b.WriteString(" AND " + where)
`}, {"import (\n", "import (\n\t\"regexp\"\n"}},
}

const (
	bindNow  = `ExpressionAttributeValues:           item{":now": number(next.ClaimedAt.Unix())},`
	bindUsed = `ExpressionAttributeValues: func() item {
			if _, used := bind(item{":now": number(next.ClaimedAt.Unix())}, conditionAbsent); len(used) > 0 {
				return used
			}
			return nil
		}(),`
)
