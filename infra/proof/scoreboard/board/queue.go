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
)

// message is one message of a queue, as far as the queue knows.
type message struct {
	events.SQSMessage
	deliveries   int
	acknowledged bool
}

// message sends one: intent is its name at the far side, key the key as JSON. Two messages of one intent are alike but for their id.
func (a *arena) message(queue, intent, key string) *message {
	id := fmt.Sprintf("message-%d", len(a.messages)+1)
	m := &message{SQSMessage: events.SQSMessage{
		MessageId:      id,
		ReceiptHandle:  id,
		EventSource:    "aws:sqs",
		EventSourceARN: "arn:aws:sqs:eu-central-1:000000000000:" + queue,
		AWSRegion:      "eu-central-1",
		Body:           fmt.Sprintf(`{"idempotency_key":%s,"user_id":"7","amount_cents":%d,"intent":%q}`, key, 1000+int(intent[0]), intent),
		Attributes:     map[string]string{"SentTimestamp": strconv.FormatInt(time.Now().UnixMilli(), 10)},
	}}
	a.messages = append(a.messages, m)
	return m
}

// drain delivers the messages, together, until all are acknowledged or have been delivered as often as the queue does. A message that
// came back is not delivered while a lease runs: its visibility timeout is longer than that.
func (a *arena) drain(ctx context.Context, p *function.Process, messages ...*message) error {
	for {
		due := a.due(messages)
		if len(due) == 0 {
			return nil
		}
		if due[0].deliveries > 0 {
			if err := a.lapse(ctx); err != nil {
				return err
			}
		}
		if err := a.deliver(ctx, p, due...); err != nil {
			return err
		}
	}
}

func (a *arena) due(messages []*message) (due []*message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range messages {
		if !m.acknowledged && m.deliveries < receives {
			due = append(due, m)
		}
	}
	return due
}

// deliver is one invocation. What it does not answer for stays in the queue; only what is wrong with the machinery is an error.
func (a *arena) deliver(ctx context.Context, p *function.Process, messages ...*message) error {
	var event events.SQSEvent
	a.mu.Lock()
	for _, m := range messages {
		m.deliveries++
		m.Attributes["ApproximateReceiveCount"] = strconv.Itoa(m.deliveries)
		event.Records = append(event.Records, m.SQSMessage)
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
	for _, m := range messages {
		m.acknowledged = m.acknowledged || !listed[m.MessageId]
	}
	return nil
}

// deliverAside delivers while the case goes on.
func (a *arena) deliverAside(ctx context.Context, p *function.Process, m *message) (ended <-chan error) {
	done := make(chan error, 1)
	go func() { done <- a.deliver(ctx, p, m) }()
	return done
}
