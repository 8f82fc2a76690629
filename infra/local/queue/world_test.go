package queue_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/infra/local/queue"
)

// world is a service whose time stands still until a test moves it.
type world struct {
	t *testing.T
	*queue.Service
	now time.Time
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w.Service = queue.New(queue.Config{
		BaseURL: "http://sqs.test",
		Now:     func() time.Time { return w.now },
		Random:  rand.NewPCG(1, 2),
	})
	return w
}

func (w *world) pass(d time.Duration) { w.now = w.now.Add(d) }

// create makes a queue; attributes come in pairs of name and value.
func (w *world) create(name string, attributes ...string) string {
	w.t.Helper()
	in := queue.CreateQueueInput{QueueName: name, Attributes: map[string]string{}}
	for pair := range slices.Chunk(attributes, 2) {
		in.Attributes[pair[0]] = pair[1]
	}
	out, err := w.CreateQueue(in)
	if err != nil {
		w.t.Fatalf("create %s: %v", name, err)
	}
	return out.QueueURL
}

func (w *world) fifo(name string, attributes ...string) string {
	w.t.Helper()
	return w.create(name, append([]string{"FifoQueue", "true"}, attributes...)...)
}

// send sends a body; in a FIFO queue "A1" goes to group A with deduplication id A1.
func (w *world) send(url, body string) queue.SendMessageOutput {
	w.t.Helper()
	in := queue.SendMessageInput{QueueURL: url, Outgoing: queue.Outgoing{MessageBody: body}}
	if strings.HasSuffix(url, ".fifo") {
		in.MessageGroupID, in.MessageDeduplicationID = body[:1], body
	}
	out, err := w.SendMessage(in)
	if err != nil {
		w.t.Fatalf("send %q: %v", body, err)
	}
	return out
}

// receive takes up to ten messages with everything there is to know about them.
func (w *world) receive(url string) []queue.Message {
	w.t.Helper()
	out, err := w.ReceiveMessage(w.t.Context(), queue.ReceiveMessageInput{
		QueueURL: url, MaxNumberOfMessages: 10,
		MessageSystemAttributeNames: []string{"All"}, MessageAttributeNames: []string{"All"},
	})
	if err != nil {
		w.t.Fatalf("receive: %v", err)
	}
	return out.Messages
}

// one receives exactly one message.
func (w *world) one(url string) queue.Message {
	w.t.Helper()
	got := w.receive(url)
	if len(got) != 1 {
		w.t.Fatalf("received %d messages, want 1", len(got))
	}
	return got[0]
}

// wantBodies receives and checks which bodies came, in order.
func (w *world) wantBodies(url string, want ...string) []queue.Message {
	w.t.Helper()
	messages := w.receive(url)
	if got := bodies(messages); !slices.Equal(got, want) {
		w.t.Fatalf("received %q, want %q", got, want)
	}
	return messages
}

func (w *world) delete(url string, m queue.Message) {
	w.t.Helper()
	if err := w.DeleteMessage(queue.DeleteMessageInput{QueueURL: url, ReceiptHandle: m.ReceiptHandle}); err != nil {
		w.t.Fatalf("delete %q: %v", m.Body, err)
	}
}

func (w *world) visibility(url string, m queue.Message, timeout int) error {
	return w.ChangeMessageVisibility(queue.ChangeMessageVisibilityInput{
		QueueURL: url, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: &timeout,
	})
}

func (w *world) attribute(url, name string) string {
	w.t.Helper()
	out, err := w.GetQueueAttributes(queue.GetQueueAttributesInput{QueueURL: url, AttributeNames: []string{name}})
	if err != nil {
		w.t.Fatalf("attribute %s: %v", name, err)
	}
	return out.Attributes[name]
}

// wantCounts checks how many messages are visible, in flight and delayed.
func (w *world) wantCounts(url string, visible, inFlight, delayed int) {
	w.t.Helper()
	got := [3]string{
		w.attribute(url, "ApproximateNumberOfMessages"),
		w.attribute(url, "ApproximateNumberOfMessagesNotVisible"),
		w.attribute(url, "ApproximateNumberOfMessagesDelayed"),
	}
	if want := [3]string{fmt.Sprint(visible), fmt.Sprint(inFlight), fmt.Sprint(delayed)}; got != want {
		w.t.Fatalf("visible, in flight, delayed = %v, want %v", got, want)
	}
}

func bodies(messages []queue.Message) []string {
	var out []string
	for _, m := range messages {
		out = append(out, m.Body)
	}
	return out
}

// wantCode checks that err is a refusal of this code whose message has the text.
func wantCode(t *testing.T, err error, code, text string) {
	t.Helper()
	var refusal *queue.Error
	if !errors.As(err, &refusal) || refusal.Code != code || !strings.Contains(refusal.Message, text) {
		t.Fatalf("error = %v, want %s with %q", err, code, text)
	}
}
