package sqsbatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/singleeffect/once/shared/intent"
)

const (
	// ReasonAttribute is why a message is in quarantine: a code, and after a colon
	// the particulars.
	ReasonAttribute = "Quarantine-Reason"

	// OriginalIDAttribute is the id that a message had before its first quarantine.
	OriginalIDAttribute = "Original-Message-Id"

	// maxAttributes and maxMessageBytes are SQS's own limits (Amazon SQS quotas,
	// "Message attributes" and "Message size", of which attributes are a part).
	maxAttributes   = 10
	maxMessageBytes = 1 << 20

	// maxReasonRunes bounds the reason, so that it seldom is what makes a message
	// too large.
	maxReasonRunes = 300
)

// The codes of ReasonAttribute.
const (
	reasonUnreadable    = "unreadable"     // the body, or an envelope around it
	reasonNoKey         = "no_key"         // none, or a null or empty one
	reasonBadKey        = "bad_key"        // one that cannot be a key, or an unreadable Intent-Time
	reasonConflict      = "conflict"       // another payload under the key, or two keys
	reasonInDoubt       = "in_doubt"       // it may have happened, and no probe is left
	reasonOutsideWindow = "outside_window" // older than what the records remember
	reasonUnprocessable = "unprocessable"  // the effect says so
)

// poison is the reason for which no further delivery of a message can end better;
// false for what may.
func (f fate) poison() (reason string, ok bool) {
	var payload *intent.PayloadError
	var key *intent.KeyError
	code := ""
	switch err := f.err; {
	case err == nil && f.outcome.Kind == intent.Conflict:
		return reasonConflict + ": " + f.outcome.Reason, true
	case err == nil && f.outcome.Kind == intent.InDoubt && !f.mustWait():
		return reasonInDoubt + ": " + f.outcome.Reason, true
	case errors.Is(err, intent.ErrUnknown):
		return "", false
	case errors.Is(err, intent.ErrUnprocessable):
		code = reasonUnprocessable
	case errors.Is(err, intent.ErrReleased), errors.Is(err, intent.ErrNotDone):
		return "", false // whatever an effect's own error is made of
	case errors.Is(err, intent.ErrForgotten):
		code = reasonOutsideWindow
	case errors.Is(err, intent.ErrNoKey):
		code = reasonNoKey
	case errors.As(err, &key):
		code = reasonBadKey
	case errors.As(err, &payload):
		code = reasonUnreadable
	default:
		return "", false
	}
	return code + ": " + f.err.Error(), true
}

// quarantines reports whether the message has a dead-letter queue to go to. One that
// was received from there has none: each copy of it would be another message of its
// own queue, with a fresh receive count, and so on for ever.
func (b *Batch) quarantines(m events.SQSMessage) bool {
	return b.DeadLetterURL != "" && !strings.HasSuffix(b.DeadLetterURL, queueName(m))
}

// quarantine sends a message to the dead-letter queue, as it came and with the
// reason. After a crash between this and the acknowledgement there are two copies
// of it there, never none.
func (b *Batch) quarantine(ctx context.Context, m events.SQSMessage, reason string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("quarantine: %w", err) // nobody waits for the answer that would acknowledge it
	}
	ctx, cancel := intent.StoreContext(ctx)
	defer cancel()
	input, err := b.copyOf(m, printable(reason))
	if err != nil {
		return err
	}
	if _, err := b.Queue.SendMessage(ctx, input); err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	return nil
}

// copyOf is the message that goes to the dead-letter queue.
func (b *Batch) copyOf(m events.SQSMessage, reason string) (*sqs.SendMessageInput, error) {
	attributes := maps.Clone(m.MessageAttributes)
	if attributes == nil {
		attributes = map[string]events.SQSMessageAttribute{}
	}
	attributes[ReasonAttribute] = stringAttribute(reason)
	if _, ok := attributes[OriginalIDAttribute]; !ok {
		attributes[OriginalIDAttribute] = stringAttribute(m.MessageId)
	}
	// The copy is sent now, and a redrive resets that once more: without this the
	// intent would grow young. So it would by a producer whose clock is ahead.
	l, _ := open(m)
	own, err := timeAttribute(attributes)
	if sent := earlier(own, l.sent); err == nil && !sent.Equal(own) {
		attributes[TimeAttribute] = stringAttribute(strconv.FormatInt(sent.UnixMilli(), 10))
	}
	body := m.Body
	if len(attributes) > maxAttributes || size(body, attributes) > maxMessageBytes {
		var text strings.Builder
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false) // which would make it larger
		if err := encoder.Encode(wrapped{Reason: reason, Attributes: attributes, Body: body}); err != nil {
			return nil, fmt.Errorf("quarantine: wrap: %w", err)
		}
		body, attributes = strings.TrimSuffix(text.String(), "\n"), map[string]events.SQSMessageAttribute{ReasonAttribute: attributes[ReasonAttribute]}
	}
	if n := size(body, attributes); n > maxMessageBytes {
		return nil, fmt.Errorf("quarantine: message with its reason has %d bytes, the limit is %d", n, maxMessageBytes)
	}
	input := &sqs.SendMessageInput{QueueUrl: &b.DeadLetterURL, MessageBody: &body, MessageAttributes: map[string]types.MessageAttributeValue{}}
	for name, a := range attributes {
		input.MessageAttributes[name] = types.MessageAttributeValue{DataType: aws.String(a.DataType), StringValue: a.StringValue, BinaryValue: a.BinaryValue}
	}
	if strings.HasSuffix(b.DeadLetterURL, fifoSuffix) {
		input.MessageGroupId = aws.String(m.Attributes["MessageGroupId"])
		input.MessageDeduplicationId = &m.MessageId
	}
	return input, nil
}

// wrapped is the body of a message whose attributes, with those of quarantine, are
// more than SQS takes. It is known by ReasonAttribute, which stands alone there and
// nowhere else, and opened like an envelope.
type wrapped struct {
	Reason     string                                `json:"reason"`
	Attributes map[string]events.SQSMessageAttribute `json:"attributes"`
	Body       string                                `json:"body"`
}

// unwrap gives a message that comes back from quarantine the form it had before.
func unwrap(m events.SQSMessage) events.SQSMessage {
	if _, ok := m.MessageAttributes[ReasonAttribute]; !ok || len(m.MessageAttributes) > 1 {
		return m
	}
	fields := object(m.Body)
	if len(fields) != 3 || !has(fields, "reason", "attributes", "body") {
		return m
	}
	var w wrapped
	if json.Unmarshal([]byte(m.Body), &w) != nil {
		return m
	}
	m.Body, m.MessageAttributes = w.Body, w.Attributes
	return m
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
