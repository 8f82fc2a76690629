package sqsbatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/memdb"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// A batch of ten from the event's bytes to the answer, on the in-memory API: all that
// a function does of itself. Through the SDK as in a function, and without, which is
// what is ours alone.
func BenchmarkBatchOfTen(b *testing.B) {
	type order struct {
		Key         string `json:"idempotency_key"`
		AmountCents int64  `json:"amount_cents"`
	}
	handler := func(api dynamo.API) *sqsbatch.Batch {
		batch, err := sqsbatch.New(sqsbatch.Config{Handler: &intent.Keyed[order]{
			Config: intent.Config{Scope: "shop", Operation: "charge", Store: dynamo.New(api, "records")},
			Window: 24 * time.Hour,
			Effect: func(context.Context, order, intent.Attempt) (any, error) {
				return map[string]string{"charge_id": "ch_1"}, nil
			},
		}})
		if err != nil {
			b.Fatal(err)
		}
		return batch
	}
	fresh := func() *memdb.DB {
		return memdb.New(memdb.Config{Tables: []memdb.Table{{Name: "records", Keys: []string{"intent"}}}})
	}
	run := func(b *testing.B, batch *sqsbatch.Batch, content []byte) {
		var event events.SQSEvent
		if err := json.Unmarshal(content, &event); err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if response, err := batch.Handle(ctx, event); err != nil || len(response.BatchItemFailures) > 0 {
			b.Fatal(response, err)
		}
	}
	for _, through := range []struct {
		name string
		api  func(*memdb.DB) dynamo.API
	}{
		{"alone", func(db *memdb.DB) dynamo.API { return db }},
		{"SDK", func(db *memdb.DB) dynamo.API { return db.Client() }},
	} {
		for _, what := range []string{"new", "duplicate"} {
			b.Run(through.name+"/"+what, func(b *testing.B) {
				// A table of many items would measure the garbage collector.
				contents := make([][]byte, 100)
				for i := range contents {
					contents[i] = ten(b, i)
				}
				var batch *sqsbatch.Batch
				n := 0
				if what == "duplicate" {
					batch, n = handler(through.api(fresh())), 1
					for _, content := range contents {
						run(b, batch, content)
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					if n%len(contents) == 0 && what == "new" {
						batch = handler(through.api(fresh()))
					}
					run(b, batch, contents[n%len(contents)])
					n++
				}
			})
		}
	}
}

// ten is an event of ten messages.
func ten(b *testing.B, batch int) []byte {
	var event events.SQSEvent
	for i := range 10 {
		event.Records = append(event.Records, events.SQSMessage{
			MessageId:      fmt.Sprintf("6bd2a5d1-6a9c-4a1f-8a4c-%06d%06d", batch, i),
			Body:           fmt.Sprintf(`{"idempotency_key":"order-%d-%d","amount_cents":1000}`, batch, i),
			EventSource:    "aws:sqs",
			EventSourceARN: "arn:aws:sqs:eu-central-1:000000000000:charges",
			Attributes:     map[string]string{"ApproximateReceiveCount": "1", "SentTimestamp": fmt.Sprint(time.Now().UnixMilli())},
		})
	}
	content, err := json.Marshal(event)
	if err != nil {
		b.Fatal(err)
	}
	return content
}
