package sim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/singleeffect/once/shared/intent"
)

const (
	// maxReceives is template.yaml's maxReceiveCount.
	maxReceives = 5

	// deduplication is how long a FIFO queue remembers a deduplication id (Amazon SQS developer guide, "Using the
	// message deduplication ID").
	deduplication = 5 * time.Minute

	// fifoSuffix ends the name of a FIFO queue.
	fifoSuffix = ".fifo"

	// maxHiding is the jitter of a hidden message, and the rest of a second that SQS does not take.
	maxHiding = 5*time.Second + time.Second
)

// queue is the function's with its dead-letter queue.
type queue struct {
	world      *World
	name       string
	visibility time.Duration
	messages   []*message
	dead       []*message
	recent     map[string]time.Time // by deduplication id: until then
	origins    map[string]*Sent     // by every message id that ever was
}

// message is what lies in one of the two queues.
type message struct {
	id, body, group, dedup string
	attributes             map[string]types.MessageAttributeValue
	of                     *Sent
	enqueued               time.Time
	received               int
	handle                 string // of the last delivery
	visible                time.Time
	reason                 string // in quarantine
}

func newQueue(w *World, name string, visibility time.Duration) *queue {
	return &queue{world: w, name: name, visibility: visibility, recent: map[string]time.Time{}, origins: map[string]*Sent{}}
}

func (q *queue) fifo() bool { return strings.HasSuffix(q.name, fifoSuffix) }

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
	q := w.queue
	s.Body = aws.ToString(in.MessageBody)
	w.sent = append(w.sent, &s)
	now := time.Now()
	m := &message{
		id: w.id("m"), body: s.Body, group: aws.ToString(in.MessageGroupId), dedup: aws.ToString(in.MessageDeduplicationId),
		attributes: in.MessageAttributes, of: &s, enqueued: now, visible: now,
	}
	q.origins[m.id] = &s
	if q.fifo() && now.Before(q.recent[m.dedup]) {
		s.ignored = true
		w.say("sent %s: %s; SQS knows the deduplication id", m.id, m.body)
		return
	}
	q.recent[m.dedup] = now.Add(deduplication)
	q.messages = append(q.messages, m)
	w.say("sent %s: %s", m.id, m.body)
}

// Produce sends a message now and, by chance, again later.
func (w *World) Produce(s Sent, in *sqs.SendMessageInput) {
	w.Send(s, in)
	for w.Rand.IntN(3) == 0 {
		w.At(w.Again(), "sent again", func() { w.Send(s, in) })
	}
}

func (w *World) id(kind string) string {
	w.number++
	return fmt.Sprint(kind, "-", w.number)
}

// ready are the messages that a receive may take, the eldest first; of a FIFO queue's groups those that have none in flight.
func (q *queue) ready(now time.Time) []*message {
	var ready []*message
	blocked := map[string]bool{}
	for _, m := range q.messages {
		if m.visible.After(now) {
			blocked[m.group] = true
		}
	}
	for _, m := range q.messages {
		if !m.visible.After(now) && !(q.fifo() && blocked[m.group]) {
			ready = append(ready, m)
		}
	}
	return ready
}

// nextVisible is when messages come back.
func (q *queue) nextVisible(now time.Time) (times []time.Time) {
	for _, m := range q.messages {
		if m.visible.After(now) {
			times = append(times, m.visible)
		}
	}
	return times
}

// receive takes up to ten messages: of a standard queue any, once in a while without hiding one from others; of a FIFO queue the
// heads of groups. One that has been received often enough goes to the dead-letter queue instead.
func (q *queue) receive() []*message {
	now := time.Now()
	ready := q.ready(now)
	r := q.world.Rand
	if q.fifo() {
		// Groups in any order, each in its own.
		rank := map[string]int{}
		for _, m := range ready {
			if _, ok := rank[m.group]; !ok {
				rank[m.group] = r.IntN(1000)
			}
		}
		slices.SortStableFunc(ready, func(a, b *message) int { return rank[a.group] - rank[b.group] })
	} else {
		r.Shuffle(len(ready), func(i, j int) { ready[i], ready[j] = ready[j], ready[i] })
	}
	var got []*message
	for _, m := range ready[:min(len(ready), 1+r.IntN(10))] {
		if m.received >= maxReceives {
			q.bury(m, now)
			continue
		}
		m.received++
		m.handle = q.world.id(m.id + "-receipt")
		if q.fifo() || !q.world.Unusual() {
			m.visible = now.Add(q.visibility)
		} else {
			q.world.say("%s is delivered, and stays visible", m.id)
		}
		got = append(got, m)
		if !q.fifo() && len(got) < 10 && q.world.Unusual() {
			q.world.say("%s is twice in the batch", m.id)
			got = append(got, m)
		}
	}
	return got
}

// bury moves a message to the dead-letter queue. A FIFO queue makes it new there.
func (q *queue) bury(m *message, now time.Time) {
	q.remove(m)
	m.visible = now
	if q.fifo() {
		m.enqueued, m.dedup = now, m.id
	}
	q.dead = append(q.dead, m)
	q.world.say("%s has been received %d times and goes to the dead-letter queue", m.id, m.received)
}

func (q *queue) remove(m *message) {
	q.messages = slices.DeleteFunc(q.messages, func(other *message) bool { return other == m })
}

// delete is an acknowledgement. By a handle that is not the latest one it deletes nothing in a FIFO queue, and in a standard one
// nobody knows. A standard queue's message may come back once more, from a server that did not hear of it.
func (q *queue) delete(m *message, handle string) {
	now := time.Now()
	switch stale := m.handle != handle; {
	case !slices.Contains(q.messages, m):
	case q.fifo() && (stale || !m.visible.After(now)), stale && q.world.Rand.IntN(2) == 0:
		q.world.say("%s is acknowledged by an old receipt, and stays", m.id)
	default:
		q.remove(m)
		if !q.fifo() && q.world.Unusual() {
			q.world.At(q.world.Within(10*time.Minute), m.id+" comes back though it was deleted", func() {
				m.visible = time.Now()
				q.messages = append(q.messages, m)
			})
		}
	}
}

// redrivenAs is an attribute of ours, by which copies are told apart that SQS gave other ids and nothing else.
const redrivenAs = "Redriven-As"

// redrive moves all that is in the dead-letter queue back, as new messages.
func (q *queue) redrive() {
	now := time.Now()
	for _, m := range q.dead {
		again := &message{
			id: q.world.id("m"), body: m.body, group: m.group, dedup: m.dedup, attributes: maps.Clone(m.attributes), of: m.of, enqueued: now, visible: now,
		}
		if again.attributes == nil {
			again.attributes = map[string]types.MessageAttributeValue{}
		}
		again.attributes[redrivenAs] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &again.id}
		q.origins[again.id] = m.of
		q.messages = append(q.messages, again)
		q.world.say("%s is redriven as %s", m.id, again.id)
	}
	q.dead = nil
}

// hide is ChangeMessageVisibility. The jitter is drawn anew: production code's own is its own chance. What it asked for must be as
// long as its outcome said, and no longer than jitter makes it.
func (q *queue) hide(handle string, asked, wait time.Duration) {
	if asked < wait || asked > wait+maxHiding {
		q.world.Fail("%s is hidden for %v, though its outcome says %v", handle, asked, wait)
	}
	for _, m := range q.messages {
		if m.handle == handle && m.visible.After(time.Now()) {
			m.visible = time.Now().Add(wait + q.world.Within(maxHiding))
			q.world.say("%s is hidden until %s", m.id, m.visible.Format(time.TimeOnly))
		}
	}
}

// SQS is the queues as one process reaches them.
type SQS struct{ process *Process }

// SQS is the queues as the process reaches them.
func (p *Process) SQS() *SQS { return &SQS{p} }

// ChangeMessageVisibility hides a message of the queue.
func (s *SQS) ChangeMessageVisibility(ctx context.Context, in *sqs.ChangeMessageVisibilityInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error) {
	handle, asked := aws.ToString(in.ReceiptHandle), time.Duration(in.VisibilityTimeout)*time.Second
	wait := s.process.wait(handle)
	err := s.process.Reach(ctx, "ChangeMessageVisibility "+handle, func() { s.process.world.queue.hide(handle, asked, wait) })
	return &sqs.ChangeMessageVisibilityOutput{}, err
}

// SendMessage puts a message into quarantine.
func (s *SQS) SendMessage(ctx context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	w := s.process.world
	name := "SendMessage"
	for _, attribute := range []string{w.plan.OriginalID, redrivenAs} {
		name += " " + aws.ToString(in.MessageAttributes[attribute].StringValue)
	}
	err := s.process.Reach(ctx, name, func() { w.quarantined(in) })
	return &sqs.SendMessageOutput{}, err
}

// quarantined takes a message into the dead-letter queue.
func (w *World) quarantined(in *sqs.SendMessageInput) {
	q, now := w.queue, time.Now()
	of := q.origins[aws.ToString(in.MessageAttributes[w.plan.OriginalID].StringValue)]
	reason := aws.ToString(in.MessageAttributes[w.plan.Reason].StringValue)
	switch {
	case aws.ToString(in.QueueUrl) != w.DeadLetterURL():
		w.Fail("a message is sent to %s", aws.ToString(in.QueueUrl))
		return
	case of == nil || reason == "":
		w.Fail("a message in quarantine has no reason, or is of none that was sent: %v", in.MessageAttributes)
		return
	}
	m := &message{
		id: w.id("m"), body: aws.ToString(in.MessageBody), group: aws.ToString(in.MessageGroupId), dedup: aws.ToString(in.MessageDeduplicationId),
		attributes: in.MessageAttributes, of: of, enqueued: now, visible: now, reason: reason,
	}
	q.origins[m.id] = of
	if until := q.recent["dead "+m.dedup]; q.fifo() && now.Before(until) {
		return
	}
	q.recent["dead "+m.dedup] = now.Add(deduplication)
	q.dead = append(q.dead, m)
	w.say("%s in quarantine: %s", m.id, reason)
}
