package sqsbatch_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// FuzzMessageKey gives a message a key in the attribute, the body and the handler's own
// function, each there or not and of any form, and tells by decoded values under which
// key it is to run, or why not. It goes the whole way to the record.
func FuzzMessageKey(f *testing.F) {
	fields := []string{
		``, `"k"`, `"1"`, `1`, `1.0`, `0`, `-0`, `false`, `true`, `null`, `""`, `{}`, `["k"]`, `"\u006b"`, `9007199254740993`, `"false"`, `"a#b%"`, `1e400`,
		`"` + strings.Repeat("k", 1012) + `"`, `"` + strings.Repeat("k", 1013) + `"`, `"` + strings.Repeat("#", 338) + `"`, `"` + strings.Repeat("é", 507) + `"`,
	}
	for _, field := range fields {
		for attribute := range uint8(5) {
			f.Add(field, attribute, "k", "own")
		}
		f.Add(field, uint8(1), "1", "")
		f.Add(field, uint8(1), "", "")
	}
	f.Add(``, uint8(1), "\xff", "own")
	f.Add(``, uint8(0), "", "\xff")
	f.Fuzz(func(t *testing.T, field string, attribute uint8, value, own string) {
		body := `{}`
		if field != "" {
			body = `{"idempotency_key":` + field + `}`
		}
		m := message("1", body)
		switch attribute % 5 {
		case 1:
			m = carrying(m, text(value))
		case 2:
			m = carrying(m, events.SQSMessageAttribute{DataType: "Number", StringValue: &value})
		case 3:
			m = carrying(m, events.SQSMessageAttribute{DataType: "Binary", BinaryValue: []byte(value)})
		case 4:
			m = carrying(m, events.SQSMessageAttribute{DataType: "String"})
		}
		key, fault := keyOf(m, own)
		got, reason := ranUnder(t, m, own)
		if got != key || !strings.HasPrefix(reason, fault) || (fault == "") != (reason == "") {
			t.Errorf("ran under %q, or quarantined for %q; want %q, or %q", got, reason, key, fault)
		}
		// A number and its text name one intent.
		if number := json.Number(strings.TrimSpace(field)); fault == "" && json.Valid([]byte(field)) && strings.Trim(string(number), "-0123456789.eE+") == "" {
			m.Body = `{"idempotency_key":"` + string(number) + `"}`
			if same, reason := ranUnder(t, m, own); same != key {
				t.Errorf("%s ran under %q, and its text under %q (%s)", number, key, same, reason)
			}
		}
	})
}

// keyOf is the key that a message is to run under, or the code for which it is
// quarantined.
func keyOf(m events.SQSMessage, own string) (key, fault string) {
	fields := decoded(m.Body)
	if fields == nil {
		return "", "unreadable"
	}
	var keys []string
	if a, attached := m.MessageAttributes["Idempotency-Key"]; attached {
		switch {
		case len(a.BinaryValue) > 0:
			return "", "bad_key"
		case a.StringValue == nil || *a.StringValue == "":
			return "", "no_key"
		}
		keys = append(keys, *a.StringValue)
	}
	switch field := fields["idempotency_key"].(type) {
	case string:
		keys = append(keys, field)
	case json.Number:
		keys = append(keys, field.String())
	case bool:
		keys = append(keys, map[bool]string{true: "true", false: "false"}[field])
	case nil:
		if _, there := fields["idempotency_key"]; there {
			keys = append(keys, "")
		}
	default:
		return "", "bad_key"
	}
	if len(keys) == 0 {
		keys = append(keys, own)
	}
	escaped := strings.Count(keys[0], "#") + strings.Count(keys[0], "%")
	switch {
	case keys[len(keys)-1] == "":
		return "", "no_key"
	case keys[0] != keys[len(keys)-1]:
		return "", "conflict"
	case !utf8.ValidString(keys[0]), len("shop#charge#")+len(keys[0])+2*escaped > 1024:
		return "", "bad_key"
	}
	return keys[0], ""
}

// ranUnder runs one message: the key that its effect was given, or why it is to be
// quarantined.
func ranUnder(t *testing.T, m events.SQSMessage, own string) (key, reason string) {
	t.Helper()
	ran := 0
	batch, err := sqsbatch.New(sqsbatch.Config{
		Handler: &intent.Keyed[json.RawMessage]{Config: shop(&memory{}), Window: 24 * time.Hour, Effect: func(_ context.Context, _ json.RawMessage, a intent.Attempt) (any, error) {
			key = a.Key.ID
			ran++
			return nil, nil
		}},
		// Looked at before SQS refuses what it cannot have delivered, such as an empty attribute.
		Queue: &hider{accept: func(_ context.Context, in *sqs.SendMessageInput) error {
			reason = reasonOf(in)
			return nil
		}},
		QueueURL: queueURL, DeadLetterURL: deadLetterURL, Log: slog.New(slog.DiscardHandler),
		Key: func(events.SQSMessage) (string, error) { return own, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	kept := listed(t, handled(t, batch, []events.SQSMessage{m}), []events.SQSMessage{m})
	if ran > 1 || ran == 1 && len(kept) > 0 || ran == 0 && reason == "" {
		t.Errorf("ran %d times, listed %v, quarantined for %q", ran, kept, reason)
	}
	return key, reason
}
