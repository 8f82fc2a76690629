package mapping

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/infra/local/queue"
)

// maxPayload is the most bytes of one event: Lambda's quota for a synchronous invocation is 6 MB (developer guide,
// "Lambda quotas"), and a batch ends where it would pass it.
const maxPayload = 6 << 20

// event is one invocation's input.
type event struct {
	messages []queue.Message
	payload  []byte
}

// record is a message as Lambda writes it. The library's type writes the digest of the attributes of a message that
// has none, as ""; Lambda leaves it out.
type record struct {
	events.SQSMessage
	Md5OfMessageAttributes string `json:"md5OfMessageAttributes,omitempty"`
}

// events makes events of gathered messages: one, as long as it does not get too big.
func (p *poller) events(messages []queue.Message) iter.Seq[event] {
	const head, tail = `{"Records":[`, `]}`
	return func(yield func(event) bool) {
		var e event
		for _, m := range messages {
			r := p.record(m)
			if len(e.messages) > 0 && len(e.payload)+len(",")+len(r)+len(tail) > maxPayload {
				e.payload = append(e.payload, tail...)
				if !yield(e) {
					return
				}
				e = event{}
			}
			if len(e.messages) == 0 {
				e.payload = append(e.payload, head...)
			} else {
				e.payload = append(e.payload, ',')
			}
			e.payload = append(e.payload, r...)
			e.messages = append(e.messages, m)
		}
		if len(e.messages) > 0 {
			e.payload = append(e.payload, tail...)
			yield(e)
		}
	}
}

func (p *poller) record(m queue.Message) []byte {
	attributes := make(map[string]events.SQSMessageAttribute)
	for name, a := range m.MessageAttributes {
		out := events.SQSMessageAttribute{
			DataType:    a.DataType,
			BinaryValue: a.BinaryValue,
			// Lambda always writes these two, empty: SQS has reserved lists but not built them.
			StringListValues: []string{},
			BinaryListValues: [][]byte{},
		}
		if a.StringValue != "" {
			out.StringValue = &a.StringValue
		}
		attributes[name] = out
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	// Strings, byte slices and maps of them: cannot fail.
	_ = enc.Encode(record{
		SQSMessage: events.SQSMessage{
			MessageId:         m.MessageID,
			ReceiptHandle:     m.ReceiptHandle,
			Body:              m.Body,
			Md5OfBody:         m.MD5OfBody,
			Attributes:        m.Attributes,
			MessageAttributes: attributes,
			EventSourceARN:    p.arn,
			EventSource:       "aws:sqs",
			AWSRegion:         strings.Split(p.arn, ":")[3],
		},
		Md5OfMessageAttributes: m.MD5OfMessageAttributes,
	})
	return bytes.TrimSpace(buf.Bytes())
}
