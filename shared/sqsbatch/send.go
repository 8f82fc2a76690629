package sqsbatch

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/singleeffect/once/shared/intent"
)

// TimeAttribute is the message attribute that carries when the intent was made, in
// whole milliseconds since 1970: drawn once with the key and kept by every resend,
// where SQS counts from the send.
const TimeAttribute = "Intent-Time"

// Message is what a producer sends. All of it is the same in every retry.
type Message struct {
	Key   intent.Key
	Time  time.Time // when the intent was made
	Group string    // of a FIFO queue: what must keep its order, such as an account
	Body  []byte    // JSON
}

// Input is the call that sends the message to the queue. It carries the group, by which
// a FIFO queue keeps order and a standard one shares its receivers fairly, and on a FIFO
// queue the key's deduplication id. What the handler would not take is an
// *intent.KeyError or an *intent.PayloadError.
func (m Message) Input(queueURL string) (*sqs.SendMessageInput, error) {
	if err := m.Key.Validate(); err != nil {
		return nil, err
	}
	if m.Time.IsZero() {
		return nil, &intent.KeyError{Field: "time", Reason: "is missing"}
	}
	if _, err := intent.FromMillis(m.Time.UnixMilli()); err != nil {
		return nil, &intent.KeyError{Field: "time", Reason: err.Error()}
	}
	if err := m.checkBody(); err != nil {
		return nil, err
	}
	value := func(kind, text string) types.MessageAttributeValue {
		return types.MessageAttributeValue{DataType: &kind, StringValue: &text}
	}
	input := &sqs.SendMessageInput{
		QueueUrl:    &queueURL,
		MessageBody: aws.String(string(m.Body)),
		MessageAttributes: map[string]types.MessageAttributeValue{
			KeyAttribute:  value("String", m.Key.ID),
			TimeAttribute: value("Number", strconv.FormatInt(m.Time.UnixMilli(), 10)),
		},
	}
	if m.Group != "" {
		input.MessageGroupId = &m.Group
	}
	if strings.HasSuffix(queueURL, fifoSuffix) {
		if m.Group == "" {
			return nil, &intent.KeyError{Field: "group", Reason: "is missing, and " + queueURL + " is a FIFO queue"}
		}
		input.MessageDeduplicationId = aws.String(m.Key.DeduplicationID())
	}
	return input, nil
}

// checkBody refuses what would end in quarantine: a body that is no JSON object, or one
// that names another key than the message, also inside an envelope.
func (m Message) checkBody() error {
	l, err := open(events.SQSMessage{Body: string(m.Body), MessageAttributes: map[string]events.SQSMessageAttribute{KeyAttribute: stringAttribute(m.Key.ID)}})
	if err != nil {
		return err
	}
	if !l.payload.IsObject() {
		return &intent.PayloadError{Reason: "is no JSON object"}
	}
	var conflict *keyConflict
	if _, err = l.key(); errors.As(err, &conflict) {
		return &intent.KeyError{Field: "body field " + KeyField, Reason: "is another key than the message's"}
	}
	return err
}

// timeAttribute reads TimeAttribute; the zero time where there is none. One that
// cannot be read is an error: taken for none, an old intent would be young.
func timeAttribute(attributes map[string]events.SQSMessageAttribute) (time.Time, error) {
	a, present := attributes[TimeAttribute]
	if !present {
		return time.Time{}, nil
	}
	ms, err := strconv.ParseInt(aws.ToString(a.StringValue), 10, 64)
	if err != nil {
		return time.Time{}, &intent.KeyError{Field: "attribute " + TimeAttribute, Reason: "is no whole number of milliseconds since 1970"}
	}
	at, err := intent.FromMillis(ms)
	if err != nil {
		return time.Time{}, &intent.KeyError{Field: "attribute " + TimeAttribute, Reason: err.Error()}
	}
	return at, nil
}

// sentTimestamp is when SQS took the message, which a redrive resets. It is zero where
// SQS does not say so.
func sentTimestamp(m events.SQSMessage) time.Time {
	ms, err := strconv.ParseInt(m.Attributes["SentTimestamp"], 10, 64)
	if err != nil {
		return time.Time{}
	}
	at, err := intent.FromMillis(ms)
	if err != nil {
		return time.Time{}
	}
	return at
}
