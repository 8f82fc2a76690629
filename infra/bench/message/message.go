// Package message makes the SQS events that all contenders are given.
package message

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// Batch is how many messages an event has: the most that SQS hands over at once without a batching window.
const Batch = 10

// Keys draws new idempotency keys for that many batches.
func Keys(batches int) []string {
	run := rand.Text()
	keys := make([]string, batches*Batch)
	for i := range keys {
		keys[i] = fmt.Sprintf("order-%s-%d", run, i)
	}
	return keys
}

// Events makes an event of each ten keys, as JSON. The messages are others every time, as of a producer that sends twice.
func Events(keys []string) ([][]byte, error) {
	var all [][]byte
	for start := 0; start < len(keys); start += Batch {
		event, err := Event(keys[start : start+Batch]...)
		if err != nil {
			return nil, err
		}
		all = append(all, event)
	}
	return all, nil
}

// Event makes an event of one message for each key, as JSON.
func Event(keys ...string) ([]byte, error) {
	now := strconv.FormatInt(time.Now().UnixMilli(), 10)
	var event events.SQSEvent
	for i, key := range keys {
		id := rand.Text()
		event.Records = append(event.Records, events.SQSMessage{
			MessageId:     id,
			ReceiptHandle: "AQEB" + rand.Text() + rand.Text() + rand.Text() + rand.Text(),
			Body:          fmt.Sprintf(`{"idempotency_key":%q,"user_id":"7","amount_cents":%d,"currency":"eur"}`, key, 1000+i),
			Md5OfBody:     "8b1a9953c4611296a827abf8c47804d7", // nobody looks at it
			Attributes: map[string]string{
				"ApproximateReceiveCount":          "1",
				"ApproximateFirstReceiveTimestamp": now,
				"SentTimestamp":                    now,
				"SenderId":                         "AIDAIENQZJOLO23YVJ4VO",
			},
			EventSource:    "aws:sqs",
			EventSourceARN: "arn:aws:sqs:eu-central-1:000000000000:charges",
			AWSRegion:      "eu-central-1",
		})
	}
	return json.Marshal(event)
}

// Half mixes: of each ten keys five are seen ones, in turn with five new ones.
func Half(seen, fresh []string) []string {
	keys := make([]string, len(seen))
	for i := range keys {
		if keys[i] = fresh[i]; i%2 == 0 {
			keys[i] = seen[i]
		}
	}
	return keys
}
