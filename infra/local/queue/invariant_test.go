package queue_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/singleeffect/once/infra/local/queue"
)

// TestInvariants drives a queue and its dead-letter queue with random operations and checks, after each, what the
// package promises: no message lost or in two places, at most N deliveries before the move, no two deliveries within
// one visibility timeout, and in a FIFO queue the order inside a group.
func TestInvariants(t *testing.T) {
	for _, kind := range []string{"standard", "fifo"} {
		for seed := range uint64(20) {
			t.Run(fmt.Sprintf("%s %d", kind, seed), func(t *testing.T) {
				x := newExplorer(t, kind == "fifo", seed)
				for range 400 {
					x.step()
				}
			})
		}
	}
}

const maxReceives = 3

type explorer struct {
	*world
	r         *rand.Rand
	isFIFO    bool
	q, dead   string
	sent      int
	deleted   map[string]bool
	delivered map[string]int       // by body, from q
	hidden    map[string]time.Time // by body: until when nobody may get it
	last      []queue.Message      // deliveries of q that may still be deleted
}

func newExplorer(t *testing.T, fifo bool, seed uint64) *explorer {
	x := &explorer{
		world: newWorld(t), r: rand.New(rand.NewPCG(seed, 7)), isFIFO: fifo,
		deleted: map[string]bool{}, delivered: map[string]int{}, hidden: map[string]time.Time{},
	}
	if fifo {
		x.dead = x.fifo("dead.fifo")
		x.q = x.fifo("q.fifo", "VisibilityTimeout", "10", "RedrivePolicy", redrive("dead.fifo", maxReceives))
	} else {
		x.dead = x.create("dead")
		x.q = x.create("q", "VisibilityTimeout", "10", "RedrivePolicy", redrive("dead", maxReceives))
	}
	return x
}

func (x *explorer) step() {
	switch x.r.IntN(6) {
	case 0, 1:
		x.sent++
		x.send(x.q, fmt.Sprintf("%c%05d", 'A'+rune(x.r.IntN(3)), x.sent))
	case 2:
		x.take(1 + x.r.IntN(4))
	case 3:
		x.finish()
	case 4:
		x.pass(time.Duration(x.r.IntN(8)) * time.Second)
	case 5:
		if len(x.last) > 0 {
			m, timeout := x.last[x.r.IntN(len(x.last))], x.r.IntN(15)
			if x.hidden[m.Body].After(x.now) && x.visibility(x.q, m, timeout) == nil {
				x.hidden[m.Body] = x.now.Add(time.Duration(timeout) * time.Second)
			}
		}
	}
	x.check()
}

func (x *explorer) take(n int) {
	out, err := x.ReceiveMessage(x.t.Context(), queue.ReceiveMessageInput{QueueURL: x.q, MaxNumberOfMessages: n})
	if err != nil {
		x.t.Fatal(err)
	}
	for body := range x.hidden {
		if x.isFIFO && x.hidden[body].After(x.now) && !x.deleted[body] {
			for _, m := range out.Messages {
				if m.Body[0] == body[0] {
					x.t.Fatalf("delivered %s while %s of its group is in flight", m.Body, body)
				}
			}
		}
	}
	newest := map[byte]string{}
	for _, m := range out.Messages {
		if x.deleted[m.Body] || x.hidden[m.Body].After(x.now) {
			x.t.Fatalf("delivered %s: deleted %v, hidden until %v, now %v", m.Body, x.deleted[m.Body], x.hidden[m.Body], x.now)
		}
		if x.isFIFO && m.Body < newest[m.Body[0]] {
			x.t.Fatalf("delivered %s after %s", m.Body, newest[m.Body[0]])
		}
		newest[m.Body[0]] = m.Body
		x.delivered[m.Body]++
		if x.delivered[m.Body] > maxReceives {
			x.t.Fatalf("delivery %d of %s", x.delivered[m.Body], m.Body)
		}
		x.hidden[m.Body] = x.now.Add(10 * time.Second)
	}
	x.last = out.Messages
}

// finish deletes one of the latest deliveries while it is still hidden.
func (x *explorer) finish() {
	if len(x.last) == 0 {
		return
	}
	if m := x.last[x.r.IntN(len(x.last))]; x.hidden[m.Body].After(x.now) {
		x.delete(x.q, m)
		x.deleted[m.Body] = true
	}
}

func (x *explorer) check() {
	held := 0
	for _, url := range []string{x.q, x.dead} {
		for _, name := range []string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed"} {
			var n int
			fmt.Sscan(x.attribute(url, name), &n)
			held += n
		}
	}
	if held+len(x.deleted) != x.sent {
		x.t.Fatalf("sent %d, deleted %d, held %d", x.sent, len(x.deleted), held)
	}
}
