package sqsbatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// FuzzEvent hands whatever Lambda can decode as an SQS event to Handle. The answer's
// form is always right, and what becomes of a message in a batch is what becomes of it
// alone; on a FIFO queue it may also wait behind another.
func FuzzEvent(f *testing.F) {
	for _, event := range samples(f) {
		sample, err := json.Marshal(event)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(sample)
		f.Add([]byte(strings.ReplaceAll(string(sample), queueARN, fifoARN)))
	}
	for _, seed := range []string{
		``, `{}`, `null`, `{"Records":null}`, `{"Records":[{}]}`, `{"Records":[{"messageId":"1"}]}`, `{"records":[{"MESSAGEID":"1","body":"{}"}]}`,
		`{"Records":[{"messageId":"1","body":"{\"idempotency_key\":\"a\"}"},{"messageId":"1","body":"{\"idempotency_key\":\"a\"}"}]}`,
		`{"Records":[{"messageId":"1","body":"{\"idempotency_key\":2}"},{"messageId":"2","body":"{\"idempotency_key\":\"2\"}"},{"messageId":"3","body":"{\"idempotency_key\":2,\"n\":1}"}]}`,
		`{"Records":[{"messageId":"1","body":"{\"idempotency_key\":2,\"n\":1}"},{"messageId":"2","body":"{\"idempotency_key\":2,\"n\":2}"},{"messageId":"3","body":"{\"idempotency_key\":2,\"n\":3}"},{"messageId":"4","body":"{\"idempotency_key\":2,\"n\":4}"},{"messageId":"5","body":"{\"idempotency_key\":2,\"n\":5}"}]}`,
		`{"Records":[{"messageId":"1","body":"{\"idempotency_key\":2}","eventSourceARN":"a:q.fifo"},{"messageId":"2","body":"{\"idempotency_key\":3}","eventSourceARN":"a:q.fifo"}]}`,
		`{"Records":[{"messageId":"1","body":"?","eventSourceARN":"a:once-charge-dead"},{"messageId":"2","body":"\u0000"}]}`,
		`{"Records":[{"messageId":"1","body":"{}","messageAttributes":{"Idempotency-Key":{"binaryValue":"aw==","dataType":"Binary"}}}]}`,
		`{"Records":[{"messageId":"1","body":"{}","messageAttributes":{"Idempotency-Key":{"stringValue":"k","dataType":"String"},"Intent-Time":{"stringValue":"1","dataType":"Number"}}}]}`,
		`{"Records":[{"messageId":"1","body":"{\"reason\":\"r\",\"attributes\":{\"a\":{}},\"body\":\"{}\"}","messageAttributes":{"Quarantine-Reason":{"stringValue":"r","dataType":"String"}}}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		var event events.SQSEvent
		if json.Unmarshal(encoded, &event) != nil || len(event.Records) > 10 {
			return // Lambda's runtime refuses it, or SQS never sends it
		}
		if event.Records == nil {
			return // refused: see TestC56NoRecords
		}
		together := invoked(t, event.Records)
		if together == nil || !distinct(event.Records) {
			return
		}
		ordered := false
		for _, m := range event.Records {
			fifo := strings.HasSuffix(m.EventSourceARN, ".fifo")
			ordered = ordered || fifo
			alone := invoked(t, []events.SQSMessage{m})
			switch fails, failed := len(alone.listed) > 0, slices.Contains(together.listed, m.MessageId); {
			case fails && !failed:
				t.Errorf("%s is acknowledged, and alone it is not", m.MessageId)
			case failed && !fails && !fifo:
				t.Errorf("%s is listed, and alone it is not", m.MessageId)
			case failed:
			case len(alone.ran)+len(alone.sent) == 0:
				t.Errorf("%s is acknowledged, and neither ran nor is in quarantine", m.MessageId)
			default:
				for asked := range alone.ran {
					if together.ran[asked] == 0 {
						t.Errorf("%s is acknowledged and did not run, as alone it did: %v", m.MessageId, asked)
					}
				}
				for sent := range alone.sent {
					if together.sent[sent] == 0 {
						t.Errorf("%s is acknowledged and not in quarantine, as alone it was: %s", m.MessageId, sent)
					}
				}
			}
		}
		for asked, times := range together.ran {
			if times > 1 && !ordered {
				t.Errorf("ran %d times: %v", times, asked)
			}
		}
	})
}

// distinct tells that no two messages share an id, which those of SQS never do. One
// may be there twice.
func distinct(messages []events.SQSMessage) bool {
	byID := map[string]events.SQSMessage{}
	for _, m := range messages {
		if other, ok := byID[m.MessageId]; ok && !reflect.DeepEqual(other, m) {
			return false
		}
		byID[m.MessageId] = m
	}
	return true
}

// asked is what a run was for.
type asked struct {
	key         string
	fingerprint intent.Fingerprint
	payload     string
}

// invocation is what became of a batch.
type invocation struct {
	listed []string
	ran    map[asked]int  // and how often
	sent   map[string]int // into quarantine: the message as JSON
}

// invoked runs a batch whose intents end as their keys and payloads say; nil where a message has no
// id, which the whole batch must fail for.
func invoked(t *testing.T, messages []events.SQSMessage) *invocation {
	t.Helper()
	h := &hand{do: func(_ context.Context, d intent.Delivery) (intent.Outcome, error) { return endOf(d) }}
	queue := &hider{}
	batch, err := sqsbatch.New(sqsbatch.Config{Handler: h, Queue: queue, QueueURL: queueURL, DeadLetterURL: deadLetterURL, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	answer, err := batch.Handle(ctx, events.SQSEvent{Records: messages})
	nameless := slices.ContainsFunc(messages, func(m events.SQSMessage) bool { return m.MessageId == "" })
	var fault *sqsbatch.EventError
	if nameless {
		if !errors.As(err, &fault) || len(h.deliveries) > 0 {
			t.Fatalf("a message without an id: error %v, ran %+v", err, h.deliveries)
		}
		return nil
	}
	if err != nil {
		t.Fatalf("error %v", err)
	}
	in := &invocation{listed: listed(t, answer, messages), ran: map[asked]int{}, sent: map[string]int{}}
	for _, d := range h.deliveries {
		in.ran[asked{d.Key, d.Fingerprint, string(d.Payload.Canonical())}]++
	}
	for _, sent := range queue.taken() {
		in.sent[copyIn(t, sent)]++
	}
	return in
}

// endOf makes every end equally likely.
func endOf(d intent.Delivery) (intent.Outcome, error) {
	ends := []struct {
		outcome intent.Outcome
		err     error
	}{
		{outcome: executed},
		{outcome: intent.Outcome{Kind: intent.Replayed}},
		{outcome: intent.Outcome{Kind: intent.Refused}},
		{outcome: intent.Outcome{Kind: intent.InProgress, Wait: time.Second}},
		{outcome: intent.Outcome{Kind: intent.Conflict, Reason: "another payload"}},
		{outcome: intent.Outcome{Kind: intent.InDoubt, Reason: "cut off"}},
		{outcome: intent.Outcome{Kind: intent.InDoubt, Wait: time.Second}},
		{err: intent.ErrUnknown},
		{err: intent.Quarantine(errors.New("never"))},
	}
	n := int(d.Fingerprint[0])
	for _, b := range []byte(d.Key) {
		n += int(b)
	}
	end := ends[n%len(ends)]
	return end.outcome, end.err
}

// copyIn is a message in quarantine, as text.
func copyIn(t *testing.T, sent *sqs.SendMessageInput) string {
	t.Helper()
	text, err := json.Marshal([]any{aws.ToString(sent.MessageBody), sent.MessageAttributes})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
