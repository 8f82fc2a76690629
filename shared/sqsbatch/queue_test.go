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

	"github.com/singleeffect/once/shared/intenttest"
)

// hider is the queue. It does what the test says, and keeps what it was asked. What
// it is sent it takes as SQS would, or refuses.
type hider struct {
	do     func(context.Context) error                        // a change of visibility
	accept func(context.Context, *sqs.SendMessageInput) error // before a send
	away   func(context.Context) error                        // a call that sends fails as a whole
	delay  time.Duration                                      // of a call that sends
	// refuses is the message for which a call that sends is refused as a whole.
	refuses string
	reply   func(*sqs.SendMessageInput) error // after it: the message is in the queue

	mu       sync.Mutex
	hidden   map[string]int32 // seconds, by receipt handle
	calls    int              // that hide
	sends    int              // calls that send
	sent     []*sqs.SendMessageInput
	redriven int // messages that a redrive took out
}

func (q *hider) SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	bytes := 0
	for _, e := range in.Entries {
		bytes += sizeOf(intenttest.Single(in.QueueUrl, e))
	}
	if len(in.Entries) == 0 || len(in.Entries) > 10 || bytes > 1<<20 {
		return nil, &smithy.GenericAPIError{Code: "BatchRequestTooLong", Message: fmt.Sprint(len(in.Entries), " entries of ", bytes, " bytes"), Fault: smithy.FaultClient}
	}
	q.mu.Lock()
	q.sends++
	q.mu.Unlock()
	time.Sleep(q.delay)
	if q.away != nil {
		return nil, q.away(ctx)
	}
	for _, e := range in.Entries {
		if id := aws.ToString(e.MessageAttributes["Original-Message-Id"].StringValue); id == q.refuses && id != "" {
			return nil, &smithy.GenericAPIError{Code: "InvalidMessageContents", Message: "not a character", Fault: smithy.FaultClient}
		}
	}
	out := &sqs.SendMessageBatchOutput{}
	for _, e := range in.Entries {
		if err := q.send(ctx, intenttest.Single(in.QueueUrl, e)); err != nil {
			if len(in.Entries) == 1 || ctx.Err() != nil {
				return nil, err // a call that fails, or its lost reply
			}
			out.Failed = append(out.Failed, types.BatchResultErrorEntry{Id: e.Id, Code: aws.String(err.Error()), SenderFault: true})
			continue
		}
		out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{Id: e.Id})
	}
	return out, nil
}

func (q *hider) send(ctx context.Context, in *sqs.SendMessageInput) error {
	if q.accept != nil {
		if err := q.accept(ctx, in); err != nil {
			return err
		}
	}
	if fault := faultOf(in); fault != "" {
		return &smithy.GenericAPIError{Code: "InvalidParameterValue", Message: fault}
	}
	q.mu.Lock()
	q.sent = append(q.sent, in)
	q.mu.Unlock()
	if q.reply != nil {
		if err := q.reply(in); err != nil {
			return err
		}
	}
	return nil
}

// faultOf is what SQS refuses a message for (Amazon SQS API reference, SendMessage,
// and developer guide, "Message attributes"); empty if it takes it.
func faultOf(in *sqs.SendMessageInput) string {
	fifo := strings.HasSuffix(aws.ToString(in.QueueUrl), ".fifo")
	switch {
	case aws.ToString(in.QueueUrl) == "":
		return "no queue"
	case aws.ToString(in.MessageBody) == "" || !sendable(*in.MessageBody):
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
	}
	if bytes := sizeOf(in); bytes > 1<<20 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return ""
}

// sizeOf is what SQS counts of a message.
func sizeOf(in *sqs.SendMessageInput) int {
	bytes := len(aws.ToString(in.MessageBody))
	for name, a := range in.MessageAttributes {
		bytes += len(name) + len(*a.DataType) + len(aws.ToString(a.StringValue)) + len(a.BinaryValue)
	}
	return bytes
}

// sendable: #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF.
func sendable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffe' || r == '\uffff'
	})
}

func (q *hider) ChangeMessageVisibilityBatch(ctx context.Context, in *sqs.ChangeMessageVisibilityBatchInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	if len(in.Entries) == 0 || len(in.Entries) > 10 {
		return nil, &smithy.GenericAPIError{Code: "TooManyEntriesInBatchRequest", Fault: smithy.FaultClient}
	}
	out := &sqs.ChangeMessageVisibilityBatchOutput{}
	q.mu.Lock()
	q.calls++
	if q.hidden == nil {
		q.hidden = map[string]int32{}
	}
	for _, e := range in.Entries {
		q.hidden[aws.ToString(e.ReceiptHandle)+" of "+aws.ToString(in.QueueUrl)] = e.VisibilityTimeout
		out.Successful = append(out.Successful, types.ChangeMessageVisibilityBatchResultEntry{Id: e.Id})
	}
	q.mu.Unlock()
	if q.do != nil {
		if err := q.do(ctx); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// seconds is how long a message was hidden; false if it was not.
func (q *hider) seconds(id string) (int32, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, url := range []string{queueURL, queueURL + ".fifo"} {
		if s, ok := q.hidden["receipt-"+id+" of "+url]; ok {
			return s, true
		}
	}
	return 0, false
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
