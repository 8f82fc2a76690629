package mutants

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// snippet is a file of package intent. Each function has one operator's mutants asked of it.
const snippet = `package intent

import (
	"context"
	"errors"
	"time"
)

func conditions(a, b int, err error) bool {
	if err != nil || a == 1 && !(b < 2) {
		return a > b
	}
	switch {
	case err == nil:
	}
	return false
}

type box struct {
	count int
	last  error
	outcome Outcome
}

func leftOut(ctx context.Context, b *box, more chan int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer println()
	local := 1
	local = 2
	b.count = local
	b.count++
	_ = ctx.Err()
	go println()
	<-more
	panic(b)
}

func orders(ctx context.Context, s Store, r Record) error {
	if r.Owner == "" {
		return errors.New("none")
	}
	_, err := s.Amend(ctx, r)
	return err
}

func concatenations(a, b []string) []string { return append(a, b...) }

func later(ctx context.Context, s Store, r Record, effect func(context.Context, int) (string, error)) (string, error) {
	if _, err := s.Amend(ctx, r); err != nil {
		return "", err
	}
	if err := TimeToStart(ctx); err != nil {
		return "", err
	}
	return effect(ctx, 1)
}

func times(c Config, deadline time.Time, left time.Duration) time.Time {
	left = max(time.Until(deadline)-c.SkewMargin, left+c.LeaseMargin)
	return deadline.Add(-left)
}

func bounds(ctx context.Context, c Config, deadline time.Time) {
	_, _ = context.WithDeadline(ctx, deadline)
	_, _ = context.WithTimeout(ctx, c.Lease)
	_ = deadline.Sub(deadline)
}

func fields(seen Record, owner string) Record {
	next := Record{Owner: owner, ClaimedAt: seen.ClaimedAt, State: StateClaimed}
	next.Owner, next.Attempt = owner, seen.Attempt+1
	return next
}

func keys(a, b string) string { return a + "#" + b }

func sentences(a string) string { return "it is " + a }

func codes(s string) bool {
	switch s {
	case "a", "b":
		return true
	}
	return len([]string{"c"}) > 0
}

func kinds(k Kind) State {
	if k == Executed {
		return StateCompleted
	}
	return StateInDoubt
}

func opens(err error) (Outcome, error) {
	b := box{last: err}
	b.last = err
	if err != nil {
		return Outcome{}, err
	}
	return b.outcome, nil
}
`

// Each operator finds in a function what it is to find, and nothing else.
func TestOperators(t *testing.T) {
	s := with(t, "shared/intent/snippet.go", snippet)
	for _, tt := range []struct {
		function string
		of       func(*source) []mutant
		want     []string
	}{
		{"conditions", ofConditions, []string{"err != nil: never", "a == 1: always", "a == 1: never", "!(b < 2): always", "!(b < 2): never",
			"a > b: always", "a > b: never", "err == nil: always", "err == nil: never"}},
		{"leftOut", ofStatements, []string{"defer println()", "b.count = local", "b.count++", "_ = ctx.Err()", "go println()", "<-more"}},
		{"orders", ofOrders, []string{`_, err := s.Amend(ctx, r) before if r.Owner == "" { return errors.New("none") }`}},
		{"concatenations", ofConcatenations, []string{"b before a"}},
		{"later", ofCalls, []string{"s.Amend(ctx, r)", "effect(ctx, 1)"}},
		{"times", ofTimes, []string{
			"time.Until(deadline)-c.SkewMargin: without c.SkewMargin", "time.Until(deadline)-c.SkewMargin: plus c.SkewMargin",
			"left+c.LeaseMargin: without c.LeaseMargin", "left+c.LeaseMargin: without left",
			"max(time.Until(deadline)-c.SkewMargin, left+c.LeaseMargin): only time.Until(deadline)-c.SkewMargin",
			"max(time.Until(deadline)-c.SkewMargin, left+c.LeaseMargin): only left+c.LeaseMargin",
			"deadline.Add(-left): without -left",
		}},
		{"bounds", ofBounds, []string{"deadline of context.WithDeadline: none", "deadline of context.WithDeadline: an hour later",
			"c.Lease of context.WithTimeout: none", "c.Lease of context.WithTimeout: an hour more"}},
		{"fields", ofFields, []string{"Owner: owner: empty", "Owner: owner: as in seen.Owner", "ClaimedAt: seen.ClaimedAt: empty",
			"ClaimedAt: seen.ClaimedAt: an hour later", "ClaimedAt: seen.ClaimedAt: now", "State: StateClaimed: empty", "State: StateClaimed: as in seen.State",
			"next.Owner = owner: as in next.Owner", "next.Attempt = seen.Attempt+1: as in next.Attempt"}},
		{"keys", ofKeys, []string{`a + "#" + b: without a`, `a + "#" + b: without b`}},
		{"sentences", ofKeys, nil},
		{"codes", ofCodes, []string{`"a" of s: dropped`, `"b" of s: dropped`, `"c" of []string{"c"}: dropped`}},
		{"kinds", ofKinds, []string{"StateCompleted in return StateCompleted: StateRefused", "StateInDoubt in return StateInDoubt: StateAbsent"}},
		{"opens", ofFailures, []string{"box{last: err}", "b.last = err", "return Outcome{}, err"}},
	} {
		var got []string
		for _, m := range tt.of(s) {
			if within := s.function(tt.function); m.start() >= s.at(within.Pos()) && m.end() <= s.at(within.End()) {
				_, text, _ := strings.Cut(m.name, ": ")
				got = append(got, text)
			}
		}
		slices.Sort(got)
		slices.Sort(tt.want)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", tt.function, got, tt.want)
		}
	}
}

// function is one of a file's by its name.
func (s *source) function(name string) *ast.FuncDecl {
	for _, d := range s.syntax.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == name {
			return f
		}
	}
	return nil
}

// verdicts are of the functions' own packages.
const effect = `package main

import (
	"errors"

	"github.com/singleeffect/once/shared/intent"
)

func verdicts(err error, code int) error {
	switch code {
	case 1:
		return intent.Answered(intent.NotApplied(err))
	case 2:
		return intent.Refuse(code)
	case 3:
		return intent.Quarantine(err)
	}
	return errors.New("unknown")
}
`

func TestVerdicts(t *testing.T) {
	var got []string
	for _, m := range ofVerdicts(with(t, "functions/charge/snippet.go", effect)) {
		got = append(got, strings.TrimPrefix(m.name, "charge verdict: "))
	}
	want := []string{
		"intent.Answered(intent.NotApplied(err)): by itself", "intent.NotApplied(err): unknown", "intent.NotApplied(err): refused",
		"intent.Refuse(code): not applied", "intent.Refuse(code): unknown", "intent.Quarantine(err): unknown",
		`return errors.New("unknown"): NotApplied`, `return errors.New("unknown"): Refuse`, `return errors.New("unknown"): Quarantine`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
