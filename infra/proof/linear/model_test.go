package linear

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/singleeffect/once/shared/intent"
)

// step is an operation of a history made by hand, from one time to another.
type step struct {
	from, to int64
	in       input
	out      output
}

// at is the deadline of the deliveries made by hand.
const at = 100

func claimed(delivery, payload, attempt int) (input, output) {
	return input{operation: claims, class: Keyed, delivery: delivery, payload: payload, deadline: at}, output{kind: granted, attempt: attempt}
}

func of(delivery, payload int, kind intent.Kind, attempt int, result string) (input, output) {
	return input{operation: claims, class: Keyed, delivery: delivery, payload: payload, deadline: at}, output{kind, attempt, result}
}

func ended(delivery int, v verdict, receipt string, kind intent.Kind, attempt int, result string) (input, output) {
	return input{operation: ends, class: Keyed, delivery: delivery, deadline: at, verdict: v, receipt: receipt}, output{kind, attempt, result}
}

func looked(kind intent.Kind, attempt int, result string) (input, output) {
	return input{operation: looks}, output{kind, attempt, result}
}

func blind(in input, out output) (input, output) {
	in.class = Blind
	return in, out
}

func committed(delivery, payload int, v verdict, receipt string, kind intent.Kind, result string) (input, output) {
	out := output{kind, 1, result}
	if kind == "" {
		out = output{}
	}
	return input{operation: commits, class: Ledger, delivery: delivery, payload: payload, verdict: v, receipt: receipt}, out
}

func during(from, to int64) func(input, output) step {
	return func(in input, out output) step {
		in.by = to
		return step{from, to, in, out}
	}
}

// What the model says of histories made by hand.
func TestModel(t *testing.T) {
	for name, tt := range map[string]struct {
		right bool
		steps []step
	}{
		"executed, then replayed": {true, []step{
			during(1, 2)(claimed(1, 0, 1)), during(3, 4)(ended(1, yes, "r", intent.Executed, 1, "r")),
			during(5, 6)(of(2, 0, intent.Replayed, 1, "r")), during(7, 8)(looked(intent.Replayed, 1, "r")),
		}},
		"nothing, in progress, then done, as looks overlap": {true, []step{
			during(1, 9)(looked(absent, 0, "")), during(2, 5)(claimed(1, 0, 1)), during(3, 7)(looked(intent.InProgress, 1, "")),
			during(6, 8)(ended(1, yes, "r", intent.Executed, 1, "r")), during(7, 9)(looked(intent.Replayed, 1, "r")),
		}},
		"replayed of a completion that nobody heard of": {true, []step{
			during(1, 2)(claimed(1, 0, 1)), during(3, never)(ended(1, yes, "r", "", 0, "")), during(5, 6)(of(2, 0, intent.Replayed, 1, "r")),
		}},
		"a claim that nobody heard of": {true, []step{
			during(1, never)(of(1, 0, "", 0, "")), during(2, 3)(of(2, 0, intent.InProgress, 1, "")), during(101, 102)(claimed(2, 0, 2)),
		}},
		"released, and then another payload": {true, []step{
			during(1, 2)(claimed(1, 0, 1)), during(3, 4)(ended(1, no, "", released, 1, "")), during(5, 6)(claimed(2, 1, 2)),
			during(7, 8)(of(3, 0, intent.Conflict, 2, "")),
		}},
		"a doubt that its owner ends": {true, []step{
			during(1, 2)(blind(claimed(1, 0, 1))), during(100, 101)(blind(of(2, 0, intent.InDoubt, 1, ""))),
			during(99, 103)(blind(ended(1, yes, "r", intent.Executed, 1, "r"))), during(104, 105)(blind(of(3, 0, intent.Replayed, 1, "r"))),
		}},
		"a ledger, and its reply lost": {true, []step{
			during(1, never)(committed(1, 0, yes, "a", "", "")), during(2, 3)(committed(2, 0, yes, "b", intent.Replayed, "a")),
		}},

		"two executed": {false, []step{
			during(1, 2)(claimed(1, 0, 1)), during(1, 2)(claimed(2, 0, 1)),
			during(3, 4)(ended(1, yes, "a", intent.Executed, 1, "a")), during(3, 4)(ended(2, yes, "b", intent.Executed, 1, "b")),
		}},
		"two ledgers executed": {false, []step{
			during(1, 4)(committed(1, 0, yes, "a", intent.Executed, "a")), during(2, 3)(committed(2, 0, yes, "b", intent.Executed, "b")),
		}},
		"a replay of what nobody executed": {false, []step{
			during(1, 2)(claimed(1, 0, 1)), during(3, 4)(ended(1, yes, "a", intent.Executed, 1, "a")), during(5, 6)(of(2, 0, intent.Replayed, 1, "b")),
		}},
		"a replay before the claim": {false, []step{
			during(1, 2)(of(2, 0, intent.Replayed, 1, "a")), during(3, 4)(claimed(1, 0, 1)), during(5, 6)(ended(1, yes, "a", intent.Executed, 1, "a")),
		}},
		"another result than the effect's": {false, []step{
			during(1, 2)(claimed(1, 0, 1)), during(3, 4)(ended(1, yes, "a", intent.Executed, 1, "b")),
		}},
		"a conflict with no other payload": {false, []step{
			during(1, 2)(claimed(1, 0, 1)), during(3, 4)(of(2, 0, intent.Conflict, 1, "")),
		}},
		"a conflict before anything": {false, []step{during(1, 2)(of(1, 0, intent.Conflict, 0, ""))}},
		"another payload takes over": {false, []step{
			during(1, 2)(claimed(1, 0, 1)), during(101, 102)(claimed(2, 1, 2)),
		}},
		"another payload is replayed": {false, []step{
			during(1, 2)(claimed(1, 0, 1)), during(3, 4)(ended(1, yes, "a", intent.Executed, 1, "a")), during(5, 6)(of(2, 1, intent.Replayed, 1, "a")),
		}},
		"taken over while it runs": {false, []step{during(1, 2)(claimed(1, 0, 1)), during(3, 4)(claimed(2, 0, 2))}},
		"a blind claim taken over": {false, []step{during(1, 2)(blind(claimed(1, 0, 1))), during(101, 102)(blind(claimed(2, 0, 2)))}},
		"completed by one who lost its claim": {false, []step{
			during(1, 2)(claimed(1, 0, 1)), during(101, 102)(claimed(2, 0, 2)), during(103, 104)(ended(1, yes, "a", intent.Executed, 1, "a")),
		}},
		"released by one who lost its claim": {false, []step{
			during(1, 2)(claimed(1, 0, 1)), during(101, 102)(claimed(2, 0, 2)), during(103, 104)(ended(1, no, "", released, 1, "")),
		}},
		"an old look after the end": {false, []step{
			during(1, 2)(claimed(1, 0, 1)), during(3, 4)(ended(1, yes, "a", intent.Executed, 1, "a")), during(5, 6)(looked(intent.InProgress, 1, "")),
		}},
		"forgotten": {false, []step{
			during(1, 2)(claimed(1, 0, 1)), during(3, 4)(ended(1, yes, "a", intent.Executed, 1, "a")), during(5, 6)(looked(absent, 0, "")),
		}},
		"refused and executed": {false, []step{
			during(1, 2)(claimed(1, 0, 1)), during(3, 4)(ended(1, declined, "a", intent.Refused, 1, "a")), during(5, 6)(of(2, 0, intent.Replayed, 1, "a")),
		}},
		"an attempt that is left out": {false, []step{during(1, 2)(claimed(1, 0, 2))}},
		"waits for its own claim": {false, []step{
			during(1, 2)(claimed(1, 0, 1)), during(3, 4)(ended(1, yes, "a", intent.InProgress, 1, "")),
		}},
		"a final record that a late claim takes": {false, []step{
			during(1, 2)(claimed(1, 0, 1)), during(3, 4)(ended(1, yes, "a", intent.Executed, 1, "a")), during(101, 102)(claimed(2, 0, 2)),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var operations []porcupine.Operation
			for i, s := range tt.steps {
				if s.to == never {
					s.out = output{} // unheard
				}
				operations = append(operations, porcupine.Operation{ClientId: i, Input: s.in, Call: s.from, Output: s.out, Return: s.to})
			}
			if got := porcupine.CheckOperations(model(), operations); got != tt.right {
				t.Errorf("linearizable: got %t, want %t:\n%s", got, tt.right, story(operations))
			}
		})
	}
}
