package sqsbatch

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
)

// maxEnvelopes bounds what is opened: an event may come through EventBridge and then
// SNS.
const maxEnvelopes = 2

// letter is a message that has been read.
type letter struct {
	events.SQSMessage                   // as it came, but out of quarantine's own wrapping
	place             int               // in the event
	opened            events.SQSMessage // the same with the body and attributes of the innermost envelope
	payload           intent.Payload    // of the innermost body
	sent              time.Time         // the earliest time that message and envelopes tell; zero: none is known
	keys              []string          // every key attribute on the way, the outermost first
	unusable          error             // of the first key or time attribute that cannot be read
}

// open takes the envelopes off a message, and reads each body once. Each is read
// strictly before it counts: one that decoders understand differently is not opened.
func open(m events.SQSMessage) (letter, error) {
	l := letter{sent: sentTimestamp(m)}
	l.readAttributes(m.MessageAttributes)
	if w := unwrap(m); w != nil {
		m.Body, m.MessageAttributes = w.Body, w.Attributes
		l.readAttributes(m.MessageAttributes)
	}
	l.SQSMessage, l.opened = m, m
	for range maxEnvelopes + 1 {
		var err error
		if l.payload, err = intent.ParsePayload([]byte(l.opened.Body)); err != nil {
			return l, err
		}
		var inner envelope
		switch {
		case isSNS(l.payload):
			inner, err = openSNS(l.payload)
		case isEventBridge(l.payload):
			inner, err = openEventBridge(l.payload)
		default:
			return l, nil
		}
		if err != nil {
			return l, err
		}
		l.readAttributes(inner.attributes)
		l.sent = earlier(l.sent, inner.sent)
		l.opened.Body = inner.body
		l.opened.MessageAttributes = maps.Clone(l.opened.MessageAttributes)
		if l.opened.MessageAttributes == nil {
			l.opened.MessageAttributes = map[string]events.SQSMessageAttribute{}
		}
		maps.Copy(l.opened.MessageAttributes, inner.attributes)
	}
	return l, &intent.PayloadError{Reason: fmt.Sprintf("is in more than %d envelopes", maxEnvelopes)}
}

// readAttributes reads the attributes that are ours.
func (l *letter) readAttributes(attributes map[string]events.SQSMessageAttribute) {
	key, present, err := keyAttribute(attributes)
	if present {
		l.keys = append(l.keys, key)
	}
	sent, unreadable := timeAttribute(attributes)
	l.sent = earlier(l.sent, sent)
	l.unusable = cmp.Or(l.unusable, err, unreadable)
}

// earlier is the earlier of two times, of which the zero one is not known. So a
// producer whose clock is fast makes no intent younger than SQS knows it to be.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// envelope is what was in one.
type envelope struct {
	body       string
	attributes map[string]events.SQSMessageAttribute
	sent       time.Time
}

// hasFields reports an object with all these fields.
func hasFields(p intent.Payload, names ...string) bool {
	for _, name := range names {
		if p.Field(name) == nil {
			return false
		}
	}
	return true
}

// isSNS tells a notification as SNS delivers it to a queue without raw message
// delivery (Amazon SNS developer guide, "Parsing message formats").
func isSNS(p intent.Payload) bool {
	return string(p.Field("Type")) == `"Notification"` && hasFields(p, "MessageId", "TopicArn", "Message", "Timestamp")
}

func openSNS(p intent.Payload) (e envelope, err error) {
	if err := decodeField(p, "Message", &e.body); err != nil {
		return e, err
	}
	if e.sent, err = timestamp(p, "Timestamp"); err != nil {
		return e, err
	}
	var attributes map[string]struct{ Type, Value string }
	if p.Field("MessageAttributes") != nil {
		if err := decodeField(p, "MessageAttributes", &attributes); err != nil {
			return e, err
		}
	}
	e.attributes = map[string]events.SQSMessageAttribute{}
	for name, a := range attributes {
		attribute := events.SQSMessageAttribute{DataType: a.Type, StringValue: &a.Value}
		if strings.HasPrefix(a.Type, "Binary") {
			attribute.StringValue = nil
			if attribute.BinaryValue, err = base64.StdEncoding.DecodeString(a.Value); err != nil {
				return e, &intent.PayloadError{Field: "MessageAttributes", Reason: "of the envelope have a binary one that is not base64"}
			}
		}
		e.attributes[name] = attribute
	}
	return e, nil
}

// isEventBridge tells an event as EventBridge delivers it (Amazon EventBridge user
// guide, "Event structure").
func isEventBridge(p intent.Payload) bool {
	return hasFields(p, "version", "id", "detail-type", "source", "account", "time", "region", "detail")
}

// openEventBridge counts the event's time, too: an archive replays events with the
// time that they had.
func openEventBridge(p intent.Payload) (e envelope, err error) {
	e.body = string(p.Field("detail"))
	e.sent, err = timestamp(p, "time")
	return e, err
}

// timestamp is when an envelope was written. Null and times out of bounds are rejected:
// accepting them would make an old intent look new.
func timestamp(p intent.Payload, name string) (at time.Time, err error) {
	if err := decodeField(p, name, &at); err != nil {
		return at, err
	}
	if _, err := intent.FromMillis(at.UnixMilli()); err != nil {
		return time.Time{}, fieldError(name)
	}
	return at, nil
}

// decodeField decodes one of an envelope's; the error names it and does not quote it.
func decodeField(p intent.Payload, name string, to any) error {
	if json.Unmarshal(p.Field(name), to) != nil {
		return fieldError(name)
	}
	return nil
}

func fieldError(name string) error {
	return &intent.PayloadError{Field: name, Reason: "of the envelope is not what its sender writes there"}
}
