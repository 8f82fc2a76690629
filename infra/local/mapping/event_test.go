package mapping_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/infra/local/mapping"
	"github.com/singleeffect/once/infra/local/queue"
)

// raw is a function that keeps the bytes it was given.
type raw struct{ payloads [][]byte }

func (r *raw) Invoke(_ context.Context, payload []byte) ([]byte, error) {
	r.payloads = append(r.payloads, payload)
	return nil, nil
}

// TestEvent compares whole events with documents in the form of the developer guide's examples ("Using Lambda with
// Amazon SQS").
func TestEvent(t *testing.T) {
	text := queue.Attribute{DataType: "String", StringValue: "order-8821-charge"}
	for name, tc := range map[string]struct {
		queue string
		out   queue.Outgoing
	}{
		"standard": {"ChargeQueue", queue.Outgoing{MessageBody: `{"user_id":"7"}`}},
		"attributes": {"ChargeQueue", queue.Outgoing{MessageBody: "<&>", MessageAttributes: map[string]queue.Attribute{
			"Idempotency-Key": text,
			"Cents":           {DataType: "Number.cents", StringValue: "4999"},
			"Trace":           {DataType: "Binary", BinaryValue: []byte{0, 1, 255}},
		}}},
		"fifo": {"AdjustQueue.fifo", queue.Outgoing{MessageBody: "a", MessageGroupID: "acct-1", MessageDeduplicationID: "d-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, tc.queue, func(t *testing.T, s *stage) {
				out, err := s.SendMessage(queue.SendMessageInput{QueueURL: s.url, Outgoing: tc.out})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(1500 * time.Millisecond)
				var function raw
				stop := s.run(mapping.Config{}, &function)
				defer stop()
				golden, err := os.ReadFile("testdata/" + name + ".json")
				if err != nil {
					t.Fatal(err)
				}
				var got, want map[string][]map[string]any
				if err := json.Unmarshal(function.payloads[0], &got); err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(golden, &want); err != nil {
					t.Fatal(err)
				}
				record := want["Records"][0]
				record["messageId"] = out.MessageID
				record["receiptHandle"] = got["Records"][0]["receiptHandle"]
				if record["receiptHandle"] == "" || !reflect.DeepEqual(got, want) {
					t.Errorf("event = %s\nwant %s", function.payloads[0], golden)
				}
			})
		})
	}
}

// TestEventIsAtMost6MB: a batch that would pass Lambda's payload quota becomes several events, and no message is lost.
func TestEventIsAtMost6MB(t *testing.T) {
	onStage(t, "q", func(t *testing.T, s *stage) {
		for i := range 10 {
			s.send(fmt.Sprint(i) + strings.Repeat("x", 1<<20-1))
		}
		var function raw
		stop := s.run(mapping.Config{}, &function)
		defer stop()
		order := ""
		for _, payload := range function.payloads {
			if len(payload) > 6<<20 {
				t.Errorf("event of %d bytes", len(payload))
			}
			var event struct{ Records []struct{ Body string } }
			if err := json.Unmarshal(payload, &event); err != nil {
				t.Fatal(err)
			}
			for _, r := range event.Records {
				order += r.Body[:1]
			}
		}
		if len(function.payloads) != 2 || order != "0123456789" {
			t.Errorf("%d events with %s, want 2 with 0123456789", len(function.payloads), order)
		}
		s.wantCounts(s.url, 0, 0)
	})
}
