package sqsbatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
)

// order is one run: the messages that ask for one intent with one fingerprint.
// The others follow the first one's outcome.
type order struct {
	delivery intent.Delivery
	messages []events.SQSMessage
	fates    []*fate // where the outcome goes, one for each message
	read     *fate   // of what could not be read
}

// lane is what must run one after the other: the different payloads under one
// key, of which the second meets the first one's record; on a FIFO queue, a
// message group.
type lane struct {
	orders []*order
	// ordered: what follows a failure must not overtake it.
	ordered bool
	// single: each message is run for itself.
	single bool
}

// lanes reads the messages. What has no usable key or payload is an order that
// has its fate already, and holds up its group until it is in quarantine.
func (b *Batch) lanes(messages []events.SQSMessage, fates []fate) []lane {
	var lanes []*lane
	find := map[string]*lane{}
	for i, m := range messages {
		m = unwrap(m)
		o := order{messages: []events.SQSMessage{m}, fates: []*fate{&fates[i]}}
		// Key and Select are the caller's: a panic of theirs is this message's own.
		err := intent.Contain(func() (err error) {
			o.delivery, err = b.read(m)
			return err
		})
		var conflict *keyConflict
		switch {
		case errors.As(err, &conflict):
			o.read = &fate{outcome: intent.Outcome{Kind: intent.Conflict, Reason: conflict.Error()}}
		case err != nil:
			o.read = &fate{err: err}
		}
		ordered := isFIFO(m)
		var name string
		switch {
		case ordered:
			name = "group " + m.Attributes["MessageGroupId"]
		case o.read != nil:
			name = "message " + m.MessageId
		case b.keyless:
			name = fmt.Sprint("record ", i) // side by side, each for itself
		default:
			name = "key " + o.delivery.Key
		}
		l := find[name]
		if l == nil {
			l = &lane{ordered: ordered, single: b.keyless}
			find[name] = l
			lanes = append(lanes, l)
		}
		l.add(o)
	}
	out := make([]lane, len(lanes))
	for i, l := range lanes {
		out[i] = *l
	}
	return out
}

// add appends an order, or joins it to one for the same intent with the same
// fingerprint. The same message twice in a batch is such a pair, too. Where order
// counts it joins its neighbour alone: it may not overtake what is between.
func (l *lane) add(next order) {
	orders := l.orders
	if l.ordered {
		orders = orders[max(0, len(orders)-1):]
	}
	for _, o := range orders {
		if o.same(next) && !l.single {
			// Both are one intent, which is as old as its eldest message.
			o.delivery.SentAt = earlier(o.delivery.SentAt, next.delivery.SentAt)
			o.delivery.Receives = max(o.delivery.Receives, next.delivery.Receives)
			o.messages = append(o.messages, next.messages...)
			o.fates = append(o.fates, next.fates...)
			return
		}
	}
	l.orders = append(l.orders, &next)
}

// same reports whether one run answers both. What could not be read may have a key all
// the same, and nothing of it counts.
func (o *order) same(next order) bool {
	if o.read != nil || next.read != nil {
		return o.messages[0].MessageId == next.messages[0].MessageId
	}
	return o.delivery.Key == next.delivery.Key && o.delivery.Fingerprint == next.delivery.Fingerprint
}

// run works a lane off.
func (b *Batch) run(ctx context.Context, l lane, deliver deliverer) {
	stopped := false
	for _, o := range l.orders {
		if stopped {
			for _, f := range o.fates {
				if *f = (fate{err: errBehind}); o.read != nil {
					*f = *o.read
				}
			}
			continue
		}
		b.deliver(ctx, o, deliver)
		for _, f := range o.fates {
			stopped = stopped || l.ordered && !f.done()
		}
	}
}

// errBehind is why a message of a FIFO queue was not run.
var errBehind = errors.New("behind a failure in its message group")

// deliver runs one order, writes its fate to each of its messages, and sees to
// those that are not done: in quarantine, or hidden while they must wait.
func (b *Batch) deliver(ctx context.Context, o *order, deliver deliverer) {
	var f fate
	if o.read != nil {
		f = *o.read
	} else {
		f.err = intent.Contain(func() (err error) {
			f.outcome, err = deliver(ctx, o.delivery)
			return err
		})
	}
	reason, poison := f.poison()
	sent := map[string]error{} // by message id: the same message twice is sent once
	for i, m := range o.messages {
		*o.fates[i] = f
		if i > 0 { // it follows the first, and ran nothing itself
			o.fates[i].outcome.Lapsed = false
			if f.outcome.Kind == intent.Executed {
				o.fates[i].outcome.Kind = intent.Replayed
			}
		}
		switch {
		case poison && b.quarantines(m):
			err, again := sent[m.MessageId]
			if !again {
				err = b.quarantine(ctx, m, reason)
				sent[m.MessageId] = err
			}
			o.fates[i].quarantined, o.fates[i].failed = err == nil, err
		case f.err == nil && f.mustWait():
			b.hide(ctx, m, f.outcome.Wait)
		}
	}
}
