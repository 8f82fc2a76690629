package mapping

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// batchItemFailures reads a partial batch response to a batch of these ids and returns the ids it lists as failed. An
// error means that Lambda takes the whole batch as failed.
//
// The developer guide ("Handling errors for an SQS event source in Lambda", "Success and failure conditions") has a
// whole success for
//
//   - an empty batchItemFailures list, or a null one
//   - an empty EventResponse, or a null one
//
// and a whole failure for
//
//   - an invalid JSON response
//   - an empty string itemIdentifier, or a null one
//   - an itemIdentifier with a bad key name
//   - an itemIdentifier value with a message ID that doesn't exist
//
// Key names are read to the letter, upper and lower case too (awsdocs/aws-lambda-developer-guide#320). An object that
// has other keys only has no list, so it is a success, however it was meant. What the guide does not tell, an answer
// or a list or an entry of another JSON type, is read as an invalid response: a mapping that keeps the messages shows
// the mistake.
func batchItemFailures(answer []byte, ids []string) ([]string, error) {
	if len(bytes.TrimSpace(answer)) == 0 {
		return nil, nil
	}
	var response map[string]json.RawMessage // a struct would take "BatchItemFailures" too
	if err := json.Unmarshal(answer, &response); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	list, ok := response["batchItemFailures"]
	if !ok {
		return nil, nil
	}
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(list, &items); err != nil {
		return nil, fmt.Errorf("batchItemFailures is not a list of objects: %w", err)
	}
	var failed []string
	for i, item := range items {
		value, ok := item["itemIdentifier"]
		if !ok {
			return nil, fmt.Errorf("batchItemFailures[%d] has no itemIdentifier", i)
		}
		var id *string
		if err := json.Unmarshal(value, &id); err != nil {
			return nil, fmt.Errorf("batchItemFailures[%d].itemIdentifier is not a string: %w", i, err)
		}
		if id == nil || *id == "" {
			return nil, fmt.Errorf("batchItemFailures[%d].itemIdentifier is empty", i)
		}
		if !slices.Contains(ids, *id) {
			return nil, fmt.Errorf("batchItemFailures[%d].itemIdentifier %q is no message id of this batch", i, *id)
		}
		failed = append(failed, *id)
	}
	return failed, nil
}
