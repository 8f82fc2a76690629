// Package events holds sample SQS events, one file a story, as Lambda hands them to the functions.
package events

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
)

// functions are those that the samples are for, and the queue of each in a stack named once.
var functions = map[string]string{
	"charge":    "once-charge",
	"adjust":    "once-adjust.fifo",
	"ship":      "once-ship",
	"clearcart": "once-clearcart",
	"welcome":   "once-welcome",
}

// in2100 is when the samples were sent: an intent older than what the records remember is not run, and a
// sample must not grow old.
var in2100 = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// Every sample is an event that SQS could have sent. What it does to its function is tested beside the
// function.
func TestSamplesAreSQSEvents(t *testing.T) {
	names, err := filepath.Glob("*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("got samples %v and error %v", names, err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			function, _, _ := strings.Cut(name, "-")
			queue, ok := functions[function]
			if !ok {
				t.Fatalf("no function %q is known", function)
			}
			ids, handles := map[string]bool{}, map[string]bool{}
			for i, m := range decode(t, name).Records {
				sum := md5.Sum([]byte(m.Body))
				sent, err := strconv.ParseInt(m.Attributes["SentTimestamp"], 10, 64)
				first, firstErr := strconv.ParseInt(m.Attributes["ApproximateFirstReceiveTimestamp"], 10, 64)
				received, countErr := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
				switch {
				case m.MessageId == "" || m.ReceiptHandle == "" || ids[m.MessageId] || handles[m.ReceiptHandle]:
					t.Errorf("record %d: message id %q, receipt handle %q", i, m.MessageId, m.ReceiptHandle)
				case m.Md5OfBody != hex.EncodeToString(sum[:]):
					t.Errorf("record %d: md5OfBody is not its body's", i)
				case m.EventSource != "aws:sqs" || m.EventSourceARN != "arn:aws:sqs:us-east-1:123456789012:"+queue:
					t.Errorf("record %d: comes from %s %s", i, m.EventSource, m.EventSourceARN)
				case err != nil || sent < in2100.UnixMilli():
					t.Errorf("record %d: sent at %q", i, m.Attributes["SentTimestamp"])
				case firstErr != nil || first < sent:
					t.Errorf("record %d: sent at %d, first received at %q", i, sent, m.Attributes["ApproximateFirstReceiveTimestamp"])
				case countErr != nil || received < 1:
					t.Errorf("record %d: received %q times", i, m.Attributes["ApproximateReceiveCount"])
				}
				ids[m.MessageId], handles[m.ReceiptHandle] = true, true
			}
		})
	}
}

// Messages of a FIFO queue have a group, a deduplication id and a sequence number, others none of these.
// The group is the account, so that its changes keep their order; the deduplication id is the intent's,
// but for a redriven message (C16).
func TestFIFOAttributes(t *testing.T) {
	names, err := filepath.Glob("*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			function, story, _ := strings.Cut(strings.TrimSuffix(name, ".json"), "-")
			last, lastSent := "", map[string]int64{}
			for i, m := range decode(t, name).Records {
				got := map[string]string{}
				for _, attribute := range []string{"MessageGroupId", "MessageDeduplicationId", "SequenceNumber"} {
					if value, ok := m.Attributes[attribute]; ok {
						got[attribute] = value
					}
				}
				if !strings.HasSuffix(m.EventSourceARN, ".fifo") {
					if len(got) != 0 {
						t.Errorf("record %d: got %v on a standard queue, want none", i, got)
					}
					continue
				}
				if len(got) != 3 || len(got["SequenceNumber"]) != 20 || got["SequenceNumber"] <= last {
					t.Errorf("record %d: got %v after sequence number %q, want all three, rising", i, got, last)
				}
				last = got["SequenceNumber"]
				var body struct {
					Key     string `json:"idempotency_key"`
					Account string `json:"account_id"`
				}
				if json.Unmarshal([]byte(m.Body), &body) == nil {
					if got["MessageGroupId"] != body.Account {
						t.Errorf("record %d: group %q, want the account %q", i, got["MessageGroupId"], body.Account)
					}
					key := intent.Key{Scope: "123456789012/us-east-1/once", Operation: function, ID: body.Key}
					if body.Key != "" && !strings.HasPrefix(story, "redriven") && got["MessageDeduplicationId"] != key.DeduplicationID() {
						t.Errorf("record %d: deduplication id %q, want that of %s", i, got["MessageDeduplicationId"], key)
					}
				}
				// Of two that share one, SQS would have dropped the second within five minutes.
				sent, _ := strconv.ParseInt(m.Attributes["SentTimestamp"], 10, 64)
				if before, ok := lastSent[got["MessageDeduplicationId"]]; ok && sent-before <= (5*time.Minute).Milliseconds() {
					t.Errorf("record %d: sent %d ms after one of its deduplication id, SQS would have dropped it", i, sent-before)
				}
				lastSent[got["MessageDeduplicationId"]] = sent
			}
		})
	}
}

// Every function has the stories of redelivery, and they hang together: the same message comes with its
// old id and a new receipt, one that was redriven with the same body under another id, a duplicate is
// another message with the same body.
func TestStoriesHangTogether(t *testing.T) {
	for function := range functions {
		t.Run(function, func(t *testing.T) {
			first := decode(t, function+"-first-delivery.json").Records[0]
			again := decode(t, function+"-redelivery.json").Records[0]
			redriven := decode(t, function+"-redriven-with-new-message-id.json").Records[0]
			pair := decode(t, function+"-duplicate-in-batch.json").Records
			if again.MessageId != first.MessageId || again.ReceiptHandle == first.ReceiptHandle || again.Body != first.Body {
				t.Error("the redelivery is not of the first delivery's message")
			}
			for _, attribute := range []string{"SentTimestamp", "MessageGroupId", "MessageDeduplicationId", "SequenceNumber"} {
				if again.Attributes[attribute] != first.Attributes[attribute] {
					t.Errorf("the redelivery has another %s than the first delivery", attribute)
				}
			}
			if first.Attributes["ApproximateReceiveCount"] != "1" || again.Attributes["ApproximateReceiveCount"] != "2" {
				t.Error("the first delivery is not the first, or the redelivery not the second")
			}
			if redriven.MessageId == first.MessageId || redriven.Body != first.Body || redriven.Attributes["SentTimestamp"] <= first.Attributes["SentTimestamp"] {
				t.Error("the redriven message is not the first one's body, sent anew under a new id")
			}
			// A FIFO dead-letter queue puts the message id in the deduplication id's place (C16).
			if d, ok := redriven.Attributes["MessageDeduplicationId"]; ok && d != first.MessageId {
				t.Errorf("the redriven message has deduplication id %s, want the first one's message id", d)
			}
			if len(pair) != 2 || pair[0].Body != pair[1].Body || pair[0].Body != first.Body {
				t.Error("the duplicates are not two messages of the first one's body")
			}
			if _, err := os.Stat(function + "-poison.json"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A late redelivery is the first delivery's message, and an envelope holds its body.
func TestNaturalStoriesHangTogether(t *testing.T) {
	for function, envelope := range map[string]struct {
		name string
		open func(t *testing.T, body string) (inner string, at time.Time)
	}{
		"ship":      {"eventbridge", openEventBridge},
		"clearcart": {"sns", openSNS},
	} {
		first := decode(t, function+"-first-delivery.json").Records[0]
		late := decode(t, function+"-late-redelivery.json").Records[0]
		if late.MessageId != first.MessageId || late.Body != first.Body || slices.Contains([]string{"1", "2"}, late.Attributes["ApproximateReceiveCount"]) {
			t.Errorf("%s: the late redelivery is not a third or later one of the first delivery's message", function)
		}
		wrapped := decode(t, function+"-in-"+envelope.name+"-envelope.json").Records[0]
		inner, at := envelope.open(t, wrapped.Body)
		if inner != first.Body {
			t.Errorf("%s: the envelope holds %s, want %s", function, inner, first.Body)
		}
		if sent := wrapped.Attributes["SentTimestamp"]; at.Before(in2100) || strconv.FormatInt(at.UnixMilli(), 10) > sent {
			t.Errorf("%s: the envelope is of %v, want 2100, before it was sent at %s", function, at, sent)
		}
	}
}

func openSNS(t *testing.T, body string) (string, time.Time) {
	t.Helper()
	var envelope events.SNSEntity
	if err := json.Unmarshal([]byte(body), &envelope); err != nil || envelope.Type != "Notification" || envelope.TopicArn == "" || envelope.MessageID == "" {
		t.Errorf("got SNS envelope %+v and error %v", envelope, err)
	}
	return envelope.Message, envelope.Timestamp
}

func openEventBridge(t *testing.T, body string) (string, time.Time) {
	t.Helper()
	var envelope events.EventBridgeEvent
	if err := json.Unmarshal([]byte(body), &envelope); err != nil || envelope.Version != "0" || envelope.DetailType == "" || envelope.Source == "" || envelope.ID == "" {
		t.Errorf("got EventBridge envelope %+v and error %v", envelope, err)
	}
	return string(envelope.Detail), envelope.Time
}

func decode(t *testing.T, name string) events.SQSEvent {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	var event events.SQSEvent
	if err := decoder.Decode(&event); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(event.Records) == 0 {
		t.Fatalf("%s: has no records", name)
	}
	return event
}
