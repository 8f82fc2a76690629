package queue_test

import (
	"slices"
	"testing"
	"time"

	"github.com/singleeffect/once/infra/local/queue"
)

// TestPeek sees what was moved and what was sent to a dead-letter queue, and leaves both as they are.
func TestPeek(t *testing.T) {
	w := newWorld(t)
	dead := w.create("dead")
	url := w.create("q", "VisibilityTimeout", "0", "RedrivePolicy", redrive("dead", 1))
	moved := w.send(url, "moved")
	w.one(url)
	w.wantBodies(url)
	if _, err := w.SendMessage(queue.SendMessageInput{QueueURL: dead, Outgoing: queue.Outgoing{
		MessageBody: "sent", MessageAttributes: map[string]queue.Attribute{"Reason": {DataType: "String", StringValue: "conflict"}},
	}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := w.Peek(dead)
		if err != nil || !slices.Equal(bodies(got), []string{"moved", "sent"}) {
			t.Fatalf("peek = %+v, %v, want both", got, err)
		}
		for i, want := range []struct{ source, receives, reason string }{{arn + "q", "1", ""}, {"", "0", "conflict"}} {
			m := got[i]
			if m.Attributes["DeadLetterQueueSourceArn"] != want.source || m.Attributes["ApproximateReceiveCount"] != want.receives ||
				m.MessageAttributes["Reason"].StringValue != want.reason {
				t.Errorf("%s: got %+v, want %+v", m.Body, m, want)
			}
			if _, received := m.Attributes["ApproximateFirstReceiveTimestamp"]; received != (want.receives != "0") || m.ReceiptHandle != "" {
				t.Errorf("%s: got %+v, want no handle, and a time of receiving only for what was received", m.Body, m)
			}
		}
		if got[0].MessageID != moved.MessageID {
			t.Errorf("message id = %s, want %s", got[0].MessageID, moved.MessageID)
		}
	}
	w.wantCounts(dead, 2, 0, 0)
}

func TestPeekInFlight(t *testing.T) {
	w := newWorld(t)
	url := w.create("q", "MessageRetentionPeriod", "60")
	w.send(url, "a")
	m := w.one(url)
	if got, err := w.Peek(url); err != nil || len(got) != 1 || got[0].MessageID != m.MessageID {
		t.Errorf("in flight: peek = %+v, %v, want the message", got, err)
	}
	w.delete(url, m) // its handle is still the latest
	w.send(url, "b")
	w.pass(time.Minute)
	if got, err := w.Peek(url); err != nil || len(got) != 0 {
		t.Errorf("past its retention: peek = %+v, %v, want nothing", got, err)
	}
	_, err := w.Peek("http://sqs.test/000000000000/other")
	wantCode(t, err, "QueueDoesNotExist", "")
}
