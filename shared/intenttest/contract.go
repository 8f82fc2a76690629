package intenttest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// Contract runs every line of the comments on intent.Store as a subtest.
//
// newStore makes a store of which every request goes through the faults, as
// DynamoDB's protocol has them (GetItem and BatchGetItem read, all else writes). The stores that
// it makes share one backend: some are the worker under test, one is the worker
// beside it.
func Contract(t *testing.T, newStore func(testing.TB, *Faults) intent.Store) {
	c := &contract{newStore: newStore, plain: newStore(t, new(Faults))}
	t.Run("Claim", c.claim)
	t.Run("Amend", c.amend)
	t.Run("Replace", c.replace)
	t.Run("Load", c.load)
	t.Run("Transitions", c.transitions)
	t.Run("Errors", c.errors)
}

type contract struct {
	newStore func(testing.TB, *Faults) intent.Store
	plain    intent.Store // meets no faults: what it reads is what stands
}

// states are all the states that a record can be found in.
var states = []intent.State{
	intent.StateAbsent, intent.StateClaimed, intent.StateReleased,
	intent.StateCompleted, intent.StateRefused, intent.StateInDoubt,
}

// called is the state's name in a test.
func called(s intent.State) string {
	if s == intent.StateAbsent {
		return "absent"
	}
	return string(s)
}

// change is one call of a store that may change a record.
type change func(context.Context, intent.Store) (intent.Record, error)

// Draft is the first claim of an intent that nobody else knows.
func Draft() intent.Record {
	now := time.Now().UnixMilli()
	return intent.Record{
		Intent:      "contract#test#" + rand.Text(),
		State:       intent.StateClaimed,
		Owner:       intent.NewOwner(),
		Attempt:     1,
		LeaseUntil:  time.UnixMilli(now + 30_000),
		ClaimedAt:   time.UnixMilli(now),
		Fingerprint: intent.Fingerprint{1, 2, 3},
		MessageID:   "message-1",
	}
}

// moved is the record as a write by its owner leaves it.
func moved(r intent.Record, to intent.State) intent.Record {
	switch {
	case to.Final():
		return r.Finish(to, map[string]string{"receipt": "r-1"}, time.Now(), time.Hour)
	case to == intent.StateInDoubt:
		return r.Parked("because", time.Now())
	case to == intent.StateClaimed:
		r.LeaseUntil = r.LeaseUntil.Add(30 * time.Second)
		r.Reason, r.OpenSince = "", time.Time{}
	default:
		r.Reason = "because"
	}
	r.State = to
	return r
}

// succeeded is the record as another's write over it leaves it: a takeover
// and a settlement draw a new owner.
func succeeded(r intent.Record, to intent.State) intent.Record {
	r = moved(r, to)
	switch to {
	case intent.StateClaimed:
		r.Owner, r.Attempt, r.MessageID = intent.NewOwner(), r.Attempt+1, "message-2"
	case intent.StateReleased:
		r.Owner, r.ClaimedAt = intent.NewOwner(), time.Time{}
	}
	return r
}

// stand leads a new intent to the state and returns its record. Where none is
// to stand, it is the claim that could have been made.
func (c *contract) stand(t testing.TB, state intent.State) intent.Record {
	t.Helper()
	r := Draft()
	if state == intent.StateAbsent {
		return r
	}
	c.wrote(t, r, claiming(r))
	if state != intent.StateClaimed {
		r = moved(r, state)
		c.wrote(t, r, amending(r))
	}
	return r
}

func claiming(next intent.Record) change {
	return func(ctx context.Context, s intent.Store) (intent.Record, error) { return s.Claim(ctx, next) }
}

func amending(next intent.Record) change {
	return func(ctx context.Context, s intent.Store) (intent.Record, error) { return s.Amend(ctx, next) }
}

func replacing(shown, next intent.Record) change {
	return func(ctx context.Context, s intent.Store) (intent.Record, error) { return s.Replace(ctx, shown, next) }
}

// wrote runs a write that must land, and looks whether it did.
func (c *contract) wrote(t testing.TB, next intent.Record, w change) {
	t.Helper()
	c.wroteBy(t, c.plain, next, w)
}

func (c *contract) wroteBy(t testing.TB, s intent.Store, next intent.Record, w change) {
	t.Helper()
	got, err := w(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "answer", got, next)
	same(t, "record", c.read(t, next.Intent), next)
}

// refused runs a write that must change nothing, and answer with what stands.
func (c *contract) refused(t testing.TB, key string, w change) {
	t.Helper()
	c.refusedBy(t, c.plain, key, w)
}

func (c *contract) refusedBy(t testing.TB, s intent.Store, key string, w change) {
	t.Helper()
	standing, before := c.read(t, key), c.snapshot(t, key)
	got, err := w(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "answer", got, standing)
	if after := c.snapshot(t, key); !reflect.DeepEqual(after, before) {
		t.Errorf("a refused write changed the record: got %v, want %v", after, before)
	}
}

func (c *contract) read(t testing.TB, key string) intent.Record {
	t.Helper()
	r, err := c.plain.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// snapshot is what the backend itself says of the record, whatever the store
// makes of it.
func (c *contract) snapshot(t testing.TB, key string) (answer any) {
	t.Helper()
	s := c.newStore(t, &Faults{Plan: func(Call) Fault {
		return Fault{Edit: func(r Reply) Reply {
			if err := json.Unmarshal([]byte(r.Body), &answer); err != nil {
				t.Errorf("reply %q: %v", r.Body, err)
			}
			return r
		}}
	}})
	if _, err := s.Load(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	return answer
}

func same(t testing.TB, what string, got, want intent.Record) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\ngot  %+v\nwant %+v", what, got, want)
	}
}
