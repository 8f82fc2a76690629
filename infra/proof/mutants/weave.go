package mutants

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// region is what holds the changes of some mutants whole: a function's body, or a
// variable's value.
type region struct {
	start, end int
	value      string        // its type; empty: a function's body
	fn         *ast.FuncDecl // whose body it is
}

// weave gives the source of a file with all its mutants in it, of which the process
// runs one: each function that any of them changes stands there once for each, and once
// as it was, where it is told which of them to call. One compilation serves for all.
func (s *source) weave(numbered map[int]mutant) (string, error) {
	fixed := s.used()
	var edits []edit
	var more strings.Builder
	for _, e := range s.expressions() {
		if e.name == "" {
			continue
		}
		// Constants become variables, each made for itself: a mutant of one is none of
		// those that are made of it.
		edits = append(edits, edit{e.start, e.end, `_ = ""`})
		fmt.Fprintf(&more, "\nvar %s = func() string {\nswitch mutantNumber {\n", e.name)
		for _, n := range slices.Sorted(maps.Keys(numbered)) {
			if m := numbered[n]; m.constant == e.name {
				fmt.Fprintf(&more, "case %d:\nreturn %s\n", n, m.edits[0].text)
				delete(numbered, n)
			}
		}
		fmt.Fprintf(&more, "}\nreturn %s\n}()\n", strconv.Quote(e.value))
	}
	for _, r := range s.regions() {
		var variants strings.Builder
		for _, n := range slices.Sorted(maps.Keys(numbered)) {
			m := numbered[n]
			if m.start() < r.start || m.end() > r.end {
				continue
			}
			own := slices.DeleteFunc(slices.Clone(fixed), func(e edit) bool {
				return slices.ContainsFunc(m.edits, func(of edit) bool { return of.start < of.end && e.start >= of.start && e.end <= of.end })
			})
			text := apply(s.text, r.start, r.end, append(own, m.edits...)...)
			if r.fn == nil {
				fmt.Fprintf(&variants, "\ncase %d:\nreturn %s\n", n, text)
			} else {
				h := s.head(r.fn, n)
				fmt.Fprintf(&variants, "\ncase %d:\n%s\n", n, h.call)
				fmt.Fprintf(&more, "\n%s {%s}\n", h.declaration, text)
			}
			delete(numbered, n)
		}
		if variants.Len() == 0 {
			continue
		}
		as := apply(s.text, r.start, r.end, fixed...)
		if r.fn == nil {
			edits = append(edits, edit{r.start, r.end, "func() " + r.value + " {\nswitch mutantNumber {" + variants.String() + "}\nreturn " + as + "\n}()"})
			continue
		}
		edits = append(edits, edit{s.at(r.fn.Pos()), r.end, s.head(r.fn, 0).declaration + " {\nif mutantNumber != 0 {\nswitch mutantNumber {" + variants.String() + "}\n}\n" + as})
	}
	for _, m := range numbered {
		return "", fmt.Errorf("%s: the mutant %q is inside of no function and no value", s.file, m.name)
	}
	for _, e := range fixed {
		if !slices.ContainsFunc(edits, func(outer edit) bool { return outer.start <= e.start && e.end <= outer.end }) {
			edits = append(edits, e)
		}
	}
	woven := apply(s.text, 0, len(s.text), edits...) + more.String()
	var imports strings.Builder
	for _, path := range slices.Sorted(maps.Keys(s.aliases)) {
		if alias := s.aliases[path]; strings.Contains(woven, alias+".") {
			fmt.Fprintf(&imports, "\nimport %s %q", alias, path)
		}
	}
	at := s.at(s.syntax.Name.End())
	return woven[:at] + imports.String() + woven[at:], nil
}

// head is how a function is declared under a number, 0 for its own name, and called under it by itself.
type head struct{ declaration, call string }

func (s *source) head(f *ast.FuncDecl, number int) head {
	suffix := ""
	if number > 0 {
		suffix = fmt.Sprintf("Mutant%d", number)
	}
	var h head
	call := ""
	h.declaration = "func "
	if f.Recv != nil {
		parameters, names := s.parameters(f.Recv, "mutantReceiver")
		h.declaration += "(" + parameters + ") "
		call = names[0] + "."
	}
	h.declaration += f.Name.Name + suffix
	call += f.Name.Name + suffix
	if f.Type.TypeParams != nil {
		parameters, names := s.parameters(f.Type.TypeParams, "")
		h.declaration += "[" + parameters + "]"
		call += "[" + strings.Join(names, ", ") + "]"
	}
	parameters, names := s.parameters(f.Type.Params, "mutantParameter")
	h.declaration += "(" + parameters + ")" + s.text[s.at(f.Type.Params.End()):s.at(f.Type.End())]
	call += "(" + strings.Join(names, ", ")
	if n := len(f.Type.Params.List); n > 0 {
		if _, variadic := f.Type.Params.List[n-1].Type.(*ast.Ellipsis); variadic {
			call += "..."
		}
	}
	if h.call = "return " + call + ")"; f.Type.Results == nil {
		h.call = call + ")\nreturn"
	}
	return h
}

// parameters are a list with a name for each, and the names.
func (s *source) parameters(list *ast.FieldList, unnamed string) (text string, names []string) {
	var all []string
	for _, f := range list.List {
		of := f.Names
		if len(of) == 0 {
			of = []*ast.Ident{ast.NewIdent("_")}
		}
		for _, n := range of {
			name := n.Name
			if name == "_" {
				name = unnamed + strconv.Itoa(len(all))
			}
			names = append(names, name)
			all = append(all, name+" "+s.of(f.Type))
		}
	}
	return strings.Join(all, ", "), names
}

// regions are the bodies and values in a file that a mutant may change.
func (s *source) regions() (all []region) {
	for _, d := range s.syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				all = append(all, region{start: s.at(d.Body.Lbrace) + 1, end: s.at(d.Body.Rbrace), fn: d})
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				spec, ok := spec.(*ast.ValueSpec)
				if !ok || len(spec.Values) != 1 {
					continue
				}
				if t, ok := s.write(s.info.Defs[spec.Names[0]].Type()); ok {
					all = append(all, region{start: s.at(spec.Values[0].Pos()), end: s.at(spec.Values[0].End()), value: t})
				}
			}
		}
	}
	return all
}
