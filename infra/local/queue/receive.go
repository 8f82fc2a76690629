package queue

import (
	"context"
	"slices"
	"strconv"
	"time"

	engine "github.com/singleeffect/once/shared/intenttest/queue"
)

const (
	maxReceive = 10
	maxWait    = 20 * time.Second
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
	q, err := s.queue(in.QueueURL)
	if err != nil {
		return look{}, err
	}
	// Who polls long is told nothing of the limit (developer guide, "standard queue quotas", "FIFO queue quotas").
	if !q.attrs.fifo && in.WaitTimeSeconds == 0 && q.Full(seen.at) {
		return look{}, refuse(overLimit, "Too many messages in flight: the limit is %d.", engine.MaxInFlight)
	}
	var visibility *time.Duration
	if in.VisibilityTimeout != nil {
		visibility = new(time.Duration(*in.VisibilityTimeout) * time.Second)
	}
	got, buried := q.Receive(seen.at, in.MaxNumberOfMessages, visibility)
	if len(buried) > 0 {
		s.queueByARN(q.attrs.redrive.Target).signal()
	}
	for _, d := range got {
		m := q.delivery(d.Message, in)
		m.ReceiptHandle = q.encodeHandle(d.Handle)
		seen.got = append(seen.got, m)
	}
	seen.next, seen.changed = q.Next(seen.at), q.changed
	return seen, nil
}

// delivery is a message as its receiver sees it, but for the receipt handle.
func (q *queue) delivery(m engine.Message[content], in ReceiveMessageInput) Message {
	attributes := selected(m.Body.attributes, in.MessageAttributeNames)
	return Message{
		MessageID:              m.ID,
		Body:                   m.Body.body,
		MD5OfBody:              md5OfBody(m.Body.body),
		Attributes:             q.system(m, slices.Concat(in.MessageSystemAttributeNames, in.AttributeNames)),
		MessageAttributes:      attributes,
		MD5OfMessageAttributes: md5OfAttributes(attributes),
	}
}

// system returns the wanted system attributes that the message has.
func (q *queue) system(m engine.Message[content], wanted []string) map[string]string {
	all := map[string]string{
		"SenderId":                 account,
		"SentTimestamp":            strconv.FormatInt(m.Sent.UnixMilli(), 10),
		"ApproximateReceiveCount":  strconv.Itoa(m.Receives),
		"MessageGroupId":           m.Group,
		"MessageDeduplicationId":   m.Dedup,
		"SequenceNumber":           q.sequenceNumber(m),
		"DeadLetterQueueSourceArn": m.Source,
	}
	if !m.FirstReceived.IsZero() {
		all["ApproximateFirstReceiveTimestamp"] = strconv.FormatInt(m.FirstReceived.UnixMilli(), 10)
	}
	out := make(map[string]string)
	for name, value := range all {
		if value != "" && (slices.Contains(wanted, name) || slices.Contains(wanted, "All")) {
			out[name] = value
		}
	}
	return out
}
