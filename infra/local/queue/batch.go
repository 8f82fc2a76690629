package queue

import (
	"errors"
	"regexp"
)

// maxEntries is how many entries a batch request can have.
const maxEntries = 10

var entryID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// BatchError is an entry of a batch that was refused. Code is the code of the query protocol, as AWS has it there.
type BatchError struct {
	ID          string `json:"Id"`
	SenderFault bool
	Code        string
	Message     string
}

// BatchEntryResult is an entry of a batch that was done and has nothing else to tell.
type BatchEntryResult struct {
	ID string `json:"Id"`
}

// BatchOutput is the answer of DeleteMessageBatch and ChangeMessageVisibilityBatch.
type BatchOutput struct {
	Successful []BatchEntryResult
	Failed     []BatchError
}

// eachEntry does every entry of a batch and collects the refusals; the error is one of the request as a whole, and
// then nothing was done.
func eachEntry[E any](entries []E, id func(E) string, do func(E) error) ([]BatchError, error) {
	switch n := len(entries); {
	case n == 0:
		return nil, refuse(emptyBatchRequest, "There should be at least one entry in the request.")
	case n > maxEntries:
		return nil, refuse(tooManyEntriesInBatch, "Maximum number of entries per request are %d. You have sent %d.", maxEntries, n)
	}
	seen := make(map[string]bool)
	for _, e := range entries {
		switch {
		case !entryID.MatchString(id(e)):
			return nil, refuse(invalidBatchEntryID,
				"A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.")
		case seen[id(e)]:
			return nil, refuse(batchEntryIdsNotDistinct, "Id %s repeated.", id(e))
		}
		seen[id(e)] = true
	}
	var failed []BatchError
	for _, e := range entries {
		var refusal *Error
		if err := do(e); errors.As(err, &refusal) {
			failed = append(failed, BatchError{ID: id(e), SenderFault: true, Code: refusal.queryCode(), Message: refusal.Message})
		}
	}
	return failed, nil
}

// doneEntries runs a batch whose entries have no answers of their own.
func doneEntries[E any](entries []E, id func(E) string, do func(E) error) (BatchOutput, error) {
	var out BatchOutput
	failed, err := eachEntry(entries, id, func(e E) error {
		err := do(e)
		if err == nil {
			out.Successful = append(out.Successful, BatchEntryResult{ID: id(e)})
		}
		return err
	})
	out.Failed = failed
	return out, err
}
