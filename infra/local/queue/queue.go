package queue

import (
	"time"

	engine "github.com/singleeffect/once/shared/intenttest/queue"
)

// queue is one queue: what it was created with, and the engine that has its messages.
type queue struct {
	*engine.Queue[content]
	name    string
	attrs   attributes
	created time.Time
	purged  time.Time

	// changed is closed, and replaced, whenever a message may have become receivable other than by time alone.
	changed chan struct{}
}

// content is what a sender says in a message.
type content struct {
	body       string
	attributes map[string]Attribute
}

func (s *Service) newQueue(name string, a attributes, now time.Time) *queue {
	q := &queue{name: name, attrs: a, created: now, changed: make(chan struct{})}
	c := engine.Config[content]{
		Name: q.arn(), FIFO: a.fifo, DedupByGroup: a.dedupScope == scopeGroup,
		Visibility: a.visibility, Delay: a.delay, Retention: a.retention, NewID: s.newID,
	}
	if a.redrive != nil {
		c.DeadLetters, c.MaxReceives = s.queueByARN(a.redrive.Target).Queue, a.redrive.Max
	}
	q.Queue = engine.New(c)
	return q
}

func (q *queue) arn() string { return arnPrefix + q.name }

// signal wakes the receives that wait on the queue.
func (q *queue) signal() {
	close(q.changed)
	q.changed = make(chan struct{})
}
