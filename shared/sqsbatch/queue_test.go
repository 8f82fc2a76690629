package sqsbatch_test

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// hider is the queue. It does what the test says, and keeps what it was asked. What
// it is sent it takes as SQS would, or refuses.
type hider struct {
	do     func(context.Context) error                        // a change of visibility
	accept func(context.Context, *sqs.SendMessageInput) error // before a send
	reply  func(*sqs.SendMessageInput) error                  // after it: the message is in the queue

	mu       sync.Mutex
	hidden   map[string]int32 // seconds, by receipt handle
	calls    int
	sent     []*sqs.SendMessageInput
	redriven int // messages that a redrive took out
}

func (q *hider) SendMessage(ctx context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if q.accept != nil {
		if err := q.accept(ctx, in); err != nil {
			return nil, err
		}
	}
	if fault := faultOf(in); fault != "" {
		return nil, &smithy.GenericAPIError{Code: "InvalidParameterValue", Message: fault}
	}
	q.mu.Lock()
	q.sent = append(q.sent, in)
	q.mu.Unlock()
	if q.reply != nil {
		if err := q.reply(in); err != nil {
			return nil, err
		}
	}
	return &sqs.SendMessageOutput{}, nil
}

// faultOf is what SQS refuses a message for (Amazon SQS API reference, SendMessage,
// and developer guide, "Message attributes"); empty if it takes it.
func faultOf(in *sqs.SendMessageInput) string {
	fifo := strings.HasSuffix(aws.ToString(in.QueueUrl), ".fifo")
	bytes := len(aws.ToString(in.MessageBody))
	switch {
	case aws.ToString(in.QueueUrl) == "":
		return "no queue"
	case bytes == 0 || !sendable(*in.MessageBody):
		return "body is empty or has characters that are not allowed"
	case len(in.MessageAttributes) > 10:
		return fmt.Sprintf("%d attributes", len(in.MessageAttributes))
	case fifo && (aws.ToString(in.MessageGroupId) == "" || aws.ToString(in.MessageDeduplicationId) == ""):
		return "no group or no deduplication id"
	case !fifo && in.MessageDeduplicationId != nil:
		return "a deduplication id on a standard queue"
	}
	for name, a := range in.MessageAttributes {
		kind, _, _ := strings.Cut(aws.ToString(a.DataType), ".")
		if a.StringListValues != nil || a.BinaryListValues != nil {
			return name + " has a list"
		}
		switch text := aws.ToString(a.StringValue); kind {
		case "String", "Number":
			if text == "" || !sendable(text) || a.BinaryValue != nil {
				return fmt.Sprintf("%s is %q", name, text)
			}
		case "Binary":
			if len(a.BinaryValue) == 0 || a.StringValue != nil {
				return name + " is not binary"
			}
		default:
			return name + " has no type"
		}
		bytes += len(name) + len(*a.DataType) + len(aws.ToString(a.StringValue)) + len(a.BinaryValue)
	}
	if bytes > 1<<20 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return ""
}

// sendable: #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF.
func sendable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffe' || r == '\uffff'
	})
}

func (q *hider) ChangeMessageVisibility(ctx context.Context, in *sqs.ChangeMessageVisibilityInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error) {
	q.mu.Lock()
	q.calls++
	if q.hidden == nil {
		q.hidden = map[string]int32{}
	}
	q.hidden[aws.ToString(in.ReceiptHandle)+" of "+aws.ToString(in.QueueUrl)] = in.VisibilityTimeout
	q.mu.Unlock()
	if q.do != nil {
		if err := q.do(ctx); err != nil {
			return nil, err
		}
	}
	return &sqs.ChangeMessageVisibilityOutput{}, nil
}

// seconds is how long a message was hidden; false if it was not.
func (q *hider) seconds(id string) (int32, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, ok := q.hidden["receipt-"+id+" of "+queueURL]
	return s, ok
}

// taken is everything that was sent and not yet redriven.
func (q *hider) taken() []*sqs.SendMessageInput {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]*sqs.SendMessageInput(nil), q.sent...)
}

// redrive empties the dead-letter queue into the one named, which delivers the
// messages under new ids and as sent now.
func (q *hider) redrive(arn string) []events.SQSMessage {
	q.mu.Lock()
	defer q.mu.Unlock()
	var messages []events.SQSMessage
	for _, in := range q.sent {
		q.redriven++
		m := sentAt(message(fmt.Sprintf("redriven %d", q.redriven), *in.MessageBody), time.Now())
		m.EventSourceARN = arn
		if in.MessageGroupId != nil {
			m.Attributes["MessageGroupId"] = *in.MessageGroupId
		}
		m.MessageAttributes = received(in.MessageAttributes)
		messages = append(messages, m)
	}
	q.sent = nil
	return messages
}

// received is the attributes as the receiver has them.
func received(sent map[string]types.MessageAttributeValue) map[string]events.SQSMessageAttribute {
	attributes := map[string]events.SQSMessageAttribute{}
	for name, a := range sent {
		attributes[name] = events.SQSMessageAttribute{DataType: *a.DataType, StringValue: a.StringValue, BinaryValue: a.BinaryValue}
	}
	return attributes
}

// sentAt is the message as SQS took it then.
func sentAt(m events.SQSMessage, at time.Time) events.SQSMessage {
	m.Attributes = maps.Clone(m.Attributes)
	m.Attributes["SentTimestamp"] = strconv.FormatInt(at.UnixMilli(), 10)
	return m
}

// with adds an attribute to those of a message.
func with(m events.SQSMessage, name string, a events.SQSMessageAttribute) events.SQSMessage {
	m.MessageAttributes = maps.Clone(m.MessageAttributes)
	if m.MessageAttributes == nil {
		m.MessageAttributes = map[string]events.SQSMessageAttribute{}
	}
	m.MessageAttributes[name] = a
	return m
}
