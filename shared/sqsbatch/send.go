package sqsbatch

import (
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

// Input is the call that sends the message to the queue. On a FIFO queue it
// carries the group and the key's deduplication id. It returns a *intent.KeyError
// for what the handler would not take.
func (m Message) Input(queueURL string) (*sqs.SendMessageInput, error) {
	if err := m.Key.Validate(); err != nil {
		return nil, err
	}
	if m.Time.UnixMilli() < 1 {
		return nil, &intent.KeyError{Field: "time", Reason: "is missing or before 1970"}
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
	if strings.HasSuffix(queueURL, fifoSuffix) {
		if m.Group == "" {
			return nil, &intent.KeyError{Field: "group", Reason: "is missing, and " + queueURL + " is a FIFO queue"}
		}
		input.MessageGroupId, input.MessageDeduplicationId = &m.Group, aws.String(m.Key.DeduplicationID())
	}
	return input, nil
}

// timeAttribute reads TimeAttribute; the zero time where there is none. One that
// cannot be read is an error: taken for none, an old intent would be young.
func timeAttribute(attributes map[string]events.SQSMessageAttribute) (time.Time, error) {
	a, present := attributes[TimeAttribute]
	if !present {
		return time.Time{}, nil
	}
	ms, err := strconv.ParseInt(aws.ToString(a.StringValue), 10, 64)
	if err != nil || ms < 1 {
		return time.Time{}, &intent.KeyError{Field: "attribute " + TimeAttribute, Reason: "is no whole number of milliseconds since 1970"}
	}
	return time.UnixMilli(ms), nil
}

// sentTimestamp is when SQS took the message; a redrive resets it.
func sentTimestamp(m events.SQSMessage) time.Time {
	ms, err := strconv.ParseInt(m.Attributes["SentTimestamp"], 10, 64)
	if err != nil || ms < 1 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
