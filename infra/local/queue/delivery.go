package queue

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// DeleteMessageInput is the request of DeleteMessage.
type DeleteMessageInput struct {
	QueueURL      string `json:"QueueUrl"`
	ReceiptHandle string
}

// DeleteMessage acknowledges a delivery. Deleting what is gone already succeeds. A handle that is no longer the
// message's latest succeeds too and deletes nothing, as the API reference says of DeleteMessage; in a FIFO queue a
// handle is refused as expired once its visibility timeout is over.
func (s *Service) DeleteMessage(in DeleteMessageInput) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	q, err := s.queue(in.QueueURL, now)
	if err != nil {
		return err
	}
	return q.delete(in.ReceiptHandle, now)
}

// DeleteMessageBatchEntry is one entry of a batch; ID is the caller's name for it.
type DeleteMessageBatchEntry struct {
	ID            string `json:"Id"`
	ReceiptHandle string
}

// DeleteMessageBatchInput is the request of DeleteMessageBatch: 1 to 10 entries.
type DeleteMessageBatchInput struct {
	QueueURL string `json:"QueueUrl"`
	Entries  []DeleteMessageBatchEntry
}

// DeleteMessageBatch does what DeleteMessage does for each entry; one that is refused stops no other.
func (s *Service) DeleteMessageBatch(in DeleteMessageBatchInput) (BatchOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	q, err := s.queue(in.QueueURL, now)
	if err != nil {
		return BatchOutput{}, err
	}
	return doneEntries(in.Entries, func(e DeleteMessageBatchEntry) string { return e.ID },
		func(e DeleteMessageBatchEntry) error { return q.delete(e.ReceiptHandle, now) })
}

func (q *queue) delete(handle string, now time.Time) error {
	m, latest, err := q.byHandle(handle)
	switch {
	case err != nil:
		return err
	case m == nil:
		return nil
	case q.attrs.fifo && !(latest && m.inFlight(now)):
		return invalidValue(handle, "ReceiptHandle", "The receipt handle has expired.")
	case latest:
		q.remove(m)
	}
	return nil
}

// ChangeMessageVisibilityInput is the request of ChangeMessageVisibility.
type ChangeMessageVisibilityInput struct {
	QueueURL      string `json:"QueueUrl"`
	ReceiptHandle string
	// VisibilityTimeout counts from now, 0 to 43200 s; 0 makes the message visible at once. Required.
	VisibilityTimeout *int
}

// ChangeMessageVisibility moves the end of a delivery's visibility timeout. From the receive on a message cannot stay
// invisible for more than 12 hours in all. A handle that is no longer the message's latest, or whose message is
// visible again, changes nothing and is not refused, except in a FIFO queue.
func (s *Service) ChangeMessageVisibility(in ChangeMessageVisibilityInput) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	q, err := s.queue(in.QueueURL, now)
	if err != nil {
		return err
	}
	return q.changeVisibility(in.ReceiptHandle, in.VisibilityTimeout, now)
}

// ChangeMessageVisibilityBatchEntry is one entry of a batch; ID is the caller's name for it.
type ChangeMessageVisibilityBatchEntry struct {
	ID                string `json:"Id"`
	ReceiptHandle     string
	VisibilityTimeout *int
}

// ChangeMessageVisibilityBatchInput is the request of ChangeMessageVisibilityBatch: 1 to 10 entries.
type ChangeMessageVisibilityBatchInput struct {
	QueueURL string `json:"QueueUrl"`
	Entries  []ChangeMessageVisibilityBatchEntry
}

// ChangeMessageVisibilityBatch does what ChangeMessageVisibility does for each entry; one that is refused stops no
// other.
func (s *Service) ChangeMessageVisibilityBatch(in ChangeMessageVisibilityBatchInput) (BatchOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	q, err := s.queue(in.QueueURL, now)
	if err != nil {
		return BatchOutput{}, err
	}
	return doneEntries(in.Entries, func(e ChangeMessageVisibilityBatchEntry) string { return e.ID },
		func(e ChangeMessageVisibilityBatchEntry) error {
			return q.changeVisibility(e.ReceiptHandle, e.VisibilityTimeout, now)
		})
}

func (q *queue) changeVisibility(handle string, timeout *int, now time.Time) error {
	if timeout == nil {
		return refuse(missingParameter, "The request must contain the parameter VisibilityTimeout.")
	}
	if err := checkVisibility(*timeout); err != nil {
		return err
	}
	m, latest, err := q.byHandle(handle)
	switch {
	case err != nil:
		return err
	case m == nil:
		return invalidValue(handle, "ReceiptHandle", "Message does not exist or is not available for visibility timeout change.")
	case !latest || !m.inFlight(now):
		if q.attrs.fifo {
			return invalidValue(handle, "ReceiptHandle", "The receipt handle has expired.")
		}
		return nil
	}
	until := now.Add(time.Duration(*timeout) * time.Second)
	if until.Sub(m.lastReceived) > maxVisibility {
		return invalidValue(*timeout, "VisibilityTimeout",
			"Total VisibilityTimeout for the message is beyond the limit [43200 seconds]")
	}
	m.visibleAt = until
	q.signal()
	return nil
}

func checkVisibility(timeout int) error {
	if timeout < 0 || timeout > seconds(maxVisibility) {
		return invalidValue(timeout, "VisibilityTimeout", "Must be between 0 and 43200.")
	}
	return nil
}

// handle names the latest delivery of a message: queue, message and the number of the delivery. It is opaque to
// callers, as AWS's is.
func (q *queue) handle(m *message) string {
	return base64.RawURLEncoding.EncodeToString([]byte(q.name + " " + m.id + " " + strconv.Itoa(m.received)))
}

// byHandle finds the message of a receipt handle and whether the handle is of its latest delivery; no message if it
// is gone. A handle that this queue did not give is ReceiptHandleIsInvalid.
func (q *queue) byHandle(handle string) (m *message, latest bool, err error) {
	if handle == "" {
		return nil, false, refuse(missingParameter, "The request must contain the parameter ReceiptHandle.")
	}
	text, decodeErr := base64.RawURLEncoding.DecodeString(handle)
	parts := strings.Split(string(text), " ")
	if decodeErr != nil || len(parts) != 3 || parts[0] != q.name {
		return nil, false, refuse(receiptHandleIsInvalid, "The input receipt handle %q is not a valid receipt handle.", handle)
	}
	for _, m := range q.messages {
		if m.id == parts[1] {
			return m, strconv.Itoa(m.received) == parts[2], nil
		}
	}
	return nil, false, nil
}
