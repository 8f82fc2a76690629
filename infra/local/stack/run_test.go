package stack

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

func TestRun(t *testing.T) {
	r := newRun(t, projectRoot(t))
	url, _, err := r.QueueOf("adjust")
	if err != nil {
		t.Fatal(err)
	}
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

	// Without a secret the mapping of charge is off, and the message waits.
	if len(r.workers["charge"]) != 0 || len(r.workers["adjust"]) != 2 {
		t.Errorf("workers: got %d of charge and %d of adjust, want 0 and 2", len(r.workers["charge"]), len(r.workers["adjust"]))
	}
	chargeURL, _, err := r.QueueOf("charge")
	if err != nil {
		t.Fatal(err)
	}
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

// A message that nobody can read has its five receives and then waits in the
// dead-letter queue; the one beside it is done.
func TestDeadLetter(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(projectRoot(t), "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const slow, quick = "VisibilityTimeout: !Ref VisibilityTimeoutSeconds", "VisibilityTimeout: 1"
	impatient := strings.ReplaceAll(string(content), slow, quick)
	if impatient == string(content) {
		t.Fatalf("the template has no %q", slow)
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "template.yaml"), []byte(impatient), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRun(t, root)
	url, deadARN, err := r.QueueOf("adjust")
	if err != nil {
		t.Fatal(err)
	}
	dead, err := r.sqs.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(deadARN[strings.LastIndex(deadARN, ":")+1:])})
	if err != nil {
		t.Fatal(err)
	}
	poison := r.send(t, "adjust", `{"idempotency_key":`)
	r.send(t, "adjust", adjustment("order-1-adjust", -1000))
	eventually(t, "one message is in the dead-letter queue, the other is gone", func() bool {
		return r.messages(t, url) == 0 && r.messages(t, *dead.QueueUrl) == 1
	})
	if got := r.delivered("adjust", poison); got != 5 {
		t.Errorf("deliveries: got %d, want 5", got)
	}
	out, err := r.sqs.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: dead.QueueUrl})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Messages) != 1 || *out.Messages[0].MessageId != poison || *out.Messages[0].Body != `{"idempotency_key":` {
		t.Errorf("got %+v, want the message as it was", out.Messages)
	}
	if got, want := r.balance(t), openingCents-1000; got != want {
		t.Errorf("balance: got %d, want %d", got, want)
	}
}
