package queue

import (
	"maps"
	"slices"
	"time"
)

// queue is one queue: what it was created with, and its messages in the order they came in.
type queue struct {
	name    string
	attrs   attributes
	created time.Time
	purged  time.Time

	// messages are in the order of sending. A message keeps its place while it is in flight: a FIFO group needs
	// that, and a standard queue is free to.
	messages []*message

	sequence uint64                    // of the last message of a FIFO queue
	recent   map[deduplication]receipt // FIFO only

	// changed is closed, and replaced, whenever a message may have become receivable other than by time alone.
	changed chan struct{}
}

// deduplication is by what a FIFO queue knows a duplicate: an id, and the group where the queue's scope is that.
type deduplication struct{ group, id string }

func (q *queue) deduplication(m *message) deduplication {
	if q.attrs.dedupScope == scopeGroup {
		return deduplication{m.group, m.dedup}
	}
	return deduplication{"", m.dedup}
}

// receipt is what a FIFO queue remembers of an accepted message, to give a duplicate the same answer.
type receipt struct {
	id, sequence string
	at           time.Time
}

// message is one message in one queue.
type message struct {
	id         string
	body       string
	attributes map[string]Attribute

	group, dedup, sequence string

	sent          time.Time // when it was enqueued; its retention counts from here
	visibleAt     time.Time // hidden until then: by a delay, or by the visibility timeout of its last delivery
	received      int       // deliveries so far
	elsewhere     int       // those of them in queues it was moved from
	firstReceived time.Time
	lastReceived  time.Time
	deadFrom      string // ARN of the queue whose redrive policy brought it here
}

func (m *message) hidden(now time.Time) bool   { return m.visibleAt.After(now) }
func (m *message) inFlight(now time.Time) bool { return m.received > 0 && m.hidden(now) }

func (q *queue) arn() string { return arnPrefix + q.name }

// signal wakes the receives that wait on the queue.
func (q *queue) signal() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// expire forgets what its time is over for: messages past their retention, wherever in their lives they are, and
// deduplication ids past theirs.
func (q *queue) expire(now time.Time) {
	maps.DeleteFunc(q.recent, func(_ deduplication, r receipt) bool { return now.Sub(r.at) >= dedupInterval })
	q.messages = slices.DeleteFunc(q.messages, func(m *message) bool {
		return now.Sub(m.sent) >= q.attrs.retention
	})
}

// ready returns the messages that a receive may look at now, in order. In a FIFO queue a group is closed while one of
// its messages is in flight, and behind a message that is still delayed: nothing overtakes inside a group.
func (q *queue) ready(now time.Time) []*message {
	closed := make(map[string]bool)
	if q.attrs.fifo {
		for _, m := range q.messages {
			if m.inFlight(now) {
				closed[m.group] = true
			}
		}
	}
	var ready []*message
	for _, m := range q.messages {
		switch {
		case q.attrs.fifo && closed[m.group]:
		case m.hidden(now):
			closed[m.group] = true
		default:
			ready = append(ready, m)
		}
	}
	return ready
}

// nextVisible is when the next hidden message shows itself, or the zero time.
func (q *queue) nextVisible(now time.Time) time.Time {
	var next time.Time
	for _, m := range q.messages {
		if m.hidden(now) && (next.IsZero() || m.visibleAt.Before(next)) {
			next = m.visibleAt
		}
	}
	return next
}

// add enqueues a message that the queue has not had before. In a FIFO queue it also takes the next sequence number
// and makes the deduplication id known.
func (q *queue) add(m *message, now time.Time) {
	if q.attrs.fifo {
		q.sequence++
		m.sequence = sequenceNumber(q.sequence)
		q.recent[q.deduplication(m)] = receipt{id: m.id, sequence: m.sequence, at: now}
	}
	q.messages = append(q.messages, m)
	q.signal()
}

// remove takes a message out; its group, if it has one, may go on.
func (q *queue) remove(m *message) {
	q.messages = slices.DeleteFunc(q.messages, func(o *message) bool { return o == m })
	q.signal()
}
