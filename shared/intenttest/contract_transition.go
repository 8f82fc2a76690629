package intenttest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// transitions holds the store to the table: what it lists is possible from each
// of its sources, and impossible from every other state.
func (c *contract) transitions(t *testing.T) {
	for _, guard := range []intent.Guard{intent.ByAbsence, intent.ByOwner, intent.ByShown} {
		for _, to := range states[1:] {
			sources := intent.Sources(to, guard)
			if len(sources) == 0 {
				continue // no verb leads there
			}
			for _, from := range states {
				name := fmt.Sprintf("by %s/%s to %s", guard, called(from), called(to))
				if !slices.Contains(sources, from) {
					t.Run(name+"/impossible", func(t *testing.T) {
						r := c.stand(t, from)
						_, w := c.transition(r, to, guard)
						c.refused(t, r.Intent, w)
					})
					continue
				}
				t.Run(name, func(t *testing.T) {
					next, w := c.transition(c.stand(t, from), to, guard)
					c.wrote(t, next, w)
				})
				for often, n := range losses {
					t.Run(name+"/lost reply "+often, func(t *testing.T) {
						next, w := c.transition(c.stand(t, from), to, guard)
						c.wroteBy(t, c.losing(t, n, nil), next, w)
					})
				}
			}
		}
	}
}

// transition is the write under the guard that leads the record to the state,
// and what stands after it.
func (c *contract) transition(r intent.Record, to intent.State, guard intent.Guard) (intent.Record, change) {
	switch guard {
	case intent.ByAbsence:
		next := Draft()
		next.Intent = r.Intent
		if to != intent.StateClaimed { // a Ledger's, which had no lease
			next.LeaseUntil = time.Time{}
			next = moved(next, to)
		}
		return next, claiming(next)
	case intent.ByOwner:
		next := moved(r, to)
		return next, amending(next)
	}
	next := succeeded(r, to)
	return next, replacing(r, next)
}

func (c *contract) errors(t *testing.T) {
	// One write of each kind, made afresh: a record to start from and what is to
	// stand then.
	kinds := map[string]func(t *testing.T) (intent.Record, change){
		"Claim": func(*testing.T) (intent.Record, change) {
			next := Draft()
			return next, claiming(next)
		},
		"Amend": func(t *testing.T) (intent.Record, change) {
			next := moved(c.stand(t, intent.StateClaimed), intent.StateCompleted)
			return next, amending(next)
		},
		"Replace": func(t *testing.T) (intent.Record, change) {
			shown := c.stand(t, intent.StateClaimed)
			next := succeeded(shown, intent.StateClaimed)
			return next, replacing(shown, next)
		},
	}
	for kind, prepare := range kinds {
		for why, reply := range refusals {
			t.Run(kind+"/"+why+", then not", func(t *testing.T) {
				t.Parallel() // they wait more than they work
				next, w := prepare(t)
				s := c.newStore(t, &Faults{Plan: onWrites(func(n int) Fault {
					if n <= 5 {
						return Fault{Reply: &reply}
					}
					return Fault{}
				})})
				c.wroteBy(t, s, next, w)
			})
		}
		t.Run(kind+"/cut off, not landed", func(t *testing.T) {
			t.Parallel()
			next, w := prepare(t)
			before := c.read(t, next.Intent)
			c.cutOff(t, w, Fault{Drop: true})
			same(t, "record", c.read(t, next.Intent), before)
		})
		t.Run(kind+"/cut off, landed", func(t *testing.T) {
			t.Parallel()
			next, w := prepare(t)
			c.cutOff(t, w, Fault{LoseReply: true})
			same(t, "record", c.read(t, next.Intent), next)
		})
	}
}

// cutOff runs a write that meets the fault until its context ends. It must say
// so, and no sooner.
func (c *contract) cutOff(t *testing.T, w change, f Fault) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
	defer cancel()
	got, err := w(ctx, c.newStore(t, &Faults{Plan: func(call Call) Fault {
		if isWrite(call) {
			return f
		}
		return Fault{}
	}}))
	if err == nil {
		t.Errorf("the write answered %+v, want an error", got)
	}
	if ctx.Err() == nil {
		t.Errorf("the write gave up before its context ended: %v", err)
	}
}
