package sqsbatch_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/singleeffect/once/shared/sqsbatch"
)

var _ lambda.Handler = (*sqsbatch.Batch)(nil)

// C56: what something else than SQS sends straight to the function is an error that
// says what it looks like, and quotes nothing. An empty answer would be taken for
// success, and the event lost.
func TestC56NoRecords(t *testing.T) {
	t.Parallel()
	const secret = "4242424242424242"
	for name, c := range map[string]struct{ event, says string }{
		"EventBridge":       {`{"version":"0","id":"1","detail-type":"order.paid","source":"shop","account":"1","time":"2026-11-29T12:00:00Z","region":"eu-west-1","detail":{"card":"` + secret + `"}}`, "EventBridge"},
		"SNS":               {snsAt(noon, `{"card":"`+secret+`"}`, nil), "SNS"},
		"EventBridge Pipes": {`[{"messageId":"1","body":"` + secret + `"}]`, "Pipes"},
		"one message":       {`{"messageId":"1","receiptHandle":"r","body":"` + secret + `"}`, "one SQS message"},
		"a request":         {`{"requestContext":{},"body":"` + secret + `"}`, "API Gateway"},
		"a bare body":       {`{"idempotency_key":"` + secret + `","amount_cents":100}`, "bare body"},
		"no object":         {`"` + secret + `"`, "no JSON object"},
		"null":              {`null`, "no JSON object"},
		"nothing":           {``, "no JSON object"},
		"null Records":      {`{"Records":null}`, "other Records"},
		"other Records":     {`{"Records":"` + secret + `"}`, "other Records"},
		"S3":                {`{"Records":[{"eventSource":"aws:s3","s3":{"object":{"key":"` + secret + `"}}}]}`, `"aws:s3"`},
		"SNS to the function": {`{"Records":[{"EventSource":"aws:sns","Sns":{"MessageId":"1","Message":"` + secret + `"}}]}`,
			`"aws:sns"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			answer, err := r.Invoke(t.Context(), []byte(c.event))
			var odd *sqsbatch.EventError
			if !errors.As(err, &odd) || !strings.Contains(err.Error(), c.says) || answer != nil {
				t.Errorf("got %s and error %v, want an EventError that says %q", answer, err, c.says)
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "card") {
				t.Errorf("quotes the event: %v", err)
			}
			wantIDs(t, "run", r.hand.keys())
		})
	}
}

// An event in JSON is handled like one that is decoded.
func TestInvoke(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for event, want := range map[string]string{
		`{"Records":[]}`: `{"batchItemFailures":[]}`,
		`{"Records":[{"messageId":"1","body":"{\"idempotency_key\":\"k\"}"},{"messageId":"2","body":"?"}]}`: `{"batchItemFailures":[{"itemIdentifier":"2"}]}`,
	} {
		if got, err := r.Invoke(t.Context(), []byte(event)); err != nil || string(got) != want || !json.Valid(got) {
			t.Errorf("%s: got %s and error %v, want %s", event, got, err, want)
		}
	}
	wantIDs(t, "run", r.hand.keys(), "k")
}
