package sqsbatch_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

const (
	leaseMargin = 3 * time.Second
	skewMargin  = 2 * time.Second
	jitter      = 5 * time.Second
)

func TestC13InProgressElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const runs, later = 10 * time.Second, 4 * time.Second
		r, m, c := newShop(t)
		slow := cashier(m, c)
		charge := slow.Effect
		slow.Effect = func(ctx context.Context, o order, a intent.Attempt) (any, error) {
			time.Sleep(runs)
			return charge(ctx, o, a)
		}
		owner := newRig(t, func(c *sqsbatch.Config) { c.Handler = slow })
		var running sync.WaitGroup
		running.Go(func() { wantIDs(t, "owner's list", owner.handle(asking("1", "k"))) })
		time.Sleep(later)

		got := r.handle(asking("2", "k"), asking("3", "another"), asking("4", "k"))
		wantIDs(t, "listed", got, "2", "4")
		want(t, "outcomes", r.report().Outcomes, map[intent.Kind]int{intent.InProgress: 2, intent.Executed: 1}, maps.Equal[map[intent.Kind]int])
		want(t, "charges", c.total(), 1, func(a, b int) bool { return a == b }) // of the other intent
		left := timeout + leaseMargin - later + skewMargin
		for _, id := range got {
			wantHidden(t, r.queue, id, left)
			if line := r.log.about(t, id); line["level"] != "INFO" || line["outcome"] != string(intent.InProgress) {
				t.Errorf("got log line %v, want in progress for information", line)
			}
		}
		want(t, "calls to the queue", r.queue.calls, 1, func(a, b int) bool { return a == b })

		running.Wait()
		time.Sleep(left)
		wantIDs(t, "listed when it comes back", r.handle(asking("2", "k"), asking("4", "k")))
		want(t, "outcomes", r.report().Outcomes, map[intent.Kind]int{intent.Replayed: 2}, maps.Equal[map[intent.Kind]int])
		want(t, "charges", c.total(), 2, func(a, b int) bool { return a == b })
	})
}

// wantHidden wants a message hidden for that long and up to the jitter more, in
// whole seconds and none too short.
func wantHidden(t *testing.T, q *hider, id string, wait time.Duration) {
	t.Helper()
	got, ok := q.seconds(id)
	if shortest := (wait + time.Second - 1) / time.Second; !ok || got < int32(shortest) || got > int32(shortest+jitter/time.Second) {
		t.Errorf("message %s: hidden: %t, for %d s, want %v and up to %v more", id, ok, got, wait, jitter)
	}
}

func TestHiddenFor(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{time.Millisecond, time.Second, 10*time.Second + time.Nanosecond, 35 * time.Second, 11 * time.Hour} {
		t.Run(wait.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.hand.do = always(intent.Outcome{Kind: intent.InProgress, Wait: wait}, nil)
			different := map[int32]bool{}
			for i := range 100 {
				id := fmt.Sprint(i)
				wantIDs(t, "listed", r.handle(asking(id, id)), id)
				wantHidden(t, r.queue, id, wait)
				got, _ := r.queue.seconds(id)
				different[got] = true
			}
			if len(different) < 2 {
				t.Errorf("all that wait for one intent come back at once, after %v s", different)
			}
		})
	}
	t.Run("no longer than SQS allows", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.hand.do = always(intent.Outcome{Kind: intent.InProgress, Wait: 13 * time.Hour}, nil)
		r.handle(asking("1", "k"))
		if got, _ := r.queue.seconds("1"); got != 41_400 {
			t.Errorf("hidden for %d s, want 41400 of SQS's 43200", got)
		}
	})
}

func TestHidingDenied(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	no := &smithy.GenericAPIError{Code: "AccessDenied", Message: "sqs:ChangeMessageVisibility"}
	r.queue.do = func(context.Context) error { return no }
	r.hand.do = func(_ context.Context, d intent.Delivery) (intent.Outcome, error) {
		if d.Key == "k" {
			return intent.Outcome{Kind: intent.InProgress, Wait: time.Second}, nil
		}
		return executed, nil
	}
	for range 2 {
		wantIDs(t, "listed", r.handle(asking("1", "k"), asking("2", "done"), asking("3", "k")), "1", "3")
	}
	want(t, "tries", r.queue.calls, 2, func(a, b int) bool { return a == b })
	var said []map[string]any
	for _, line := range r.log.lines(t) {
		if line["error"] != nil {
			said = append(said, line)
		}
	}
	if len(said) != 1 || said[0]["level"] != "WARN" || said[0]["error"] != no.Error() {
		t.Errorf("got complaints %v, want one", said)
	}
}

// What may pass by itself is said each time.
func TestHidingFails(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"throttled": &smithy.GenericAPIError{Code: "RequestThrottled", Message: "slow down"}, "no connection": errors.New("connection reset"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.queue.do = func(context.Context) error { return err }
			r.hand.do = always(intent.Outcome{Kind: intent.InProgress, Wait: time.Second}, nil)
			for range 2 {
				wantIDs(t, "listed", r.handle(asking("1", "k")), "1")
			}
			said := 0
			for _, line := range r.log.lines(t) {
				if line["error"] == err.Error() && line["level"] == "WARN" {
					said++
				}
			}
			if said != 2 {
				t.Errorf("said %d times, want 2:\n%s", said, r.log)
			}
		})
	}
}

// Receipt handles of another queue than the one that may be asked are no use.
func TestNotHidden(t *testing.T) {
	t.Parallel()
	inProgress := always(intent.Outcome{Kind: intent.InProgress, Wait: time.Second}, nil)
	for name, arn := range map[string]string{
		"another queue":                   "arn:aws:sqs:eu-west-1:123456789012:once-adjust",
		"a queue whose name ends like it": "arn:aws:sqs:eu-west-1:123456789012:charge",
		"no queue":                        "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.hand.do = inProgress
			m := asking("1", "k")
			m.EventSourceARN = arn
			wantIDs(t, "listed", r.handle(m), "1")
			want(t, "calls to the queue", r.queue.calls, 0, func(a, b int) bool { return a == b })
		})
	}
	t.Run("without a Queue", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, func(c *sqsbatch.Config) { c.Queue = nil })
		r.hand.do = inProgress
		wantIDs(t, "listed", r.handle(asking("1", "k")), "1")
	})
}

// A queue that does not answer does not hold the batch's answer up.
func TestHidingHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		r := newRig(t)
		r.queue.do = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		r.hand.do = always(intent.Outcome{Kind: intent.InProgress, Wait: time.Second}, nil)
		wantIDs(t, "listed", r.handle(asking("1", "k"), asking("2", "k")), "1", "2")
		if took := time.Since(start); took > timeout-200*time.Millisecond || len(r.exits) != 0 {
			t.Errorf("answered after %v of %v, ended the process at %v", took, timeout, r.exits)
		}
	})
}
