package sqsbatch_test

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// Several invocations at once in one process share nothing but the store.
func TestSeveralInvocationsAtOnce(t *testing.T) {
	t.Parallel()
	const invocations, rounds = 8, 40
	r, m, c := newShop(t)
	var all sync.WaitGroup
	for i := range invocations {
		all.Go(func() {
			for round := range rounds {
				id := fmt.Sprintf("%d of %d", round, i)
				bad := message("bad "+id, "poison")
				shared := asking("shared "+id, fmt.Sprintf("shared %d", round)) // done, or in progress
				got := r.handle(asking("own "+id, "own "+id), bad, shared)
				got = slices.DeleteFunc(got, func(id string) bool { return id == shared.MessageId })
				wantIDs(t, "listed", got, bad.MessageId)
			}
		})
	}
	all.Wait()
	want(t, "charges", c.total(), invocations*rounds+rounds, func(a, b int) bool { return a == b })
	want(t, "records", len(m.all()), invocations*rounds+rounds, func(a, b int) bool { return a == b })
}

// One process, one batch, many invocations: a slow one holds no other up, and each
// answers for its own messages, one that quarantines among them.
func TestInvocationsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, quarantining, func(c *sqsbatch.Config) { c.Concurrency = 2 })
		r.hand.do = func(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
			switch {
			case strings.HasPrefix(d.Key, "slow"):
				<-ctx.Done()
				return intent.Outcome{}, ctx.Err()
			case strings.HasPrefix(d.Key, "doubt"):
				return intent.Outcome{Kind: intent.InDoubt}, nil
			}
			time.Sleep(time.Second)
			return executed, nil
		}
		var all sync.WaitGroup
		for i := range 5 {
			all.Go(func() {
				got := r.handle(asking(fmt.Sprint("slow ", i), fmt.Sprint("slow ", i)),
					asking(fmt.Sprint("stuck ", i), fmt.Sprint("slow too ", i)), asking(fmt.Sprint("late ", i), "late"))
				wantIDs(t, "listed of a slow one", got, fmt.Sprint("slow ", i), fmt.Sprint("stuck ", i), fmt.Sprint("late ", i))
			})
		}
		for i := range 20 {
			all.Go(func() {
				start := time.Now()
				bad := message(fmt.Sprint("bad ", i), "poison")
				wantIDs(t, "listed", r.handle(asking(fmt.Sprint("a ", i), "shared"), bad,
					asking(fmt.Sprint("b ", i), fmt.Sprint("doubt ", i)), asking(fmt.Sprint("c ", i), fmt.Sprint("own ", i))))
				if took := time.Since(start); took != time.Second {
					t.Errorf("took %v beside slow ones, want 1s", took)
				}
			})
		}
		all.Wait()
		ids := map[string]bool{}
		for _, in := range r.queue.taken() {
			ids[*in.MessageAttributes["Original-Message-Id"].StringValue] = true
		}
		if len(r.queue.taken()) != 40 || len(ids) != 40 {
			t.Errorf("%d in quarantine, want two of each quick one: %v", len(r.queue.taken()), ids)
		}
		quick := 0
		for _, report := range r.reports {
			if report.Quarantined == 2 && report.Listed == 0 && report.Outcomes[intent.Executed] == 2 {
				quick++
			} else if report.Quarantined != 0 || report.Listed != 3 {
				t.Errorf("got report %+v of no invocation", report)
			}
		}
		if quick != 20 || len(r.reports) != 25 {
			t.Errorf("%d of %d reports are quick ones', want 20 of 25", quick, len(r.reports))
		}
	})
}

// bubbleOf is the header of the calling goroutine's stack in which its bubble stands.
var bubbleOf = regexp.MustCompile(`synctest bubble \d+`)

// others are the goroutines of this bubble, but for the caller's and the bubble's own.
func others() []string {
	var stacks []byte
	for size := 1 << 20; ; size *= 2 { // until all of them are in it: tests run side by side
		stacks = make([]byte, size)
		if n := runtime.Stack(stacks, true); n < size {
			stacks = stacks[:n]
			break
		}
	}
	goroutines := bytes.Split(stacks, []byte("\n\n")) // the caller's first
	own := bubbleOf.Find(goroutines[0])
	var found []string
	for _, g := range goroutines[1:] {
		if header, _, _ := bytes.Cut(g, []byte("\n")); bytes.Contains(header, append(own, ']')) && !bytes.Contains(g, []byte("testing/synctest.")) {
			found = append(found, string(g))
		}
	}
	return found
}

// Once an invocation has its answer nothing of it runs on, however it went.
func TestNothingRunsOn(t *testing.T) {
	t.Parallel()
	heeds := func(ctx context.Context, _ order, _ intent.Attempt) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	minute := func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(context.Background(), time.Minute)
	}
	for name, tt := range map[string]struct {
		context func() (context.Context, context.CancelFunc)
		change  func(*sqsbatch.Config)
	}{
		"done":        {minute, func(c *sqsbatch.Config) { c.Handler = cashier(&memory{}, &till{}) }},
		"cut off":     {minute, func(c *sqsbatch.Config) { k := cashier(&memory{}, &till{}); k.Effect = heeds; c.Handler = k }},
		"in doubt":    {minute, func(c *sqsbatch.Config) { c.Handler = &intent.Blind[order]{Config: shop(&memory{}), Effect: heeds} }},
		"no deadline": {func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) }, func(c *sqsbatch.Config) { c.Handler = beating() }},
		"cancelled": {func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(20*time.Second, cancel)
			return ctx, cancel
		}, func(c *sqsbatch.Config) { k := cashier(&memory{}, &till{}); k.Effect = heeds; c.Handler = k }},
		"queue hangs": {minute, func(c *sqsbatch.Config) {
			c.Handler.(*hand).do = always(intent.Outcome{Kind: intent.InDoubt}, nil)
			c.Queue.(*hider).accept = func(ctx context.Context, _ *sqs.SendMessageInput) error { return hangs(ctx) }
		}},
		"hiding hangs": {minute, func(c *sqsbatch.Config) {
			c.Handler.(*hand).do = always(intent.Outcome{Kind: intent.InProgress, Wait: time.Second}, nil)
			c.Queue.(*hider).do = hangs
		}},
		"goroutine ended": {minute, func(c *sqsbatch.Config) {
			c.Handler.(*hand).do = func(context.Context, intent.Delivery) (intent.Outcome, error) { runtime.Goexit(); return executed, nil }
		}},
		"panic": {minute, func(c *sqsbatch.Config) {
			c.Handler.(*hand).do = func(context.Context, intent.Delivery) (intent.Outcome, error) { panic("gone") }
		}},
	} {
		bubble(t, name, func(t *testing.T) {
			r := newRig(t, quarantining, tt.change)
			ctx, cancel := tt.context()
			defer cancel()
			r.handleBy(ctx, asking("1", "a"), asking("2", "b"), asking("3", "b"), message("4", "poison"))
			synctest.Wait() // for those that are about to end
			if left := others(); len(left) != 0 {
				t.Errorf("%d goroutines run on:\n%s", len(left), strings.Join(left, "\n\n"))
			}
		})
	}
	bubble(t, "what would be found", func(t *testing.T) {
		released := make(chan struct{})
		for range 2 {
			go func() { <-released }()
		}
		synctest.Wait()
		if left := others(); len(left) != 2 {
			t.Errorf("found %d goroutines of 2", len(left))
		}
		close(released)
	})
}

// beating is a Keyed handler whose claims are renewed while its effects run.
func beating() sqsbatch.Handler {
	k := cashier(&memory{}, &till{})
	k.Effect = func(context.Context, order, intent.Attempt) (any, error) {
		time.Sleep(2 * time.Minute)
		return nil, nil
	}
	return k
}
