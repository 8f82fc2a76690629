package queue

import (
	"slices"
	"time"
)

const (
	// MaxInFlight is how many messages can be received and neither deleted nor visible again (guide: "standard queue quotas",
	// "FIFO queue quotas").
	MaxInFlight = 120_000

	// Window is among how many messages from its front a FIFO queue looks for groups (guide: "Avoid large message backlogs with
	// the same message group ID").
	Window = 120_000

	// MaxVisibility is how long a message can be hidden in all by one receive (guide: "visibility timeout").
	MaxVisibility = 12 * time.Hour

	// deduplication is how long a FIFO queue knows a deduplication id (guide: "Using the message deduplication ID").
	deduplication = 5 * time.Minute

	// defaultRetention is 4 days (API: SetQueueAttributes).
	defaultRetention = 4 * 24 * time.Hour

	// poison is the receive from which on a standard queue puts a message behind all others and leaves it out of the age of its
	// oldest (guide: "Available CloudWatch metrics", ApproximateAgeOfOldestMessage).
	poison = 3
)

// Config says what a queue of messages with bodies B is.
type Config[B any] struct {
	Name string // Message.Source, of what its redrive policy moves

	FIFO         bool
	DedupByGroup bool // a FIFO queue's DeduplicationScope is messageGroup

	Visibility time.Duration // of a receive that says none; zero hides nothing
	Delay      time.Duration // of a send that says none
	Retention  time.Duration // defaults to 4 days

	// DeadLetters takes what has been received MaxReceives times. Defaults to none.
	DeadLetters *Queue[B]
	MaxReceives int

	// NewID makes message ids, no two alike in a queue and its dead-letter queue.
	NewID func() string

	// Choose defaults to nothing by chance.
	Choose Chooser
}

// Message is a message as it lies in a queue.
type Message[B any] struct {
	ID            string
	Body          B
	Group, Dedup  string
	Sequence      uint64    // orders a FIFO queue's messages
	Sent          time.Time // its retention counts from here
	Receives      int       // in the queues it was moved from, too
	FirstReceived time.Time // zero: never
	Source        string    // the queue whose redrive policy moved it here; empty: none
}

// entry is a message with what only its queue knows.
type entry[B any] struct {
	Message[B]
	elsewhere    int       // receives in the queues it was moved from
	arrived      time.Time // in this queue
	lastReceived time.Time
	visibleAt    time.Time // of one that is hidden
	inFlight     bool
	deleted      bool // and will be back

	heap  *heap[B] // that it is in; nil: none
	index int      // there
}

// Queue is a queue.
type Queue[B any] struct {
	config   Config[B]
	messages map[string]*entry[B] // by id
	sequence uint64
	oldest   time.Time // no message was sent before

	// ready has what a receive can begin with: a standard queue's visible messages, the heads of a FIFO queue's groups that none
	// of theirs in flight blocks.
	ready    *heap[B]
	hidden   *heap[B] // until a time: delayed, or in flight
	inFlight int

	// Of a FIFO queue.
	groups map[string]*group[B]
	inside int         // messages in groups
	beyond []*entry[B] // the window, in order
	recent map[dedup]accepted
	forget []accepted // recent, in the order of time
}

// group is the messages of a group that are within the window.
type group[B any] struct {
	entries  []*entry[B] // in order
	inFlight int
}

// dedup is by what a duplicate is known.
type dedup struct{ group, id string }

// accepted is a send that a duplicate is answered with.
type accepted struct {
	dedup
	at       time.Time
	id       string
	sequence uint64
}

// New returns an empty queue.
func New[B any](c Config[B]) *Queue[B] {
	if c.Retention == 0 {
		c.Retention = defaultRetention
	}
	return &Queue[B]{
		config: c, messages: map[string]*entry[B]{}, groups: map[string]*group[B]{}, recent: map[dedup]accepted{},
		ready: &heap[B]{less: func(a, b *entry[B]) bool { return a.Sequence < b.Sequence }},
		hidden: &heap[B]{less: func(a, b *entry[B]) bool {
			if !a.visibleAt.Equal(b.visibleAt) {
				return a.visibleAt.Before(b.visibleAt)
			}
			return a.Sequence < b.Sequence
		}},
	}
}

// Outgoing is a message to send.
type Outgoing[B any] struct {
	Body         B
	Group, Dedup string         // Dedup counts in a FIFO queue alone
	Delay        *time.Duration // defaults to the queue's
}

// Send puts a message into the queue. A FIFO queue that has accepted its deduplication id within 5 minutes, whatever became of that
// message, takes it for a duplicate: it keeps nothing and answers with the first one's id and sequence number.
func (q *Queue[B]) Send(now time.Time, o Outgoing[B]) (m Message[B], duplicate bool) {
	q.pass(now)
	m = Message[B]{Body: o.Body, Group: o.Group, Dedup: o.Dedup, Sent: now}
	if first, ok := q.recent[q.dedup(m)]; ok {
		m.ID, m.Sequence = first.id, first.sequence
		return m, true
	}
	delay := q.config.Delay
	if o.Delay != nil {
		delay = *o.Delay
	}
	m.ID = q.config.NewID()
	return q.add(now, m, delay), false
}

func (q *Queue[B]) dedup(m Message[B]) dedup {
	if q.config.DedupByGroup {
		return dedup{m.Group, m.Dedup}
	}
	return dedup{"", m.Dedup}
}

// add puts a message at the end.
func (q *Queue[B]) add(now time.Time, m Message[B], delay time.Duration) Message[B] {
	m.Sequence = q.next()
	e := &entry[B]{Message: m, elsewhere: m.Receives, arrived: now}
	if len(q.messages) == 0 || m.Sent.Before(q.oldest) {
		q.oldest = m.Sent
	}
	q.messages[m.ID] = e
	if q.config.FIFO {
		first := accepted{q.dedup(m), now, m.ID, m.Sequence}
		q.recent[first.dedup] = first
		q.forget = append(q.forget, first)
		q.beyond = append(q.beyond, e)
	}
	if delay > 0 {
		q.hide(e, now.Add(delay))
	} else {
		q.show(e)
	}
	q.admit()
	return m
}

func (q *Queue[B]) next() uint64 {
	q.sequence++
	return q.sequence
}

// admit lets messages into the window.
func (q *Queue[B]) admit() {
	for len(q.beyond) > 0 && q.inside < Window {
		e := q.beyond[0]
		q.beyond = q.beyond[1:]
		q.inside++
		g := q.groups[e.Group]
		if g == nil {
			g = &group[B]{}
			q.groups[e.Group] = g
		}
		g.entries = append(g.entries, e)
		q.open(e.Group)
	}
}

// open makes a group ready that has a message for the next receive: its head is not delayed, and none of it is in flight.
func (q *Queue[B]) open(name string) {
	switch g := q.groups[name]; {
	case g == nil:
	case len(g.entries) == 0:
		delete(q.groups, name)
	case g.inFlight == 0 && g.entries[0].heap == nil:
		q.ready.add(g.entries[0])
	}
}

// hide keeps a message from receives until a time, even if that is now: it shows itself when the queue is next looked at.
func (q *Queue[B]) hide(e *entry[B], until time.Time) {
	e.leave()
	e.visibleAt = until
	q.hidden.add(e)
}

// show lets receives have a message.
func (q *Queue[B]) show(e *entry[B]) {
	e.leave()
	e.deleted = false
	q.land(e)
	if q.config.FIFO {
		q.open(e.Group)
	} else {
		q.ready.add(e)
	}
}

// fly counts a message as in flight, land no longer.
func (q *Queue[B]) fly(e *entry[B]) {
	e.inFlight = true
	q.inFlight++
	if g := q.groups[e.Group]; g != nil {
		g.inFlight++
	}
}

func (q *Queue[B]) land(e *entry[B]) {
	if !e.inFlight {
		return
	}
	e.inFlight = false
	q.inFlight--
	if g := q.groups[e.Group]; g != nil {
		g.inFlight--
	}
}

// remove takes a message out. Its group may go on, and the window reaches one further. It is within the window: only what is there is
// received, and what is past its retention or purged goes in order.
func (q *Queue[B]) remove(e *entry[B]) {
	delete(q.messages, e.ID)
	e.leave()
	q.land(e)
	if !q.config.FIFO {
		return
	}
	g := q.groups[e.Group]
	i := slices.Index(g.entries, e)
	g.entries = slices.Delete(g.entries, i, i+1)
	q.inside--
	q.open(e.Group)
	q.admit()
}

// pass does what time has done since the last call.
func (q *Queue[B]) pass(now time.Time) {
	for q.hidden.Len() > 0 && !q.hidden.items[0].visibleAt.After(now) {
		q.show(q.hidden.items[0])
	}
	for len(q.forget) > 0 && now.Sub(q.forget[0].at) >= deduplication {
		if first := q.forget[0]; q.recent[first.dedup] == first {
			delete(q.recent, first.dedup)
		}
		q.forget = q.forget[1:]
	}
	if now.Sub(q.oldest) < q.config.Retention {
		return
	}
	q.oldest = now
	for _, e := range q.all() {
		if now.Sub(e.Sent) >= q.config.Retention {
			q.remove(e)
		} else if e.Sent.Before(q.oldest) {
			q.oldest = e.Sent
		}
	}
}

// all is everything in the queue, in order.
func (q *Queue[B]) all() []*entry[B] {
	all := make([]*entry[B], 0, len(q.messages))
	for _, e := range q.messages {
		all = append(all, e)
	}
	slices.SortFunc(all, inOrder)
	return all
}
