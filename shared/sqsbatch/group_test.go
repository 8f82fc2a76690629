package sqsbatch_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// ordered is a rig on a FIFO queue whose dead-letter queue refuses the messages named.
// A message with the key "bad" is in doubt, one with "away" fails.
func ordered(t *testing.T, refused ...string) *rig {
	t.Helper()
	r := newRig(t, func(c *sqsbatch.Config) {
		c.Concurrency, c.QueueURL, c.DeadLetterURL = 1, queueURL+".fifo", deadLetterURL+".fifo"
	})
	r.hand.do = func(_ context.Context, d intent.Delivery) (intent.Outcome, error) {
		switch d.Key {
		case "bad":
			return intent.Outcome{Kind: intent.InDoubt, Reason: "connection reset"}, nil
		case "away":
			return intent.Outcome{}, errors.New("store is away")
		}
		return executed, nil
	}
	r.queue.accept = func(_ context.Context, in *sqs.SendMessageInput) error {
		for _, id := range refused {
			if *in.MessageDeduplicationId == id {
				return errors.New("queue is away")
			}
		}
		return nil
	}
	return r
}

// What is in quarantine holds up nothing; what is not stops its group, so that
// nothing overtakes it, into its queue or out of it.
func TestC14QuarantineInGroups(t *testing.T) {
	t.Parallel()
	poison := func(id, group string) events.SQSMessage { return grouped(message(id, "poison"), group) }
	ask := func(id, key, group string) events.SQSMessage { return grouped(asking(id, key), group) }
	for name, tt := range map[string]struct {
		messages          []events.SQSMessage
		refused           []string
		listed, run, sent []string
	}{
		"poison first":             {messages: []events.SQSMessage{poison("A1", "A"), ask("A2", "a2", "A"), ask("B1", "b1", "B")}, run: []string{"a2", "b1"}, sent: []string{"A1"}},
		"poison between":           {messages: []events.SQSMessage{ask("A1", "a1", "A"), poison("A2", "A"), ask("A3", "a3", "A")}, run: []string{"a1", "a3"}, sent: []string{"A2"}},
		"in doubt":                 {messages: []events.SQSMessage{ask("A1", "bad", "A"), ask("A2", "a2", "A"), ask("B1", "b1", "B")}, run: []string{"bad", "a2", "b1"}, sent: []string{"A1"}},
		"all of them":              {messages: []events.SQSMessage{poison("A1", "A"), ask("A2", "bad", "A"), poison("A3", "A"), poison("B1", "B")}, run: []string{"bad"}, sent: []string{"A1", "A2", "A3", "B1"}},
		"refused":                  {messages: []events.SQSMessage{poison("A1", "A"), ask("A2", "a2", "A"), ask("B1", "b1", "B")}, refused: []string{"A1"}, listed: []string{"A1", "A2"}, run: []string{"b1"}},
		"doubt refused":            {messages: []events.SQSMessage{ask("A1", "bad", "A"), ask("A2", "a2", "A"), ask("B1", "b1", "B")}, refused: []string{"A1"}, listed: []string{"A1", "A2"}, run: []string{"bad", "b1"}},
		"poison behind a refused":  {messages: []events.SQSMessage{poison("A1", "A"), poison("A2", "A"), poison("B1", "B")}, refused: []string{"A1"}, listed: []string{"A1", "A2"}, sent: []string{"B1"}},
		"poison behind a failure":  {messages: []events.SQSMessage{ask("A1", "away", "A"), poison("A2", "A"), ask("A3", "bad", "A"), ask("B1", "b1", "B")}, listed: []string{"A1", "A2", "A3"}, run: []string{"away", "b1"}},
		"failure behind poison":    {messages: []events.SQSMessage{poison("A1", "A"), ask("A2", "away", "A"), ask("A3", "a3", "A")}, listed: []string{"A2", "A3"}, run: []string{"away"}, sent: []string{"A1"}},
		"one intent, one refused":  {messages: []events.SQSMessage{ask("A1", "bad", "A"), ask("A2", "bad", "A"), ask("A3", "a3", "A")}, refused: []string{"A2"}, listed: []string{"A2", "A3"}, run: []string{"bad"}, sent: []string{"A1"}},
		"one message twice":        {messages: []events.SQSMessage{poison("A1", "A"), poison("A1", "A"), ask("A2", "a2", "A")}, run: []string{"a2"}, sent: []string{"A1"}},
		"two keys in one":          {messages: []events.SQSMessage{grouped(carrying(asking("A1", "j"), text("k")), "A"), ask("A2", "a2", "A")}, run: []string{"a2"}, sent: []string{"A1"}},
		"two keys in one, refused": {messages: []events.SQSMessage{grouped(carrying(asking("A1", "j"), text("k")), "A"), ask("A2", "a2", "A")}, refused: []string{"A1"}, listed: []string{"A1", "A2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := ordered(t, tt.refused...)
			wantIDs(t, "listed", r.handle(tt.messages...), tt.listed...)
			wantIDs(t, "run", r.hand.keys(), tt.run...)
			var sent []string
			for _, in := range r.queue.taken() {
				sent = append(sent, *in.MessageDeduplicationId)
			}
			wantIDs(t, "sent", sent, tt.sent...)
			for _, in := range r.queue.taken() {
				if group := (*in.MessageDeduplicationId)[:1]; *in.MessageGroupId != group {
					t.Errorf("%s went to group %s", *in.MessageDeduplicationId, *in.MessageGroupId)
				}
			}
		})
	}
}

// The next invocation takes up where order stands: what was refused first goes first.
func TestC14QuarantineIsTriedAgain(t *testing.T) {
	t.Parallel()
	messages := []events.SQSMessage{grouped(message("A1", "poison"), "A"), grouped(asking("A2", "a2"), "A"), grouped(message("A3", "poison"), "A")}
	r := ordered(t, "A1")
	wantIDs(t, "listed", r.handle(messages...), "A1", "A2", "A3")
	if line := r.log.about(t, "A3"); line["error"] != "payload is not JSON" {
		t.Errorf("got log line %v", line)
	}
	r.queue.accept = nil
	wantIDs(t, "listed then", r.handle(messages...))
	wantIDs(t, "run", r.hand.keys(), "a2")
	var sent []string
	for _, in := range r.queue.taken() {
		sent = append(sent, *in.MessageDeduplicationId)
	}
	wantIDs(t, "sent", sent, "A1", "A3")
}
