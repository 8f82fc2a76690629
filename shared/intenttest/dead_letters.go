package intenttest

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/singleeffect/once/shared/intenttest/calls"
)

// DeadLetters is a function's queue: it keeps what is sent to the dead-letter queue, and lets messages be hidden. Its zero value is
// empty. It is safe for use by several goroutines.
type DeadLetters struct {
	mu   sync.Mutex
	sent []*sqs.SendMessageInput
}

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

// ChangeMessageVisibilityBatch hides every message, as far as anybody here can tell.
func (d *DeadLetters) ChangeMessageVisibilityBatch(_ context.Context, in *sqs.ChangeMessageVisibilityBatchInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	calls.Saw(in)
	out := &sqs.ChangeMessageVisibilityBatchOutput{}
	for _, e := range in.Entries {
		out.Successful = append(out.Successful, types.ChangeMessageVisibilityBatchResultEntry{Id: e.Id})
	}
	return out, nil
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
