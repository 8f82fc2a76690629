package mutants

// variable is the environment's that says which mutant a process runs, by its number
// from 1. Without it the code runs as it is.
const variable = "ONCE_MUTANT"

// helpers is the file that each package gets in addition: which mutant is to run, and
// what mutants are made of.
func helpers(pkg string) string {
	return "package " + pkg + `

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"
)

var mutantNumber, _ = strconv.Atoi(os.Getenv("` + variable + `"))

type (
	mutantContext  = context.Context
	mutantDuration = time.Duration
	mutantTime     = time.Time
)

// mutantFirst is the first; the others are used, too.
func mutantFirst[T any](first T, _ ...any) T { return first }

func mutantInstead[T any](_, v T) T { return v }

func mutantZero[T any](any) (zero T) { return zero }

// mutantOld is the old one where there is one.
func mutantOld[T comparable](old, now T) T {
	var zero T
	if old == zero {
		return now
	}
	return old
}

func mutantNow(time.Time) time.Time { return time.UnixMilli(time.Now().UnixMilli()) }

func mutantMore(d time.Duration) time.Duration { return d + time.Hour }

func mutantLateBy(t time.Time) time.Time { return t.Add(time.Hour) }

// mutantNil is no error, whatever there is.
func mutantNil(error) error { return nil }

// mutantUnknown is an error without what it is made of.
func mutantUnknown(err error) error { return errors.New(err.Error()) }

// mutantLater calls after the answer.
func mutantLater(ctx context.Context, call func(context.Context)) {
	ctx = context.WithoutCancel(ctx)
	time.AfterFunc(time.Minute, func() { call(ctx) })
}

// mutantUsed are the names or values that expressions use.
func mutantUsed[V any](bound map[string]V, expressions ...*string) map[string]V {
	var used map[string]V
	for name, v := range bound {
		for _, e := range expressions {
			if e != nil && mutantMentions(*e, name) {
				if used == nil {
					used = map[string]V{}
				}
				used[name] = v
				break
			}
		}
	}
	return used
}

// mutantMentions reports whether a name stands in an expression, and not only as the beginning of another.
func mutantMentions(expression, name string) bool {
	for {
		_, behind, ok := strings.Cut(expression, name)
		if !ok {
			return false
		}
		if behind == "" || !strings.Contains("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", behind[:1]) {
			return true
		}
		expression = behind
	}
}

// mutantWhere is a statement's text without a clause behind its key's, or with its opposite.
func mutantWhere(text *string, clause int, opposite bool) *string {
	if text == nil {
		return nil
	}
	clauses := strings.Split(*text, " AND ")
	switch {
	case clause >= len(clauses):
		return text
	case opposite:
		clauses[clause] = strings.Replace(clauses[clause], " = ", " <> ", 1)
	default:
		clauses = append(clauses[:clause:clause], clauses[clause+1:]...)
	}
	changed := strings.Join(clauses, " AND ")
	return &changed
}

// mutantParameters are those of the statement without the clause.
func mutantParameters[V any](text *string, parameters []V, clause int, opposite bool) []V {
	if text == nil || opposite {
		return parameters
	}
	clauses := strings.Split(*text, " AND ")
	if clause >= len(clauses) {
		return parameters
	}
	at := strings.Count(strings.Join(clauses[:clause], ""), "?")
	return append(parameters[:at:at], parameters[at+strings.Count(clauses[clause], "?"):]...)
}
`
}
