package sqsbatch_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// partial is a queue that hides all messages of a call but the first so many.
type partial struct {
	*hider
	fails int
}

func (q *partial) ChangeMessageVisibilityBatch(_ context.Context, in *sqs.ChangeMessageVisibilityBatchInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	out := &sqs.ChangeMessageVisibilityBatchOutput{}
	for _, e := range in.Entries[:q.fails] {
		out.Failed = append(out.Failed, types.BatchResultErrorEntry{Id: e.Id, Code: aws.String("ReceiptHandleIsInvalid")})
	}
	return out, nil
}

// The log tells how many messages SQS did not hide, and why, once a call; nothing where it hid all.
func TestMessagesThatAreNotHidden(t *testing.T) {
	t.Parallel()
	for fails, lines := range map[int]int{0: 0, 1: 1, 3: 1} {
		r := newRig(t, func(c *sqsbatch.Config) { c.Queue = &partial{c.Queue.(*hider), fails} })
		r.hand.do = always(intent.Outcome{Kind: intent.InProgress, Wait: time.Minute}, nil)
		wantIDs(t, "listed", r.handle(asking("1", "a"), asking("2", "b"), asking("3", "c")), "1", "2", "3")
		said := 0
		for _, line := range r.log.lines(t) {
			if text, _ := line["msg"].(string); !strings.HasPrefix(text, "cannot hide") {
				continue
			}
			if said++; line["messages"] != float64(fails) || line["error"] != "ReceiptHandleIsInvalid" {
				t.Errorf("%d: got log line %v", fails, line)
			}
		}
		if said != lines {
			t.Errorf("%d are not hidden: %d lines say so, want %d", fails, said, lines)
		}
	}
}

// What a producer leaves out of a message is not sent as empty, and what it cannot leave out is named.
func TestWhatAMessageLeavesOut(t *testing.T) {
	t.Parallel()
	whole := sqsbatch.Message{
		Key: intent.Key{Scope: "shop", Operation: "charge", ID: "k"}, Time: time.UnixMilli(1_790_000_000_000), Body: []byte(`{"amount_cents":1}`),
	}
	in, err := whole.Input(queueURL)
	if err != nil || in.MessageGroupId != nil || in.MessageDeduplicationId != nil {
		t.Errorf("got %+v and error %v, want neither a group nor a deduplication id", in, err)
	}
	for says, change := range map[string]func(*sqsbatch.Message){
		"time is missing": func(m *sqsbatch.Message) { m.Time = time.Time{} },
		"is not JSON":     func(m *sqsbatch.Message) { m.Body = []byte(`{"amount_cents":`) },
	} {
		m := whole
		change(&m)
		if in, err := m.Input(queueURL); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %+v and error %v, want it to say %q", in, err, says)
		}
	}
}
