package sqsbatch_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// recorder is a queue that keeps the order of what it is asked to hide.
type recorder struct {
	*hider
	handles []string
	silent  bool // it answers a call that sends without a word on any of its messages
}

func (q *recorder) ChangeMessageVisibilityBatch(ctx context.Context, in *sqs.ChangeMessageVisibilityBatchInput, o ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	for _, e := range in.Entries {
		q.handles = append(q.handles, strings.TrimPrefix(aws.ToString(e.ReceiptHandle), "receipt-"))
	}
	return q.hider.ChangeMessageVisibilityBatch(ctx, in, o...)
}

func (q *recorder) SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, o ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	out, err := q.hider.SendMessageBatch(ctx, in, o...)
	if q.silent && err == nil {
		out = &sqs.SendMessageBatchOutput{}
	}
	return out, err
}

// recording is a rig with such a queue.
func recording(t *testing.T) (*rig, *recorder) {
	q := &recorder{}
	r := newRig(t, quarantining, func(c *sqsbatch.Config) {
		q.hider = c.Queue.(*hider)
		c.Queue = q
	})
	return r, q
}

// What goes to SQS in one call goes in the order of the event, and not in that in which deliveries end.
func TestOrderOfACall(t *testing.T) {
	t.Parallel()
	ids := []string{"0", "1", "2", "3", "4"}
	for name, outcome := range map[string]intent.Outcome{
		"hidden":      {Kind: intent.InProgress, Wait: time.Minute},
		"quarantined": {Kind: intent.InDoubt},
	} {
		bubble(t, name, func(t *testing.T) {
			r, q := recording(t)
			r.hand.do = func(_ context.Context, d intent.Delivery) (intent.Outcome, error) {
				place := slices.Index(ids, d.Key)
				time.Sleep(time.Duration(len(ids)-place) * time.Millisecond) // the last ends first
				return outcome, nil
			}
			var messages []events.SQSMessage
			for _, id := range ids {
				messages = append(messages, asking(id, id))
			}
			listed := r.handle(messages...)
			if outcome.Kind == intent.InProgress {
				wantIDs(t, "listed", listed, ids...)
				wantIDs(t, "hidden", q.handles, ids...)
				return
			}
			wantIDs(t, "listed", listed)
			var sent []string
			for _, in := range q.taken() {
				sent = append(sent, aws.ToString(in.MessageAttributes["Original-Message-Id"].StringValue))
			}
			wantIDs(t, "quarantined", sent, ids...)
		})
	}
}

// SQS answers a call and says nothing of a message: whether its copy was sent is not known, so it is listed, and holds up
// what stands behind it in its group.
func TestCopyWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	bubble(t, "FIFO", func(t *testing.T) {
		r, q := recording(t)
		q.silent = true
		bad, behind := grouped(message("bad", "poison"), "A"), grouped(asking("behind", "behind"), "A")
		listed, _ := r.within(timeout, []events.SQSMessage{bad, behind})
		wantIDs(t, "listed", listed, "bad", "behind")
		wantIDs(t, "run", r.hand.keys())
		if line := r.log.about(t, "bad"); !strings.Contains(line["error"].(string), "SQS does not tell") {
			t.Errorf("got log line %v, want it to say so", line)
		}
	})
}

// Without a deadline there is all the time to quarantine.
func TestQuarantineWithoutADeadline(t *testing.T) {
	t.Parallel()
	r := newRig(t, quarantining)
	wantIDs(t, "listed", r.handleBy(context.Background(), message("bad", "poison"), asking("good", "good")))
	wantIDs(t, "run", r.hand.keys(), "good")
	if n := len(r.queue.taken()); n != 1 {
		t.Errorf("%d in quarantine, want 1", n)
	}
}

// An invocation is given up while an intent runs: no other is started, whatever its handler looks at.
func TestNothingStartsAfterTheInvocationWasGivenUp(t *testing.T) {
	t.Parallel()
	ctx, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	r := newRig(t, func(c *sqsbatch.Config) { c.Concurrency = 1 })
	r.hand.do = func(context.Context, intent.Delivery) (intent.Outcome, error) {
		giveUp()
		return executed, nil
	}
	wantIDs(t, "listed", r.handleBy(ctx, asking("1", "a"), asking("2", "b")), "2")
	wantIDs(t, "run", r.hand.keys(), "a")
}

// Without an observer nothing is missed. One that panics is told of in the log.
func TestObserverInTheLog(t *testing.T) {
	t.Parallel()
	const text = "the batch was not observed"
	for name, tt := range map[string]struct {
		observe func(context.Context, sqsbatch.Report)
		lines   int
	}{
		"none":   {nil, 0},
		"panics": {func(context.Context, sqsbatch.Report) { panic("no metrics") }, 1},
	} {
		r := newRig(t, func(c *sqsbatch.Config) { c.Observe = tt.observe })
		wantIDs(t, name+": listed", r.handle(asking("1", "a")))
		if n := strings.Count(r.log.String(), text); n != tt.lines {
			t.Errorf("%s: %d lines say so, want %d", name, n, tt.lines)
		}
	}
}

// Copies wait for others to share their call, as long as nothing waits for them: not for those of a group with no other
// message, and not for those of a standard queue.
func TestCopiesShareTheirCalls(t *testing.T) {
	t.Parallel()
	const lanes = 20
	for name, of := range map[string]func(lane int) []events.SQSMessage{
		"groups of one": func(lane int) []events.SQSMessage {
			id := fmt.Sprint(lane)
			return []events.SQSMessage{grouped(asking(id, id), id)}
		},
		"two payloads under a key": func(lane int) []events.SQSMessage {
			id := fmt.Sprint(lane)
			return []events.SQSMessage{asking(id, id), message(id+" again", fmt.Sprintf(`{"idempotency_key":%q,"amount_cents":200}`, id))}
		},
	} {
		bubble(t, name, func(t *testing.T) {
			r := newRig(t, quarantining, func(c *sqsbatch.Config) { c.Concurrency = lanes })
			r.hand.do = func(context.Context, intent.Delivery) (intent.Outcome, error) {
				time.Sleep(time.Millisecond)
				return intent.Outcome{Kind: intent.InDoubt}, nil
			}
			var messages []events.SQSMessage
			for lane := range lanes {
				messages = append(messages, of(lane)...)
			}
			listed, _ := r.within(timeout, messages)
			wantIDs(t, "listed", listed)
			if sent := len(r.queue.taken()); sent != len(messages) || r.queue.sends != len(messages)/10 {
				t.Errorf("%d of %d in quarantine after %d calls, want all in tens", sent, len(messages), r.queue.sends)
			}
		})
	}
}
