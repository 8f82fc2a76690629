package sqsbatch_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// What comes again is hidden, and what is in quarantine is sent to the dead-letter
// queue. Nothing is ever sent back to its own queue.
func TestC20DeferralNeverSends(t *testing.T) {
	t.Parallel()
	r := newRig(t, quarantining)
	r.hand.do = func(ctx context.Context, d intent.Delivery) (intent.Outcome, error) { return endings[d.Key].do(ctx, d) }
	for name := range endings {
		r.handle(asking(name, name))
	}
	for _, c := range causes() {
		r.handle(c.message)
	}
	for _, id := range []string{"in progress", "error"} {
		if _, hidden := r.queue.seconds(id); !hidden {
			t.Errorf("got %v hidden, want %s among them", r.queue.hidden, id)
		}
	}
	if len(r.queue.taken()) == 0 {
		t.Error("nothing was sent at all")
	}
	for _, in := range r.queue.taken() {
		if *in.QueueUrl != deadLetterURL {
			t.Errorf("sent to %s", *in.QueueUrl)
		}
	}
	if _, err := sqsbatch.New(sqsbatch.Config{Handler: r.hand, Queue: r.queue, QueueURL: queueURL, DeadLetterURL: queueURL}); err == nil {
		t.Error("a batch that quarantines into its own queue is made")
	}
}

// Somebody who maps the dead-letter queue to the function, to have it work that off,
// must not have each message go round there for ever.
func TestC20OfTheDeadLetterQueue(t *testing.T) {
	t.Parallel()
	for name, c := range causes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.message.EventSourceARN = queueARN + "-dead"
			r, listed := c.handle(t, quarantining)
			wantSpared(t, r, listed)
		})
	}
	t.Run("FIFO", func(t *testing.T) {
		t.Parallel()
		r := ordered(t)
		var messages []events.SQSMessage
		for _, m := range []events.SQSMessage{grouped(message("A1", "poison"), "A"), grouped(asking("A2", "a2"), "A"), grouped(asking("B1", "b1"), "B")} {
			m.EventSourceARN = queueARN + "-dead.fifo"
			messages = append(messages, m)
		}
		wantIDs(t, "listed", r.handle(messages...), "A1", "A2")
		want(t, "sent", len(r.queue.taken()), 0, func(a, b int) bool { return a == b })
	})
	// Another queue's name may begin or end like it.
	for _, arn := range []string{queueARN, strings.TrimSuffix(queueARN, "once-charge") + "dead", queueARN + "-dead-dead", ""} {
		r := newRig(t, quarantining)
		m := message("1", "poison")
		m.EventSourceARN = arn
		wantIDs(t, arn+": listed", r.handle(m))
		want(t, arn+": sent", len(r.queue.taken()), 1, func(a, b int) bool { return a == b })
	}
}
