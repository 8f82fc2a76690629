package linear

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/queue"
)

// timeout is an invocation's. An intent is not begun with less than a second left.
const timeout = 2 * time.Second

// mailbox is the queue of one intent, with the payloads of some copies of its message.
// What is out is hidden for as long as it can be.
type mailbox = queue.Queue[int]

func newMailbox() *mailbox {
	n := 0
	id := func() string { n++; return strconv.Itoa(n) }
	return queue.New(queue.Config[int]{Visibility: queue.MaxVisibility, NewID: id})
}

// parent hands out deliveries, is the far side of their effects, and takes their
// answers; all times are its own.
type parent struct {
	Config
	start time.Time
	store intent.Store // of the same records, without faults
	end   context.CancelCauseFunc

	mu         sync.Mutex
	random     *rand.Rand
	opened     int // histories so far
	open       []*history
	deliveries []*delivery // by their ids
	workers    map[int]*process
	changed    chan struct{} // closed when there may be more to hand out
	report     Report
}

func (p *parent) now() int64 { return int64(time.Since(p.start)) }

// wake lets those look again who wait for something to deliver.
func (p *parent) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// more opens the next history, if there is to be one more: some copies of one intent's
// message, and now and then one with another payload.
func (p *parent) more() {
	if p.opened == p.Histories {
		return
	}
	h := &history{number: p.opened, class: p.Classes[p.opened%len(p.Classes)]}
	p.opened++
	h.far = far{class: h.class, declines: p.random.IntN(5) == 0}
	h.copies = newMailbox()
	for range 3 + p.random.IntN(4) {
		payload, delay := 0, time.Duration(p.random.Int64N(int64(30*time.Millisecond)))
		if p.random.IntN(8) == 0 {
			payload = 1
		}
		h.copies.Send(time.Now(), queue.Outgoing[int]{Body: payload, Delay: &delay})
	}
	p.open = append(p.open, h)
	p.wake()
}

// next hands out a batch to a worker, of one class and with each intent once; or says
// how long there is nothing.
func (p *parent) next(number int) (b batch, wait time.Duration, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	worker, now := p.workers[number], p.now()
	wait = time.Second
	if worker == nil {
		return b, wait, p.changed // it is being killed
	}
	size, deadline := 1+p.random.IntN(5), now+int64(timeout)
	for _, i := range p.random.Perm(len(p.open)) {
		h := p.open[i]
		if b.Class != "" && b.Class != h.class || len(b.Deliveries) == size {
			continue
		}
		got, _ := h.copies.Receive(time.Now(), 1, nil)
		if len(got) == 0 {
			if next := h.copies.Next(time.Now()); !next.IsZero() {
				wait = min(wait, time.Until(next))
			}
			continue
		}
		d := &delivery{id: len(p.deliveries), in: h, of: got[0], by: worker, deadline: deadline, handed: now}
		p.deliveries = append(p.deliveries, d)
		p.report.Deliveries++
		h.deliveries = append(h.deliveries, d)
		if b.Class = h.class; p.random.IntN(8) == 0 {
			h.looking.Go(func() { _ = p.look(h) }) // the last one must succeed
		}
		b.Deliveries = append(b.Deliveries, message{Delivery: d.id, Intent: h.name(), Payload: d.of.Body})
	}
	b.Deadline = p.start.UnixMilli() + deadline/int64(time.Millisecond)
	if len(b.Deliveries) > 0 && p.random.IntN(60) == 0 {
		time.AfterFunc(time.Duration(p.random.IntN(20))*time.Millisecond, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.kill(worker)
		})
	}
	return b, wait, p.changed
}

// effect is a call to the far side. False: it never arrived, or its caller is dead.
func (p *parent) effect(asked call) (reply, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.deliveries[asked.Delivery]
	if d.over > 0 {
		return reply{}, false
	}
	h := d.in
	if d.arrived > 0 && h.class != Ledger { // whose effect only plans
		h.far.again++
	}
	d.arrived, d.attempt = p.now(), asked.Attempt
	if p.random.IntN(30) == 0 {
		p.kill(d.by)
		return reply{}, false
	}
	d.reply = h.far.call(d.id, p.random)
	if p.random.IntN(30) == 0 {
		p.kill(d.by)
		return reply{}, false
	}
	d.told = p.now()
	return d.reply, true
}

// answered takes the answer of a delivery.
func (p *parent) answered(a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.deliveries[a.Delivery]
	if d.over > 0 {
		return
	}
	d.over, d.answer = p.now(), a
	switch a.Kind {
	case intent.Executed, intent.Replayed, intent.Refused, intent.Conflict, intent.InDoubt:
		_, _ = d.in.copies.Delete(time.Now(), d.of.Handle) // a standard queue refuses none
	case intent.InProgress: // some come again too soon
		wait := a.Wait
		if p.random.IntN(2) == 0 {
			wait = min(wait, time.Duration(p.random.IntN(250))*time.Millisecond)
		}
		p.again(d, wait)
	default:
		p.again(d, 0)
	}
	p.close(d.in)
}

// again puts a message back into the queue.
func (p *parent) again(d *delivery, wait time.Duration) {
	if d.answer.Kind == "" {
		p.report.Unheard++
	}
	wait += time.Duration(p.random.Int64N(int64(50 * time.Millisecond)))
	_, _ = d.in.copies.ChangeVisibility(time.Now(), d.of.Handle, wait) // it is out, and wait is short
	p.wake()
}

// kill kills a worker. What it was at is unknown, and comes again.
func (p *parent) kill(worker *process) {
	if p.workers[worker.number] != worker {
		return // dead already
	}
	delete(p.workers, worker.number)
	p.report.Kills++
	worker.kill()
	for _, h := range p.open {
		for _, d := range h.deliveries {
			if d.by == worker && d.over == 0 {
				d.over = p.now()
				p.again(d, 0)
			}
		}
	}
}

// close gives a history away in which each copy has its answer.
func (p *parent) close(h *history) {
	if h.copies.Counts(time.Now()) != (queue.Counts{}) {
		return
	}
	for i, other := range p.open {
		if other == h {
			p.open = append(p.open[:i], p.open[i+1:]...)
			go p.settle(h)
			return
		}
	}
}

// look is a producer's look at its intent.
func (p *parent) look(h *history) error {
	from := p.now()
	o, err := intent.Lookup(context.Background(), p.store, h.key())
	out := output{kind: o.Kind, attempt: o.Attempt, result: resultOf(o)}
	if errors.Is(err, intent.ErrNoIntent) {
		out.kind, err = absent, nil
	}
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	h.looks = append(h.looks, porcupine.Operation{Input: input{operation: looks}, Call: from, Output: out, Return: p.now()})
	return nil
}
