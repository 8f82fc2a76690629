package queue_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/singleeffect/once/infra/local/queue"
)

func TestVisibilityTimeout(t *testing.T) {
	t.Run("of the receive wins over the queue's", func(t *testing.T) {
		w := newWorld(t)
		url := w.create("q", "VisibilityTimeout", "12")
		w.send(url, "a")
		in := queue.ReceiveMessageInput{QueueURL: url, VisibilityTimeout: new(3)}
		if out, err := w.ReceiveMessage(t.Context(), in); err != nil || len(out.Messages) != 1 {
			t.Fatalf("receive = %v, %v", out, err)
		}
		w.pass(3 * time.Second)
		w.wantBodies(url, "a")
	})
	t.Run("defaults to 30 s", func(t *testing.T) {
		w := newWorld(t)
		url := w.create("q")
		w.send(url, "a")
		w.receive(url)
		w.pass(30*time.Second - 1)
		w.wantBodies(url)
		w.pass(1)
		w.wantBodies(url, "a")
	})
}

func TestChangeMessageVisibility(t *testing.T) {
	start := func(t *testing.T) (*world, string, queue.Message) {
		w := newWorld(t)
		url := w.create("q", "VisibilityTimeout", "10")
		w.send(url, "a")
		return w, url, w.one(url)
	}
	t.Run("not past 12 hours from the receive", func(t *testing.T) {
		w, url, m := start(t)
		w.pass(time.Second)
		wantCode(t, w.visibility(url, m, 43200), "InvalidParameterValueException", "beyond the limit [43200 seconds]")
		if err := w.visibility(url, m, 43199); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("in a hurry", func(t *testing.T) {
		w := &world{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
		w.Service = queue.New(queue.Config{Now: func() time.Time { return w.now }, MostHidden: time.Minute})
		url := w.create("q", "VisibilityTimeout", "10")
		w.send(url, "a")
		if err := w.visibility(url, w.one(url), 3600); err != nil {
			t.Fatal(err)
		}
		w.pass(59 * time.Second)
		w.wantBodies(url)
		w.pass(time.Second)
		w.wantBodies(url, "a")
	})
	t.Run("deleted", func(t *testing.T) {
		w, url, m := start(t)
		w.delete(url, m)
		wantCode(t, w.visibility(url, m, 10), "InvalidParameterValueException", "Message does not exist")
	})
}

func TestDeleteMessage(t *testing.T) {
	start := func(t *testing.T) (*world, string, queue.Message) {
		w := newWorld(t)
		url := w.create("q", "VisibilityTimeout", "10")
		w.send(url, "a")
		return w, url, w.one(url)
	}
	t.Run("a handle of another queue", func(t *testing.T) {
		w, _, m := start(t)
		other := w.create("other")
		err := w.DeleteMessage(queue.DeleteMessageInput{QueueURL: other, ReceiptHandle: m.ReceiptHandle})
		wantCode(t, err, "ReceiptHandleIsInvalid", m.ReceiptHandle)
	})
	t.Run("batch: one refusal stops no other", func(t *testing.T) {
		w, url, m := start(t)
		out, err := w.DeleteMessageBatch(queue.DeleteMessageBatchInput{QueueURL: url, Entries: []queue.DeleteMessageBatchEntry{
			{ID: "bad", ReceiptHandle: "no handle"}, {ID: "good", ReceiptHandle: m.ReceiptHandle},
		}})
		if err != nil || len(out.Successful) != 1 || out.Successful[0].ID != "good" ||
			len(out.Failed) != 1 || out.Failed[0].ID != "bad" || out.Failed[0].Code != "ReceiptHandleIsInvalid" {
			t.Fatalf("batch = %+v, %v", out, err)
		}
		w.wantCounts(url, 0, 0, 0)
	})
}

func TestDelay(t *testing.T) {
	w := newWorld(t)
	url := w.create("q", "DelaySeconds", "5", "VisibilityTimeout", "30")
	w.send(url, "queue's")
	for body, delay := range map[string]int{"own": 9, "none": 0} {
		in := queue.SendMessageInput{QueueURL: url, Outgoing: queue.Outgoing{MessageBody: body, DelaySeconds: &delay}}
		if _, err := w.SendMessage(in); err != nil {
			t.Fatal(err)
		}
	}
	w.wantCounts(url, 1, 0, 2)
	w.wantBodies(url, "none")
	w.wantCounts(url, 0, 1, 2)
	w.pass(5 * time.Second)
	w.wantBodies(url, "queue's")
	w.pass(4 * time.Second)
	w.wantBodies(url, "own")
	w.wantCounts(url, 0, 3, 0)
}

func TestRetention(t *testing.T) {
	w := newWorld(t)
	url := w.create("q", "MessageRetentionPeriod", "60", "VisibilityTimeout", "50")
	w.send(url, "a")
	w.send(url, "b")
	w.delete(url, w.receive(url)[0])
	w.pass(60*time.Second - 1)
	w.wantCounts(url, 1, 0, 0)
	w.pass(1)
	w.wantCounts(url, 0, 0, 0)
}

func TestSystemAttributes(t *testing.T) {
	w := newWorld(t)
	url := w.create("q")
	sent := w.now
	w.send(url, "a")
	w.pass(1500 * time.Millisecond)
	first := w.now
	w.receive(url)
	w.pass(30 * time.Second)
	want := map[string]string{
		"SenderId":                         "000000000000",
		"SentTimestamp":                    strconv.FormatInt(sent.UnixMilli(), 10),
		"ApproximateFirstReceiveTimestamp": strconv.FormatInt(first.UnixMilli(), 10),
		"ApproximateReceiveCount":          "2",
	}
	got := w.one(url).Attributes
	if len(got) != len(want) {
		t.Fatalf("attributes = %v, want %v", got, want)
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s = %q, want %q", name, got[name], value)
		}
	}
}

func TestPurgeQueue(t *testing.T) {
	w := newWorld(t)
	url := w.create("q")
	w.send(url, "in flight")
	w.receive(url)
	w.send(url, "visible")
	if err := w.PurgeQueue(queue.PurgeQueueInput{QueueURL: url}); err != nil {
		t.Fatal(err)
	}
	w.wantCounts(url, 0, 0, 0)
	w.pass(time.Minute - 1)
	wantCode(t, w.PurgeQueue(queue.PurgeQueueInput{QueueURL: url}), "PurgeQueueInProgress", "every 60 seconds")
	w.pass(1)
	if err := w.PurgeQueue(queue.PurgeQueueInput{QueueURL: url}); err != nil {
		t.Fatal(err)
	}
}
