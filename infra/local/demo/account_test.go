package demo

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// accounts lets the intents of a crowd end in all ways there are, on one side
// that stands for both.
func accounts(t *testing.T, s *side, all []action) {
	if err := s.seed(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	taught, err := lessons(planned)
	if err != nil {
		t.Fatal(err)
	}
	of := func(o *operation) (some []action) {
		for _, a := range append(taught, all...) {
			if a.operation == o {
				some = append(some, a)
			}
		}
		return some
	}
	reached := map[action]bool{}
	for _, a := range of(&ship)[1:] {
		reached[a] = true
	}
	stands := func(a action) {
		t.Helper()
		takeEffect(t, s, a, 1)
		if err := a.operation.later(t.Context(), s, a); err != nil {
			t.Fatal(err)
		}
	}

	// Of each operation five intents: the lesson's first.
	mails := of(&welcome)
	inDoubtOf(t, s, mails[0])
	quarantines(t, s, mails[0], "in_doubt: lapsed") // as it should be
	inDoubtOf(t, s, mails[1])
	quarantines(t, s, mails[1], "in_doubt: lapsed") // as it should be
	inDoubtOf(t, s, mails[2])                       // nobody hears of it
	sendsMail(t, s, mails[3])
	quarantines(t, s, mails[3], "conflict: another payload")
	sendsMail(t, s, mails[4])
	sendsMail(t, s, mails[4])

	orders := of(&ship)
	stands(orders[1])
	stands(orders[2])
	takeEffect(t, s, orders[2], 1) // undone
	stands(orders[3])
	quarantines(t, s, orders[3], "unprocessable: unknown order")
	delete(reached, orders[4])
	stands(orders[5])
	quarantines(t, s, action{operation: &ship, body: "nobody's"}, "unreadable: x")

	rows, err := account(t.Context(), taught, all, s, s, map[*side]map[action]bool{s: reached})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Row{}
	for _, row := range rows {
		got[row.Operation] = row
	}
	want := map[string]Guarded{
		// One undone, one in quarantine, one never reached, and one that nobody sent.
		"ship": {Effects: Effects{Effects: 4, Duplicates: 1, Lost: 3, Wrong: 3, undone: 1}},
		// One in doubt, one in doubt that nobody hears of, one in quarantine, one doubled, one lost.
		"welcome": {Effects: Effects{Effects: 3, Duplicates: 1, Lost: 3, Wrong: 4}, InDoubt: 2},
	}
	strays := map[string][]string{
		"ship":    {orders[3].body + " in quarantine: unprocessable: unknown order", "nobody's in quarantine: unreadable: x"},
		"welcome": {mails[2].body + " in doubt, and not in quarantine", mails[3].body + " in quarantine: conflict: another payload"},
	}
	for name, guarded := range want {
		if got[name].Once != guarded {
			t.Errorf("%s: got %+v, want %+v", name, got[name].Once, guarded)
		}
		if !slices.Equal(got[name].Strays, strays[name]) {
			t.Errorf("%s: got strays %q, want %q", name, got[name].Strays, strays[name])
		}
	}
	if got, want := got["ship"].Naive, (Effects{Effects: 4, Duplicates: 1, Lost: 1, Wrong: 2, undone: 1}); got != want {
		t.Errorf("naive ship: got %+v, want %+v: it has no quarantine", got, want)
	}
	if err := (Report{Rows: rows}).Err(); err == nil || !strings.Contains(err.Error(), "nobody's in quarantine") {
		t.Errorf("got error %v, want one that says what is stray", err)
	}
}

// inDoubtOf leaves a record of the core's own that is in doubt.
func inDoubtOf(t *testing.T, s *side, a action) {
	t.Helper()
	b := intent.Blind[json.RawMessage]{
		Config: intent.Config{Scope: scope, Operation: a.operation.name, Store: dynamo.New(s.stack.DB, s.stack.Table("IntentTable"))},
		Effect: func(context.Context, json.RawMessage, intent.Attempt) (any, error) {
			return nil, errors.New("connection lost")
		},
	}
	out, err := b.Deliver(t.Context(), intenttest.Delivery(t, a.key().ID, a.body))
	if err != nil || out.Kind != intent.InDoubt {
		t.Fatalf("got %+v and error %v, want it in doubt", out, err)
	}
}
