package sim

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/memdb"
)

// office is a system with one handler and three messages, of which the last wants to be in quarantine.
type office struct {
	*World
	handle func(*Process) Handle
}

func (o *office) Wire(p *Process) (Handle, error) { return o.handle(p), nil }
func (o *office) Judge()                          {}

func (o *office) Outside() {
	for n, want := range []string{"", "", "bad"} {
		body := []string{`{"n":0}`, `{"n":1}`, `{"n":2}`}[n]
		key := intent.Key{Scope: Scope, Operation: "file", ID: body}
		o.Send(Sent{Key: key, Want: want}, &sqs.SendMessageInput{MessageBody: &body, MessageGroupId: aws.String("g"), MessageDeduplicationId: &body})
	}
}

func filing(name string, records bool, handle func(*Process) Handle) Plan {
	plan := Plan{Name: name, Reason: "Reason", OriginalID: "Original", New: func(w *World) System { return &office{w, handle} }}
	if records {
		plan.Records = func(*memdb.DB) intent.Store { return nothing{} }
	}
	return plan
}

// nothing is a store without records.
type nothing struct{ intent.Store }

func (nothing) Load(context.Context, string) (intent.Record, error) { return intent.Record{}, nil }

// answer lists the messages that list picks by their place in the batch and their body.
func answer(list func(place int, body string) string) func(*Process) Handle {
	return func(*Process) Handle {
		return func(_ context.Context, e events.SQSEvent) (r events.SQSEventResponse, err error) {
			for n, m := range e.Records {
				if id := list(n, m.Body); id == "its own" {
					r.BatchItemFailures = append(r.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
				} else if id != "" {
					r.BatchItemFailures = append(r.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: id})
				}
			}
			return r, nil
		}
	}
}

// Each of these handlers does what a batch must not, and is told so.
func TestJudgeFinds(t *testing.T) {
	none := func(int, string) string { return "" }
	t.Run("an answer without an end", func(t *testing.T) {
		Finds(t, filing("q", true, answer(none)), 10, "neither has its intent an end nor is it in quarantine")
	})
	t.Run("poison that is acknowledged", func(t *testing.T) {
		Finds(t, filing("q", false, answer(none)), 10, "neither has its intent an end nor is it in quarantine")
	})
	t.Run("a message that is never done", func(t *testing.T) {
		Finds(t, filing("q", false, answer(func(int, string) string { return "its own" })), 10, `in quarantine for [""]`)
	})
	t.Run("an id of another batch", func(t *testing.T) {
		Finds(t, filing("q", false, answer(func(int, string) string { return "m-0" })), 10, "which is not of its batch")
	})
	t.Run("an id twice", func(t *testing.T) {
		Finds(t, filing("q", false, func(p *Process) Handle {
			once := answer(func(int, string) string { return "its own" })(p)
			return func(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
				r, err := once(ctx, e)
				r.BatchItemFailures = append(r.BatchItemFailures, r.BatchItemFailures...)
				return r, err
			}
		}), 10, "listed twice")
	})
	t.Run("what overtakes a failure in its group", func(t *testing.T) {
		Finds(t, filing("q.fifo", false, answer(func(place int, _ string) string {
			if place == 0 {
				return "its own"
			}
			return ""
		})), 20, "behind a failure in its group")
	})
	t.Run("an error for the whole batch", func(t *testing.T) {
		Finds(t, filing("q", false, func(*Process) Handle {
			return func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
				return events.SQSEventResponse{}, os.ErrInvalid
			}
		}), 10, "the batch as a whole fails")
	})
	t.Run("a message sent to its own queue", func(t *testing.T) {
		Finds(t, filing("q", false, func(p *Process) Handle {
			return func(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
				_, err := p.SQS().SendMessageBatch(ctx, &sqs.SendMessageBatchInput{
					QueueUrl: aws.String(p.world.QueueURL()), Entries: []types.SendMessageBatchRequestEntry{{MessageBody: &e.Records[0].Body}},
				})
				return events.SQSEventResponse{}, err
			}
		}), 10, "a message is sent to")
	})
}

// The sums of a binary's tests are one line, whichever of them come.
func TestReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	before := *report
	*report = file
	defer func() { *report, sums.Histories, sums.Violations = before, 0, 0 }()
	for range 2 {
		if err := tell(100, 1); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Histories, Violations int }
	if err := json.Unmarshal(text, &got); err != nil || got.Histories != 200 || got.Violations != 2 || strings.Count(string(text), "\n") != 1 {
		t.Errorf("got %s, want 200 histories and 2 violations in one line", text)
	}
}
