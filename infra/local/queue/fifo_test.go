package queue_test

import (
	"testing"
	"time"

	"github.com/singleeffect/once/infra/local/queue"
)

func TestFIFOHandleExpires(t *testing.T) {
	w := newWorld(t)
	url := w.fifo("q.fifo", "VisibilityTimeout", "10")
	w.send(url, "A1")
	m := w.one(url)
	w.pass(10 * time.Second)
	const expired = "The receipt handle has expired"
	wantCode(t, w.DeleteMessage(queue.DeleteMessageInput{QueueURL: url, ReceiptHandle: m.ReceiptHandle}), "InvalidParameterValueException", expired)
	wantCode(t, w.visibility(url, m, 10), "InvalidParameterValueException", expired)
	w.wantBodies(url, "A1")
}

func TestFIFODeduplication(t *testing.T) {
	send := func(w *world, url, group, dedup, body string) queue.SendMessageOutput {
		w.t.Helper()
		out, err := w.SendMessage(queue.SendMessageInput{QueueURL: url, Outgoing: queue.Outgoing{
			MessageBody: body, MessageGroupID: group, MessageDeduplicationID: dedup,
		}})
		if err != nil {
			w.t.Fatal(err)
		}
		return out
	}
	t.Run("for 5 minutes, across groups, deleted or not", func(t *testing.T) {
		w := newWorld(t)
		url := w.fifo("q.fifo")
		first := send(w, url, "A", "d", "one")
		w.delete(url, w.one(url))
		w.pass(5*time.Minute - 1)
		second := send(w, url, "B", "d", "two")
		if second.MessageID != first.MessageID || second.SequenceNumber != first.SequenceNumber {
			t.Fatalf("answer to the duplicate = %+v, want the first one's %+v", second, first)
		}
		w.wantBodies(url)
		w.pass(1)
		if third := send(w, url, "B", "d", "three"); third.MessageID == first.MessageID {
			t.Fatal("deduplicated after 5 minutes")
		}
		w.wantBodies(url, "three")
	})
	t.Run("in its group alone, where the scope is that", func(t *testing.T) {
		w := newWorld(t)
		url := w.fifo("q.fifo", "DeduplicationScope", "messageGroup", "FifoThroughputLimit", "perMessageGroupId")
		first := send(w, url, "A", "d", "A1")
		if other := send(w, url, "B", "d", "B1"); other.MessageID == first.MessageID {
			t.Error("one id in two groups is one message")
		}
		if again := send(w, url, "A", "d", "A2"); again.MessageID != first.MessageID {
			t.Error("one id twice in a group is two messages")
		}
		w.wantBodies(url, "A1", "B1")
	})
	t.Run("by content", func(t *testing.T) {
		w := newWorld(t)
		url := w.fifo("q.fifo", "ContentBasedDeduplication", "true")
		send(w, url, "A", "", "same")
		send(w, url, "A", "", "same")
		send(w, url, "A", "own-id", "same")
		if got := w.receive(url); len(got) != 2 {
			t.Fatalf("received %q, want two", bodies(got))
		}
	})
	t.Run("content is the body alone", func(t *testing.T) {
		w := newWorld(t)
		url := w.fifo("q.fifo", "ContentBasedDeduplication", "true")
		send(w, url, "A", "", "same")
		m := w.one(url)
		const sha256OfSame = "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5"
		if got := m.Attributes["MessageDeduplicationId"]; got != sha256OfSame {
			t.Fatalf("deduplication id = %s, want %s", got, sha256OfSame)
		}
	})
}

// TestC16 is why a deduplication id cannot be the only source of an intent's key: the move to the dead-letter queue
// rewrites it.
func TestC16FIFODeadLetterRewritesTheDeduplicationID(t *testing.T) {
	w := newWorld(t)
	dead := w.fifo("dead.fifo", "MessageRetentionPeriod", "60")
	url := w.fifo("q.fifo", "VisibilityTimeout", "10", "RedrivePolicy", redrive("dead.fifo", 1))
	sent := w.send(url, "A1")
	w.send(url, "A2")
	got := w.receive(url)
	w.delete(url, got[1])
	w.pass(50 * time.Second)
	w.wantBodies(url)
	moved := w.now
	w.pass(59 * time.Second) // the retention starts anew with the move
	m := w.one(dead)
	if m.MessageID != sent.MessageID {
		t.Errorf("message id = %s, want %s", m.MessageID, sent.MessageID)
	}
	for name, want := range map[string]string{
		"MessageDeduplicationId":   sent.MessageID,
		"MessageGroupId":           "A",
		"DeadLetterQueueSourceArn": arn + "q.fifo",
	} {
		if got := m.Attributes[name]; got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	w.pass(moved.Add(time.Minute).Sub(w.now))
	w.wantCounts(dead, 0, 0, 0)
}

func TestFIFOSequenceNumbersRise(t *testing.T) {
	w := newWorld(t)
	url := w.fifo("q.fifo")
	last := ""
	for _, body := range []string{"A1", "B1", "A2", "A3", "A4", "A5", "A6", "A7", "A8", "A9", "B2"} {
		sent := w.send(url, body)
		if len(sent.SequenceNumber) != 20 || sent.SequenceNumber <= last {
			t.Fatalf("sequence number %q after %q", sent.SequenceNumber, last)
		}
		last = sent.SequenceNumber
	}
}
