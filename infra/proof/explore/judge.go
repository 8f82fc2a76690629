package explore

import (
	"context"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

func (w *world) read() intent.Record {
	r, err := w.store.Load(context.Background(), key.String())
	if err != nil {
		w.fail("the record cannot be read: %v", err)
	}
	return r
}

// changed looks at the record after each call that may have changed it: it may only
// go the ways of the table, and a final one goes nowhere.
func (w *world) changed(by string) {
	before, now := w.last, w.read()
	w.last = now
	if same(before, now) {
		return
	}
	w.say("  record: %s of %s, attempt %d -> %s of %s, attempt %d", before.State, short(before.Owner), before.Attempt, now.State, short(now.Owner), now.Attempt)
	if before.State.Final() {
		w.fail("%s changes a final record: %s -> %s", by, before.State, now.State)
	}
	for _, t := range intent.Transitions {
		if t.From == before.State && t.To == now.State {
			return
		}
	}
	w.fail("%s: no transition %s -> %s", by, before.State, now.State)
}

func same(a, b intent.Record) bool {
	return a.State == b.State && a.Owner == b.Owner && a.LeaseUntil.Equal(b.LeaseUntil) && a.ClaimedAt.Equal(b.ClaimedAt) &&
		a.Attempt == b.Attempt && a.Fingerprint == b.Fingerprint && string(a.Result.JSON) == string(b.Result.JSON)
}

func short(owner string) string {
	if len(owner) < 4 {
		return "nobody"
	}
	return owner[:4]
}

// effects is what happened at the far side.
func (w *world) effects() int {
	if w.class != Ledger {
		return w.far.effects[key.Downstream()]
	}
	for _, it := range w.db.Items(accounts) {
		if n, ok := it["balance"].(*types.AttributeValueMemberN); ok {
			balance, _ := strconv.Atoi(n.Value)
			return (opening - balance) / 10
		}
	}
	return -1
}

// opening is enough for many effects: no second one is refused for want of money.
const opening = 1000

// judge counts, and compares with what was said.
func (w *world) judge() {
	effects := w.effects()
	if effects > 1 {
		w.fail("%d effects of one intent", effects)
	}
	if n := w.far.effects[companion.Downstream()]; n > 1 {
		w.fail("%d effects of the intent beside it", n)
	}
	r := w.read()
	switch r.State {
	case intent.StateCompleted:
		if effects != 1 {
			w.fail("completed with %d effects", effects)
		}
	case intent.StateRefused:
		if effects != 0 {
			w.fail("refused with %d effects", effects)
		}
	case intent.StateInDoubt: // reported
		if w.class == Ledger {
			w.fail("a ledger in doubt")
		}
	default:
		w.fail("it ends neither decided nor in doubt, but %q", r.State)
	}
	if !w.quiet() {
		w.fail("the last delivery has no answer: %+v, %v", w.workers[len(w.workers)-1].outcome, w.workers[len(w.workers)-1].err)
	}
	for _, k := range w.workers {
		switch {
		case k.dead || k.err != nil:
		case k.outcome.Kind == intent.Executed || k.outcome.Kind == intent.Replayed:
			if r.State != intent.StateCompleted {
				w.fail("delivery %d was told %s, and the record says %s", k.number, k.outcome.Kind, r.State)
			}
		case k.outcome.Kind == intent.Refused:
			if r.State != intent.StateRefused {
				w.fail("delivery %d was told %s, and the record says %s", k.number, k.outcome.Kind, r.State)
			}
		}
	}
}
