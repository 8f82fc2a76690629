package queue

import (
	"encoding/base64"
	"errors"
	"strings"
	"time"

	engine "github.com/singleeffect/once/shared/intenttest/queue"
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
	q, err := s.queue(in.QueueURL)
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
	q, err := s.queue(in.QueueURL)
	if err != nil {
		return BatchOutput{}, err
	}
	return doneEntries(in.Entries, func(e DeleteMessageBatchEntry) string { return e.ID },
		func(e DeleteMessageBatchEntry) error { return q.delete(e.ReceiptHandle, now) })
}

func (q *queue) delete(handle string, now time.Time) error {
	theirs, err := q.decodeHandle(handle)
	if err != nil {
		return err
	}
	if _, err := q.Delete(now, theirs); err != nil {
		return errExpired(handle)
	}
	q.signal()
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
	q, err := s.queue(in.QueueURL)
	if err != nil {
		return err
	}
	return q.changeVisibility(in.ReceiptHandle, in.VisibilityTimeout, s.hidden, now)
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
	q, err := s.queue(in.QueueURL)
	if err != nil {
		return BatchOutput{}, err
	}
	return doneEntries(in.Entries, func(e ChangeMessageVisibilityBatchEntry) string { return e.ID },
		func(e ChangeMessageVisibilityBatchEntry) error {
			return q.changeVisibility(e.ReceiptHandle, e.VisibilityTimeout, s.hidden, now)
		})
}

func (q *queue) changeVisibility(handle string, timeout *int, most time.Duration, now time.Time) error {
	if timeout == nil {
		return refuse(missingParameter, "The request must contain the parameter VisibilityTimeout.")
	}
	if err := checkVisibility(*timeout); err != nil {
		return err
	}
	theirs, err := q.decodeHandle(handle)
	if err != nil {
		return err
	}
	_, err = q.ChangeVisibility(now, theirs, min(time.Duration(*timeout)*time.Second, most))
	switch {
	case errors.Is(err, engine.ErrGone):
		return invalidValue(handle, "ReceiptHandle", "Message does not exist or is not available for visibility timeout change.")
	case errors.Is(err, engine.ErrTooLong):
		return invalidValue(*timeout, "VisibilityTimeout", "Total VisibilityTimeout for the message is beyond the limit [43200 seconds]")
	case err != nil:
		return errExpired(handle)
	}
	q.signal()
	return nil
}

func errExpired(handle string) *Error {
	return invalidValue(handle, "ReceiptHandle", "The receipt handle has expired.")
}

func checkVisibility(timeout int) error {
	if timeout < 0 || timeout > seconds(engine.MaxVisibility) {
		return invalidValue(timeout, "VisibilityTimeout", "Must be between 0 and 43200.")
	}
	return nil
}

// encodeHandle is a handle of the engine with the queue that it is of, opaque to callers as AWS's is.
func (q *queue) encodeHandle(handle string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(q.name + " " + handle))
}

// decodeHandle refuses a handle that this queue did not give.
func (q *queue) decodeHandle(handle string) (string, error) {
	if handle == "" {
		return "", refuse(missingParameter, "The request must contain the parameter ReceiptHandle.")
	}
	text, err := base64.RawURLEncoding.DecodeString(handle)
	if name, theirs, ok := strings.Cut(string(text), " "); err == nil && ok && name == q.name {
		return theirs, nil
	}
	return "", refuse(receiptHandleIsInvalid, "The input receipt handle %q is not a valid receipt handle.", handle)
}
