package queue_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/singleeffect/once/infra/local/queue"
)

const arn = "arn:aws:sqs:us-east-1:000000000000:"

func redrive(dead string, receives int) string {
	return fmt.Sprintf(`{"deadLetterTargetArn":"%s%s","maxReceiveCount":%d}`, arn, dead, receives)
}

// TestC19 has the question that emulators answer differently: does the N-th failure move a message, or receive N+1?
func TestC19MoveHappensOnReceiveNPlusOne(t *testing.T) {
	w := newWorld(t)
	dead := w.create("dead")
	url := w.create("q", "VisibilityTimeout", "10", "RedrivePolicy", redrive("dead", 3))
	sent := w.send(url, "a")
	for n := 1; n <= 3; n++ {
		if got := w.one(url).Attributes["ApproximateReceiveCount"]; got != fmt.Sprint(n) {
			t.Fatalf("receive count = %s, want %d", got, n)
		}
		w.pass(10 * time.Second)
	}
	// The third visibility timeout is over and nobody has asked again: the message is still here.
	w.wantCounts(url, 1, 0, 0)
	w.wantCounts(dead, 0, 0, 0)
	// A late delete of the third delivery would still work here; a fourth receive moves the message instead.
	w.wantBodies(url)
	w.wantCounts(url, 0, 0, 0)
	w.wantCounts(dead, 1, 0, 0)
	m := w.one(dead)
	if m.MessageID != sent.MessageID {
		t.Errorf("message id = %s, want %s: the policy keeps it", m.MessageID, sent.MessageID)
	}
	if got := m.Attributes["DeadLetterQueueSourceArn"]; got != arn+"q" {
		t.Errorf("source = %q, want %q", got, arn+"q")
	}
	if got := m.Attributes["ApproximateReceiveCount"]; got != "4" {
		t.Errorf("receive count = %s, want 4: it goes on", got)
	}
}

// deadLetter is a world with one message that the redrive policy has moved to the queue dead.
func deadLetter(t *testing.T) (w *world, dead, url string, sent queue.SendMessageOutput) {
	w = newWorld(t)
	dead = w.create("dead")
	url = w.create("q", "VisibilityTimeout", "0", "RedrivePolicy", redrive("dead", 1))
	sent, err := w.SendMessage(queue.SendMessageInput{QueueURL: url, Outgoing: queue.Outgoing{
		MessageBody:       "a",
		MessageAttributes: map[string]queue.Attribute{"Idempotency-Key": {DataType: "String", StringValue: "order-1"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.one(url)
	w.wantBodies(url)
	w.wantCounts(dead, 1, 0, 0)
	return w, dead, url, sent
}

func (w *world) move(in queue.StartMessageMoveTaskInput) queue.MessageMoveTask {
	w.t.Helper()
	if _, err := w.StartMessageMoveTask(in); err != nil {
		w.t.Fatal(err)
	}
	out, err := w.ListMessageMoveTasks(queue.ListMessageMoveTasksInput{SourceARN: in.SourceARN})
	if err != nil || len(out.Results) != 1 {
		w.t.Fatalf("tasks = %v, %v", out, err)
	}
	return out.Results[0]
}

// TestC15 is why a message id cannot name an intent.
func TestC15RedriveMakesANewMessage(t *testing.T) {
	w, dead, url, sent := deadLetter(t)
	w.pass(time.Hour)
	if got := w.move(queue.StartMessageMoveTaskInput{SourceARN: arn + "dead"}); got.Status != "COMPLETED" || got.ApproximateNumberOfMessagesMoved != 1 {
		t.Fatalf("task = %+v", got)
	}
	w.wantCounts(dead, 0, 0, 0)
	m := w.one(url)
	if m.MessageID == sent.MessageID {
		t.Error("message id is the old one")
	}
	if got, want := m.Attributes["SentTimestamp"], fmt.Sprint(w.now.UnixMilli()); got != want {
		t.Errorf("sent = %s, want %s: enqueued anew", got, want)
	}
	if got := m.Attributes["ApproximateReceiveCount"]; got != "1" {
		t.Errorf("receive count = %s, want 1", got)
	}
	if _, ok := m.Attributes["DeadLetterQueueSourceArn"]; ok {
		t.Error("still says which queue it died in")
	}
	if got := m.MessageAttributes["Idempotency-Key"].StringValue; got != "order-1" {
		t.Errorf("attribute = %q, want order-1", got)
	}
}

func TestRedriveToADestination(t *testing.T) {
	w, _, url, _ := deadLetter(t)
	other := w.create("other")
	w.move(queue.StartMessageMoveTaskInput{SourceARN: arn + "dead", DestinationARN: arn + "other"})
	w.wantCounts(url, 0, 0, 0)
	w.wantBodies(other, "a")
}

func TestRedriveOfADirectSendNeedsADestination(t *testing.T) {
	w, dead, url, _ := deadLetter(t)
	w.send(dead, "sent here")
	got := w.move(queue.StartMessageMoveTaskInput{SourceARN: arn + "dead"})
	if got.Status != "FAILED" || got.FailureReason != "CouldNotDetermineMessageSource" || got.ApproximateNumberOfMessagesMoved != 1 {
		t.Fatalf("task = %+v", got)
	}
	w.wantBodies(url, "a")
	w.move(queue.StartMessageMoveTaskInput{SourceARN: arn + "dead", DestinationARN: arn + "q"})
	w.wantCounts(dead, 0, 0, 0)
}

func TestRedriveRefusals(t *testing.T) {
	w, _, _, _ := deadLetter(t)
	w.fifo("q.fifo")
	for name, tc := range map[string]struct {
		in         queue.StartMessageMoveTaskInput
		code, text string
	}{
		"no such source":      {queue.StartMessageMoveTaskInput{SourceARN: arn + "none"}, "ResourceNotFoundException", "SourceArn"},
		"no dead-letter":      {queue.StartMessageMoveTaskInput{SourceARN: arn + "q"}, "InvalidParameterValueException", "must be configured as a Dead Letter Queue"},
		"no such destination": {queue.StartMessageMoveTaskInput{SourceARN: arn + "dead", DestinationARN: arn + "none"}, "ResourceNotFoundException", "DestinationArn"},
		"other type":          {queue.StartMessageMoveTaskInput{SourceARN: arn + "dead", DestinationARN: arn + "q.fifo"}, "UnsupportedOperation", "same type"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.StartMessageMoveTask(tc.in)
			wantCode(t, err, tc.code, tc.text)
		})
	}
}
