package sqsbatch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/singleeffect/once/shared/intent"
)

// sendBy is how long before the deadline the calls to SQS end: what is not quarantined
// by then is listed.
const sendBy = answerBy + 100*time.Millisecond

// desk sees to the messages that are neither done nor simply listed: it hides those
// that must wait and quarantines those that no delivery can mend, in calls of ten,
// beside the effects and in none of their slots. After a call that failed as a whole it
// makes no other of its kind: SQS may be out of reach, and the answer must not wait.
type desk struct {
	b           *Batch
	valve       valve
	ctx         context.Context
	stop        context.CancelFunc
	hides       *relay[hidden]
	quarantines *relay[*copyOrder]
}

// hidden is a message that is to be away for a while.
type hidden struct {
	letter
	wait time.Duration
}

// copyOrder asks for one message's copy in the dead-letter queue. All fates are of
// the same message, which may stand several times in a batch.
type copyOrder struct {
	place int // of the message in the event
	entry types.SendMessageBatchRequestEntry
	size  int // bytes
	fates []*fate
	sent  *sync.WaitGroup // nil once it has ended
}

// errNoAnswer is why a message is listed whose copy may have been sent.
var errNoAnswer = errors.New("SQS does not tell what became of it")

// end tells what became of the copy, the first time.
func (o *copyOrder) end(err error) {
	if o.sent == nil {
		return
	}
	for _, f := range o.fates {
		f.quarantined = err == nil
		if err != nil {
			f.errors = append(f.errors, "quarantine: "+err.Error())
		}
	}
	o.sent.Done()
	o.sent = nil
}

func endAll(orders []*copyOrder, err error) {
	for _, o := range orders {
		o.end(err)
	}
}

// newDesk opens the desk for one invocation.
func (b *Batch) newDesk(ctx context.Context) *desk {
	d := &desk{b: b, valve: valve{ahead: make(chan struct{}, 1)}}
	// Nobody waits for the answer of an invocation that has been given up, so nothing is
	// quarantined then that the answer would acknowledge.
	if deadline, ok := ctx.Deadline(); ok {
		d.ctx, d.stop = context.WithDeadline(ctx, deadline.Add(-sendBy))
	} else {
		d.ctx, d.stop = context.WithCancel(ctx)
	}
	var hideErr, sendErr error // each written and read by one call after the other
	// In the order of the event, in which effects that run side by side do not end.
	d.hides = newRelay(func(messages []hidden) {
		slices.SortFunc(messages, func(a, b hidden) int { return a.place - b.place })
		if hideErr == nil {
			hideErr = intent.Contain(func() error { return b.hide(d.ctx, messages) })
		}
	}, nil)
	d.quarantines = newRelay(func(orders []*copyOrder) {
		slices.SortFunc(orders, func(a, b *copyOrder) int { return a.place - b.place })
		defer endAll(orders, errNoAnswer)
		if sendErr == nil {
			sendErr = d.ctx.Err()
		}
		if sendErr == nil {
			sendErr = intent.Contain(func() error { return b.quarantine(d.ctx, orders) })
		}
		if sendErr != nil {
			endAll(orders, sendErr)
		}
	}, func(o *copyOrder) int { return o.size })
	return d
}

// see writes the fate of a job to its messages and sees to them. Who waits for what it
// returns knows what became of the copies.
//
// wait is how long the messages are hidden that are neither done nor in quarantine.
func (d *desk) see(j *job, f fate, wait time.Duration) *sync.WaitGroup {
	var sent sync.WaitGroup
	orders := map[string]*copyOrder{} // by message id: the same message twice is sent once
	for i, m := range j.messages {
		*j.fates[i] = f
		if i > 0 { // it follows the first, and ran nothing itself
			j.fates[i].outcome.Lapsed = false
			if f.outcome.Kind == intent.Executed {
				j.fates[i].outcome.Kind = intent.Replayed
			}
		}
		switch {
		case f.reason != "" && d.b.mayQuarantine(m):
			if o := orders[m.MessageId]; o != nil {
				o.fates = append(o.fates, j.fates[i])
				continue
			}
			o := &copyOrder{place: m.place, fates: []*fate{j.fates[i]}, sent: &sent}
			orders[m.MessageId] = o
		case !f.done():
			d.hide(m, wait)
		}
	}
	for _, m := range j.messages {
		o := orders[m.MessageId]
		if o == nil {
			continue
		}
		delete(orders, m.MessageId)
		sent.Add(1)
		var err error
		if o.entry, o.size, err = d.b.copyOf(m, printable(f.reason)); err != nil {
			o.end(err)
			continue
		}
		d.quarantines.add(o)
	}
	return &sent
}

func (d *desk) hide(m letter, wait time.Duration) {
	if wait > 0 && d.b.mayHide(m) {
		d.hides.add(hidden{m, wait})
	}
}

// holdUp lists jobs behind a failure in their group, which come back with it.
func (d *desk) holdUp(jobs []*job, wait time.Duration) {
	for _, j := range jobs {
		f := judge(intent.Outcome{}, errBehind)
		if j.unread != nil {
			f = *j.unread
		}
		for i, m := range j.messages {
			*j.fates[i] = f
			d.hide(m, wait)
		}
	}
}

// refuse sees to the lanes of which nothing is to be run, and returns the others.
func (d *desk) refuse(lanes []*lane) (runnable []*lane) {
	for _, l := range lanes {
		if len(l.jobs) == 1 && l.jobs[0].unread != nil {
			d.see(l.jobs[0], *l.jobs[0].unread, 0)
			continue
		}
		runnable = append(runnable, l)
	}
	return runnable
}

// close waits for what is still to be sent.
func (d *desk) close() {
	d.hides.close()
	d.quarantines.close()
	d.stop()
}
