package linear

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"github.com/singleeffect/once/shared/intent"
)

// state is the record of one intent, as far as its callers can tell.
type state struct {
	intent.State
	attempts int    // claims so far
	holder   int    // the delivery whose claim it is, or was
	deadline int64  // of the holder: before it nobody may take over
	payload  int    // of the holder's claim
	bound    bool   // to that payload: the effect may have happened
	fresh    bool   // no attempt before the holder's can have happened
	result   string // of a final one
}

// operation is what a delivery, or a lookup, does to the record in one step.
type operation int

const (
	claims  operation = iota // take the intent, or read why not
	ends                     // write how the effect ended
	commits                  // a ledger's claim, effect and end in one
	looks                    // read
)

// verdict is what the far side answered to an effect.
type verdict string

const (
	yes      verdict = "yes"
	no       verdict = "no" // it did not happen and no longer can
	declined verdict = "declined"
	silent   verdict = "silent" // nobody knows
)

// input is what an operation was asked.
type input struct {
	operation
	class    Class
	delivery int
	payload  int
	deadline int64   // of the delivery
	by       int64   // when it was over at the latest
	verdict  verdict // with ends and commits
	receipt  string  // the result that comes with the verdict
}

// granted is the output of a claim that was won: its effect began.
const granted intent.Kind = "granted"

// released is the output of an effect that did not happen.
const released intent.Kind = "released"

// absent is the output of a look where nothing stands.
const absent intent.Kind = "absent"

// output is what came back. Without a kind nothing did, or the worker does not know:
// it may have been applied or not.
type output struct {
	kind    intent.Kind
	attempt int
	result  string
}

// model is the sequential record. An operation whose output nobody heard leads to
// several states.
func model() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{state{}} },
		Step: func(s, in, out any) (next []any) {
			for _, n := range s.(state).step(in.(input), out.(output)) {
				next = append(next, n)
			}
			return next
		},
		DescribeOperation: func(in, out any) string { return describe(in.(input), out.(output)) },
	}
	return m.ToModel()
}

func describe(in input, out output) string {
	text := [...]string{"claims", "ends", "commits", "looks"}[in.operation]
	if in.operation != looks {
		text = fmt.Sprintf("%s %d %s with payload %d", in.class, in.delivery, text, in.payload)
	}
	if in.verdict != "" {
		text += fmt.Sprintf(", effect: %s %q", in.verdict, in.receipt)
	}
	if out.kind == "" {
		return text + " -> ?"
	}
	return fmt.Sprintf("%s -> %s %q, attempt %d", text, out.kind, out.result, out.attempt)
}

// step gives the states to which an operation with this output may lead: none if it
// cannot have had it.
func (s state) step(in input, out output) (next []state) {
	if out.kind == "" {
		next = append(next, s)
	}
	for _, n := range s.writes(in) {
		if out.kind == "" || n.answers(out) {
			next = append(next, n)
		}
	}
	if s.reads(in, out) {
		next = append(next, s)
	}
	return next
}

// writes are the states that the operation can make of this one.
func (s state) writes(in input) []state {
	switch in.operation {
	case claims:
		return s.claimed(in)
	case commits:
		if verdict := final(in.verdict); s.State == intent.StateAbsent && verdict != "" {
			return []state{{State: verdict, attempts: 1, holder: in.delivery, payload: in.payload, bound: true, result: in.receipt}}
		}
	case ends:
		if s.holder == in.delivery {
			return s.ended(in)
		}
	}
	return nil
}

// claimed is after a claim or a takeover. A blind claim that lapsed is put in doubt.
func (s state) claimed(in input) []state {
	lapsed := s.State == intent.StateClaimed && in.by >= s.deadline
	switch {
	case s.bound && s.payload != in.payload:
		return nil
	case lapsed && in.class == Blind:
		s.State = intent.StateInDoubt
		return []state{s}
	case lapsed, s.State == intent.StateAbsent, s.State == intent.StateReleased:
		return []state{{
			State: intent.StateClaimed, attempts: s.attempts + 1, holder: in.delivery, deadline: in.deadline, payload: in.payload, bound: true, fresh: !s.bound,
		}}
	}
	return nil
}

// ended is after the holder wrote how its effect ended. A blind one may not have heard
// the verdict, and parks.
func (s state) ended(in input) (next []state) {
	done := s
	switch claimed := s.State == intent.StateClaimed; {
	case final(in.verdict) != "" && (claimed || s.State == intent.StateInDoubt):
		done.State, done.result = final(in.verdict), in.receipt
		next = append(next, done)
	case claimed && in.verdict == no:
		done.State, done.bound = intent.StateReleased, !s.fresh
		next = append(next, done)
	}
	if in.class == Blind && s.State == intent.StateClaimed {
		s.State = intent.StateInDoubt
		next = append(next, s)
	}
	return next
}

// final is the state that a verdict leads to; none if it is not final.
func final(v verdict) intent.State {
	return map[verdict]intent.State{yes: intent.StateCompleted, declined: intent.StateRefused}[v]
}

// answers tells whether who has just made this state says so.
func (s state) answers(out output) bool {
	kinds := map[intent.State]intent.Kind{
		intent.StateClaimed: granted, intent.StateReleased: released, intent.StateInDoubt: intent.InDoubt,
		intent.StateCompleted: intent.Executed, intent.StateRefused: intent.Refused,
	}
	return out == output{kinds[s.State], s.attempts, s.result}
}

// reads tells whether who changes nothing may say so of this state.
func (s state) reads(in input, out output) bool {
	if out.attempt != s.attempts {
		return false
	}
	if in.operation == looks {
		in.payload = s.payload
	}
	other := s.bound && s.payload != in.payload
	switch out.kind {
	case absent:
		return s.State == intent.StateAbsent
	case intent.Conflict:
		return other
	case intent.Replayed:
		return s.State == intent.StateCompleted && !other && s.result == out.result
	case intent.Refused:
		return s.State == intent.StateRefused && !other && s.result == out.result
	case intent.InDoubt:
		return s.State == intent.StateInDoubt && !other
	case intent.InProgress:
		// Its own claim is nobody's to wait for.
		return s.State == intent.StateClaimed && !other && !(in.operation == ends && s.holder == in.delivery) ||
			s.State == intent.StateReleased && in.operation == looks
	}
	return false
}
