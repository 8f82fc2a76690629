package linear

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/singleeffect/once/shared/intent"
)

// timeout is an invocation's. An intent is not begun with less than a second left.
const timeout = 2 * time.Second

// copied is one of the messages of an intent. It is delivered until it has its answer.
type copied struct {
	payload int
	visible int64 // from when on it may be handed out; never while it is out
	done    bool
}

// collector hands out deliveries, is the far side of their effects, and takes their
// answers; all times are its own. It is the queue, too: what is not answered comes
// again.
type collector struct {
	start  time.Time
	store  intent.Store     // of the same records, without faults
	settle func(h *history) // is given each history that has all its answers
	failed func(err error)  // is told what ends the run

	mu         sync.Mutex
	random     *rand.Rand
	open       []*history
	deliveries []*delivery // by their ids
	workers    map[int]*process
	changed    chan struct{} // closed when there may be more to hand out
	tally      Tally
}

// Tally is what was done.
type Tally struct{ Deliveries, Kills, Unheard int }

func (c *collector) now() int64 { return int64(time.Since(c.start)) }

// wake lets those look again who wait for something to deliver.
func (c *collector) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// add opens a history: some copies of one intent's message, and now and then one with
// another payload.
func (c *collector) add(h *history) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.far = far{class: h.class, declines: c.random.IntN(5) == 0}
	for range 3 + c.random.IntN(4) {
		m := &copied{visible: c.now() + c.random.Int64N(int64(30*time.Millisecond))}
		if c.random.IntN(8) == 0 {
			m.payload = 1
		}
		h.copies = append(h.copies, m)
	}
	c.open = append(c.open, h)
	c.wake()
}

func (c *collector) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /next/{worker}", func(w http.ResponseWriter, r *http.Request) {
		number, _ := strconv.Atoi(r.PathValue("worker"))
		for {
			b, wait, changed := c.next(number)
			if len(b.Deliveries) > 0 {
				_ = json.NewEncoder(w).Encode(b) // unheard, the deliveries are unknown
				return
			}
			select {
			case <-time.After(wait):
			case <-changed:
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("POST /effect", func(w http.ResponseWriter, r *http.Request) {
		var asked call
		if json.NewDecoder(r.Body).Decode(&asked) != nil {
			return
		}
		answer, ok := c.effect(asked)
		if !ok {
			panic(http.ErrAbortHandler)
		}
		_ = json.NewEncoder(w).Encode(answer)
	})
	mux.HandleFunc("POST /answer", func(_ http.ResponseWriter, r *http.Request) {
		var a answer
		if json.NewDecoder(r.Body).Decode(&a) == nil {
			c.answered(a)
		}
	})
	return mux
}

// next hands out a batch to a worker, of one class and with each intent once; or says
// how long there is nothing.
func (c *collector) next(number int) (b batch, wait time.Duration, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, now := c.workers[number], c.now()
	wait = time.Second
	if p == nil {
		return b, wait, c.changed // it is being killed
	}
	size, deadline := 1+c.random.IntN(5), now+int64(timeout)
	for _, i := range c.random.Perm(len(c.open)) {
		h := c.open[i]
		for _, m := range h.copies {
			if m.done || m.visible > now {
				if !m.done {
					wait = min(wait, time.Duration(m.visible-now))
				}
				continue
			}
			if b.Class != "" && b.Class != h.class || len(b.Deliveries) == size {
				wait = 0
				break
			}
			d := &delivery{id: len(c.deliveries), in: h, of: m, by: p, deadline: deadline, handed: now}
			c.deliveries = append(c.deliveries, d)
			c.tally.Deliveries++
			h.deliveries = append(h.deliveries, d)
			m.visible = never
			if b.Class = h.class; c.random.IntN(8) == 0 {
				h.looking.Go(func() { c.look(h) })
			}
			b.Deliveries = append(b.Deliveries, message{Delivery: d.id, Intent: h.name(), Payload: m.payload})
			break
		}
	}
	b.Deadline = c.start.UnixMilli() + deadline/int64(time.Millisecond)
	if len(b.Deliveries) > 0 && c.random.IntN(60) == 0 {
		time.AfterFunc(time.Duration(c.random.IntN(20))*time.Millisecond, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.kill(p)
		})
	}
	return b, wait, c.changed
}

// effect is a call to the far side. False: it never arrived, or its caller is dead.
func (c *collector) effect(asked call) (reply, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.deliveries[asked.Delivery]
	if d.over > 0 {
		return reply{}, false
	}
	h := d.in
	if d.arrived > 0 {
		h.far.again++
	}
	d.arrived, d.attempt = c.now(), asked.Attempt
	if c.random.IntN(30) == 0 {
		c.kill(d.by)
		return reply{}, false
	}
	d.reply = h.far.call(d.id, c.random)
	if c.random.IntN(30) == 0 {
		c.kill(d.by)
		return reply{}, false
	}
	d.told = c.now()
	return d.reply, true
}

// answered takes the answer of a delivery.
func (c *collector) answered(a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.deliveries[a.Delivery]
	if d.over > 0 {
		return
	}
	d.over, d.answer = c.now(), a
	switch a.Kind {
	case intent.Executed, intent.Replayed, intent.Refused, intent.Conflict, intent.InDoubt:
		d.of.done = true
	case intent.InProgress: // some come again too soon
		wait := a.Wait
		if c.random.IntN(2) == 0 {
			wait = min(wait, time.Duration(c.random.IntN(250))*time.Millisecond)
		}
		c.again(d, wait)
	default:
		c.again(d, 0)
	}
	c.close(d.in)
}

// again puts a message back into the queue.
func (c *collector) again(d *delivery, wait time.Duration) {
	if d.answer.Kind == "" {
		c.tally.Unheard++
	}
	d.of.visible = c.now() + int64(wait) + c.random.Int64N(int64(50*time.Millisecond))
	c.wake()
}

// kill kills a worker. What it was at is unknown, and comes again.
func (c *collector) kill(p *process) {
	if c.workers[p.number] != p {
		return // dead already
	}
	delete(c.workers, p.number)
	c.tally.Kills++
	p.kill()
	for _, h := range c.open {
		for _, d := range h.deliveries {
			if d.by == p && d.over == 0 {
				d.over = c.now()
				c.again(d, 0)
			}
		}
	}
}

// close gives a history away in which each copy has its answer.
func (c *collector) close(h *history) {
	for _, m := range h.copies {
		if !m.done {
			return
		}
	}
	for i, other := range c.open {
		if other == h {
			c.open = append(c.open[:i], c.open[i+1:]...)
			go c.settle(h)
			return
		}
	}
}

// look is a producer's look at its intent.
func (c *collector) look(h *history) {
	from := c.now()
	o, err := intent.Lookup(context.Background(), c.store, h.key())
	out := output{kind: o.Kind, attempt: o.Attempt, result: resultOf(o)}
	switch {
	case errors.Is(err, intent.ErrNoIntent):
		out.kind = absent
	case err != nil:
		c.failed(fmt.Errorf("look at %s: %w", h.name(), err))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h.looks = append(h.looks, porcupine.Operation{Input: input{operation: looks}, Call: from, Output: out, Return: c.now()})
}
