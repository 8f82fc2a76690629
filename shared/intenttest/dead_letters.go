package intenttest

import (
	"context"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
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

// SendMessage takes every message.
func (d *DeadLetters) SendMessage(_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent = append(d.sent, in)
	return &sqs.SendMessageOutput{}, nil
}

// ChangeMessageVisibility fails the test.
func (d *DeadLetters) ChangeMessageVisibility(_ context.Context, in *sqs.ChangeMessageVisibilityInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error) {
	d.t.Errorf("a message is hidden for %d s: its receipt handle is %q", in.VisibilityTimeout, aws.ToString(in.ReceiptHandle))
	return &sqs.ChangeMessageVisibilityOutput{}, nil
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
