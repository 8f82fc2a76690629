package dynamo

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

func transactWrite() types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String("rows"), Key: item{"id": text("1")}}}
}

var errGone = errors.New("gone")

// givesUp is a delivery that claims and gives up after a while.
func (c *crew) givesUp(id string, after time.Duration) {
	c.member(func(s intent.Store) {
		ctx, cancel := context.WithTimeoutCause(context.Background(), after, errGone)
		defer cancel()
		began := time.Now()
		if r, err := s.Claim(ctx, running(id)); !errors.Is(err, errGone) {
			c.t.Errorf("%s: got %v and error %v, want why it gave up", id, r.State, err)
		}
		if waited := time.Since(began); waited != after {
			c.t.Errorf("%s: got its answer after %v, want %v", id, waited, after)
		}
	})
}

// until is a call that takes as long, or as its caller waits.
func until(d time.Duration) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A caller who gives up takes nothing from others and leaves nothing behind. At the
// end of each bubble no goroutine is left.
func TestGroupGivesUp(t *testing.T) {
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		members int
		takes   func(context.Context, int) error
		do      func(c *crew)
		calls   []string
	}{
		"before it is sent": {4, nil, func(c *crew) {
			c.givesUp("a", 10*ms)
			c.claims("b", 0)
			c.claims("c", 0)
			c.member(func(intent.Store) { time.Sleep(20 * ms) })
		}, []string{"20ms batch +b +c"}},
		"before it hands anything in": {3, nil, func(c *crew) {
			c.claims("b", 0)
			c.claims("c", 0)
			c.member(func(s intent.Store) {
				time.Sleep(10 * ms)
				gone, cancel := context.WithCancelCause(context.Background())
				cancel(errGone)
				if _, err := s.Claim(gone, running("a")); !errors.Is(err, errGone) {
					c.t.Errorf("got %v, want why it gave up", err)
				}
			})
		}, []string{"10ms batch +b +c"}},
		"all of them before it is sent": {3, nil, func(c *crew) {
			c.givesUp("a", 10*ms)
			c.givesUp("b", 20*ms)
			c.member(func(intent.Store) { time.Sleep(time.Second) })
		}, nil},
		"and who came after it lingers on": {3, nil, func(c *crew) {
			c.givesUp("a", 10*ms)
			c.completes("b", 5*ms)
			c.member(func(intent.Store) { time.Sleep(300 * ms) })
		}, []string{"50ms update b"}},
		"and the next one lingers for itself": {3, nil, func(c *crew) {
			c.givesUp("a", 10*ms)
			c.completes("b", 30*ms)
			c.completes("c", 70*ms)
		}, []string{"70ms batch =b =c"}},
		"during the call": {3, until(100 * ms), func(c *crew) {
			c.givesUp("a", 10*ms)
			c.claims("b", 0)
			c.claims("c", 0)
		}, []string{"0s batch +a +b +c"}},
		"all but one during the call": {3, until(100 * ms), func(c *crew) {
			c.givesUp("a", 10*ms)
			c.givesUp("b", 20*ms)
			c.claims("c", 0)
		}, []string{"0s batch +a +b +c"}},
		"all of them during the call": {3, until(time.Hour), func(c *crew) {
			c.givesUp("a", 10*ms)
			c.givesUp("b", 20*ms)
			c.givesUp("c", 30*ms)
		}, []string{"0s batch +a +b +c"}},
		"during the read of what stands, for which nobody else waits": {3, func(ctx context.Context, number int) error {
			if number == 1 {
				return nil
			}
			return until(time.Hour)(ctx, number)
		}, func(c *crew) {
			c.givesUp("stands", 30*ms)
			c.member(func(s intent.Store) {
				began := time.Now()
				c.wrote(s.Claim(context.Background(), running("b")))
				if waited := time.Since(began); waited != 0 {
					c.t.Errorf("b: waited %v for another's record", waited)
				}
			})
			c.claims("c", 0)
		}, []string{"0s batch +b +c +stands", "0s read"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{takes: tt.takes}
				c := newCrew(t, w, tt.members)
				tt.do(c)
				c.want(tt.calls...)
				if took := time.Since(w.began); took > time.Second {
					t.Errorf("took %v: the call outlived its callers", took)
				}
			})
		})
	}
}

// A call that needs a while to end once it is cancelled is waited for by the last of
// its callers, and by nobody else: no call outlives its callers.
func TestGroupEndsItsCall(t *testing.T) {
	const ms = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		w := &wire{takes: func(ctx context.Context, _ int) error {
			<-ctx.Done()
			time.Sleep(30 * ms) // a connection that is closed, a goroutine that looks up late
			ended.Store(true)
			return ctx.Err()
		}}
		c := newCrew(t, w, 3)
		for id, tt := range map[string]struct {
			after, until time.Duration // it gives up, it has its answer
		}{
			"a": {20 * ms, 50 * ms}, "b": {10 * ms, 10 * ms}, "c": {5 * ms, 5 * ms},
		} {
			c.member(func(s intent.Store) {
				ctx, cancel := context.WithTimeoutCause(context.Background(), tt.after, errGone)
				defer cancel()
				if _, err := s.Claim(ctx, running(id)); !errors.Is(err, errGone) {
					t.Errorf("%s: got error %v, want why it gave up", id, err)
				}
				last := id == "a"
				if took := time.Since(w.began); took != tt.until || ended.Load() != last {
					t.Errorf("%s: got its answer after %v with the call ended: %t, want %v and %t", id, took, ended.Load(), tt.until, last)
				}
			})
		}
		c.want("0s batch +a +b +c")
	})
}

// What was claimed but not started is given back in one call, before the answer: here
// the claims' own call never comes back.
func TestGroupGivesBackInOneCall(t *testing.T) {
	const invocation = 10 * time.Second
	for name, cancelled := range map[string]time.Duration{"out of time": invocation, "told to stop": time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(context.Background(), invocation)
				defer cancel()
				defer time.AfterFunc(cancelled, cancel).Stop()
				w := &wire{began: time.Now(), takes: func(ctx context.Context, number int) error {
					if number == 1 {
						<-ctx.Done()
					}
					return ctx.Err()
				}}
				keyed := &intent.Keyed[struct{}]{
					Config: intent.Config{Scope: "scope", Operation: "operation", Store: New(w, "records")},
					Window: 24 * time.Hour,
					Effect: func(context.Context, struct{}, intent.Attempt) (any, error) {
						t.Error("an effect starts")
						return nil, nil
					},
				}
				ids := strings.Split("abcdefghij", "")
				deliver, leave := keyed.Group(len(ids))
				var all sync.WaitGroup
				for _, id := range ids {
					all.Go(func() {
						defer leave()
						if o, err := deliver(ctx, intenttest.Delivery(t, id, `{}`)); err == nil {
							t.Errorf("%s: got %s, want an error", id, o.Kind)
						}
					})
				}
				all.Wait()
				if left := invocation - time.Since(w.began); left <= 0 {
					t.Errorf("ended %v after the deadline", -left)
				}
				var got []string
				for _, call := range w.calls {
					_, what, _ := strings.Cut(call, " ")
					got = append(got, what)
				}
				if want := []string{"batch +a +b +c +d +e +f +g +h +i +j", "batch =a =b =c =d =e =f =g =h =i =j"}; !slices.Equal(got, want) {
					t.Errorf("calls:\ngot  %q\nwant %q", w.calls, want)
				}
			})
		})
	}
}
