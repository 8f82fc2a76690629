package queue

import "time"

// Ready reports whether a receive would find something.
func (q *Queue[B]) Ready(now time.Time) bool {
	return !q.Full(now) && q.ready.Len() > 0
}

// Full reports whether as many messages are in flight as can be. A receive then returns nothing. Of a standard queue that is SQS's
// answer to long polling; to short polling it is the error OverLimit (guide: "standard queue quotas").
func (q *Queue[B]) Full(now time.Time) bool {
	q.pass(now)
	return q.inFlight >= MaxInFlight
}

// Next is when a hidden message is the next to be visible; the zero time: none will be.
func (q *Queue[B]) Next(now time.Time) time.Time {
	q.pass(now)
	if q.hidden.Len() == 0 {
		return time.Time{}
	}
	return q.hidden.items[0].visibleAt
}

// Counts are how many messages a queue has, by their state, and how old the oldest is.
type Counts struct {
	Visible, InFlight, Delayed int

	// Oldest is the age that CloudWatch has as ApproximateAgeOfOldestMessage: since the message came to this queue, so of a
	// dead-letter queue since it was moved there. A standard queue's that was received three times here does not count. (Guide:
	// "Available CloudWatch metrics".)
	Oldest time.Duration
}

// Counts counts.
func (q *Queue[B]) Counts(now time.Time) (c Counts) {
	q.pass(now)
	for _, e := range q.messages {
		switch {
		case e.deleted:
			continue
		case e.inFlight:
			c.InFlight++
		case e.heap == q.hidden:
			c.Delayed++
		default:
			c.Visible++
		}
		if q.config.FIFO || e.Receives-e.elsewhere < poison {
			c.Oldest = max(c.Oldest, now.Sub(e.arrived))
		}
	}
	return c
}

// Peek is what lies in the queue, in order, and counts as no receive. SQS has nothing like it.
func (q *Queue[B]) Peek(now time.Time) (messages []Message[B]) {
	q.pass(now)
	for _, e := range q.all() {
		if !e.deleted {
			messages = append(messages, e.Message)
		}
	}
	return messages
}

// Purge drops all messages. What a FIFO queue knows of deduplication ids stays.
func (q *Queue[B]) Purge() {
	for _, e := range q.all() {
		q.remove(e)
	}
}
