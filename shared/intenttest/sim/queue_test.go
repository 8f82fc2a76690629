package sim

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// still is a system in which nothing happens by itself.
type still struct{}

func (still) Wire(*Process) (Handle, error) { return nil, nil }
func (still) Outside()                      {}
func (still) Judge()                        {}

// inWorld runs f in a world without faults.
func inWorld(t *testing.T, name string, f func(*World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Plan{Name: name, Reason: "Reason", OriginalID: "Original", New: func(*World) System { return still{} }}, 1)
		w.calm = true
		f(w)
		if w.fault != "" {
			t.Error(w.fault)
		}
	})
}

// send sends a message of a group, which is its deduplication id, too, if none is given.
func (w *World) send(body, group, deduplication string) {
	w.Send(Sent{}, &sqs.SendMessageInput{MessageBody: &body, MessageGroupId: &group, MessageDeduplicationId: aws.String(deduplication)})
}

// all receives until nothing more is there, and gives the bodies.
func (w *World) all() (bodies []string) {
	for len(w.queue.ready(time.Now())) > 0 {
		for _, m := range w.queue.receive() {
			bodies = append(bodies, m.body)
		}
	}
	return bodies
}

func want(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestStandard(t *testing.T) {
	inWorld(t, "q", func(w *World) {
		w.send("a", "", "")
		first := w.queue.messages[0]
		for n := range maxReceives {
			want(t, "received", w.all(), []string{"a"})
			want(t, "hidden", w.all(), nil)
			if first.received != n+1 {
				t.Errorf("received %d times, want %d", first.received, n+1)
			}
			time.Sleep(w.queue.visibility)
		}
		want(t, "received too often", w.all(), nil)
		if len(w.queue.dead) != 1 || w.queue.dead[0] != first {
			t.Fatalf("dead-letter queue: %v", w.queue.dead)
		}
		w.queue.redrive()
		m := w.queue.messages[0]
		if m.id == first.id || m.received != 0 || m.of != first.of {
			t.Errorf("redriven: got %+v, want a new message of the same send", m)
		}
		want(t, "redriven", w.all(), []string{"a"})
		w.queue.delete(m, m.handle)
		time.Sleep(w.queue.visibility)
		want(t, "deleted", w.all(), nil)
	})
}

func TestFIFO(t *testing.T) {
	inWorld(t, "q.fifo", func(w *World) {
		w.send("a1", "a", "1")
		got := w.queue.receive()
		w.send("a2", "a", "2")
		w.send("b1", "b", "3")
		w.send("b1 again", "b", "3")
		want(t, "beside a group that is blocked", w.all(), []string{"b1"})
		w.queue.delete(got[0], got[0].handle)
		want(t, "the group goes on", w.all(), []string{"a2"})
		time.Sleep(deduplication)
		w.send("b1 later", "b", "3")
		if n := len(w.queue.messages); n != 3 {
			t.Errorf("%d messages, want a2, b1 and the one that SQS forgot to know", n)
		}
		w.queue.messages = nil
		for _, body := range []string{"c1", "c2", "c3", "c4"} {
			w.send(body, "c", body)
		}
		var order []string
		for len(w.queue.messages) > 0 {
			for _, m := range w.queue.receive() {
				order = append(order, m.body)
				w.queue.delete(m, m.handle)
			}
		}
		want(t, "in order", order, []string{"c1", "c2", "c3", "c4"})
	})
}

// By a receipt of an earlier delivery a FIFO queue's message is not deleted, nor is any hidden.
func TestOldReceipt(t *testing.T) {
	inWorld(t, "q.fifo", func(w *World) {
		w.send("a", "a", "1")
		m := w.queue.receive()[0]
		old := m.handle
		time.Sleep(w.queue.visibility)
		want(t, "again", w.all(), []string{"a"})
		until := m.visible
		w.queue.hide(old, time.Hour, time.Hour)
		w.queue.delete(m, old)
		if len(w.queue.messages) != 1 || m.visible != until {
			t.Errorf("got %+v, want it as it was", m)
		}
		w.queue.hide(m.handle, time.Hour, time.Hour)
		if !m.visible.After(time.Now().Add(time.Hour)) {
			t.Errorf("visible at %v, want it hidden for an hour", m.visible)
		}
	})
}
