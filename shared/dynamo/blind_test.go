package dynamo_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
)

// A takeover leaves the record as the next claim has it: of which class its attempt is, too, and without the reason for which
// the one before was handed back.
func TestTakeoverWritesTheWholeClaim(t *testing.T) {
	b := newBench(t)
	for name, class := range map[string][2]bool{
		"Blind after Blind": {true, true}, "Keyed after Blind": {true, false}, "Blind after Keyed": {false, true}, "Keyed after Keyed": {false, false},
	} {
		t.Run(name, func(t *testing.T) {
			store, d := dynamo.New(b.db, b.records), message(t, `{"cents":10}`)
			shown := claimOf(d)
			shown.Blind = class[0]
			if _, err := store.Claim(t.Context(), shown); err != nil {
				t.Fatal(err)
			}
			if got := b.record(t, d); !reflect.DeepEqual(got, shown) {
				t.Fatalf("claim: got %+v, want %+v", got, shown)
			}
			shown.State, shown.Reason, shown.ClaimedAt = intent.StateReleased, "not applied", time.Time{}
			if _, err := store.Amend(t.Context(), shown); err != nil {
				t.Fatal(err)
			}
			next := claimOf(repeated(t, d, "message-2", `{"cents":11}`))
			next.Attempt, next.Blind = 2, class[1]
			standing, err := store.Replace(t.Context(), shown, next)
			if err != nil || standing.Owner != next.Owner {
				t.Fatalf("takeover: got %+v and error %v, want it ours", standing, err)
			}
			if got := b.record(t, d); !reflect.DeepEqual(got, next) {
				t.Errorf("takeover: got %+v, want %+v", got, next)
			}
		})
	}
}
