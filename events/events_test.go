// Package events holds sample SQS events, one file a story, as Lambda hands them to the functions.
package events

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// Every sample is an event that SQS could have sent. What it does to its function is tested beside the
// function.
//
// They were sent in 2100: an intent older than what the records remember is not run, and a sample must
// not grow old.
func TestSamplesAreSQSEvents(t *testing.T) {
	names, err := filepath.Glob("*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("got samples %v and error %v", names, err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			function, _, _ := strings.Cut(name, "-")
			for i, m := range decode(t, name).Records {
				sum := md5.Sum([]byte(m.Body))
				sent, err := strconv.ParseInt(m.Attributes["SentTimestamp"], 10, 64)
				received, countErr := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
				switch {
				case m.MessageId == "" || m.ReceiptHandle == "":
					t.Errorf("record %d: message id %q, receipt handle %q", i, m.MessageId, m.ReceiptHandle)
				case m.Md5OfBody != hex.EncodeToString(sum[:]):
					t.Errorf("record %d: md5OfBody is not its body's", i)
				case m.EventSource != "aws:sqs" || m.EventSourceARN != "arn:aws:sqs:us-east-1:123456789012:once-"+function:
					t.Errorf("record %d: comes from %s %s", i, m.EventSource, m.EventSourceARN)
				case err != nil || sent < time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli():
					t.Errorf("record %d: sent at %q", i, m.Attributes["SentTimestamp"])
				case countErr != nil || received < 1:
					t.Errorf("record %d: received %q times", i, m.Attributes["ApproximateReceiveCount"])
				}
			}
		})
	}
}

// The stories of redeliveries hang together: the same message comes with its old id and a new receipt,
// one that was redriven with the same body under another id.
func TestStoriesHangTogether(t *testing.T) {
	for _, function := range []string{"charge", "adjust"} {
		first := decode(t, function+"-first-delivery.json").Records[0]
		again := decode(t, function+"-redelivery.json").Records[0]
		redriven := decode(t, function+"-redriven-with-new-message-id.json").Records[0]
		if again.MessageId != first.MessageId || again.ReceiptHandle == first.ReceiptHandle || again.Body != first.Body {
			t.Errorf("%s: the redelivery is not of the first delivery's message", function)
		}
		if redriven.MessageId == first.MessageId || redriven.Body != first.Body {
			t.Errorf("%s: the redriven message is not the first one's body under a new id", function)
		}
	}
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
