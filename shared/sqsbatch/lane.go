package sqsbatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
)

// job is one run: the messages that ask for one intent with one payload.
// The others follow the first one's outcome.
type job struct {
	delivery intent.Delivery
	messages []letter
	fates    []*fate // where the outcome goes, one for each message
	unread   *fate   // of what could not be read
}

// lane is what must run one after the other: the different payloads under one
// key, of which the second meets the first one's record; on a FIFO queue, a
// message group.
type lane struct {
	jobs []*job
	// ordered: what follows a failure must not overtake it.
	ordered bool
	// single: each message is run for itself.
	single bool
}

// lanes reads the messages, as long as there is time to run one. What has no usable
// key or payload is a job that has its fate already, and holds up its group until it
// is in quarantine.
func (b *Batch) lanes(ctx context.Context, messages []events.SQSMessage, fates []fate) []*lane {
	var lanes []*lane
	find := map[string]*lane{}
	for i, m := range messages {
		if err := intent.TimeToStart(ctx); err != nil {
			fates[i] = judge(intent.Outcome{}, err)
			continue
		}
		j := b.read(m, i)
		j.fates = []*fate{&fates[i]}
		var name string
		switch {
		case isFIFO(m):
			name = "group " + m.Attributes["MessageGroupId"]
		case j.unread != nil:
			name = "message " + m.MessageId
		case b.keyless:
			name = fmt.Sprint("record ", i) // side by side, each for itself
		default:
			name = "key " + j.delivery.Key
		}
		l := find[name]
		if l == nil {
			l = &lane{ordered: isFIFO(m), single: b.keyless}
			find[name] = l
			lanes = append(lanes, l)
		}
		l.add(j)
	}
	return lanes
}

// add appends a job, or joins it to one for the same intent with the same
// payload. The same message twice in a batch is such a pair, too. Where order
// counts it joins its neighbour alone: it may not overtake what is between.
func (l *lane) add(next job) {
	jobs := l.jobs
	if l.ordered {
		jobs = jobs[max(0, len(jobs)-1):]
	}
	for _, j := range jobs {
		if j.same(next) && !l.single {
			// Both are one intent, which is as old as its eldest message.
			j.delivery.SentAt = earlier(j.delivery.SentAt, next.delivery.SentAt)
			j.delivery.Receives = max(j.delivery.Receives, next.delivery.Receives)
			j.messages = append(j.messages, next.messages...)
			j.fates = append(j.fates, next.fates...)
			return
		}
	}
	l.jobs = append(l.jobs, &next)
}

// same reports whether one run answers both. What could not be read may have a key all
// the same, and nothing of it counts.
func (j *job) same(next job) bool {
	if j.unread != nil || next.unread != nil {
		return j.messages[0].MessageId == next.messages[0].MessageId
	}
	// The fingerprint may leave out a part that the effect's payload needs: what differs
	// there is a run of its own, which meets the record.
	return j.delivery.Key == next.delivery.Key && j.delivery.Fingerprint == next.delivery.Fingerprint &&
		j.delivery.Payload.Equal(next.delivery.Payload)
}

// errBehind is why a message of a FIFO queue was not run.
var errBehind = errors.New("behind a failure in its message group")

// run works a lane off. It holds a slot, but not while it waits for the desk.
func (b *Batch) run(ctx context.Context, l *lane, deliver deliverer, d *desk, slots chan struct{}) {
	gaveUp := false
	for i, j := range l.jobs {
		j.delivery.Last = j.overdue() && !gaveUp
		f := j.deliver(ctx, deliver, &d.valve)
		wait := f.wait(l.receives(j))
		sent := d.see(j, f, wait)
		gaveUp = gaveUp || strings.HasPrefix(f.reason, reasonGaveUp)
		if !l.ordered || len(l.jobs) == 1 {
			continue // nothing follows that it could hold up
		}
		if f.reason != "" {
			<-slots
			d.quarantines.hurry()
			sent.Wait()
			slots <- struct{}{}
		}
		if slices.ContainsFunc(j.fates, func(f *fate) bool { return !f.done() }) {
			d.holdUp(l.jobs[i+1:], wait)
			return
		}
	}
}

// receives is what a job's delay goes by: a message group has one, and SQS hands out
// none of it while another is hidden.
func (l *lane) receives(j *job) int {
	most := j.receives()
	if l.ordered {
		for _, other := range l.jobs {
			most = max(most, other.receives())
		}
	}
	return most
}

// deliver runs a job, unless it has its fate already.
func (j *job) deliver(ctx context.Context, deliver deliverer, v *valve) fate {
	if j.unread != nil {
		return *j.unread
	}
	return v.through(func() fate {
		return judged(func() (intent.Outcome, error) { return deliver(ctx, j.delivery) })
	})
}
