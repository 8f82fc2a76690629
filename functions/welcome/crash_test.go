package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
	"github.com/singleeffect/once/shared/intenttest/calls"
)

var (
	ada    = map[string]int{"ada@example.com": 1}
	nobody = map[string]int{}
)

// on is a plan for the first request of an operation.
func on(operation string, fault func(*worker) intenttest.Fault) func(*worker) func(intenttest.Call) intenttest.Fault {
	return func(w *worker) func(intenttest.Call) intenttest.Fault {
		return func(call intenttest.Call) intenttest.Fault {
			if call.Operation == operation && call.Number == 1 {
				return fault(w)
			}
			return intenttest.Fault{}
		}
	}
}

func dieBefore(w *worker) intenttest.Fault { return intenttest.Fault{Before: w.crash, Drop: true} }
func dieAfter(w *worker) intenttest.Fault  { return intenttest.Fault{LoseReply: true, After: w.crash} }
func loseReply(*worker) intenttest.Fault   { return intenttest.Fault{LoseReply: true} }

func throttle(*worker) intenttest.Fault {
	return intenttest.Fault{Reply: &intenttest.Reply{Status: 400, Body: `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"cancelled",` +
		`"CancellationReasons":[{"Code":"None"},{"Code":"ThrottlingError","Message":"slow down"}]}`}}
}

// The column Blind of DESIGN section 5, with its row: wherever the first worker dies, there is never a
// second e-mail, and the row is there exactly when the record is completed (wantOne looks after each
// delivery).
func TestCrash(t *testing.T) {
	const completion = "TransactWriteItems"
	tests := []struct {
		name string
		plan func(*worker) func(intenttest.Call) intenttest.Fault
		// sending happens when SES has taken the first worker's e-mail and not answered yet.
		sending func(*worker)

		early, late intent.Kind // of a delivery while the first one's lease runs, and of one after it
		mails       map[string]int
	}{
		{"before the claim", on("PutItem", dieBefore), nil, intent.Executed, intent.Replayed, ada},
		{"after the claim, before the e-mail", on("PutItem", dieAfter), nil, intent.InProgress, intent.InDoubt, nobody},
		{"while the user is read", on("GetItem", dieBefore), nil, intent.InProgress, intent.InDoubt, nobody},
		{"after the e-mail, before SES answers (C10)", nil, (*worker).crash, intent.InProgress, intent.InDoubt, ada},
		{"after the e-mail, before completion (C10)", on(completion, dieBefore), nil, intent.InProgress, intent.InDoubt, ada},
		{"after completion, before its reply", on(completion, dieAfter), nil, intent.Replayed, intent.Replayed, ada},
		{"the claim's reply is lost", on("PutItem", loseReply), nil, intent.Replayed, intent.Replayed, ada},
		{"completion's reply is lost", on(completion, loseReply), nil, intent.Replayed, intent.Replayed, ada},
		{"completion is throttled", on(completion, throttle), nil, intent.Replayed, intent.Replayed, ada},
		{"after completion, before the acknowledgement", nil, nil, intent.Replayed, intent.Replayed, ada},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newFixture(t)
			first := w.worker(t, 0)
			if tt.plan != nil {
				first.plan = tt.plan(first)
			}
			if tt.sending != nil {
				w.ses.script = []reply{{does: func(_ http.ResponseWriter, r *http.Request) {
					tt.sending(first)
					<-r.Context().Done()
				}}, {}}
			}
			listed := first.deliver(t, lesson)
			if alive := !first.dead.Load(); alive && (len(listed) != 0 || first.report.Outcomes[intent.Executed] != 1) {
				t.Errorf("first delivery: got outcomes %v, listed %v, want it executed", first.report.Outcomes, listed)
			}

			state := map[intent.Kind]intent.State{
				intent.Executed: intent.StateCompleted, intent.Replayed: intent.StateCompleted,
				intent.InProgress: intent.StateClaimed, intent.InDoubt: intent.StateInDoubt,
			}
			w.worker(t, 0).wantOne(t, "before the lease is over", lesson, tt.early, state[tt.early])
			again := lesson
			again.MessageId = "another" // a producer's second send, a redrive (C15)
			for range 3 {
				w.worker(t, lapse).wantOne(t, "after the lease", again, tt.late, state[tt.late])
			}
			w.ses.wantSent(t, "in all deliveries", tt.mails)
		})
	}
}

// The time of the invocation is over while SES has the e-mail: the worker lives to park it. No later
// delivery sends it, and each says so in the metric that the alarm watches (C10).
func TestC10_CutOff(t *testing.T) {
	w := newFixture(t)
	first := w.worker(t, 0)
	w.ses.script = []reply{{does: func(_ http.ResponseWriter, r *http.Request) {
		first.cancel()
		<-r.Context().Done()
	}}, {}}
	first.wantOne(t, "first delivery", lesson, intent.InDoubt, intent.StateInDoubt)
	for range 3 {
		w.worker(t, lapse).wantOne(t, "later", lesson, intent.InDoubt, intent.StateInDoubt)
	}
	w.ses.wantSent(t, "in all deliveries", ada)
}

// A completion that cannot be written although its worker lives, such as to a table that is not
// there, is a doubt once its lease is over, and not a second e-mail.
func TestRowCannotBeWritten(t *testing.T) {
	w := newFixture(t)
	emails := w.emails
	w.emails = calls.Name("EMAILS_TABLE", "no-such-table")
	first := w.worker(t, 0)
	first.deliver(t, lesson)
	w.emails = emails
	w.wantState(t, "first delivery", intent.StateClaimed)
	w.worker(t, lapse).wantOne(t, "after the lease", lesson, intent.InDoubt, intent.StateInDoubt)
	w.ses.wantSent(t, "in both deliveries", ada)
}

// A batch claims one intent at a time, right before its e-mail: a crash in its middle puts one intent
// in doubt and leaves the ones behind it as they were.
func TestClaimsAreOneAtATime(t *testing.T) {
	w := newFixture(t)
	batch := []events.SQSMessage{message("a", "7", "signup"), message("b", "8", "signup"), message("c", "7", "win_back")}
	first := w.worker(t, 0)
	looked := 0
	w.ses.incoming = func() {
		looked++
		if got := w.states(t); got[intent.StateClaimed] != 1 || len(got) > 2 || got[intent.StateCompleted] != looked-1 {
			t.Errorf("records while e-mail %d leaves: got %v, want one claimed, those before it completed, none behind it", looked, got)
		}
		if looked == 2 {
			first.crash()
		}
	}
	first.deliver(t, batch...)
	w.ses.incoming = nil

	late := w.worker(t, lapse)
	listed := late.deliver(t, batch...)
	want := map[intent.Kind]int{intent.Replayed: 1, intent.InDoubt: 1, intent.Executed: 1}
	for kind, n := range want {
		if late.report.Outcomes[kind] != n {
			t.Errorf("redelivery: got outcomes %v, want %v", late.report.Outcomes, want)
		}
	}
	if strings.Join(listed, ",") != "message-of-b" {
		t.Errorf("redelivery: listed %v, want the one in doubt", listed)
	}
	w.ses.wantSent(t, "in both deliveries", map[string]int{"ada@example.com": 2, "bob@example.com": 1})
}

// states counts the records that stand, by state.
func (w *fixture) states(t *testing.T) map[intent.State]int {
	out, err := w.db.Scan(t.Context(), &dynamodb.ScanInput{TableName: &w.records})
	if err != nil {
		t.Error(err) // not Fatal: SES's goroutine asks
		return nil
	}
	states := map[intent.State]int{}
	for _, r := range out.Items {
		states[intent.State(text(r["state"]))]++
	}
	return states
}
