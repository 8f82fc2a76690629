package queue_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// A scenario is a sequence of operations on fresh queues; what a caller sees of it is written down step by step.
type scenario func(*caller)

// compare runs the scenarios against ours and another emulator. What is seen must be the same, but for the steps in
// differences ("scenario/step" and why); those must differ, so that the list cannot outlive its reasons.
func compare(t *testing.T, ours, theirs *sqs.Client, scenarios map[string]scenario, differences map[string]string) {
	met := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(scenarios)) {
		t.Run(name, func(t *testing.T) {
			a, b := observe(t, ours, name, scenarios[name]), observe(t, theirs, name, scenarios[name])
			for _, step := range slices.Sorted(maps.Keys(a)) {
				why, known := differences[name+"/"+step]
				met[name+"/"+step] = true
				switch {
				case known && a[step] == b[step]:
					t.Errorf("%s: both %s; no longer a difference (%s)", step, a[step], why)
				case !known && a[step] != b[step]:
					t.Errorf("%s: ours %s, theirs %s", step, a[step], b[step])
				}
			}
			if len(a) != len(b) {
				t.Errorf("%d steps of ours, %d of theirs", len(a), len(b))
			}
		})
	}
	for step := range differences {
		if !met[step] {
			t.Errorf("difference %q is of no step", step)
		}
	}
}

func observe(t *testing.T, c *sqs.Client, name string, run scenario) map[string]string {
	p := &caller{t: t, c: c, ctx: t.Context(), name: name, seen: map[string]string{}}
	run(p)
	return p.seen
}

// caller runs a scenario.
type caller struct {
	t    *testing.T
	c    *sqs.Client
	ctx  context.Context
	name string
	seen map[string]string
}

// note writes down what a step showed.
func (p *caller) note(step string, what ...any) { p.seen[step] = fmt.Sprint(what...) }

// noteError writes down how a step was refused: by the code that the SDK reports, without the prefix that AWS gives
// some of them (TestSDKErrors has ours) and the emulators give none or all.
func (p *caller) noteError(step string, err error) {
	var api smithy.APIError
	switch {
	case err == nil:
		p.note(step, "done")
	case errors.As(err, &api):
		p.note(step, strings.TrimPrefix(api.ErrorCode(), "AWS.SimpleQueueService."))
	default:
		p.t.Fatalf("%s: %v", step, err)
	}
}

func (p *caller) create(suffix string, attributes map[string]string) string {
	name := p.name + suffix
	if attributes["FifoQueue"] == "true" {
		name += ".fifo"
	}
	out, err := p.c.CreateQueue(p.ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		p.t.Fatal(err)
	}
	return *out.QueueUrl
}

func (p *caller) send(in *sqs.SendMessageInput) *sqs.SendMessageOutput {
	out, err := p.c.SendMessage(p.ctx, in)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// receive asks for n messages and everything about them.
func (p *caller) receive(url string, n int32) []types.Message {
	return p.receiveWaiting(url, n, 0)
}

// eventually asks for n messages until something comes.
func (p *caller) eventually(url string, n int32) []types.Message {
	for start := time.Now(); time.Since(start) < 15*time.Second; {
		if got := p.receiveWaiting(url, n, 1); len(got) > 0 {
			return got
		}
	}
	return nil
}

func (p *caller) receiveWaiting(url string, n, wait int32) []types.Message {
	out, err := p.c.ReceiveMessage(p.ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: n, WaitTimeSeconds: wait, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return out.Messages
}

func (p *caller) delete(url string, m types.Message) error {
	_, err := p.c.DeleteMessage(p.ctx, &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle})
	return err
}

func (p *caller) visibility(url string, m types.Message, timeout int32) error {
	_, err := p.c.ChangeMessageVisibility(p.ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &url, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: timeout,
	})
	return err
}

// noteCounts writes down how many messages are visible, in flight and delayed.
func (p *caller) noteCounts(step, url string) {
	p.note(step, p.attribute(url, "ApproximateNumberOfMessages"), " ", p.attribute(url, "ApproximateNumberOfMessagesNotVisible"),
		" ", p.attribute(url, "ApproximateNumberOfMessagesDelayed"))
}

func (p *caller) attribute(url, name string) string {
	out, err := p.c.GetQueueAttributes(p.ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeName(name)},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return out.Attributes[name]
}

// redrivePolicy sends to the queue at url after n receives.
func (p *caller) redrivePolicy(url string, n int) string {
	return fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, p.attribute(url, "QueueArn"), n)
}

// texts are the bodies in order.
func texts(messages []types.Message) string {
	var out []string
	for _, m := range messages {
		out = append(out, *m.Body)
	}
	return strings.Join(out, " ")
}
