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

// letter is a message with its envelopes off.
type letter struct {
	events.SQSMessage                            // its Body and MessageAttributes are those of the innermost
	sent              time.Time                  // the earliest of what message and envelopes say
	keys              []string                   // every key attribute on the way, the outermost first
	fields            map[string]json.RawMessage // of the innermost body; nil if it is no JSON object
	unusable          error                      // of the first key or time attribute that cannot be read
}

// open takes the envelopes off a message. Each is read strictly before it counts:
// one that decoders understand differently is not opened.
func open(m events.SQSMessage) (letter, error) {
	l := letter{SQSMessage: m}
	l.sent = sentTimestamp(m)
	l.look(m.MessageAttributes)
	for range maxEnvelopes + 1 {
		l.fields = object(l.Body)
		var err error
		var inner envelope
		switch {
		case isSNS(l.fields):
			inner, err = openSNS(l.fields)
		case isEventBridge(l.fields):
			inner, err = openEventBridge(l.fields)
		default:
			return l, nil
		}
		if err != nil {
			return l, err
		}
		if _, err := intent.Canonical([]byte(l.Body)); err != nil {
			return l, err
		}
		l.look(inner.attributes)
		l.sent = earlier(l.sent, inner.sent)
		l.Body = inner.body
		l.MessageAttributes = maps.Clone(l.MessageAttributes)
		if l.MessageAttributes == nil {
			l.MessageAttributes = map[string]events.SQSMessageAttribute{}
		}
		maps.Copy(l.MessageAttributes, inner.attributes)
	}
	return l, &intent.PayloadError{Reason: fmt.Sprintf("is in more than %d envelopes", maxEnvelopes)}
}

// look reads the attributes that are ours.
func (l *letter) look(attributes map[string]events.SQSMessageAttribute) {
	key, present, err := keyAttribute(attributes)
	if present {
		l.keys = append(l.keys, key)
	}
	sent, unreadable := timeAttribute(attributes)
	l.sent = earlier(l.sent, sent)
	l.unusable = cmp.Or(l.unusable, err, unreadable)
}

// earlier is the earlier of two times, of which the zero one is not known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// object is the top level of a JSON object, nil if the text is none.
func object(text string) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &fields) != nil {
		return nil
	}
	return fields
}

// envelope is what was in one.
type envelope struct {
	body       string
	attributes map[string]events.SQSMessageAttribute
	sent       time.Time
}

func has(fields map[string]json.RawMessage, names ...string) bool {
	for _, name := range names {
		if fields[name] == nil {
			return false
		}
	}
	return true
}

// isSNS tells a notification as SNS delivers it to a queue without raw message
// delivery (Amazon SNS developer guide, "Parsing message formats").
func isSNS(fields map[string]json.RawMessage) bool {
	return string(fields["Type"]) == `"Notification"` && has(fields, "MessageId", "TopicArn", "Message", "Timestamp")
}

func openSNS(fields map[string]json.RawMessage) (e envelope, err error) {
	if err := field(fields, "Message", &e.body); err != nil {
		return e, err
	}
	if e.sent, err = moment(fields, "Timestamp"); err != nil {
		return e, err
	}
	var attributes map[string]struct{ Type, Value string }
	if raw := fields["MessageAttributes"]; raw != nil {
		if err := field(fields, "MessageAttributes", &attributes); err != nil {
			return e, err
		}
	}
	e.attributes = map[string]events.SQSMessageAttribute{}
	for name, a := range attributes {
		attribute := events.SQSMessageAttribute{DataType: a.Type, StringValue: &a.Value}
		if strings.HasPrefix(a.Type, "Binary") {
			attribute.StringValue = nil
			if attribute.BinaryValue, err = base64.StdEncoding.DecodeString(a.Value); err != nil {
				return e, &intent.PayloadError{Field: fmt.Sprintf("MessageAttributes.%.64s", name), Reason: "is not base64"}
			}
		}
		e.attributes[name] = attribute
	}
	return e, nil
}

// isEventBridge tells an event as EventBridge delivers it (Amazon EventBridge user
// guide, "Event structure").
func isEventBridge(fields map[string]json.RawMessage) bool {
	return has(fields, "version", "id", "detail-type", "source", "account", "time", "region", "detail")
}

// openEventBridge counts the event's time, too: an archive replays events with the
// time that they had.
func openEventBridge(fields map[string]json.RawMessage) (e envelope, err error) {
	e.body = string(fields["detail"])
	e.sent, err = moment(fields, "time")
	return e, err
}

// moment is when an envelope was written. A null or a moment before 1970 is none:
// taken for one, an old intent would be young, or have a time that nobody reads.
func moment(fields map[string]json.RawMessage, name string) (at time.Time, err error) {
	if err := field(fields, name, &at); err != nil || at.UnixMilli() > 0 {
		return at, err
	}
	return at, misfit(name)
}

// field decodes one of an envelope's; the error names it and does not quote it.
func field(fields map[string]json.RawMessage, name string, to any) error {
	if json.Unmarshal(fields[name], to) != nil {
		return misfit(name)
	}
	return nil
}

func misfit(name string) error {
	return &intent.PayloadError{Field: name, Reason: "of the envelope is not what its sender writes there"}
}
