package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
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
