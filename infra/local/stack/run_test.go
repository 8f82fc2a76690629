package stack

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func TestRun(t *testing.T) {
	r := newRun(t, Options{})
	url, _ := r.urls(t, "adjust")
	empty := func() bool { return r.messages(t, url) == 0 }

	// Twice the same intent, and one more.
	first := r.send(t, "adjust", adjustment("order-1-adjust", -1000))
	again := r.send(t, "adjust", adjustment("order-1-adjust", -1000))
	r.send(t, "adjust", adjustment("order-2-adjust", -500))
	charge := r.send(t, "charge", `{"idempotency_key":"order-1-charge","user_id":"7","amount_cents":4999,"currency":"usd"}`)
	eventually(t, "adjust's queue is empty", empty)
	if got, want := r.balance(t), openingCents-1000-500; got != want {
		t.Errorf("balance: got %d, want %d", got, want)
	}

	// Without a secret the mapping of charge is off, and the message waits; so it
	// is with welcome without a sender.
	workers := map[string]int{}
	for function, of := range r.workers {
		workers[function] = len(of)
	}
	if want := map[string]int{"adjust": 2, "ship": 2, "clearcart": 2}; !maps.Equal(workers, want) {
		t.Errorf("workers: got %v, want %v", workers, want)
	}
	chargeURL, _ := r.urls(t, "charge")
	if got := r.messages(t, chargeURL); got != 1 {
		t.Errorf("messages in charge's queue: got %d, want 1", got)
	}

	// A killed worker is replaced.
	for _, w := range r.workers["adjust"] {
		if err := w.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	r.send(t, "adjust", adjustment("order-3-adjust", 2000))
	eventually(t, "adjust's queue is empty again", empty)
	if got, want := r.balance(t), openingCents-1000-500+2000; got != want {
		t.Errorf("balance after the kills: got %d, want %d", got, want)
	}

	// After Stop nobody is told of anything, and the queues go on.
	r.Stop()
	if r.delivered("adjust", first) == 0 || r.delivered("adjust", again) == 0 || r.delivered("charge", charge) != 0 {
		t.Errorf("deliveries: got %d, %d and %d of charge, want some, some and none",
			r.delivered("adjust", first), r.delivered("adjust", again), r.delivered("charge", charge))
	}
	late := r.send(t, "adjust", adjustment("order-4-adjust", -1))
	if running := r.running(t); len(running) > 0 {
		t.Errorf("functions after Stop: %q", running)
	}
	if r.delivered("adjust", late) != 0 || r.messages(t, url) != 1 {
		t.Error("a message is delivered after Stop")
	}

	r.Close()
	if left := slices.Concat(children(t), r.running(t)); len(left) > 0 {
		t.Errorf("left running: %q", left)
	}
	files, err := os.ReadDir(r.scratch)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
	r.Close() // as a defer of its user's does
}

// A message that nobody can read goes to the dead-letter queue on its first
// receive, with the reason; the one behind it in its group is done.
func TestDeadLetter(t *testing.T) {
	r := newRun(t, Options{})
	url, deadURL := r.urls(t, "adjust")
	poison := r.send(t, "adjust", `{"idempotency_key":`)
	r.send(t, "adjust", adjustment("order-1-adjust", -1000))
	eventually(t, "one message is in the dead-letter queue, the other is gone", func() bool {
		return r.messages(t, url) == 0 && r.messages(t, deadURL) == 1
	})
	if got := r.delivered("adjust", poison); got != 1 {
		t.Errorf("deliveries: got %d, want 1", got)
	}
	out, err := r.Producer.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &deadURL, MessageAttributeNames: []string{"All"}, MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{"MessageGroupId"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Messages) != 1 || *out.Messages[0].Body != `{"idempotency_key":` || out.Messages[0].Attributes["MessageGroupId"] != "7" {
		t.Fatalf("got %+v, want the message as it was", out.Messages)
	}
	attribute := func(name string) string { return aws.ToString(out.Messages[0].MessageAttributes[name].StringValue) }
	if got := attribute("Quarantine-Reason"); !strings.HasPrefix(got, "unreadable: ") {
		t.Errorf("reason: got %q, want that it is unreadable", got)
	}
	if got := attribute("Original-Message-Id"); got != poison {
		t.Errorf("original message id: got %q, want %q", got, poison)
	}
	if got, want := r.balance(t), openingCents-1000; got != want {
		t.Errorf("balance: got %d, want %d", got, want)
	}
}

// A message that fails on each receive, and is not hidden, has as many as its queue
// says and then waits in the dead-letter queue as it was.
func TestReceivesAreCounted(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(projectRoot(t), "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const slow, often = "VisibilityTimeout: !Ref VisibilityTimeoutSeconds", "maxReceiveCount: 100"
	impatient := strings.NewReplacer(slow, "VisibilityTimeout: 1", often, "maxReceiveCount: 5").Replace(string(content))
	if strings.Contains(impatient, slow) || strings.Contains(impatient, often) || len(impatient) == len(content) {
		t.Fatalf("the template has no %q or no %q", slow, often)
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "template.yaml"), []byte(impatient), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRun(t, Options{Root: root, Environment: map[string]string{"ORDERS_TABLE": "nowhere", "QUEUE_URL": "http://127.0.0.1/nobodys"}})
	const body = `{"order_id":"8821","shipped_at":"2026-11-29T12:00:00Z"}`
	id := r.send(t, "ship", body)
	url, deadURL := r.urls(t, "ship")
	eventually(t, "the message is in the dead-letter queue", func() bool {
		return r.messages(t, url) == 0 && r.messages(t, deadURL) == 1
	})
	if got := r.delivered("ship", id); got != 5 {
		t.Errorf("deliveries: got %d, want 5", got)
	}
	out, err := r.Producer.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &deadURL})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Messages) != 1 || *out.Messages[0].MessageId != id || *out.Messages[0].Body != body {
		t.Errorf("got %+v, want the message as it was", out.Messages)
	}
}
