package intenttest

import (
	"context"
	"crypto/rand"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// Rows are what the writes of a completion make in a store's backend.
type Rows interface {
	// Writes puts the rows, each on the condition that it is not there.
	Writes(names ...string) any
	// There tells whether a row is.
	There(t testing.TB, name string) bool
}

// ContractWrites runs what the comments on intent.Store say of a record's Writes
// as subtests, for a store that takes those of the rows: they are there with the
// completion or not at all. newStore is Contract's.
func ContractWrites(t *testing.T, newStore func(testing.TB, *Faults) intent.Store, rows Rows) {
	c := &completions{contract{newStore: newStore, plain: newStore(t, new(Faults))}, rows}
	for _, guard := range []intent.Guard{intent.ByOwner, intent.ByShown} {
		for _, to := range []intent.State{intent.StateCompleted, intent.StateRefused} {
			sources := intent.Sources(to, guard)
			for _, from := range states {
				name := "by " + string(guard) + "/" + called(from) + " to " + called(to)
				if !slices.Contains(sources, from) {
					t.Run(name+"/impossible", func(t *testing.T) { c.impossible(t, from, to, guard) })
					continue
				}
				t.Run(name, func(t *testing.T) { c.possible(t, from, to, guard) })
				if from == sources[0] && to == intent.StateCompleted { // what follows waits
					t.Run(name+"/in time", func(t *testing.T) { c.patient(t, from, to, guard) })
				}
			}
		}
	}
	t.Run("Claim", c.claim)
	t.Run("another's", c.others)
	t.Run("16 at once", c.rivals)
}

type completions struct {
	contract
	rows Rows
}

// closing is a write that ends the record with two rows of its own.
func (c *completions) closing(r intent.Record, to intent.State, guard intent.Guard) (next intent.Record, w change, rows []string) {
	rows = []string{"row-" + rand.Text(), "row-" + rand.Text()}
	next, _ = c.transition(r, to, guard)
	with := next
	with.Writes = c.rows.Writes(rows...)
	return next, under(guard, r, with), rows
}

// under is the write of next over r.
func under(guard intent.Guard, r, next intent.Record) change {
	if guard == intent.ByOwner {
		return amending(next)
	}
	return replacing(r, next)
}

// wroteWith runs a write that must land, and looks whether it did, with its rows.
// An answer may still carry the writes it was asked for; a record that is read never does.
func (c *completions) wroteWith(t testing.TB, s intent.Store, next intent.Record, w change, rows []string) {
	t.Helper()
	c.wroteBy(t, s, next, func(ctx context.Context, s intent.Store) (intent.Record, error) {
		got, err := w(ctx, s)
		got.Writes = nil
		return got, err
	})
	c.there(t, rows, true)
}

func (c *completions) there(t testing.TB, rows []string, want bool) {
	t.Helper()
	for i, row := range rows {
		if got := c.rows.There(t, row); got != want {
			t.Errorf("row %d of %d is there: %t, want %t", i+1, len(rows), got, want)
		}
	}
}

func (c *completions) possible(t *testing.T, from, to intent.State, guard intent.Guard) {
	t.Run("as it is", func(t *testing.T) {
		next, w, rows := c.closing(c.stand(t, from), to, guard)
		c.wroteWith(t, c.plain, next, w, rows)
	})
	t.Run("lost reply", func(t *testing.T) {
		next, w, rows := c.closing(c.stand(t, from), to, guard)
		c.wroteWith(t, c.losing(t, 1, nil), next, w, rows)
	})
	t.Run("a row in the way", func(t *testing.T) {
		first, w, rows := c.closing(c.stand(t, from), to, guard)
		c.wroteWith(t, c.plain, first, w, rows)
		r := c.stand(t, from)
		next, _, own := c.closing(r, to, guard)
		next.Writes = c.rows.Writes(own[0], rows[1])
		c.rejected(t, r.Intent, under(guard, r, next))
		c.there(t, own, false)
	})
	t.Run("no writes of the store's", func(t *testing.T) {
		r := c.stand(t, from)
		next, _, _ := c.closing(r, to, guard)
		next.Writes = struct{}{}
		c.rejected(t, r.Intent, under(guard, r, next))
	})
}

// patient is about a backend that may say otherwise later.
func (c *completions) patient(t *testing.T, from, to intent.State, guard intent.Guard) {
	t.Run("lost reply five times", func(t *testing.T) {
		t.Parallel() // they wait more than they work
		next, w, rows := c.closing(c.stand(t, from), to, guard)
		c.wroteWith(t, c.losing(t, 5, nil), next, w, rows)
	})
	t.Run("lost reply, and the record is not shown", func(t *testing.T) {
		t.Parallel()
		next, w, rows := c.closing(c.stand(t, from), to, guard)
		s := c.newStore(t, &Faults{Plan: onWrites(func(n int) Fault { return Fault{LoseReply: n <= 3, Edit: withoutItem} })})
		c.wroteWith(t, s, next, w, rows)
	})
	for why, reply := range refusals {
		t.Run(why+", then not", func(t *testing.T) {
			t.Parallel()
			next, w, rows := c.closing(c.stand(t, from), to, guard)
			s := c.newStore(t, &Faults{Plan: onWrites(func(n int) Fault {
				if n <= 4 {
					return Fault{Reply: &reply}
				}
				return Fault{}
			})})
			c.wroteWith(t, s, next, w, rows)
		})
	}
	t.Run("cut off, not landed", func(t *testing.T) {
		t.Parallel()
		r := c.stand(t, from)
		_, w, rows := c.closing(r, to, guard)
		c.cutOff(t, w, Fault{Drop: true})
		same(t, "record", c.read(t, r.Intent), r)
		c.there(t, rows, false)
	})
	t.Run("cut off, landed", func(t *testing.T) {
		t.Parallel()
		next, w, rows := c.closing(c.stand(t, from), to, guard)
		c.cutOff(t, w, Fault{LoseReply: true})
		same(t, "record", c.read(t, next.Intent), next)
		c.there(t, rows, true)
	})
}

// rejected runs a write whose Writes cannot be: nothing changes, and it says so.
func (c *completions) rejected(t testing.TB, key string, w change) {
	t.Helper()
	before := c.snapshot(t, key)
	if got, err := w(t.Context(), c.plain); !errors.Is(err, intent.ErrWritesRejected) {
		t.Errorf("the write answered %+v and error %v, want ErrWritesRejected", got, err)
	}
	if after := c.snapshot(t, key); !reflect.DeepEqual(after, before) {
		t.Errorf("a rejected write changed the record: got %v, want %v", after, before)
	}
}

func (c *completions) impossible(t *testing.T, from, to intent.State, guard intent.Guard) {
	r := c.stand(t, from)
	_, w, rows := c.closing(r, to, guard)
	c.refused(t, r.Intent, w)
	c.there(t, rows, false)
}

func (c *completions) claim(t *testing.T) {
	for _, state := range []intent.State{intent.StateAbsent, intent.StateClaimed} {
		t.Run(called(state), func(t *testing.T) {
			next, row := c.stand(t, state), "row-"+rand.Text()
			next.Writes = c.rows.Writes(row)
			c.rejected(t, next.Intent, claiming(next))
			c.there(t, []string{row}, false)
		})
	}
}

// others: a record that is another's now, or has changed since it was shown,
// stands as it is, and no row is there.
func (c *completions) others(t *testing.T) {
	t.Run("Amend", func(t *testing.T) {
		old := c.stand(t, intent.StateClaimed)
		taken := succeeded(old, intent.StateClaimed)
		c.wrote(t, taken, replacing(old, taken))
		_, w, rows := c.closing(old, intent.StateCompleted, intent.ByOwner)
		c.refused(t, old.Intent, w)
		c.there(t, rows, false)
	})
	t.Run("Amend, and the record is not shown", func(t *testing.T) {
		old := c.stand(t, intent.StateReleased)
		_, w, rows := c.closing(old, intent.StateCompleted, intent.ByOwner)
		c.refusedBy(t, c.newStore(t, &Faults{Plan: onWrites(func(int) Fault { return Fault{Edit: withoutItem} })}), old.Intent, w)
		c.there(t, rows, false)
	})
	t.Run("Replace", func(t *testing.T) {
		shown := c.stand(t, intent.StateInDoubt)
		now := moved(shown, intent.StateCompleted)
		c.wrote(t, now, amending(now))
		_, w, rows := c.closing(shown, intent.StateCompleted, intent.ByShown)
		c.refused(t, shown.Intent, w)
		c.there(t, rows, false)
	})
	t.Run("lost reply, or what became of it", func(t *testing.T) {
		// A final record is never left: what the late copy meets is its own.
		next, w, rows := c.closing(c.stand(t, intent.StateClaimed), intent.StateCompleted, intent.ByOwner)
		late := moved(next, intent.StateRefused)
		c.wroteWith(t, c.losing(t, 4, func() { c.refused(t, next.Intent, amending(late)) }), next, w, rows)
	})
}

// rivals: of verdicts at once one lands, with its rows, and no other's are there.
func (c *completions) rivals(t *testing.T) {
	shown := c.stand(t, intent.StateInDoubt)
	const n = 16
	var writes [n]change
	var rows [n][]string
	for i := range n {
		_, writes[i], rows[i] = c.closing(shown, intent.StateCompleted, intent.ByShown)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := atOnce(n, func(i int) error { _, err := writes[i](ctx, c.plain); return err }); err != nil {
		t.Fatal(err)
	}
	won := 0
	for i := range n {
		if c.rows.There(t, rows[i][0]) {
			won++
			c.there(t, rows[i], true)
		} else {
			c.there(t, rows[i], false)
		}
	}
	if won != 1 || !c.read(t, shown.Intent).State.Final() {
		t.Errorf("%d verdicts left their rows, want 1", won)
	}
}
