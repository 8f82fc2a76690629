package sim

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/singleeffect/once/shared/intenttest/queue"
)

const (
	// maxReceives and deadRetention are template.yaml's maxReceiveCount, and MessageRetentionPeriod of a dead-letter queue.
	maxReceives   = 100
	deadRetention = 14 * 24 * time.Hour

	// fifoSuffix ends the name of a FIFO queue.
	fifoSuffix = ".fifo"
)

// queues are the function's queue and its dead-letter queue.
type queues struct {
	world      *World
	name       string
	fifo       bool
	live, dead *queue.Queue[letter]
	origins    map[string]*Sent // by every message id that ever was
}

// letter is what is in a message.
type letter struct {
	text       string
	attributes map[string]types.MessageAttributeValue
	of         *Sent
	reason     string // in quarantine
}

type (
	message  = queue.Message[letter]
	delivery = queue.Delivery[letter]
)

func newQueues(w *World, name string, visibility time.Duration) *queues {
	q := &queues{world: w, name: name, fifo: strings.HasSuffix(name, fifoSuffix), origins: map[string]*Sent{}}
	id := func() string { return w.id("m") }
	q.dead = queue.New(queue.Config[letter]{FIFO: q.fifo, Retention: deadRetention, NewID: id})
	q.live = queue.New(queue.Config[letter]{
		FIFO: q.fifo, Visibility: visibility, DeadLetters: q.dead, MaxReceives: maxReceives, NewID: id, Choose: w.choose,
	})
	return q
}

func (w *World) id(kind string) string {
	w.number++
	return fmt.Sprint(kind, "-", w.number)
}

// choose draws what SQS leaves open: its order always, what is unusual while it may happen.
func (w *World) choose(c queue.Choice, id string, n int) int {
	switch c {
	case queue.Next, queue.Fewer:
		return w.Rand.IntN(n)
	case queue.ByOldHandle: // nobody knows
		if w.Rand.IntN(2) == 0 {
			return 0
		}
	default:
		if !w.Unusual() {
			return 0
		}
	}
	w.say("%s %s", id, c)
	return 1
}

// receive takes up to ten messages.
func (q *queues) receive() []delivery {
	got, buried := q.live.Receive(time.Now(), 10, nil)
	for _, m := range buried {
		q.world.say("%s has been received %d times and goes to the dead-letter queue", m.ID, m.Receives)
	}
	return got
}

// delete is an acknowledgement.
func (q *queues) delete(d delivery) {
	if deleted, err := q.live.Delete(time.Now(), d.Handle); !deleted {
		q.world.say("%s is acknowledged by %s, and not deleted: %v", d.ID, d.Handle, err)
	}
}

// redrivenAs is an attribute of ours, by which copies are told apart that SQS gave other ids and nothing else.
const redrivenAs = "Redriven-As"

// redrive moves all that is in the dead-letter queue back.
func (q *queues) redrive() {
	q.dead.Redrive(time.Now(), func(m message, id string) (*queue.Queue[letter], letter) {
		again := letter{text: m.Body.text, attributes: maps.Clone(m.Body.attributes), of: m.Body.of}
		if again.attributes == nil {
			again.attributes = map[string]types.MessageAttributeValue{}
		}
		again.attributes[redrivenAs] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &id}
		q.origins[id] = again.of
		q.world.say("%s is redriven as %s", m.ID, id)
		return q.live, again
	})
}
