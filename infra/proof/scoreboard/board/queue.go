package board

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/infra/proof/scoreboard/function"
	"github.com/singleeffect/once/shared/intenttest/queue"
)

// visibility is the queue's timeout. It passes by a clock of the queue's own, when a case says so or nothing else is left to do.
const visibility = 6 * timeout

// message is what is in a message, and how the queue did with it.
type message struct {
	events.SQSMessage
	deliveries   int
	acknowledged bool // since its last delivery
}

type batch []queue.Delivery[*message]

func (a *arena) newQueue() *queue.Queue[*message] {
	id := func() string { return fmt.Sprintf("message-%d", len(a.messages)+1) }
	return queue.New(queue.Config[*message]{
		Visibility: visibility, MaxReceives: receives, DeadLetters: queue.New(queue.Config[*message]{NewID: id}), NewID: id,
		Choose: func(c queue.Choice, _ string, _ int) int {
			if c == queue.ComesBack && a.c.comesBack {
				return 1
			}
			return 0
		},
	})
}

// send sends a message: intent is its name at the far side, key the key as JSON. Two messages of one intent are alike but for their id.
func (a *arena) send(queueName, intent, key string) *message {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := &message{SQSMessage: events.SQSMessage{
		EventSource:    "aws:sqs",
		EventSourceARN: "arn:aws:sqs:eu-central-1:000000000000:" + queueName,
		AWSRegion:      "eu-central-1",
		Body:           fmt.Sprintf(`{"idempotency_key":%s,"user_id":"7","amount_cents":%d,"intent":%q}`, key, 1000+int(intent[0]), intent),
		Attributes:     map[string]string{"SentTimestamp": strconv.FormatInt(time.Now().UnixMilli(), 10)},
	}}
	sent, _ := a.queue.Send(a.clock, queue.Outgoing[*message]{Body: m})
	m.MessageId = sent.ID
	a.messages = append(a.messages, m)
	return m
}

// drain delivers what is in the queue until nothing is: all is acknowledged or in the dead-letter queue. A message that came back is
// not delivered while a lease runs: its visibility timeout is longer than that.
func (a *arena) drain(ctx context.Context, p *function.Process) error {
	for {
		got, out := a.receive()
		switch {
		case len(got) > 0:
			if err := a.deliver(ctx, p, got); err != nil {
				return err
			}
		case out:
			if err := a.lapse(ctx); err != nil {
				return err
			}
			a.pass()
		default:
			return nil
		}
	}
}

// pass lets the visibility timeouts of what is out end.
func (a *arena) pass() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clock = a.clock.Add(visibility)
}

// receive is a batch, and whether more is out.
func (a *arena) receive() (got batch, out bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	got, _ = a.queue.Receive(a.clock, 10, nil)
	for _, d := range got {
		d.Body.deliveries, d.Body.acknowledged = d.Receives, false
	}
	return got, a.queue.Counts(a.clock).InFlight > 0
}

// deliver is one invocation. What it does not answer for stays in the queue; only what is wrong with the machinery is an error.
func (a *arena) deliver(ctx context.Context, p *function.Process, got batch) error {
	var event events.SQSEvent
	a.mu.Lock()
	for _, d := range got {
		record := d.Body.SQSMessage
		record.ReceiptHandle = d.Handle
		record.Attributes["ApproximateReceiveCount"] = strconv.Itoa(d.Receives)
		event.Records = append(event.Records, record)
	}
	encoded, err := json.Marshal(event)
	a.mu.Unlock()
	if err != nil {
		return err
	}
	answered, err := p.Invoke(ctx, encoded, timeout)
	if failed := (*function.Error)(nil); errors.As(err, &failed) || errors.Is(err, function.ErrGone) {
		return nil // the whole batch comes again
	}
	if err != nil {
		return err
	}
	var response events.SQSEventResponse
	if err := json.Unmarshal(answered, &response); err != nil {
		return fmt.Errorf("read the function's answer %q: %w", answered, err)
	}
	listed := map[string]bool{}
	for _, failure := range response.BatchItemFailures {
		listed[failure.ItemIdentifier] = true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range got {
		if listed[d.ID] {
			continue
		}
		if deleted, _ := a.queue.Delete(a.clock, d.Handle); deleted { // a standard queue refuses none
			d.Body.acknowledged = true
		}
	}
	return nil
}

// deliverAside delivers what is in the queue while the case goes on.
func (a *arena) deliverAside(ctx context.Context, p *function.Process) (ended <-chan error) {
	done := make(chan error, 1)
	got, _ := a.receive()
	go func() { done <- a.deliver(ctx, p, got) }()
	return done
}
