package sim

import (
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// maxJitter is that of a message which waits for another's end.
const maxJitter = 5 * time.Second

// asked is what a message asks for.
type asked struct {
	key         string // of a message without one: its id
	fingerprint intent.Fingerprint
}

// askedBy is what a message asks for; its body may be unreadable.
func askedBy(m message) asked {
	payload, _ := intent.ParsePayload([]byte(m.Body.of.Body))
	key := m.Body.of.Key.ID
	if key == "" {
		key = m.ID
	}
	return asked{key, payload.Fingerprint()}
}

// told is what a delivery came to.
type told struct {
	wait   time.Duration // until it is worth another look, by its outcome
	failed bool
	nth    int // of the invocation's deliveries, from 1
}

// hiding is how long a message is to be hidden: at least, and at most.
type hiding struct{ least, most time.Duration }

// delay is the redelivery schedule's: half a minute after the first receive, twice that after each further one, an hour at the most, a
// tenth less or more.
func delay(receives int) hiding {
	d := 30 * time.Second
	for range receives - 1 {
		d = min(2*d, time.Hour)
	}
	return hiding{d - d/10, d + d/10}
}

// hidingOf is how long what came to that is to be hidden after so many receives. What was not tried is hidden as what failed.
func hidingOf(t told, receives int) hiding {
	wait := hiding{t.wait, t.wait + maxJitter}
	if t.nth > 0 && !t.failed {
		return wait
	}
	h := delay(receives)
	if t.wait > 0 {
		h = hiding{max(h.least, wait.least), max(h.most, wait.most)}
	}
	return h
}

// hiding is how long a message of the invocation is to be hidden. All that asks for the same has one delay, and so has a group: by
// the last of it that was run, behind which nothing is.
func (p *Process) hiding(handle string) hiding {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	var of delivery
	for _, d := range p.batch {
		if d.Handle == handle {
			of = d
		}
	}
	var last told
	receives := of.Receives
	for _, d := range p.batch {
		if askedBy(d.Message) != askedBy(of.Message) && (!p.world.queue.fifo || d.Group != of.Group) {
			continue
		}
		receives = max(receives, d.Receives)
		if t := p.told[askedBy(d.Message)]; t.nth > last.nth {
			last = t
		}
	}
	return hidingOf(last, receives)
}

// hide is ChangeMessageVisibility. The jitter is drawn anew: production code's own is its own chance. What it asked for must be
// within h, and the rest of a second that SQS does not take.
func (q *queues) hide(handle string, asked time.Duration, h hiding) {
	if asked < h.least || asked > h.most+time.Second {
		q.world.Fail("%s is hidden for %v, want from %v to %v", handle, asked, h.least, h.most)
	}
	wait := h.least + q.world.Within(h.most-h.least+time.Second)
	if changed, _ := q.live.ChangeVisibility(time.Now(), handle, wait); changed { // otherwise SQS would not do it either
		q.world.say("%s is hidden until %s", handle, time.Now().Add(wait).Format(time.TimeOnly))
	}
}
