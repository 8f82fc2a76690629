package sim

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/calls"
	"github.com/singleeffect/once/shared/intenttest/queue"
)

// QueueURL and DeadLetterURL are the addresses of the two queues.
func (w *World) QueueURL() string {
	return "https://sqs.eu-central-1.amazonaws.com/123456789012/" + w.queue.name
}

// DeadLetterURL is where quarantine sends to.
func (w *World) DeadLetterURL() string {
	name, fifo := strings.CutSuffix(w.queue.name, fifoSuffix)
	if name += "-dead"; fifo {
		name += fifoSuffix
	}
	return "https://sqs.eu-central-1.amazonaws.com/123456789012/" + name
}

// Sent is one send of a producer.
type Sent struct {
	Key  intent.Key // of the intent; zero where there is none
	Body string
	Want string // the code of the reason for which it must end in quarantine; empty: none of its own

	answered bool // a message of it was acknowledged, and its intent had its end
	ignored  bool // SQS dropped it: its deduplication id was known
}

// Send sends a message to the queue, as SendMessage.
func (w *World) Send(s Sent, in *sqs.SendMessageInput) {
	s.Body = aws.ToString(in.MessageBody)
	w.sent = append(w.sent, &s)
	m, known := w.queue.live.Send(time.Now(), queue.Outgoing[letter]{
		Body:  letter{text: s.Body, attributes: in.MessageAttributes, of: &s},
		Group: aws.ToString(in.MessageGroupId), Dedup: aws.ToString(in.MessageDeduplicationId),
	})
	if known {
		s.ignored = true
		w.say("sent %s again: %s; SQS knows the deduplication id", m.ID, s.Body)
		return
	}
	w.queue.origins[m.ID] = &s
	w.say("sent %s: %s", m.ID, s.Body)
}

// Produce sends a message now and, by chance, again later.
func (w *World) Produce(s Sent, in *sqs.SendMessageInput) {
	w.Send(s, in)
	for w.Rand.IntN(3) == 0 {
		w.At(w.Again(), "sent again", func() { w.Send(s, in) })
	}
}

// SQS is the queues as one process reaches them.
type SQS struct{ process *Process }

// SQS is the queues as the process reaches them.
func (p *Process) SQS() *SQS {
	calls.Name("QUEUE_URL", p.world.QueueURL())
	calls.Name("DEAD_LETTER_QUEUE_URL", p.world.DeadLetterURL())
	return &SQS{p}
}

// ChangeMessageVisibilityBatch hides messages of the queue.
func (s *SQS) ChangeMessageVisibilityBatch(ctx context.Context, in *sqs.ChangeMessageVisibilityBatchInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	s.process.saw(in)
	name, hidings := "ChangeMessageVisibility", make([]hiding, len(in.Entries))
	for i, e := range in.Entries {
		name += " " + aws.ToString(e.ReceiptHandle)
		hidings[i] = s.process.hiding(aws.ToString(e.ReceiptHandle))
	}
	out := &sqs.ChangeMessageVisibilityBatchOutput{}
	err := s.process.Reach(ctx, name, func() {
		for i, e := range in.Entries {
			s.process.world.queue.hide(aws.ToString(e.ReceiptHandle), time.Duration(e.VisibilityTimeout)*time.Second, hidings[i])
			out.Successful = append(out.Successful, types.ChangeMessageVisibilityBatchResultEntry{Id: e.Id})
		}
	})
	return out, err
}

// SendMessageBatch puts messages into quarantine.
func (s *SQS) SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	s.process.saw(in)
	w := s.process.world
	name := "SendMessage"
	for _, e := range in.Entries {
		for _, attribute := range []string{w.plan.OriginalID, redrivenAs} {
			name += " " + aws.ToString(e.MessageAttributes[attribute].StringValue)
		}
	}
	out := &sqs.SendMessageBatchOutput{}
	err := s.process.Reach(ctx, name, func() {
		for _, e := range in.Entries {
			w.quarantined(aws.ToString(in.QueueUrl), e)
			out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{Id: e.Id})
		}
	})
	return out, err
}

// quarantined takes a message into the dead-letter queue.
func (w *World) quarantined(queueURL string, in types.SendMessageBatchRequestEntry) {
	of := w.queue.origins[aws.ToString(in.MessageAttributes[w.plan.OriginalID].StringValue)]
	reason := aws.ToString(in.MessageAttributes[w.plan.Reason].StringValue)
	switch {
	case queueURL != w.DeadLetterURL():
		w.Fail("a message is sent to %s", queueURL)
		return
	case of == nil || reason == "":
		w.Fail("a message in quarantine has no reason, or is of none that was sent: %v", in.MessageAttributes)
		return
	}
	m, known := w.queue.dead.Send(time.Now(), queue.Outgoing[letter]{
		Body:  letter{text: aws.ToString(in.MessageBody), attributes: in.MessageAttributes, of: of, reason: reason},
		Group: aws.ToString(in.MessageGroupId), Dedup: aws.ToString(in.MessageDeduplicationId),
	})
	if !known {
		w.queue.origins[m.ID] = of
		w.say("%s in quarantine: %s", m.ID, reason)
	}
}
