package sqsbatch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

const (
	queueARN = "arn:aws:sqs:eu-west-1:123456789012:once-charge"
	queueURL = "https://sqs.eu-west-1.amazonaws.com/123456789012/once-charge"
	fifoARN  = queueARN + ".fifo"
	timeout  = 30 * time.Second // of an invocation
)

// rig is a batch with everything around it.
type rig struct {
	*sqsbatch.Batch
	t     *testing.T
	hand  *hand
	queue *hider
	log   *logbook

	mu      sync.Mutex
	reports []sqsbatch.Report
	exits   []time.Time
}

// newRig makes a batch of a hand, a queue that hides, and a log, unless change
// says otherwise.
func newRig(t *testing.T, change ...func(*sqsbatch.Config)) *rig {
	t.Helper()
	r := &rig{t: t, hand: &hand{}, queue: &hider{}, log: &logbook{}}
	c := sqsbatch.Config{
		Handler:  r.hand,
		Queue:    r.queue,
		QueueURL: queueURL,
		Log:      slog.New(slog.NewJSONHandler(r.log, nil)),
		Observe: func(_ context.Context, report sqsbatch.Report) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.reports = append(r.reports, report)
		},
	}
	for _, f := range change {
		f(&c)
	}
	var err error
	if r.Batch, err = sqsbatch.New(c); err != nil {
		t.Fatal(err)
	}
	r.SetExit(func(int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.exits = append(r.exits, time.Now())
	})
	return r
}

// handle is one invocation; it returns the ids that are listed. Whatever the
// test is about, the answer must be one that Lambda takes for what it is meant.
func (r *rig) handle(messages ...events.SQSMessage) []string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return r.handleBy(ctx, messages...)
}

func (r *rig) handleBy(ctx context.Context, messages ...events.SQSMessage) []string {
	r.t.Helper()
	if messages == nil {
		messages = []events.SQSMessage{} // an empty batch; without Records it is no batch
	}
	answer, err := r.Handle(ctx, events.SQSEvent{Records: messages})
	if err != nil {
		r.t.Errorf("error %v would have the whole batch delivered again", err)
	}
	return listed(r.t, answer, messages)
}

// report is what the last invocation reported.
func (r *rig) report() sqsbatch.Report {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.reports) == 0 {
		r.t.Fatal("nothing reported")
	}
	return r.reports[len(r.reports)-1]
}

// listed reads an answer as Lambda does, from its JSON: C05.
func listed(t *testing.T, answer events.SQSEventResponse, messages []events.SQSMessage) []string {
	t.Helper()
	encoded, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var read map[string][]map[string]any
	if err := json.Unmarshal(encoded, &read); err != nil {
		t.Fatalf("C05: got %s: %v", encoded, err)
	}
	failures := read["batchItemFailures"]
	if failures == nil || len(read) != 1 {
		t.Errorf("C05: got %s, want batchItemFailures alone and never null", encoded)
	}
	ids := []string{}
	for _, failure := range failures {
		id, _ := failure["itemIdentifier"].(string)
		switch {
		case id == "" || len(failure) != 1:
			t.Errorf("C05: got %v, want itemIdentifier alone and never empty", failure)
		case slices.Contains(ids, id):
			t.Errorf("C05: %s is listed twice: %s", id, encoded)
		case !slices.ContainsFunc(messages, func(m events.SQSMessage) bool { return m.MessageId == id }):
			t.Errorf("C05: %q is listed, which is not in the batch", id)
		}
		ids = append(ids, id)
	}
	return ids
}

// message is one of a standard queue that was received for the first time.
func message(id, body string) events.SQSMessage {
	return events.SQSMessage{
		MessageId:      id,
		ReceiptHandle:  "receipt-" + id,
		Body:           body,
		Attributes:     map[string]string{"ApproximateReceiveCount": "1"},
		EventSource:    "aws:sqs",
		EventSourceARN: queueARN,
	}
}

// asking is a message for the intent.
func asking(id, key string) events.SQSMessage {
	return message(id, fmt.Sprintf(`{"idempotency_key":%q,"amount_cents":100}`, key))
}

// hand is a handler that does what the test says, and keeps what it was asked.
// Without a say it executes.
type hand struct {
	do func(context.Context, intent.Delivery) (intent.Outcome, error)

	mu            sync.Mutex
	deliveries    []intent.Delivery
	running, most int // at one time
}

func (h *hand) Validate() error { return nil }

func (h *hand) Deliver(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
	h.mu.Lock()
	h.deliveries = append(h.deliveries, d)
	h.running++
	h.most = max(h.most, h.running)
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.running--
	}()
	if h.do == nil {
		return executed, nil
	}
	return h.do(ctx, d)
}

var executed = intent.Outcome{Kind: intent.Executed, Attempt: 1}

// keys are those that were run, in the order of their start.
func (h *hand) keys() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	keys := []string{}
	for _, d := range h.deliveries {
		keys = append(keys, d.Key)
	}
	return keys
}

// always makes a hand of one answer.
func always(o intent.Outcome, err error) func(context.Context, intent.Delivery) (intent.Outcome, error) {
	return func(context.Context, intent.Delivery) (intent.Outcome, error) { return o, err }
}

// logbook keeps what is logged.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// lines are the log's, as read by whoever searches it.
func (l *logbook) lines(t *testing.T) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for line := range bytes.Lines([]byte(l.String())) {
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fields)
	}
	return lines
}

// about is the one line about a message.
func (l *logbook) about(t *testing.T, id string) map[string]any {
	t.Helper()
	var found []map[string]any
	for _, line := range l.lines(t) {
		if line["message_id"] == id {
			found = append(found, line)
		}
	}
	if len(found) != 1 {
		t.Fatalf("got %d log lines about %s, want 1:\n%s", len(found), id, l)
	}
	return found[0]
}

func want[T any](t *testing.T, what string, got, want T, equal func(a, b T) bool) {
	t.Helper()
	if !equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func wantIDs(t *testing.T, what string, got []string, ids ...string) {
	t.Helper()
	want(t, what, got, ids, slices.Equal)
}

// bubble runs a subtest on a clock of its own. At its end no goroutine may be left.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}
