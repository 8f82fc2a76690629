package mapping_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/infra/local/mapping"
	"github.com/singleeffect/once/infra/local/queue"
)

// function is a Lambda function that answers with a JSON document.
type function func(ctx context.Context, e events.SQSEvent) (string, error)

func (f function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var e events.SQSEvent
	if err := json.Unmarshal(payload, &e); err != nil {
		return nil, err
	}
	answer, err := f(ctx, e)
	return []byte(answer), err
}

// stage is a queue, its dead-letter queue, and the fates of the batches that a mapping took from it.
type stage struct {
	t *testing.T
	*queue.Service
	url, dead string

	mu      sync.Mutex
	batches []mapping.Batch
}

const visibility = 30 * time.Second

// onStage runs a test in a bubble of fake time. The queue moves a message on the receive after the third.
func onStage(t *testing.T, name string, test func(*testing.T, *stage)) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, Service: queue.New(queue.Config{})}
		attributes := map[string]string{}
		suffix := ""
		if strings.HasSuffix(name, ".fifo") {
			suffix = ".fifo"
			attributes["FifoQueue"] = "true"
		}
		s.dead = s.create("dead"+suffix, attributes)
		attributes["VisibilityTimeout"] = fmt.Sprint(int(visibility.Seconds()))
		attributes["RedrivePolicy"] = `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead` + suffix + `","maxReceiveCount":3}`
		s.url = s.create(name, attributes)
		test(t, s)
	})
}

func (s *stage) create(name string, attributes map[string]string) string {
	out, err := s.CreateQueue(queue.CreateQueueInput{QueueName: name, Attributes: attributes})
	if err != nil {
		s.t.Fatal(err)
	}
	return out.QueueURL
}

// send sends bodies; in a FIFO queue "A1" goes to group A with deduplication id A1. It returns the message ids.
func (s *stage) send(bodies ...string) (ids []string) {
	s.t.Helper()
	for _, body := range bodies {
		in := queue.SendMessageInput{QueueURL: s.url, Outgoing: queue.Outgoing{MessageBody: body}}
		if strings.HasSuffix(s.url, ".fifo") {
			in.MessageGroupID, in.MessageDeduplicationID = body[:1], body[:2]
		}
		out, err := s.SendMessage(in)
		if err != nil {
			s.t.Fatal(err)
		}
		ids = append(ids, out.MessageID)
	}
	return ids
}

// run starts a mapping that calls these invokers, lets it settle, and returns what stops it. A mapping that leaves a
// goroutine behind keeps the bubble, and so the test, from ending.
func (s *stage) run(c mapping.Config, invokers ...mapping.Invoker) (stop func()) {
	c.Queue, c.QueueURL, c.Invokers = s.Service, s.url, invokers
	c.Observe = func(b mapping.Batch) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.batches = append(s.batches, b)
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan error, 1)
	go func() { done <- mapping.Run(ctx, c) }()
	synctest.Wait()
	return func() {
		s.t.Helper()
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("run: %v", err)
		}
	}
}

// fates are the batches so far.
func (s *stage) fates() []mapping.Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.batches)
}

// pass lets time go by and the mapping do all that it does by then.
func (s *stage) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// wantCounts checks how many messages of a queue are visible and in flight.
func (s *stage) wantCounts(url string, visible, inFlight int) {
	s.t.Helper()
	out, err := s.GetQueueAttributes(queue.GetQueueAttributesInput{QueueURL: url, AttributeNames: []string{"All"}})
	if err != nil {
		s.t.Fatal(err)
	}
	got := [2]string{out.Attributes["ApproximateNumberOfMessages"], out.Attributes["ApproximateNumberOfMessagesNotVisible"]}
	if want := [2]string{fmt.Sprint(visible), fmt.Sprint(inFlight)}; got != want {
		s.t.Fatalf("visible, in flight = %v, want %v", got, want)
	}
}

// seen keeps the bodies of each event that a function got.
type seen struct {
	mu     sync.Mutex
	events []string
}

func (s *seen) add(e events.SQSEvent) {
	var bodies []string
	for _, r := range e.Records {
		bodies = append(bodies, r.Body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, strings.Join(bodies, " "))
}

func (s *seen) want(t *testing.T, events ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.events, events) {
		t.Fatalf("events = %q, want %q", s.events, events)
	}
}

// failing answers that the messages with these bodies failed.
func failing(e events.SQSEvent, bodies ...string) string {
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for _, r := range e.Records {
		if slices.Contains(bodies, r.Body) {
			response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: r.MessageId})
		}
	}
	doc, _ := json.Marshal(response)
	return string(doc)
}
