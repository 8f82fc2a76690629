package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// maxRequest bounds a request's bytes: a batch of 1 MiB, escaped as badly as JSON can (six bytes for one), and room.
const maxRequest = 7 << 20

const contentType = "application/x-amz-json-1.0"

// operation does one request; the body is a JSON document.
type operation func(ctx context.Context, body []byte) (any, error)

// Handler returns the service's HTTP face: AWS JSON 1.0, the protocol that the AWS SDKs speak to SQS since 2023. The
// operation is named by the header X-Amz-Target; signatures are not looked at.
func (s *Service) Handler() http.Handler {
	operations := map[string]operation{
		"CreateQueue":                  answers(s.CreateQueue),
		"GetQueueUrl":                  answers(s.GetQueueURL),
		"GetQueueAttributes":           answers(s.GetQueueAttributes),
		"ListQueues":                   answers(s.ListQueues),
		"PurgeQueue":                   does(s.PurgeQueue),
		"SendMessage":                  answers(s.SendMessage),
		"SendMessageBatch":             answers(s.SendMessageBatch),
		"ReceiveMessage":               waits(s.ReceiveMessage),
		"DeleteMessage":                does(s.DeleteMessage),
		"DeleteMessageBatch":           answers(s.DeleteMessageBatch),
		"ChangeMessageVisibility":      does(s.ChangeMessageVisibility),
		"ChangeMessageVisibilityBatch": answers(s.ChangeMessageVisibilityBatch),
		"StartMessageMoveTask":         answers(s.StartMessageMoveTask),
		"ListMessageMoveTasks":         answers(s.ListMessageMoveTasks),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target := r.Header.Get("X-Amz-Target")
		name, ok := strings.CutPrefix(target, "AmazonSQS.")
		do := operations[name]
		if !ok || do == nil {
			writeError(w, refuse(unknownOperation, "%q is not an operation of this queue.", target))
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			writeError(w, refuse(invalidParameterValue, "Request body: %v", err))
			return
		}
		out, err := do(r.Context(), body)
		if err != nil {
			writeError(w, err)
			return
		}
		write(w, http.StatusOK, out)
	})
}

func waits[I, O any](do func(context.Context, I) (O, error)) operation {
	return func(ctx context.Context, body []byte) (any, error) {
		var in I
		if err := decode(body, &in); err != nil {
			return nil, err
		}
		return do(ctx, in)
	}
}

func answers[I, O any](do func(I) (O, error)) operation {
	return waits(func(_ context.Context, in I) (O, error) { return do(in) })
}

func does[I any](do func(I) error) operation {
	return answers(func(in I) (struct{}, error) { return struct{}{}, do(in) })
}

// decode refuses a field it does not know: a caller who relies on what is not modelled must not be told "done".
func decode(body []byte, in any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(in); err != nil {
		return refuse(unsupportedOperation, "Request body: %v", err)
	}
	return nil
}

func writeError(w http.ResponseWriter, err error) {
	var refusal *Error
	if !errors.As(err, &refusal) {
		// Only a wait that its own caller gave up ends so: there is nobody left to read this.
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("x-amzn-query-error", refusal.queryCode()+";Sender")
	write(w, refusal.status(), map[string]string{
		"__type":  "com.amazonaws.sqs#" + refusal.Code,
		"message": refusal.Message,
	})
}

func write(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	// The connection is all that can fail here, and its other end will notice.
	_ = json.NewEncoder(w).Encode(document)
}
