package sqsbatch

import (
	"context"
	"errors"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
)

// order is one run: the messages that ask for one intent with one fingerprint.
// The others follow the first one's outcome.
type order struct {
	delivery intent.Delivery
	messages []events.SQSMessage
	fates    []*fate // where the outcome goes, one for each message
}

// lane is what must run one after the other: the different payloads under one
// key, of which the second meets the first one's record; on a FIFO queue, a
// message group.
type lane struct {
	orders []*order
	// ordered: what follows a failure must not overtake it.
	ordered bool
}

// lanes reads the messages. What has no usable key or payload keeps its error
// as its fate and takes no part.
func (b *Batch) lanes(messages []events.SQSMessage, fates []fate) []lane {
	var lanes []*lane
	find := map[string]*lane{}
	for i, m := range messages {
		var d intent.Delivery
		// Key and Select are the caller's: a panic of theirs is this message's own.
		err := intent.Contain(func() (err error) {
			d, err = b.read(m)
			return err
		})
		name := "key " + d.Key
		if isFIFO(m) {
			name = "group " + m.Attributes["MessageGroupId"]
		} else if err != nil {
			fates[i].err = err
			continue
		}
		l := find[name]
		if l == nil {
			l = &lane{ordered: isFIFO(m)}
			find[name] = l
			lanes = append(lanes, l)
		}
		if err != nil {
			fates[i].err = err
			l.orders = append(l.orders, &order{fates: []*fate{&fates[i]}}) // holds up its group
			continue
		}
		l.add(d, m, &fates[i])
	}
	out := make([]lane, len(lanes))
	for i, l := range lanes {
		out[i] = *l
	}
	return out
}

// add joins an order for the same intent with the same fingerprint, or appends
// one. The same message twice in a batch is such a pair, too. Where order counts
// it joins its neighbour alone: it may not overtake what is between.
func (l *lane) add(d intent.Delivery, m events.SQSMessage, f *fate) {
	orders := l.orders
	if l.ordered {
		orders = orders[max(0, len(orders)-1):]
	}
	for _, o := range orders {
		if o.delivery.Payload != nil && o.delivery.Key == d.Key && o.delivery.Fingerprint == d.Fingerprint {
			o.messages = append(o.messages, m)
			o.fates = append(o.fates, f)
			return
		}
	}
	l.orders = append(l.orders, &order{delivery: d, messages: []events.SQSMessage{m}, fates: []*fate{f}})
}

// run works a lane off.
func (b *Batch) run(ctx context.Context, l lane) {
	stopped := false
	for _, o := range l.orders {
		switch {
		case o.fates[0].err != nil: // could not be read
		case stopped:
			for _, f := range o.fates {
				f.err = errBehind
			}
		default:
			b.deliver(ctx, o)
		}
		stopped = l.ordered && !o.fates[0].done()
	}
}

// errBehind is why a message of a FIFO queue was not run.
var errBehind = errors.New("behind a failure in its message group")

// deliver runs one order and writes its outcome to each of its messages.
func (b *Batch) deliver(ctx context.Context, o *order) {
	var f fate
	f.err = intent.Contain(func() (err error) {
		if err := intent.TimeToStart(ctx); err != nil {
			return err
		}
		f.outcome, err = b.Handler.Deliver(ctx, o.delivery)
		return err
	})
	for i, m := range o.messages {
		*o.fates[i] = f
		if i > 0 && f.outcome.Kind == intent.Executed {
			o.fates[i].outcome.Kind = intent.Replayed
		}
		if f.err == nil && f.outcome.Kind == intent.InProgress {
			b.hide(ctx, m, f.outcome.Wait)
		}
	}
}
