package dynamo

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// When a call leaves, and who is in it.
func TestGroupTiming(t *testing.T) {
	slow := func(d time.Duration) func(context.Context, int) error {
		return func(context.Context, int) error { time.Sleep(d); return nil }
	}
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		members int
		takes   func(context.Context, int) error
		do      func(c *crew)
		calls   []string
	}{
		"all at once": {3, nil, func(c *crew) {
			c.claims("a", 0)
			c.claims("b", 0)
			c.claims("c", 0)
		}, []string{"0s batch +a +b +c"}},
		"the last one sends": {3, nil, func(c *crew) {
			c.claims("a", 0)
			c.claims("b", 20*ms)
			c.claims("c", 40*ms)
		}, []string{"40ms batch +a +b +c"}},
		"nobody waits for one who asks for nothing": {3, nil, func(c *crew) {
			c.claims("a", 0)
			c.claims("b", 0)
			c.member(func(intent.Store) { time.Sleep(10 * ms) })
		}, []string{"10ms batch +a +b"}},
		"alone it is a put": {2, nil, func(c *crew) {
			c.claims("a", 0)
			c.member(func(intent.Store) {})
		}, []string{"0s put a"}},
		"ends that come together leave together": {3, nil, func(c *crew) {
			c.completes("a", 40*ms)
			c.completes("b", 50*ms)
			c.completes("c", 60*ms)
		}, []string{"60ms batch =a =b =c"}},
		"one that ends late holds the others for 50 ms": {3, nil, func(c *crew) {
			c.completes("a", 40*ms)
			c.completes("b", 60*ms)
			c.completes("c", 300*ms)
		}, []string{"90ms batch =a =b", "300ms update c"}},
		"each for itself": {2, nil, func(c *crew) {
			c.completes("a", 0)
			c.completes("b", 300*ms)
		}, []string{"50ms update a", "300ms update b"}},
		"claims and ends in one": {2, nil, func(c *crew) {
			c.claims("a", 0)
			c.completes("b", 20*ms)
		}, []string{"20ms batch +a =b"}},
		"what comes while a call is under way goes with the next": {5, slow(40 * ms), func(c *crew) {
			c.completes("a", 0)
			c.completes("b", 0)
			c.completes("c", 60*ms)
			c.completes("d", 70*ms)
			c.completes("e", 80*ms)
		}, []string{"50ms batch =a =b", "90ms batch =c =d =e"}},
		"a call that hangs holds nobody else for longer than the next one lingers": {4, func(_ context.Context, number int) error {
			if number == 1 {
				time.Sleep(10 * time.Second)
			}
			return nil
		}, func(c *crew) {
			c.completes("a", 0)
			c.completes("b", 0)
			c.completes("c", 60*ms)
			c.completes("d", 70*ms)
		}, []string{"50ms batch =a =b", "110ms batch =c =d"}},
		"two of one intent never in one": {3, nil, func(c *crew) {
			c.claims("a", 0)
			c.claims("a", 10*ms)
			c.claims("b", 20*ms)
		}, []string{"10ms put a", "20ms batch +a +b"}},
		"a renewal does not wait": {2, nil, func(c *crew) {
			c.member(func(s intent.Store) {
				c.wrote(s.Amend(context.Background(), running("a")))
				time.Sleep(10 * ms)
			})
			c.claims("b", 0)
		}, []string{"0s update a", "10ms put b"}},
		"an end with writes is a transaction": {2, nil, func(c *crew) {
			c.member(func(s intent.Store) {
				r := running("a")
				result := WithWrites(nil, transactWrite())
				c.wrote(s.Amend(context.Background(), r.Finish(intent.StateCompleted, result, time.Now(), time.Hour)))
				time.Sleep(10 * ms)
			})
			c.completes("b", 0)
		}, []string{"0s transact", "10ms update b"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCrew(t, &wire{takes: tt.takes}, tt.members)
				tt.do(c)
				c.want(tt.calls...)
			})
		})
	}
}

// One call takes 25.
func TestGroupLargerThanACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{}
		c := newCrew(t, w, 60)
		for i := range 60 {
			c.claims(fmt.Sprintf("%02d", i), 0)
		}
		c.all.Wait()
		if took := time.Since(w.began); took > linger {
			t.Errorf("took %v, want %v at most", took, linger)
		}
		statements := 0
		for _, call := range w.calls {
			var n int
			for _, r := range call {
				if r == '+' {
					n++
				}
			}
			if n > 25 {
				t.Errorf("got %d statements in a call", n)
			}
			statements += n
		}
		if len(w.calls) != 3 || statements != 60 {
			t.Errorf("got %d statements in %d calls, want 60 in 3", statements, len(w.calls))
		}
	})
}

// Two groups share nothing: not even the calls of one intent each.
func TestGroupsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{}
		one, other := newCrew(t, w, 2), newCrew(t, w, 2)
		for _, c := range []*crew{one, other} {
			c.claims("a", 0)
			c.claims("b", 0)
		}
		one.all.Wait()
		other.want("0s batch +a +b", "0s batch +a +b")
	})
}

// Whoever has no batch, or does not want one, gets the store as it is.
func TestGroupOff(t *testing.T) {
	s := New(&wire{}, "records")
	for store, members := range map[*Store]int{s: 1, s.Alone(): 10} {
		got, leave := store.Group(members)
		leave()
		if got != intent.Store(store) {
			t.Errorf("a group of %d: got a %T, want the store", members, got)
		}
	}
}
