package demo

import (
	"crypto/rand"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/singleeffect/once/infra/local/queue"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// As many receives without a success as its queue allows, and the next one finds the
// message gone: it is in the dead-letter queue. It counts as left, and comes back. What is in quarantine
// is settled, and comes back with it.
func redrives(t *testing.T, s *side, a action) {
	q, err := s.queues(a.operation)
	if err != nil {
		t.Fatal(err)
	}
	wantLeft := func(want int) {
		t.Helper()
		if got, err := s.left(); err != nil || got != want {
			t.Errorf("left: got %d and error %v, want %d", got, err, want)
		}
	}
	receive := func(visibility *int) []queue.Message {
		t.Helper()
		out, err := s.stack.Queues.ReceiveMessage(t.Context(), queue.ReceiveMessageInput{
			QueueURL: q.live, VisibilityTimeout: visibility, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.Messages
	}
	wantLeft(0)
	sent, err := s.send(t.Context(), []send{{action: a}, {action: a}, {action: a, late: true}})
	if want := 3; err != nil || sent != want && a.operation != &adjust || sent != want-1 && a.operation == &adjust {
		t.Errorf("enqueued %d with error %v, want all three, or those that a FIFO queue does not fold", sent, err)
	}
	wantLeft(sent)
	if err := s.stack.Queues.PurgeQueue(queue.PurgeQueueInput{QueueURL: q.live}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.send(t.Context(), []send{{action: a, late: true}}); err != nil {
		t.Fatal(err)
	}
	receives := 0
	for _, q := range s.stack.Template.Queues {
		if q.Redrive != nil {
			receives = max(receives, q.Redrive.MaxReceiveCount) // all have the same
		}
	}
	for range receives {
		if got := receive(new(0)); len(got) != 1 {
			t.Fatalf("got %d messages, want 1", len(got))
		}
	}
	if got := receive(new(0)); len(got) != 0 {
		t.Fatalf("receive %d: got %d messages, want none", receives+1, len(got))
	}
	quarantines(t, s, a, "in_doubt: lapsed")
	if reasons, err := s.quarantine(a.operation); err != nil || len(reasons) != 1 || reasons[a.body] != "in_doubt: lapsed" {
		t.Errorf("in quarantine: got %v and error %v, want the one that was sent there", reasons, err)
	}
	before := s.redriven
	wantLeft(1) // and sends both back
	if got := s.redriven - before; got != 2 {
		t.Errorf("got %d redriven, want 2", got)
	}
	wantLeft(2)
	got := receive(nil) // or a FIFO queue calls their handles expired
	for _, m := range got {
		if m.Body != a.body {
			t.Errorf("after the redrive: got %q, want %q", m.Body, a.body)
		}
	}
	if len(got) != 2 {
		t.Fatalf("after the redrive: got %d messages, want both", len(got))
	}
	for _, m := range got {
		in := queue.DeleteMessageBatchInput{QueueURL: q.live, Entries: []queue.DeleteMessageBatchEntry{{ID: "0", ReceiptHandle: m.ReceiptHandle}}}
		if _, err := s.stack.Queues.DeleteMessageBatch(in); err != nil {
			t.Fatal(err)
		}
	}
	quarantines(t, s, a, "in_doubt: lapsed")
	wantLeft(0) // what is settled stays where it is
	wantLeft(0)
	if err := s.stack.Queues.PurgeQueue(queue.PurgeQueueInput{QueueURL: q.dead}); err != nil {
		t.Fatal(err)
	}
}

// Nobody takes the message, and the run does not wait for ever.
func getsStuck(t *testing.T, s *side, a action) {
	if _, err := s.send(t.Context(), []send{{action: a, late: true}}); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := drain(t.Context(), io.Discard, 1, []*side{s})
		if err == nil || !strings.Contains(err.Error(), "1 messages are still in the queues, and none was settled") {
			t.Errorf("got error %v, want one that says what is left", err)
		}
		if got := time.Since(began); got != patience {
			t.Errorf("waited %v, want %v", got, patience)
		}
	})
}

// quarantines does what a function does with a message that no delivery can mend.
func quarantines(t *testing.T, s *side, a action, reason string) {
	t.Helper()
	q, err := s.queues(a.operation)
	if err != nil {
		t.Fatal(err)
	}
	out := queue.Outgoing{MessageBody: a.body, MessageAttributes: map[string]queue.Attribute{
		sqsbatch.ReasonAttribute: {DataType: "String", StringValue: reason},
	}}
	if strings.HasSuffix(q.dead, ".fifo") {
		out.MessageGroupID, out.MessageDeduplicationID = a.user, rand.Text()
	}
	if _, err := s.stack.Queues.SendMessage(queue.SendMessageInput{QueueURL: q.dead, Outgoing: out}); err != nil {
		t.Fatal(err)
	}
}
