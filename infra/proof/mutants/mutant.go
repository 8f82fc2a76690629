package mutants

import (
	"cmp"
	"fmt"
	"slices"
)

// mutant is one change of a source, inside the body of one function or the value of
// one declaration.
type mutant struct {
	name     string // what it breaks; unique: package, operator and the text that is changed; its function where that is not enough
	function string // around it; empty if there is none
	operator string
	file     string // from the root of the library
	line     int
	edits    []edit
	constant string // the constant that has another value, which is the text of the one edit
}

func (m mutant) start() int {
	start := m.edits[0].start
	for _, e := range m.edits {
		start = min(start, e.start)
	}
	return start
}

func (m mutant) end() int {
	end := 0
	for _, e := range m.edits {
		end = max(end, e.end)
	}
	return end
}

// edit replaces a part of a file.
type edit struct {
	start, end int // bytes
	text       string
}

// apply gives the part of a source from one byte to another, with those of the edits
// made that lie inside it.
func apply(source string, from, to int, edits ...edit) string {
	inside := slices.DeleteFunc(slices.Clone(edits), func(e edit) bool { return e.start < from || e.end > to })
	slices.SortStableFunc(inside, func(a, b edit) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	var out []byte
	for _, e := range inside {
		if e.start < from {
			panic(fmt.Sprintf("edits overlap at byte %d: %q", e.start, e.text))
		}
		out = append(append(out, source[from:e.start]...), e.text...)
		from = e.end
	}
	return string(append(out, source[from:to]...))
}

// distinct adds its function to each name that occurs more than once, since the same condition may stand
// twice in one package, and numbers those that it may stand twice in.
func distinct(mutants []mutant) []mutant {
	of := map[string]int{}
	for _, m := range mutants {
		of[m.name]++
	}
	seen := map[string]int{}
	for i, m := range mutants {
		if of[m.name] > 1 {
			mutants[i].name += " in " + m.function
		}
		if seen[mutants[i].name]++; seen[mutants[i].name] > 1 {
			mutants[i].name = fmt.Sprintf("%s (%d)", mutants[i].name, seen[mutants[i].name])
		}
	}
	return mutants
}
