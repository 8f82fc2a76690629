package demo

import (
	crand "crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// action is one intent. No other of its operation has its user, account or order,
// so that its effects can be counted where they happen.
type action struct {
	operation   *operation
	user, order string    // the account has the user's number
	items       int       // in the user's cart at the checkout
	happened    time.Time // the checkout and the shipment
	made        time.Time // when the producer drew the key
	refusable   bool      // the business says no to it
	body        string
}

// key names the action's intent; the zero Key for a natural one.
func (a action) key() intent.Key {
	if a.operation.key == nil {
		return intent.Key{}
	}
	return intent.Key{Scope: scope, Operation: a.operation.name, ID: a.operation.key(a)}
}

const (
	// A cart of the crowd, and one that outlasts two workers that are killed over
	// it: a worker deletes a few items at once.
	cartItems       = 3
	lessonCartItems = 12
)

// lessons are the intents of the lesson, with its own values.
func lessons(now time.Time) ([]action, error) {
	var all []action
	for _, o := range operations {
		a, err := action{operation: o, user: "7", order: "8821", items: lessonCartItems}.at(now)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// crowd makes n intents of each operation, none of them the lesson's.
func crowd(n int, now time.Time) ([]action, error) {
	var all []action
	for i := range n {
		for _, o := range operations {
			a, err := action{operation: o, user: fmt.Sprint(canary, 1001+i), order: fmt.Sprint(canary, 10_001+i), items: cartItems}.at(now)
			if err != nil {
				return nil, err
			}
			all = append(all, a)
		}
	}
	return all, nil
}

func (a action) at(now time.Time) (action, error) {
	a.made = now
	a.happened = now.Add(-time.Hour).UTC().Truncate(time.Second)
	fields := maps.Clone(a.operation.body(a))
	if a.operation.key != nil {
		fields["idempotency_key"] = a.key().ID
	}
	body, err := json.Marshal(fields)
	a.body = string(body)
	return a, err
}

// send is one time that a producer sends a message.
type send struct {
	action
	// late: longer after the first time than the five minutes for which a FIFO
	// queue folds what has the same deduplication id.
	late bool
}

// input is the call that sends the message.
func (s send) input(queueURL string) (*sqs.SendMessageInput, error) {
	if s.operation.natural() {
		return &sqs.SendMessageInput{QueueUrl: &queueURL, MessageBody: &s.body}, nil
	}
	m := sqsbatch.Message{Key: s.key(), Time: s.made, Body: []byte(s.body)}
	if s.operation.group != nil {
		m.Group = s.operation.group(s.action)
	}
	in, err := m.Input(queueURL)
	if err == nil && in.MessageDeduplicationId != nil && s.late {
		// A fresh id stands for the five minutes, which the run does not wait. A
		// producer's own has nothing fresh: the queue has forgotten it by then.
		in.MessageDeduplicationId = aws.String(crand.Text())
	}
	return in, err
}

// sends is the order in which a producer that retries sends the actions: each one
// to three times, mixed, half of the retries late.
func sends(all []action, random *rand.Rand) []send {
	var out []send
	for _, a := range all {
		out = append(out, send{action: a})
		for range random.IntN(3) {
			out = append(out, send{action: a, late: random.IntN(2) == 0})
		}
	}
	random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
