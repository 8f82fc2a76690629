package queue

import (
	"slices"
	"time"
)

// bury moves a message to the dead-letter queue if this queue has delivered it as often as it may.
//
// It keeps its id and its count of receives. (The latter is documented nowhere; localstack/localstack#10425 made theirs go on as AWS's
// does.) What it was received elsewhere does not count here (localstack/localstack#5225). A standard queue keeps the time at which the
// message was first sent, so that its retention goes on; a FIFO queue starts anew (guide: "Setting-up dead-letter queue
// retention"). There the message id becomes the deduplication id (guide: "Learn how to configure a dead-letter queue redrive").
func (q *Queue[B]) bury(now time.Time, e *entry[B]) (m Message[B], spent bool) {
	dead := q.config.DeadLetters
	if dead == nil || e.Receives-e.elsewhere < q.config.MaxReceives {
		return m, false
	}
	q.remove(e)
	m = e.Message
	m.Source = q.config.Name
	if q.config.FIFO {
		m.Sent, m.Dedup = now, m.ID
	}
	return dead.add(now, m, 0), true
}

// Redrive moves what can be received to other queues, in order: place says where a message goes, given the id that it gets, and with
// which body. The redrive ends at a message for which that is nowhere. It returns how many were moved, of how many.
//
// A message that is moved is a new one: new id, sent now, never received (guide: "Learn how to configure a dead-letter queue redrive").
// Its group and its deduplication id stay; the latter is not held against it.
func (q *Queue[B]) Redrive(now time.Time, place func(m Message[B], id string) (*Queue[B], B)) (moved, of int) {
	q.pass(now)
	ready := q.receivable()
	for _, e := range ready {
		again := Message[B]{ID: q.config.NewID(), Group: e.Group, Dedup: e.Dedup, Sent: now}
		to, body := place(e.Message, again.ID)
		if to == nil {
			break
		}
		again.Body = body
		q.remove(e)
		to.add(now, again, to.config.Delay)
		moved++
	}
	return moved, len(ready)
}

// receivable is what receives could return by now if they returned all, in order.
func (q *Queue[B]) receivable() []*entry[B] {
	var all []*entry[B]
	for _, first := range q.ready.items {
		run := []*entry[B]{first}
		if q.config.FIFO {
			run = q.groups[first.Group].entries
		}
		for _, e := range run {
			if e.heap == q.hidden {
				break // it is delayed
			}
			all = append(all, e)
		}
	}
	slices.SortFunc(all, inOrder)
	return all
}
