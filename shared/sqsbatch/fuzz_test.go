package sqsbatch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// FuzzHandle puts a message of any body, envelope and key attribute between two good
// ones and a copy of itself. Nothing it carries panics, harms the others or lists a
// foreign id; it runs once, as it is and under its key, or is in quarantine or listed.
func FuzzHandle(f *testing.F) {
	for _, body := range []string{
		``, `0`, `null`, `[]`, `{}`, `"k"`, `{"idempotency_key":"k"}`, ` { "idempotency_key" : 1.50 } `, `{"idempotency_key":-0e1}`,
		`{"idempotency_key":null}`, `{"idempotency_key":""}`, `{"idempotency_key":false}`, `{"idempotency_key":{}}`, `{"idempotency_key":[1]}`,
		`{"idempotency_key":"a","idempotency_key":"b"}`, `{"idempotency_\u006bey":"\u006b"}`, `{"idempotency_key":"\ud800"}`,
		"{\"idempotency_key\":\"\xff\"}", `{"idempotency_key":"good"}`, `{"idempotency_key":"good","amount_cents":100}`, `{"Idempotency_Key":"k"}`,
		`{"idempotency_key":"k"}{}`, "\ufeff{}", `{"a":{"idempotency_key":"k"}}`, `{"idempotency_key":"` + strings.Repeat("k", 2000) + `"}`,
		strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70),
		`{"reason":"r","attributes":{},"body":"{}"}`, snsAt(noon, fielded, keyed), eventAt(noon, fielded), snsAt(noon, eventAt(noon, fielded), nil),
		snsAt("", fielded, keyed), snsAt(noon, fielded, snsAttributes{"Idempotency-Key": {"Binary", "?"}}), eventAt("1969-01-01T00:00:00Z", fielded),
		strings.Replace(snsAt(noon, fielded, keyed), `"Notification"`, `"Notif\u0069cation"`, 1), strings.Replace(eventAt(noon, fielded), `{`, `{"detail":1,`, 1),
		strings.Replace(snsAt(noon, fielded, keyed), `"Type":"String","Value"`, `"type":null,"value"`, 1),
	} {
		f.Add(body, "k", true, uint8(0))
		for way := range uint8(len(ways)) {
			if way == 0 || len(body) < 1000 {
				f.Add(body, "", false, way)
			}
		}
	}
	f.Add(`{}`, "", true, uint8(0))
	f.Add(`{}`, "\xff", true, uint8(0))
	for _, event := range samples(f) {
		for _, m := range event.Records {
			f.Add(m.Body, "", false, uint8(0))
		}
	}
	f.Fuzz(func(t *testing.T, body, attribute string, attached bool, way uint8) {
		odd := message("odd", ways[int(way)%len(ways)](body))
		if attached {
			odd = carrying(odd, text(attribute))
		}
		wanted := deliveryOf(odd.Body, attribute, attached)
		if wanted != nil && wanted.Key == "good" && wanted.Fingerprint == good(t) {
			return // it is one of the good ones
		}
		for _, arn := range []string{queueARN, fifoARN} {
			ran := between(t, odd, arn, wanted != nil)
			switch {
			case (wanted != nil) != (len(ran) == 1):
				t.Errorf("ran %d times, wanted: %+v", len(ran), wanted)
			case wanted != nil && (ran[0].Key != wanted.Key || !bytes.Equal(ran[0].Payload.Canonical(), wanted.Payload.Canonical()) || ran[0].Fingerprint != wanted.Fingerprint):
				t.Errorf("ran %+v, want %+v", ran[0], wanted)
			}
		}
		comesBack(t, odd, wanted)
	})
}

// samples are the events of the repository's events folder.
func samples(f *testing.F) (all []events.SQSEvent) {
	f.Helper()
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
		all = append(all, event)
	}
	return all
}

// ways are the envelopes that a body may be in.
var ways = []func(body string) string{
	func(body string) string { return body },
	func(body string) string { return snsAt(noon, body, nil) },
	func(body string) string { return snsAt(noon, body, keyed) },
	func(body string) string { return eventAt(noon, body) },
	func(body string) string { return snsAt(noon, eventAt(noon, body), keyed) },
	func(body string) string { return snsAt(noon, snsAt(noon, snsAt(noon, body, nil), nil), nil) },
}

// between runs the message twice between good ones, which must be done; it must be
// done or listed itself. It returns what ran of it.
func between(t *testing.T, odd events.SQSMessage, arn string, done bool) (ran []intent.Delivery) {
	t.Helper()
	h := &hand{}
	batch, err := sqsbatch.New(sqsbatch.Config{Handler: h, Concurrency: 2, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	messages := []events.SQSMessage{asking("good", "good"), odd, odd, asking("good too", "good too")}
	for i, group := range []string{"A", "B", "B", "C"} {
		messages[i].EventSourceARN = arn
		messages[i].Attributes = map[string]string{"MessageGroupId": group}
	}
	answer := handled(t, batch, messages)
	var wanted []string
	if !done {
		wanted = []string{"odd"}
	}
	wantIDs(t, "listed", listed(t, answer, messages), wanted...)
	runs := map[string][]intent.Delivery{}
	for _, d := range h.deliveries {
		runs[d.MessageID] = append(runs[d.MessageID], d)
	}
	if len(runs["good"]) != 1 || len(runs["good too"]) != 1 {
		t.Errorf("the good ones ran %v", runs)
	}
	return runs["odd"]
}

// comesBack sends the message to quarantine, for what it is or since it is in doubt. It
// is there or listed, never both and never neither; redriven it is what it was.
func comesBack(t *testing.T, odd events.SQSMessage, wanted *intent.Delivery) {
	t.Helper()
	h, queue := &hand{do: always(intent.Outcome{Kind: intent.InDoubt}, nil)}, &hider{}
	batch, err := sqsbatch.New(sqsbatch.Config{Handler: h, Queue: queue, QueueURL: queueURL, DeadLetterURL: deadLetterURL, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	reason := ""
	for m := range 3 {
		kept := listed(t, handled(t, batch, []events.SQSMessage{odd}), []events.SQSMessage{odd})
		sent := queue.taken()
		if len(kept)+len(sent) != 1 {
			t.Fatalf("listed %v, and %d in quarantine", kept, len(sent))
		}
		if len(sent) == 0 {
			return // SQS does not take it, and had not delivered it
		}
		if m > 0 && reasonOf(sent[0]) != reason {
			t.Errorf("in quarantine for %q, and then for %q", reason, reasonOf(sent[0]))
		}
		reason = reasonOf(sent[0])
		odd = queue.redrive(queueARN)[0]
	}
	if wanted == nil {
		if len(h.deliveries) != 0 {
			t.Errorf("ran %+v", h.deliveries)
		}
		return
	}
	for _, d := range h.deliveries {
		if d.Key != wanted.Key || !bytes.Equal(d.Payload.Canonical(), wanted.Payload.Canonical()) || d.Fingerprint != wanted.Fingerprint {
			t.Errorf("ran %+v, want %+v", d, wanted)
		}
	}
}

// handled is the answer to an invocation.
func handled(t *testing.T, batch *sqsbatch.Batch, messages []events.SQSMessage) events.SQSEventResponse {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	answer, err := batch.Handle(ctx, events.SQSEvent{Records: messages})
	if err != nil {
		t.Fatalf("error %v", err)
	}
	return answer
}

// good is the fingerprint of the first of the good messages.
func good(t *testing.T) intent.Fingerprint {
	t.Helper()
	return intenttest.Payload(t, asking("good", "good").Body).Fingerprint()
}
