package queue

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Delivery is a message as a receive returns it, with what it is acknowledged by.
type Delivery[B any] struct {
	Message[B]
	Handle string // the next delivery of the message has another
}

// Receive takes up to n messages and hides them, by default for the queue's visibility timeout. Of a FIFO queue it takes as many as it
// can of one group before it looks at another (API: ReceiveMessage). Behind MaxInFlight messages in flight it returns nothing.
//
// A message that this queue has delivered MaxReceives times is not delivered again but moved to the dead-letter queue: it is buried.
// It takes no place in the answer.
func (q *Queue[B]) Receive(now time.Time, n int, visibility *time.Duration) (got []Delivery[B], buried []Message[B]) {
	if !q.Ready(now) {
		return nil, nil
	}
	hidden := q.config.Visibility
	if visibility != nil {
		hidden = *visibility
	}
	n = min(n-q.choose(Fewer, "", n), MaxInFlight-q.inFlight)
	for len(got) < n && q.ready.Len() > 0 {
		e := q.ready.items[q.choose(Next, "", q.ready.Len())]
		for e != nil && len(got) < n {
			follower := q.follower(e)
			if m, spent := q.bury(now, e); spent {
				buried = append(buried, m)
			} else {
				got = append(got, q.deliver(now, e, hidden))
				if !q.config.FIFO && len(got) < n && q.choose(Twice, e.ID, 2) == 1 {
					got = append(got, got[len(got)-1])
				}
			}
			e = follower
		}
	}
	return got, buried
}

// follower is the message of a group that comes with another one; nil: none does.
func (q *Queue[B]) follower(e *entry[B]) *entry[B] {
	if !q.config.FIFO {
		return nil
	}
	entries := q.groups[e.Group].entries
	i := slices.Index(entries, e) + 1
	if i == len(entries) || entries[i].heap == q.hidden {
		return nil
	}
	return entries[i]
}

func (q *Queue[B]) deliver(now time.Time, e *entry[B], hidden time.Duration) Delivery[B] {
	e.Receives++
	e.lastReceived = now
	if e.FirstReceived.IsZero() {
		e.FirstReceived = now
	}
	d := Delivery[B]{e.Message, e.ID + " " + strconv.Itoa(e.Receives)}
	e.leave()
	if !q.config.FIFO && e.Receives-e.elsewhere >= poison {
		e.Sequence = q.next()
	}
	if !q.config.FIFO && hidden > 0 && q.choose(StaysVisible, e.ID, 2) == 1 {
		hidden = 0
	}
	q.fly(e)
	q.hide(e, now.Add(hidden))
	return d
}

var (
	// ErrExpired is returned when a FIFO queue is given a receipt handle whose visibility timeout is over, or that is not the
	// message's latest.
	ErrExpired = errors.New("the receipt handle has expired")

	// ErrGone is returned when the message whose visibility timeout is to be changed is no longer there.
	ErrGone = errors.New("the message is gone")

	// ErrTooLong is returned when a message would be hidden for more than MaxVisibility since it was received.
	ErrTooLong = errors.New("the visibility timeout is too long")
)

// Delete acknowledges a delivery and reports whether that deleted the message. That it is gone already is no error. A FIFO queue takes
// the handle of a message in flight alone, and refuses others with ErrExpired (AWS knowledge center: "sqs-receipt-handle-error").
// A standard queue takes the latest handle at any time; an older one is no error, and deletes nothing unless a Chooser says so.
func (q *Queue[B]) Delete(now time.Time, handle string) (deleted bool, err error) {
	q.pass(now)
	switch e, latest := q.find(handle); {
	case e == nil:
		return false, nil
	case q.config.FIFO && !(latest && e.inFlight):
		return false, ErrExpired
	case !latest && q.choose(ByOldHandle, e.ID, 2) == 0:
		return false, nil
	case !q.config.FIFO && q.choose(ComesBack, e.ID, 2) == 1:
		q.land(e)
		q.hide(e, e.visibleAt) // which may be over
		e.deleted = true
		return true, nil
	default:
		q.remove(e)
		return true, nil
	}
}

// ChangeVisibility hides a message in flight for so long from now on, and reports whether it did. A standard queue takes a handle that
// has expired for no error, and changes nothing.
func (q *Queue[B]) ChangeVisibility(now time.Time, handle string, d time.Duration) (changed bool, err error) {
	q.pass(now)
	switch e, latest := q.find(handle); {
	case e == nil:
		return false, ErrGone
	case q.config.FIFO && !(latest && e.inFlight):
		return false, ErrExpired
	case !latest || !e.inFlight:
		return false, nil
	case now.Add(d).Sub(e.lastReceived) > MaxVisibility:
		return false, ErrTooLong
	default:
		q.hide(e, now.Add(d))
		return true, nil
	}
}

// find is the message of a handle, and whether that is its latest; nil: it is gone.
func (q *Queue[B]) find(handle string) (e *entry[B], latest bool) {
	i := strings.LastIndexByte(handle, ' ')
	if e = q.messages[handle[:max(i, 0)]]; e == nil || e.deleted {
		return nil, false
	}
	return e, handle[i+1:] == strconv.Itoa(e.Receives)
}
