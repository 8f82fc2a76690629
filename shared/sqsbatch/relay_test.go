package sqsbatch_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// timing keeps when each call that sends is made, and of how many messages.
type timing struct {
	*hider
	began time.Time
	at    []time.Duration
	of    []int
}

func (q *timing) SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, o ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	q.at, q.of = append(q.at, time.Since(q.began)), append(q.of, len(in.Entries))
	return q.hider.SendMessageBatch(ctx, in, o...)
}

// A copy is sent at once where ten wait, else 50 ms after the first of them, and not only when the batch ends: whoever is
// killed meanwhile need not send it again. What comes in during a call goes with the next.
func TestWhenCopiesAreSent(t *testing.T) {
	t.Parallel()
	const call = 200 * time.Millisecond
	for name, tt := range map[string]struct {
		poison int
		at     []time.Duration
		of     []int
	}{
		"one":        {1, []time.Duration{50 * time.Millisecond}, []int{1}},
		"nine":       {9, []time.Duration{50 * time.Millisecond}, []int{9}},
		"ten":        {10, []time.Duration{0}, []int{10}},
		"twelve":     {12, []time.Duration{0, call}, []int{10, 2}},
		"thirty-one": {31, []time.Duration{0, call, 2 * call, 3 * call}, []int{10, 10, 10, 1}},
	} {
		bubble(t, name, func(t *testing.T) {
			q := &timing{began: time.Now()}
			r := newRig(t, quarantining, func(c *sqsbatch.Config) {
				q.hider = c.Queue.(*hider)
				c.Queue = q
			})
			q.delay = call
			r.hand.do = func(context.Context, intent.Delivery) (intent.Outcome, error) {
				time.Sleep(10 * time.Second)
				return executed, nil
			}
			listed, _ := r.within(timeout, append(many(tt.poison, "poison"), asking("long", "long")))
			wantIDs(t, "listed", listed)
			want(t, "calls after", q.at, tt.at, slices.Equal)
			want(t, "messages", q.of, tt.of, slices.Equal)
		})
	}
}

// After a call copies wait for each other again.
func TestCopiesShareALaterCall(t *testing.T) {
	t.Parallel()
	bubble(t, "two", func(t *testing.T) {
		q := &timing{began: time.Now()}
		r := newRig(t, quarantining, func(c *sqsbatch.Config) {
			q.hider = c.Queue.(*hider)
			c.Queue = q
		})
		ends := map[string]time.Duration{"a": 0, "b": time.Second, "c": time.Second + 20*time.Millisecond}
		r.hand.do = func(_ context.Context, d intent.Delivery) (intent.Outcome, error) {
			time.Sleep(ends[d.Key])
			if d.Key == "long" {
				time.Sleep(5 * time.Second)
				return executed, nil
			}
			return intent.Outcome{Kind: intent.InDoubt}, nil
		}
		wantIDs(t, "listed", r.handle(asking("1", "a"), asking("2", "b"), asking("3", "c"), asking("4", "long")))
		want(t, "calls after", q.at, []time.Duration{50 * time.Millisecond, 1050 * time.Millisecond}, slices.Equal)
		want(t, "messages", q.of, []int{1, 2}, slices.Equal)
	})
}

// No call is larger than SQS takes: none is made to be refused.
func TestCallsOfTheSizeThatSQSTakes(t *testing.T) {
	t.Parallel()
	bubble(t, "five of half a call", func(t *testing.T) {
		q := &timing{began: time.Now()}
		r := newRig(t, quarantining, func(c *sqsbatch.Config) {
			q.hider = c.Queue.(*hider)
			c.Queue = q
		})
		listed, _ := r.within(timeout, many(5, strings.Repeat("x", 1<<19)))
		wantIDs(t, "listed", listed)
		want(t, "messages a call", q.of, []int{1, 1, 1, 1, 1}, slices.Equal)
	})
}
