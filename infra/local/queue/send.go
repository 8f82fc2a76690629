package queue

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	engine "github.com/singleeffect/once/shared/intenttest/queue"
)

const (
	maxSize  = 1 << 20 // bytes of a message's body and attributes, and of a whole batch of them
	maxDelay = 15 * time.Minute
)

// Outgoing is a message to send.
type Outgoing struct {
	// MessageBody is 1 byte to 1 MiB, attributes included, of the characters that XML 1.0 allows.
	MessageBody string
	// DelaySeconds hides the message at first: 0 to 900 s. Defaults to the queue's. Not for FIFO queues.
	DelaySeconds *int `json:",omitempty"`
	// MessageAttributes are at most 10.
	MessageAttributes map[string]Attribute `json:",omitempty"`
	// MessageGroupID is required in a FIFO queue; a standard queue hands it through.
	MessageGroupID string `json:"MessageGroupId,omitempty"`
	// MessageDeduplicationID is for FIFO queues. Defaults to the body's SHA-256 where ContentBasedDeduplication is on.
	MessageDeduplicationID string `json:"MessageDeduplicationId,omitempty"`
}

// SendMessageInput is the request of SendMessage.
type SendMessageInput struct {
	QueueURL string `json:"QueueUrl"`
	Outgoing
}

// SendMessageOutput is the answer of SendMessage.
type SendMessageOutput struct {
	MessageID              string `json:"MessageId"`
	MD5OfMessageBody       string
	MD5OfMessageAttributes string `json:",omitempty"`
	SequenceNumber         string `json:",omitempty"` // FIFO only
}

// SendMessage enqueues a message. A FIFO queue that has accepted the same deduplication id within 5 minutes enqueues
// nothing and gives the answer of the first.
func (s *Service) SendMessage(in SendMessageInput) (SendMessageOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	q, err := s.queue(in.QueueURL)
	if err != nil {
		return SendMessageOutput{}, err
	}
	return s.send(q, in.Outgoing, now)
}

// SendMessageBatchEntry is one message of a batch; ID is the caller's name for it.
type SendMessageBatchEntry struct {
	ID string `json:"Id"`
	Outgoing
}

// SendMessageBatchInput is the request of SendMessageBatch: 1 to 10 entries, together at most 1 MiB.
type SendMessageBatchInput struct {
	QueueURL string `json:"QueueUrl"`
	Entries  []SendMessageBatchEntry
}

// SendMessageBatchResult is the answer to one entry.
type SendMessageBatchResult struct {
	ID string `json:"Id"`
	SendMessageOutput
}

// SendMessageBatchOutput is the answer of SendMessageBatch.
type SendMessageBatchOutput struct {
	Successful []SendMessageBatchResult
	Failed     []BatchError
}

// SendMessageBatch sends each entry for itself: one that is refused is listed as failed and stops no other.
func (s *Service) SendMessageBatch(in SendMessageBatchInput) (SendMessageBatchOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	q, err := s.queue(in.QueueURL)
	if err != nil {
		return SendMessageBatchOutput{}, err
	}
	var out SendMessageBatchOutput
	total := 0
	for _, e := range in.Entries {
		total += e.size()
	}
	if total > maxSize {
		return out, refuse(batchRequestTooLong, "Batch requests cannot be longer than %d bytes. You have sent %d bytes.", maxSize, total)
	}
	out.Failed, err = eachEntry(in.Entries, func(e SendMessageBatchEntry) string { return e.ID }, func(e SendMessageBatchEntry) error {
		sent, err := s.send(q, e.Outgoing, now)
		if err == nil {
			out.Successful = append(out.Successful, SendMessageBatchResult{ID: e.ID, SendMessageOutput: sent})
		}
		return err
	})
	return out, err
}

func (s *Service) send(q *queue, o Outgoing, now time.Time) (SendMessageOutput, error) {
	if err := o.check(q.attrs); err != nil {
		return SendMessageOutput{}, err
	}
	out := engine.Outgoing[content]{
		Body: content{o.MessageBody, maps.Clone(o.MessageAttributes)}, Group: o.MessageGroupID, Dedup: o.MessageDeduplicationID,
	}
	if o.DelaySeconds != nil && !q.attrs.fifo {
		out.Delay = new(time.Duration(*o.DelaySeconds) * time.Second)
	}
	if q.attrs.fifo && out.Dedup == "" {
		sum := sha256.Sum256([]byte(o.MessageBody))
		out.Dedup = hex.EncodeToString(sum[:])
	}
	m, _ := q.Send(now, out)
	q.signal()
	return SendMessageOutput{
		MessageID:              m.ID,
		MD5OfMessageBody:       md5OfBody(o.MessageBody),
		MD5OfMessageAttributes: md5OfAttributes(o.MessageAttributes),
		SequenceNumber:         q.sequenceNumber(m),
	}, nil
}

func (o Outgoing) check(a attributes) error {
	if o.MessageBody == "" {
		return refuse(missingParameter, "The request must contain the parameter MessageBody.")
	}
	if err := checkText(o.MessageBody); err != nil {
		return err
	}
	if err := checkAttributes(o.MessageAttributes); err != nil {
		return err
	}
	if o.size() > maxSize {
		return refuse(invalidParameterValue, "One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", maxSize)
	}
	if d := o.DelaySeconds; d != nil && (*d < 0 || *d > seconds(maxDelay)) {
		return invalidValue(*d, "DelaySeconds", "Must be between 0 and 900, if provided.")
	}
	if err := checkToken("MessageGroupId", o.MessageGroupID); err != nil {
		return err
	}
	if err := checkToken("MessageDeduplicationId", o.MessageDeduplicationID); err != nil {
		return err
	}
	const wrongType = "The request include parameter that is not valid for this queue type."
	switch {
	case !a.fifo && o.MessageDeduplicationID != "":
		return invalidValue(o.MessageDeduplicationID, "MessageDeduplicationId", wrongType)
	case !a.fifo:
		return nil
	case o.DelaySeconds != nil && *o.DelaySeconds != 0:
		return invalidValue(*o.DelaySeconds, "DelaySeconds", wrongType)
	case o.MessageGroupID == "":
		return refuse(missingParameter, "The request must contain the parameter MessageGroupId.")
	case o.MessageDeduplicationID == "" && !a.contentDedup:
		return refuse(invalidParameterValue,
			"The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly")
	}
	return nil
}

func (o Outgoing) size() int {
	n := len(o.MessageBody)
	for name, a := range o.MessageAttributes {
		n += len(name) + a.size()
	}
	return n
}

// checkText refuses what XML 1.0 cannot carry, which is what SQS refuses (developer guide, "Message quotas").
func checkText(text string) error {
	valid := utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF
	})
	if !valid {
		return refuse(invalidMessageContents,
			"Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF")
	}
	return nil
}

// checkToken checks a group or deduplication id: up to 128 letters, digits and ASCII punctuation.
func checkToken(parameter, token string) error {
	if len(token) > 128 || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return invalidValue(token, parameter,
			parameter+" can only include alphanumeric and punctuation characters. 1 to 128 in length.")
	}
	return nil
}

// sequenceNumber is 20 digits, so that its text sorts as it counts. A standard queue has none.
func (q *queue) sequenceNumber(m engine.Message[content]) string {
	if !q.attrs.fifo {
		return ""
	}
	return fmt.Sprintf("%020d", m.Sequence)
}
