package queue

import (
	"context"
	"slices"
	"strconv"
	"time"
)

const (
	maxReceive    = 10
	maxVisibility = 12 * time.Hour
	maxWait       = 20 * time.Second
)

// ReceiveMessageInput is the request of ReceiveMessage.
type ReceiveMessageInput struct {
	QueueURL string `json:"QueueUrl"`
	// MaxNumberOfMessages is 1 to 10. Defaults to 1.
	MaxNumberOfMessages int `json:",omitempty"`
	// VisibilityTimeout is how long others do not see what is received, 0 to 43200 s. Defaults to the queue's.
	VisibilityTimeout *int `json:",omitempty"`
	// WaitTimeSeconds is how long to wait for a first message, 0 to 20 s. Defaults to 0.
	WaitTimeSeconds int `json:",omitempty"`
	// MessageSystemAttributeNames are SenderId, SentTimestamp and ApproximateFirstReceiveTimestamp (epoch ms),
	// ApproximateReceiveCount, MessageGroupId, MessageDeduplicationId, SequenceNumber, DeadLetterQueueSourceArn, or
	// All; a message has those that apply to it. AttributeNames is the older name of the same list. Defaults to none.
	MessageSystemAttributeNames []string `json:",omitempty"`
	AttributeNames              []string `json:",omitempty"`
	// MessageAttributeNames are names, "prefix.*", or "All". Defaults to none.
	MessageAttributeNames []string `json:",omitempty"`
}

// Message is a delivery.
type Message struct {
	MessageID              string `json:"MessageId"`
	ReceiptHandle          string // names this delivery: the next one of the same message has another
	Body                   string
	MD5OfBody              string
	Attributes             map[string]string    `json:",omitempty"`
	MessageAttributes      map[string]Attribute `json:",omitempty"`
	MD5OfMessageAttributes string               `json:",omitempty"` // of the attributes that are here
}

// ReceiveMessageOutput is the answer of ReceiveMessage.
type ReceiveMessageOutput struct {
	Messages []Message `json:",omitempty"`
}

// ReceiveMessage delivers what is receivable, oldest first. If that is nothing it waits as long as it may, and then
// returns no message and no error; ctx ends the wait with its own error, and nothing is delivered then.
//
// A message that has been delivered maxReceiveCount times is moved to the dead-letter queue by the receive that would
// have delivered it again.
func (s *Service) ReceiveMessage(ctx context.Context, in ReceiveMessageInput) (ReceiveMessageOutput, error) {
	if in.MaxNumberOfMessages == 0 {
		in.MaxNumberOfMessages = 1
	}
	if n := in.MaxNumberOfMessages; n < 1 || n > maxReceive {
		return ReceiveMessageOutput{}, invalidValue(n, "MaxNumberOfMessages", "Must be between 1 and 10, if provided.")
	}
	if v := in.VisibilityTimeout; v != nil {
		if err := checkVisibility(*v); err != nil {
			return ReceiveMessageOutput{}, err
		}
	}
	wait := time.Duration(in.WaitTimeSeconds) * time.Second
	if wait < 0 || wait > maxWait {
		return ReceiveMessageOutput{}, invalidValue(in.WaitTimeSeconds, "WaitTimeSeconds", "Must be >= 0 and <= 20, if provided.")
	}
	deadline := s.now().Add(wait)
	for {
		if err := ctx.Err(); err != nil {
			return ReceiveMessageOutput{}, err
		}
		seen, err := s.receive(in)
		if err != nil || len(seen.got) > 0 || !seen.at.Before(deadline) {
			return ReceiveMessageOutput{Messages: seen.got}, err
		}
		until := deadline
		if !seen.next.IsZero() && seen.next.Before(until) {
			until = seen.next
		}
		timer := time.NewTimer(until.Sub(seen.at))
		select {
		case <-ctx.Done():
		case <-seen.changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// look is one look at a queue: what was taken, and when it is worth looking again.
type look struct {
	got     []Message
	at      time.Time
	next    time.Time       // when time alone brings a message; zero: never
	changed <-chan struct{} // closed when something else may have
}

func (s *Service) receive(in ReceiveMessageInput) (look, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := look{at: s.now()}
	q, err := s.queue(in.QueueURL, seen.at)
	if err != nil {
		return look{}, err
	}
	visibility := q.attrs.visibility
	if in.VisibilityTimeout != nil {
		visibility = time.Duration(*in.VisibilityTimeout) * time.Second
	}
	for _, m := range q.ready(seen.at) {
		if len(seen.got) == in.MaxNumberOfMessages {
			break
		}
		if s.bury(q, m, seen.at) {
			continue
		}
		m.received++
		m.lastReceived = seen.at
		m.visibleAt = seen.at.Add(visibility)
		if m.firstReceived.IsZero() {
			m.firstReceived = seen.at
		}
		seen.got = append(seen.got, q.delivery(m, in))
	}
	seen.next, seen.changed = q.nextVisible(seen.at), q.changed
	return seen, nil
}

func (q *queue) delivery(m *message, in ReceiveMessageInput) Message {
	attributes := selected(m.attributes, in.MessageAttributeNames)
	return Message{
		MessageID:              m.id,
		ReceiptHandle:          q.handle(m),
		Body:                   m.body,
		MD5OfBody:              md5OfBody(m.body),
		Attributes:             m.system(slices.Concat(in.MessageSystemAttributeNames, in.AttributeNames)),
		MessageAttributes:      attributes,
		MD5OfMessageAttributes: md5OfAttributes(attributes),
	}
}

// system returns the wanted system attributes that the message has.
func (m *message) system(wanted []string) map[string]string {
	all := map[string]string{
		"SenderId":                 account,
		"SentTimestamp":            strconv.FormatInt(m.sent.UnixMilli(), 10),
		"ApproximateReceiveCount":  strconv.Itoa(m.received),
		"MessageGroupId":           m.group,
		"MessageDeduplicationId":   m.dedup,
		"SequenceNumber":           m.sequence,
		"DeadLetterQueueSourceArn": m.deadFrom,
	}
	if m.received > 0 {
		all["ApproximateFirstReceiveTimestamp"] = strconv.FormatInt(m.firstReceived.UnixMilli(), 10)
	}
	out := make(map[string]string)
	for name, value := range all {
		if value != "" && (slices.Contains(wanted, name) || slices.Contains(wanted, "All")) {
			out[name] = value
		}
	}
	return out
}
