package sqsbatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

const (
	// ReasonAttribute is why a message is in quarantine: a code, and after a colon
	// the particulars.
	ReasonAttribute = "Quarantine-Reason"

	// OriginalIDAttribute is the id that a message had before its first quarantine.
	OriginalIDAttribute = "Original-Message-Id"

	// WrappedAttribute marks a message whose attributes are in its body: see wrapped.
	WrappedAttribute = "Quarantine-Wrapped"

	// maxAttributes and maxMessageBytes are SQS's own limits (Amazon SQS quotas,
	// "Message attributes" and "Message size", of which attributes are a part). The
	// messages of one SendMessageBatch share the latter.
	maxAttributes   = 10
	maxMessageBytes = 1 << 20

	// maxReasonRunes bounds the reason, so that it seldom is what makes a message
	// too large.
	maxReasonRunes = 300
)

// mayQuarantine reports whether the message has a dead-letter queue to go to. One that
// was received from there has none: each copy of it would be another message of its
// own queue, with a fresh receive count, and so on for ever.
func (b *Batch) mayQuarantine(m letter) bool {
	return b.DeadLetterURL != "" && !strings.HasSuffix(b.DeadLetterURL, queueName(m.SQSMessage))
}

// quarantine sends copies to the dead-letter queue. After a crash between this and the
// acknowledgement there are two copies there, never none. A message of which it is not
// known that its copy was sent is listed. The error is of a call that failed as a
// whole.
func (b *Batch) quarantine(ctx context.Context, orders []*copyOrder) error {
	input := &sqs.SendMessageBatchInput{QueueUrl: &b.DeadLetterURL}
	for i, o := range orders {
		o.entry.Id = aws.String(strconv.Itoa(i))
		input.Entries = append(input.Entries, o.entry)
	}
	out, err := b.Queue.SendMessageBatch(ctx, input)
	switch {
	case refusesContent(err) && len(orders) == 1:
		orders[0].end(err)
		return nil
	case refusesContent(err):
		for _, o := range orders { // one message that SQS does not take harms no other
			if err := b.quarantine(ctx, []*copyOrder{o}); err != nil {
				return err
			}
		}
		return nil
	case err != nil:
		return err
	}
	for _, e := range out.Failed {
		if i, ok := place(e.Id, orders); ok {
			orders[i].end(fmt.Errorf("SQS answered %s", aws.ToString(e.Code)))
		}
	}
	for _, e := range out.Successful {
		if i, ok := place(e.Id, orders); ok {
			orders[i].end(nil)
		}
	}
	return nil
}

// place is where an entry's id says that its order stands.
func place(id *string, orders []*copyOrder) (int, bool) {
	i, err := strconv.Atoi(aws.ToString(id))
	return i, err == nil && i >= 0 && i < len(orders)
}

// contentCodes are the errors that SQS gives for what is sent (Amazon SQS API
// reference, SendMessage and SendMessageBatch). Another call may have them, too, without
// the message at fault; after any other error it would fail as well.
var contentCodes = []string{"InvalidMessageContents", "InvalidParameterValue", "InvalidAttributeValue", "BatchRequestTooLong", "BatchEntryIdsNotDistinct", "UnsupportedOperation"}

func refusesContent(err error) bool {
	var answer smithy.APIError
	return errors.As(err, &answer) && slices.ContainsFunc(contentCodes, func(code string) bool { return strings.HasSuffix(answer.ErrorCode(), code) })
}

// copyOf is the message that goes to the dead-letter queue, but for its place in a
// call, and how many bytes it has.
func (b *Batch) copyOf(m letter, reason string) (types.SendMessageBatchRequestEntry, int, error) {
	attributes := maps.Clone(m.MessageAttributes)
	if attributes == nil {
		attributes = map[string]events.SQSMessageAttribute{}
	}
	attributes[ReasonAttribute] = stringAttribute(reason)
	if _, ok := attributes[OriginalIDAttribute]; !ok {
		attributes[OriginalIDAttribute] = stringAttribute(m.MessageId)
	}
	// Keep the earliest known time: a redrive resets SentTimestamp, and a producer's
	// clock may be fast. One that cannot be read stays as it is.
	own, err := timeAttribute(attributes)
	if err == nil && !m.sent.IsZero() && !m.sent.Equal(own) {
		attributes[TimeAttribute] = stringAttribute(strconv.FormatInt(m.sent.UnixMilli(), 10))
	}
	body := m.Body
	if len(attributes) > maxAttributes {
		var text strings.Builder
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false) // which would make it larger
		if err := encoder.Encode(wrapped{Reason: reason, Attributes: attributes, Body: body}); err != nil {
			return types.SendMessageBatchRequestEntry{}, 0, fmt.Errorf("wrap: %w", err)
		}
		body = strings.TrimSuffix(text.String(), "\n")
		attributes = map[string]events.SQSMessageAttribute{ReasonAttribute: attributes[ReasonAttribute], WrappedAttribute: stringAttribute("1")}
	}
	n := size(body, attributes)
	if n > maxMessageBytes {
		return types.SendMessageBatchRequestEntry{}, 0, fmt.Errorf("message with its reason has %d bytes, the limit is %d", n, maxMessageBytes)
	}
	entry := types.SendMessageBatchRequestEntry{MessageBody: &body, MessageAttributes: map[string]types.MessageAttributeValue{}}
	for name, a := range attributes {
		entry.MessageAttributes[name] = types.MessageAttributeValue{DataType: aws.String(a.DataType), StringValue: a.StringValue, BinaryValue: a.BinaryValue}
	}
	// A standard queue has groups, too: fair queues go by them.
	if group := m.Attributes["MessageGroupId"]; group != "" {
		entry.MessageGroupId = &group
	}
	if strings.HasSuffix(b.DeadLetterURL, fifoSuffix) {
		entry.MessageDeduplicationId = aws.String(m.MessageId)
	}
	if trace := m.Attributes["AWSTraceHeader"]; trace != "" {
		entry.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{
			string(types.MessageSystemAttributeNameForSendsAWSTraceHeader): {DataType: aws.String("String"), StringValue: &trace},
		}
	}
	return entry, n, nil
}

// wrapped is the body of a message whose attributes, with those of quarantine, are
// more than SQS takes. It is known by WrappedAttribute, whatever stands beside that:
// whoever moves a message may give it attributes of its own.
type wrapped struct {
	Reason     string                                `json:"reason"`
	Attributes map[string]events.SQSMessageAttribute `json:"attributes"`
	Body       string                                `json:"body"`
}

// unwrap gives a message that comes back from quarantine the form it had before, with
// the attributes that it was given on the way; nil for any other.
func unwrap(m events.SQSMessage) *wrapped {
	if _, ok := m.MessageAttributes[WrappedAttribute]; !ok {
		return nil
	}
	if !has(object([]byte(m.Body)), "reason", "attributes", "body") {
		return nil
	}
	var w wrapped
	if json.Unmarshal([]byte(m.Body), &w) != nil {
		return nil
	}
	for name, a := range m.MessageAttributes {
		if _, ok := w.Attributes[name]; !ok && name != WrappedAttribute && w.Attributes != nil {
			w.Attributes[name] = a
		}
	}
	return &w
}

func stringAttribute(s string) events.SQSMessageAttribute {
	return events.SQSMessageAttribute{DataType: "String", StringValue: &s}
}

// size is what SQS counts of a message.
func size(body string, attributes map[string]events.SQSMessageAttribute) int {
	n := len(body)
	for name, a := range attributes {
		n += len(name) + len(a.DataType) + len(aws.ToString(a.StringValue)) + len(a.BinaryValue)
	}
	return n
}

// printable is the reason in characters that SQS takes, and not too many of them.
func printable(reason string) string {
	reason = strings.Map(func(c rune) rune {
		if c < ' ' || c == '\ufffd' || c == '\ufffe' || c == '\uffff' {
			return '?'
		}
		return c
	}, reason)
	return fmt.Sprintf("%.*s", maxReasonRunes, reason)
}
