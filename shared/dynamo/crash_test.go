package dynamo_test

import (
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// cell is what a fault does to an intent of a class: what the deliveries after
// the fault come to, in their order, and in all how many calls there were and
// how many effects.
type cell struct {
	kinds          []intent.Kind
	calls, effects int
}

var (
	none    *cell // the class has no such moment
	runs    = &cell{kinds(intent.Executed, intent.Replayed), 1, 1}
	replays = &cell{kinds(intent.Replayed, intent.Replayed), 1, 1}
)

func kinds(k ...intent.Kind) []intent.Kind { return k }

// takenOver is an intent that lapses and runs again: one effect, whoever called.
func takenOver(calls int) *cell {
	return &cell{kinds(intent.InProgress, intent.Executed), calls, 1}
}

// doubtful is an intent that lapses, and nobody knows more until it is settled.
func doubtful(calls int) *cell {
	return &cell{kinds(intent.InProgress, intent.InDoubt), calls, calls}
}

// What a crash does, by class. A Keyed and a Blind effect is also tried with
// writes that commit with its completion, for which the same holds: a row is
// there when the completion is, and once.
func TestCrash(t *testing.T) {
	b := newBench(t)
	for _, row := range []struct {
		fault                string
		play                 play
		ledger, keyed, blind *cell
	}{
		{"before the claim", claiming(crashBefore), runs, runs, runs},
		{"after the claim, before the effect (C11)", claiming(crashAfter), none, takenOver(1), doubtful(0)},
		{"during the effect, before the call", during(crashUnacted), none, takenOver(1), doubtful(0)},
		{"during the effect, after the call", during(crashActed), none, takenOver(2), doubtful(1)},
		{"after the effect, before completion", completing(crashBefore), none, takenOver(2), doubtful(1)},
		{"the claim's reply is lost", claiming(loseReply), replays, replays, replays},
		{"completion's reply is lost", completing(loseReply), replays, replays, replays},
		{"completion's reply is lost, crash before it is read back", completing(crashAfter), replays, replays, replays},
		{"after completion, before the acknowledgement", during(nil), replays, replays, replays},
		{
			"a zombie wakes after a takeover, its effect not begun", zombieBefore,
			// the successor, the zombie
			&cell{kinds(intent.Executed, intent.Replayed), 1, 1},
			&cell{kinds(intent.Executed, intent.Replayed), 1, 1},
			&cell{kinds(intent.InDoubt, intent.InDoubt), 0, 0},
		},
		{
			"a zombie wakes after a takeover, its effect begun", zombieDuring(nil),
			none,
			&cell{kinds(intent.Executed, intent.Replayed), 2, 1},
			&cell{kinds(intent.InDoubt, intent.Executed), 1, 1}, // who ran it knows best
		},
		{
			"a zombie wakes after a false no, its effect begun", zombieDuring(saysNo),
			none, none,
			&cell{kinds(intent.Executed, intent.Replayed), 2, 2}, // the promise holds as long as a no is final
		},
		{"past the provider's window", pastItsWindow, none, &cell{kinds(intent.InDoubt), 1, 1}, none},
	} {
		for _, c := range columns {
			want := map[string]*cell{"Ledger": row.ledger, "Keyed": row.keyed, "Blind": row.blind}[c.class]
			if want == none {
				continue
			}
			settlers := map[string]settler{"": nil}
			if want.kinds[len(want.kinds)-1] == intent.InDoubt {
				settlers = map[string]settler{", settled by a probe": probed, ", settled by an operator": operated}
			}
			for by, settle := range settlers {
				t.Run(row.fault+"/"+c.name+by, func(t *testing.T) {
					t.Parallel()
					s := scene{b: b, column: c, p: new(provider), d: message(t, `{"cents":10}`)}
					if c.class == "Ledger" {
						b.open(t, s.d.Key, 100)
					}
					row.play(t, s, want.kinds)
					s.wantEffects(t, want.calls, want.effects)
					result, rows := c.result, 1
					if settle != nil {
						s.wantRows(t, 0)
						result, rows = settle(t, s, want.calls > 0)
					}
					last := b.later(t, 2*lapse)
					o, err := last.deliver(s.handler(last, nil, nil), s.d)
					s.want(t, "last delivery", o, err, intent.Replayed)
					if string(o.Result.JSON) != result {
						t.Errorf("result: got %s, want %s", o.Result.JSON, result)
					}
					s.wantRows(t, rows)
				})
			}
		}
	}
}

// probed asks a probe that knows: yes completes, no runs once.
func probed(t *testing.T, s scene, sent bool) (result string, rows int) {
	t.Helper()
	verdict, outcome := saysNo, intent.Executed
	if sent {
		verdict, outcome = saysYes, intent.Replayed
	}
	w := s.b.later(t, lapse)
	h := s.handler(w, nil, verdict)
	o, err := w.deliver(h, s.d)
	if o.Kind == intent.InProgress { // a no would not count yet
		if o.Wait <= 0 || o.Wait > 5*time.Minute { // the first look at a doubt
			t.Errorf("the message is put off for %v, want until a no counts", o.Wait)
		}
		w.advance(o.Wait)
		o, err = w.deliver(h, s.d)
	}
	s.want(t, "delivery with a probe", o, err, outcome)
	s.wantEffects(t, s.calls(), 1)
	return s.result, 1
}

// operated is an operator who knows. A completion by hand brings no writes.
func operated(t *testing.T, s scene, sent bool) (result string, rows int) {
	t.Helper()
	if sent {
		s.b.settle(t, s.d, intent.StateCompleted)
		return `"by the operator"`, 0
	}
	s.b.settle(t, s.d, intent.StateReleased)
	w := s.b.later(t, lapse)
	o, err := w.deliver(s.handler(w, nil, nil), s.d)
	s.want(t, "delivery after the operator's no", o, err, intent.Executed)
	s.wantEffects(t, 1, 1)
	return s.result, 1
}
