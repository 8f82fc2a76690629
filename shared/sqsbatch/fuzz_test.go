package sqsbatch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// FuzzHandle puts a message of any body and key attribute between two good ones
// and a copy of itself. Nothing it carries panics, harms the others or lists a
// foreign id; it runs once, as it is and under its key, or is listed.
func FuzzHandle(f *testing.F) {
	for _, body := range []string{
		``, `0`, `null`, `[]`, `{}`, `"k"`, `{"idempotency_key":"k"}`, ` { "idempotency_key" : 1.50 } `, `{"idempotency_key":-0e1}`,
		`{"idempotency_key":null}`, `{"idempotency_key":""}`, `{"idempotency_key":false}`, `{"idempotency_key":{}}`, `{"idempotency_key":[1]}`,
		`{"idempotency_key":"a","idempotency_key":"b"}`, `{"idempotency_\u006bey":"\u006b"}`, `{"idempotency_key":"\ud800"}`,
		"{\"idempotency_key\":\"\xff\"}", `{"idempotency_key":"good"}`, `{"idempotency_key":"good","amount_cents":100}`, `{"Idempotency_Key":"k"}`,
		`{"idempotency_key":"k"}{}`, "\ufeff{}", `{"a":{"idempotency_key":"k"}}`, `{"idempotency_key":"` + strings.Repeat("k", 2000) + `"}`,
		strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70),
	} {
		f.Add(body, "", false)
		f.Add(body, "k", true)
	}
	f.Add(`{}`, "", true)
	f.Add(`{}`, "\xff", true)
	files, err := filepath.Glob("../../events/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no sample events: %v", err)
	}
	for _, file := range files {
		sample, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var event events.SQSEvent
		if err := json.Unmarshal(sample, &event); err != nil {
			f.Fatalf("%s: %v", file, err)
		}
		for _, m := range event.Records {
			f.Add(m.Body, "", false)
		}
	}
	f.Fuzz(func(t *testing.T, body, attribute string, attached bool) {
		if f, err := intent.FingerprintOf([]byte(body)); err == nil && f == good(t) {
			return // it is one of the good ones
		}
		for _, arn := range []string{queueARN, fifoARN} {
			h := &hand{}
			batch, err := sqsbatch.New(sqsbatch.Config{Handler: h, Concurrency: 2, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			odd := message("odd", body)
			if attached {
				odd = carrying(odd, text(attribute))
			}
			messages := []events.SQSMessage{asking("good", "good"), odd, odd, asking("good too", "good too")}
			for i, group := range []string{"A", "B", "B", "C"} {
				messages[i].EventSourceARN = arn
				messages[i].Attributes = map[string]string{"MessageGroupId": group}
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
			defer cancel()
			answer, err := batch.Handle(ctx, events.SQSEvent{Records: messages})
			if err != nil {
				t.Fatalf("error %v", err)
			}
			key, readable := keyOf(body, attribute, attached)
			var wanted []string
			if !readable {
				wanted = []string{"odd"}
			}
			wantIDs(t, "listed", listed(t, answer, messages), wanted...)
			runs := map[string][]intent.Delivery{}
			for _, d := range h.deliveries {
				runs[d.MessageID] = append(runs[d.MessageID], d)
			}
			odds := runs["odd"]
			if len(runs["good"]) != 1 || len(runs["good too"]) != 1 {
				t.Errorf("the good ones ran %v", runs)
			}
			switch {
			case len(odds) > 1 || readable != (len(odds) == 1):
				t.Errorf("ran %d times, readable: %t", len(odds), readable)
			case readable && (odds[0].Key != key || !bytes.Equal(odds[0].Payload, []byte(body))):
				t.Errorf("ran %q with payload %q, want %q with %q", odds[0].Key, odds[0].Payload, key, body)
			}
		}
	})
}

// good is the fingerprint of the first of the good messages.
func good(t *testing.T) intent.Fingerprint {
	t.Helper()
	f, err := intent.FingerprintOf([]byte(asking("good", "good").Body))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// keyOf tells by decoded values whether a message can be read, and its key.
func keyOf(body, attribute string, attached bool) (key string, readable bool) {
	if _, err := intent.Canonical([]byte(body)); err != nil {
		return "", false
	}
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return "", false
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return "", false
	}
	field, inBody := fields[sqsbatch.KeyField]
	switch field.(type) {
	case string, json.Number, bool:
		key = fmt.Sprint(field)
	}
	switch {
	case inBody && attached:
		return key, key != "" && key == attribute
	case attached:
		return attribute, attribute != ""
	}
	return key, key != ""
}
