package explore

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/singleeffect/once/shared/intent"
)

// begins looks whether an effect begins under a claim that stands. Inside the
// assumptions no zombie's does, none after a Blind one that can have happened, and a
// Blind one only if none before it can.
func (k *worker) begins(a intent.Attempt) {
	w, s := k.world, k.world.subject(a.Key)
	kind := k.kindOf(s)
	switch {
	case w.breach != "":
	case s.last.State != intent.StateClaimed || s.last.MessageID != a.MessageID || s.last.Attempt != a.Number:
		w.fail("an effect of attempt %d begins, and the record is %s in attempt %d", a.Number, s.last.State, s.last.Attempt)
	case kind == Blind && s.setter != s.last.Owner:
		w.fail("a Blind effect begins, and an earlier attempt's outcome is not known")
	case kind == Keyed && s.blindly:
		w.fail("a Keyed effect begins, and a Blind attempt's outcome is not known")
	}
	s.blindly = s.blindly || kind == Blind
}

// effects are what happened at the far side, since the intent had no record.
func (w *world) effects(s *subject) []taken {
	all := w.far.effects[s.key.Downstream()][s.before.far:]
	if s.kind == Ledger || w.changes {
		all = append(all[:len(all):len(all)], w.takenBy(s)...)
	}
	return all
}

// ending is how a history ended for one intent.
type ending struct {
	doubts  bool // it may end in doubt
	record  intent.Record
	effects []taken // at the far side
	told    []*told // to the deliveries, in the order of their beginnings
	inner   bool    // effects of another intent deliver it
	foreign bool    // a newer release has written the record
	unkept  bool    // a result could not be kept
}

func (w *world) end(s *subject) ending {
	e := ending{
		doubts: w.class.doubts() || s.kind == Blind, record: s.last, effects: w.effects(s),
		inner: w.nested && s == w.subjects[1], foreign: s.foreign != nil, unkept: w.unkept,
	}
	if !e.foreign {
		e.record = w.read(s)
	}
	for _, k := range w.workers[s.from:] {
		e.told = append(e.told, k.toldOf(s)...)
	}
	return e
}

// fault counts, and compares with what was said.
func (e ending) fault() string {
	if len(e.effects) > 1 {
		return fmt.Sprintf("%d effects of one intent", len(e.effects))
	}
	if fault := e.undecided(); fault != "" {
		return fault
	}
	executed := 0
	for n, t := range e.told {
		if !t.ended || t.err != nil {
			continue
		}
		if fault := e.lie(t); fault != "" {
			return fmt.Sprintf("delivery %d: %s", n, fault)
		}
		if t.outcome.Kind == intent.Executed {
			executed++
		}
	}
	if executed > 1 {
		return fmt.Sprintf("%d deliveries were told that theirs was the effect", executed)
	}
	return ""
}

// undecided says what is lost without a report: an intent that has no end, an end
// that is not the far side's, a message without an answer.
func (e ending) undecided() string {
	last := map[[2]int]*told{} // of each message
	reported, away, asked := false, len(e.told) > 0, false
	for _, t := range e.told {
		reported = reported || t.final() && t.outcome.Kind == intent.InDoubt
		if !t.nested { // else its message is another intent's
			last[[2]int{t.message, t.member}] = t
		}
	}
	for m, t := range last {
		if !t.final() {
			return fmt.Sprintf("the last delivery of message %d has no answer: %+v, %v", m[0], t.outcome, t.err)
		}
		away = away && t.away
		asked = asked || t.outcome.Kind != intent.Conflict
	}
	switch state := e.record.State; {
	case state == intent.StateCompleted && len(e.effects) != 1, state == intent.StateRefused && len(e.effects) != 0:
		return fmt.Sprintf("%s with %d effects", state, len(e.effects))
	case e.foreign:
		return ""
	case state.Final():
		return e.otherResult()
	case state == intent.StateAbsent && away && len(e.effects) == 0: // it came too late
		return ""
	case !asked && e.inner:
		return "" // nobody is left to deliver it
	case state != intent.StateInDoubt:
		return fmt.Sprintf("it ends neither decided nor in doubt, but %q", state)
	case !e.doubts:
		return "it ends in doubt, and somebody knows"
	case !reported:
		return "it is in doubt, and nobody was told"
	}
	return ""
}

// otherResult says that a final record is not of what happened at the far side.
func (e ending) otherResult() string {
	if e.record.State != intent.StateCompleted {
		return ""
	}
	done := e.effects[0]
	switch want, _ := json.Marshal(done.receipt); {
	case e.unkept && e.record.Result.Omitted:
		return ""
	case string(e.record.Result.JSON) != string(want):
		return fmt.Sprintf("the record's result is %s, the far side's %s", e.record.Result.JSON, want)
	case !slices.ContainsFunc([]body{0, 1}, func(b body) bool { return b.cents() == done.cents && b.fingerprint() == e.record.Fingerprint }):
		return fmt.Sprintf("an effect of %d cents is recorded under another payload's fingerprint", done.cents)
	}
	return ""
}

// lie says how what a delivery was told differs from the record.
func (e ending) lie(t *told) string {
	o, r := t.outcome, e.record
	final := map[intent.Kind]intent.State{intent.Executed: intent.StateCompleted, intent.Replayed: intent.StateCompleted, intent.Refused: intent.StateRefused}
	switch state, ok := final[o.Kind]; {
	case ok && r.State != state:
		return fmt.Sprintf("it was told %s, and the record says %s", o.Kind, r.State)
	case ok && string(o.Result.JSON) != string(r.Result.JSON):
		return fmt.Sprintf("it was told the result %s, and the record says %s", o.Result.JSON, r.Result.JSON)
	case ok && t.body.fingerprint() != r.Fingerprint:
		return fmt.Sprintf("%s, and the record is of another payload", o.Kind)
	case ok:
		return ""
	}
	switch o.Kind {
	case intent.Conflict:
		return e.conflict(t)
	case intent.InDoubt:
		if o.Reason == "" {
			return "a doubt without a reason"
		}
	case intent.InProgress:
		if o.Wait <= 0 {
			return "in progress, until nobody knows when"
		}
	default:
		return fmt.Sprintf("no such outcome: %q", o.Kind)
	}
	return ""
}

func (e ending) conflict(t *told) string {
	for _, other := range e.told {
		if other.body != t.body {
			return ""
		}
	}
	return "a conflict, and all payloads are the same"
}
