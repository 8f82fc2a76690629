package linear

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/queue"
)

// never is when an operation ends of which nothing was heard.
const never = math.MaxInt64

// delivery is what the parent saw of one. Times are by its clock, zero for what did
// not happen.
type delivery struct {
	id       int
	in       *history
	of       queue.Delivery[int]
	by       *process
	deadline int64
	handed   int64 // out to a worker
	arrived  int64 // its effect, at the far side
	attempt  int   // that the effect named
	told     int64 // when the far side answered
	reply    reply
	over     int64 // when its answer came, or its worker was gone
	answer   answer
}

// history is what was done to one intent.
type history struct {
	number     int
	class      Class
	copies     *mailbox
	deliveries []*delivery
	looking    sync.WaitGroup
	looks      []porcupine.Operation
	far        far
}

func (h *history) name() string { return fmt.Sprintf("%s-%d", h.class, h.number) }

func (h *history) key() intent.Key {
	return intent.Key{Scope: scope, Operation: string(h.class), ID: h.name()}
}

// operations is the history as porcupine takes it.
func (h *history) operations() []porcupine.Operation {
	operations := slices.Clone(h.looks)
	for _, d := range h.deliveries {
		add := func(o operation, v verdict, from, to int64, out output) {
			in := input{operation: o, class: h.class, delivery: d.id, payload: d.of.Body, deadline: d.deadline, by: to, verdict: v, receipt: d.reply.Receipt}
			if out.kind == "" {
				in.by, to = never, never
			}
			operations = append(operations, porcupine.Operation{ClientId: d.by.number, Input: in, Call: from, Output: out, Return: to})
		}
		out := output{kind: d.answer.Kind, attempt: d.answer.Attempt, result: d.answer.Result}
		verdict := d.reply.Verdict
		if d.told == 0 {
			verdict = "" // nobody heard it
		}
		switch {
		case h.class == Ledger:
			add(commits, verdict, d.handed, d.over, out)
		case d.arrived == 0:
			add(claims, "", d.handed, d.over, out)
			if out.kind == "" { // what it may have claimed it may have given back
				add(ends, no, d.handed, never, output{})
			}
		default:
			add(claims, "", d.handed, d.arrived, output{kind: granted, attempt: d.attempt})
			if out.kind == released {
				out.attempt = d.attempt
			}
			add(ends, verdict, max(d.arrived, d.told), d.over, out)
			if verdict == no && out.kind != released && out.kind != "" {
				// It released its claim, did not hear so, and read what came next.
				add(ends, verdict, d.told, d.over, output{})
			}
		}
	}
	return operations
}

var errIllegal = errors.New("is not linearizable")

// check looks for an order of the operations in which each is right.
func check(operations []porcupine.Operation) error {
	switch porcupine.CheckOperationsTimeout(model(), operations, patience) {
	case porcupine.Illegal:
		return errIllegal
	case porcupine.Unknown:
		return fmt.Errorf("was not decided within %v", patience)
	}
	return nil
}

// story is the operations for people, by their calls.
func story(operations []porcupine.Operation) string {
	slices.SortStableFunc(operations, func(a, b porcupine.Operation) int { return int(min(max(a.Call-b.Call, -1), 1)) })
	var b strings.Builder
	for _, o := range operations {
		end := time.Duration(o.Return).Round(time.Microsecond).String()
		if o.Return == never {
			end = "?"
		}
		fmt.Fprintf(&b, "%12v to %12s  worker %3d  %s\n", time.Duration(o.Call).Round(time.Microsecond), end, o.ClientId, describe(o.Input.(input), o.Output.(output)))
	}
	return b.String()
}
