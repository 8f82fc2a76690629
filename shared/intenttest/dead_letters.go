package intenttest

import (
	"context"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/singleeffect/once/shared/intenttest/calls"
)

// DeadLetters is a queue for functions that quarantine messages and never hide one: it keeps what is sent. A message that
// is hidden fails the test. It is safe for use by several goroutines.
type DeadLetters struct {
	t    testing.TB
	mu   sync.Mutex
	sent []*sqs.SendMessageInput
}

// NewDeadLetters returns an empty one.
func NewDeadLetters(t testing.TB) *DeadLetters { return &DeadLetters{t: t} }

// SendMessageBatch takes every message.
func (d *DeadLetters) SendMessageBatch(_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	calls.Saw(in)
	d.mu.Lock()
	defer d.mu.Unlock()
	out := &sqs.SendMessageBatchOutput{}
	for _, e := range in.Entries {
		d.sent = append(d.sent, Single(in.QueueUrl, e))
		out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{Id: e.Id})
	}
	return out, nil
}

// ChangeMessageVisibilityBatch fails the test.
func (d *DeadLetters) ChangeMessageVisibilityBatch(_ context.Context, in *sqs.ChangeMessageVisibilityBatchInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	calls.Saw(in)
	for _, e := range in.Entries {
		d.t.Errorf("a message is hidden for %d s: its receipt handle is %q", e.VisibilityTimeout, aws.ToString(e.ReceiptHandle))
	}
	return &sqs.ChangeMessageVisibilityBatchOutput{}, nil
}

// Single is a message of a batch as SendMessage would send it.
func Single(queueURL *string, e types.SendMessageBatchRequestEntry) *sqs.SendMessageInput {
	return &sqs.SendMessageInput{
		QueueUrl: queueURL, MessageBody: e.MessageBody, MessageAttributes: e.MessageAttributes, MessageSystemAttributes: e.MessageSystemAttributes,
		MessageGroupId: e.MessageGroupId, MessageDeduplicationId: e.MessageDeduplicationId,
	}
}

// Sent are the messages so far, in their order.
func (d *DeadLetters) Sent() []*sqs.SendMessageInput {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]*sqs.SendMessageInput(nil), d.sent...)
}

// Values are what the messages so far have in one attribute, in their order.
func (d *DeadLetters) Values(attribute string) []string {
	var values []string
	for _, in := range d.Sent() {
		values = append(values, aws.ToString(in.MessageAttributes[attribute].StringValue))
	}
	return values
}
