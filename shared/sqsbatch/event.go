package sqsbatch

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
)

// EventError is returned for an event that SQS cannot have sent. All of it fails: with
// an empty answer Lambda would take it for done.
type EventError struct {
	Field  string
	Reason string
}

func (e *EventError) Error() string { return fmt.Sprintf("SQS event %s %s", e.Field, e.Reason) }

// Invoke makes a Batch the lambda.Handler to hand to lambda.Start. It is Handle for an
// event in JSON, and tells what an event without Records looks like.
func (b *Batch) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var event events.SQSEvent
	if err := json.Unmarshal(payload, &event); err != nil || event.Records == nil {
		return nil, &EventError{Field: "Records", Reason: "is missing or not a list of messages: the event looks like " + likeness(payload)}
	}
	answer, err := b.Handle(ctx, event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// checkEvent returns an *EventError for an event of which a message could be lost.
func checkEvent(event events.SQSEvent) error {
	if event.Records == nil {
		return &EventError{Field: "Records", Reason: "is missing: is the function wired to something else than SQS?"}
	}
	for i, m := range event.Records {
		if m.MessageId == "" { // it could not be listed, and what is not listed is deleted
			reason := "is empty"
			if m.EventSource != "" && m.EventSource != "aws:sqs" {
				reason += fmt.Sprintf(", and its eventSource is %.32q", m.EventSource)
			}
			return &EventError{Field: fmt.Sprintf("Records[%d].messageId", i), Reason: reason}
		}
	}
	return nil
}

// likeness says what an event looks like by the fields that its sender is known by. It
// quotes nothing.
func likeness(payload []byte) string {
	var list []json.RawMessage
	if json.Unmarshal(payload, &list) == nil && list != nil {
		return "a bare list, as EventBridge Pipes send it"
	}
	fields := object(payload)
	switch {
	case fields == nil:
		return "no JSON object"
	case has(fields, "detail-type", "source"):
		return "an event of EventBridge: send it to the queue"
	case has(fields, "TopicArn", "Message"):
		return "a notification of SNS: send it to the queue"
	case has(fields, "body", "messageId"):
		return "one SQS message outside of Records"
	case has(fields, "requestContext"):
		return "a request of API Gateway or of a function's URL"
	case has(fields, "Records"):
		return "an event with other Records"
	}
	return "the bare body of a message"
}

// object is the top level of a JSON object, nil if the text is none.
func object(text []byte) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return nil
	}
	return fields
}

func has(fields map[string]json.RawMessage, names ...string) bool {
	for _, name := range names {
		if fields[name] == nil {
			return false
		}
	}
	return true
}
