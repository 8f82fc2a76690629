package spin

import (
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"

	"github.com/singleeffect/once/shared/intent"
)

//go:embed model/*.pml
var files embed.FS

const mainFile = "once.pml"

// model is the directory of the model's files.
func model() fs.FS {
	sub, err := fs.Sub(files, "model")
	if err != nil {
		panic(err) // the name is a constant, and embedded
	}
	return sub
}

func read(name string) string {
	text, err := fs.ReadFile(model(), name)
	if err != nil {
		panic(err) // embedded
	}
	return string(text)
}

var rowLine = regexp.MustCompile(`(?m)^\tROW\((\w+), +(\w+), +(\w+), +(\w+)\)`)

// Transitions is the model's own table.
func Transitions() []intent.Transition { return transitions(read("transitions.pml")) }

func transitions(text string) []intent.Transition {
	state := func(name string) intent.State {
		if name == "absent" {
			return intent.StateAbsent
		}
		return intent.State(name)
	}
	var table []intent.Transition
	for _, m := range rowLine.FindAllStringSubmatch(text, -1) {
		table = append(table, intent.Transition{Verb: m[1], From: state(m[2]), To: state(m[3]), Guard: intent.Guard(m[4])})
	}
	return table
}

// Differences are the rows that one table has and the other has not, the model's
// and the code's; none when they say the same.
func Differences(model, code []intent.Transition) []string {
	var rows []string
	missing := func(in string, table, other []intent.Transition) {
		for _, t := range table {
			if !slices.Contains(other, t) {
				rows = append(rows, fmt.Sprintf("%s has no %s from %q to %q by %s", in, t.Verb, t.From, t.To, t.Guard))
			}
		}
	}
	missing("the model", code, model)
	missing("the code", model, code)
	return rows
}

// mutant is a line of model/rules.pml.
type mutant struct {
	name   string
	number int
	breaks string // what it does, after the number of the public case that it stands for
}

var mutantLine = regexp.MustCompile(`(?m)^#define ([A-Z][A-Z_]+) +(\d+) /\* (.*) \*/$`)

// declared are the mutants that the model has.
func declared() []mutant {
	var all []mutant
	for _, m := range mutantLine.FindAllStringSubmatch(read("rules.pml"), -1) {
		number, err := strconv.Atoi(m[2])
		if err != nil {
			panic(err) // digits, embedded
		}
		all = append(all, mutant{m[1], number, m[3]})
	}
	return all
}
