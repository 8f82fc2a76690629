package demo

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/singleeffect/once/infra/local/mapping"
	"github.com/singleeffect/once/infra/local/stack"
	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

func TestTroubleReplaces(t *testing.T) {
	counted, heard := 0, 0
	prepared := errors.New("prepared")
	trouble := Trouble{
		Parameters: map[string]string{"BatchSize": "5", "LeaseMarginSeconds": "2"},
		Visibility: 7 * time.Second,
		Prepare:    func(*stack.Worker, map[string]string) (func(), error) { return nil, prepared },
		Observe:    func(string, mapping.Batch) { heard++ },
	}
	before := maps.Clone(parameters)
	o := stack.Options{Parameters: parameters, Observe: func(string, mapping.Batch) { counted++ }}
	trouble.replace(&o)
	o.Observe("ship", mapping.Batch{})
	if counted != 1 || heard != 1 {
		t.Errorf("a batch is counted %d times and heard of %d times, want 1 and 1", counted, heard)
	}
	if _, err := o.Prepare(nil, nil); err != prepared || o.Visibility != trouble.Visibility {
		t.Errorf("got error %v and visibility %v, want the trouble's", err, o.Visibility)
	}
	if o.Parameters["BatchSize"] != "5" || o.Parameters["LeaseMarginSeconds"] != "2" || o.Parameters["MaximumConcurrency"] != before["MaximumConcurrency"] {
		t.Errorf("got parameters %v", o.Parameters)
	}
	if !maps.Equal(parameters, before) {
		t.Error("the demo's own parameters have changed")
	}
}

// leaves lets intents end in several ways, and asks what is left of them.
func leaves(t *testing.T, s *side, all []action) {
	of := func(o *operation) (some []action) {
		for i := range all {
			if all[i].operation == o {
				some = append(some, all[i])
			}
		}
		return some
	}
	for i := range all {
		all[i].refusable = !all[i].operation.natural() && i < len(operations)
	}
	if err := s.seed(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	mails, orders, changes := of(&welcome), of(&ship), of(&adjust)
	refuses(t, s, changes[0])
	takeEffect(t, s, changes[1], 2)
	inDoubtOf(t, s, mails[1])
	quarantines(t, s, mails[1], "in_doubt: lapsed")
	takeEffect(t, s, orders[1], 1)
	if err := orders[1].operation.later(t.Context(), s, orders[1]); err != nil {
		t.Fatal(err)
	}
	takeEffect(t, s, orders[1], 1) // undone
	quarantines(t, s, orders[2], "unprocessable: unknown order")
	quarantines(t, s, action{operation: &ship, body: "a stray"}, "unreadable: x")

	s.redriven = 3
	got, err := s.aftermath(t.Context(), all, map[action]bool{orders[1]: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Ends) != len(all) || got.Redriven != 3 {
		t.Errorf("got %d ends and %d redriven, want %d and 3", len(got.Ends), got.Redriven, len(all))
	}
	if want := "ship: a stray: unreadable: x"; !slices.Contains(got.Strays, want) { // with those of others
		t.Errorf("got strays %q, want %q among them", got.Strays, want)
	}
	want := map[string]Ended{
		changes[0].body: {Operation: "adjust", Refusable: true, Record: intent.Outcome{Kind: intent.Refused, Attempt: 1}},
		changes[1].body: {Operation: "adjust", Effects: 2},
		mails[0].body:   {Operation: "welcome", Blind: true, Refusable: true},
		mails[1].body: {Operation: "welcome", Blind: true, Quarantine: "in_doubt: lapsed",
			Record: intent.Outcome{Kind: intent.InDoubt, Attempt: 1, Reason: "outcome of the effect is unknown: connection lost"}},
		orders[0].body: {Operation: "ship", Natural: true},
		orders[1].body: {Operation: "ship", Natural: true, Effects: 1, Undone: true},
		orders[2].body: {Operation: "ship", Natural: true, Quarantine: "unprocessable: unknown order"},
	}
	seen := 0
	for _, e := range got.Ends {
		w, ok := want[e.Body]
		if !ok || w.Operation != e.Operation {
			continue
		}
		seen++
		w.Body = e.Body
		e.Record.Result = intent.Result{}
		if !reflect.DeepEqual(e, w) {
			t.Errorf("got %+v, want %+v", e, w)
		}
	}
	if seen != len(want) {
		t.Errorf("got %d of %d ends", seen, len(want))
	}
}

// refuses leaves a record of the core's own to which the business said no.
func refuses(t *testing.T, s *side, a action) {
	t.Helper()
	b := intent.Blind[json.RawMessage]{
		Config: intent.Config{Scope: scope, Operation: a.operation.name, Store: dynamo.New(s.stack.DB, s.stack.Table("IntentTable"))},
		Effect: func(context.Context, json.RawMessage, intent.Attempt) (any, error) { return nil, intent.Refuse("no") },
	}
	out, err := b.Deliver(t.Context(), intenttest.Delivery(t, a.key().ID, a.body))
	if err != nil || out.Kind != intent.Refused {
		t.Fatalf("got %+v and error %v, want it refused", out, err)
	}
}
