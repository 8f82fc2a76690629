package dynamo_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// What a group's call is told of a record is not asked again alone, except where its
// own owner may end a doubt.
func TestGroupAsksAgainWhereItMayEndADoubt(t *testing.T) {
	db := intenttest.Engine(t)
	table := intenttest.Table(t, db, "intent")
	plain := dynamo.New(db, table)
	becomes := func(r intent.Record, to intent.State) intent.Record {
		if to.Final() {
			return r.Finish(to, "done", time.Now(), time.Hour)
		}
		if to == intent.StateInDoubt {
			return r.Parked("because", time.Now())
		}
		r.State, r.Reason = to, "because"
		return r
	}
	for name, c := range map[string]struct {
		stands intent.State
		others bool // it is another's by now
		next   intent.State
		asks   int // requests for this record alone
	}{
		"own doubt, completed":       {intent.StateInDoubt, false, intent.StateCompleted, 1},
		"own doubt, released":        {intent.StateInDoubt, false, intent.StateReleased, 0},
		"another's doubt, completed": {intent.StateInDoubt, true, intent.StateCompleted, 0},
		"own, completed before":      {intent.StateCompleted, false, intent.StateCompleted, 0},
	} {
		t.Run(name, func(t *testing.T) {
			mine := intenttest.Draft()
			theirs := mine
			if c.others {
				theirs.Owner = intent.NewOwner()
			}
			if _, err := plain.Claim(t.Context(), theirs); err != nil {
				t.Fatal(err)
			}
			if _, err := plain.Amend(t.Context(), becomes(theirs, c.stands)); err != nil {
				t.Fatal(err)
			}
			faults := new(intenttest.Faults)
			g, leave := dynamo.New(client(t, faults), table).Patient().Group(2)
			var beside sync.WaitGroup
			beside.Go(func() {
				defer leave()
				_, _ = g.Claim(context.Background(), intenttest.Draft())
			})
			got, err := g.Amend(t.Context(), becomes(mine, c.next))
			leave()
			beside.Wait()
			want := c.stands
			if c.asks > 0 {
				want = c.next
			}
			if err != nil || got.State != want {
				t.Errorf("got %s and error %v, want %s", got.State, err, want)
			}
			if n := faults.Counts()["UpdateItem"]; n != c.asks {
				t.Errorf("asked %d times alone, want %d", n, c.asks)
			}
		})
	}
}
