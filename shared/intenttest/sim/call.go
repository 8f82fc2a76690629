package sim

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// label is the context key of the message that a call is for.
type label struct{}

// call waits at the gate.
type call struct {
	process *Process
	name    string // the same in every run, and in every try
	kind    kind
	input   any
	records []string // that it may change, by their keys
	apply   func()   // at the far side
	done    chan error
}

// enter takes a call through the gate and returns what broke on the way; ended is the context's error, if the caller waits no
// more: then the call arrives only if it was let through before.
func (p *Process) enter(ctx context.Context, c *call) (broken, ended error) {
	w := p.world
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.process, c.done = p, make(chan error, 1)
	c.name = p.name + " " + c.name
	if id, ok := ctx.Value(label{}).(string); ok {
		c.name += " for " + id
	}
	w.mu.Lock()
	dead := p.dead
	if !dead {
		w.waiting = append(w.waiting, c)
	}
	w.mu.Unlock()
	if dead {
		runtime.Goexit()
	}
	w.stir()
	select {
	case broken = <-c.done:
	case <-ctx.Done():
		ended = ctx.Err()
	}
	w.withdraw(c)
	w.mu.Lock()
	dead = p.dead
	w.mu.Unlock()
	if dead {
		runtime.Goexit()
	}
	return broken, ended
}

// stir tells the driver that there may be something to do.
func (w *World) stir() {
	select {
	case w.arrived <- struct{}{}:
	default:
	}
}

// from is when the driver may let the call through: not while its process is frozen, and not sooner after the same call broke
// than its next try is sure to be here. How long a try pauses is production code's own chance, below a second; so it is not
// seen.
func (c *call) from() time.Time {
	from := c.process.held[c.name]
	if c.process.frozen.After(from) {
		from = c.process.frozen
	}
	return from
}

// fails answers a call that may be tried again.
func (c *call) fails(err error) {
	c.process.held[c.name] = time.Now().Add(time.Second)
	c.answer(err)
}

// answer is what the caller hears.
func (c *call) answer(err error) {
	c.process.world.withdraw(c)
	c.done <- err
}

// withdraw takes a call from those that wait to be let through.
func (w *World) withdraw(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = slices.DeleteFunc(w.waiting, func(other *call) bool { return other == c })
}

// Reach takes a call to what is beside the tables through the gate: happen is what it does there, once, if it arrives. An error is
// the connection's, or the context's if the caller waits no more. Then it may have happened, may still happen, or never will; if
// Unreached, it never will.
func (p *Process) Reach(ctx context.Context, name string, happen func()) error {
	broken, ended := p.enter(ctx, &call{kind: far, name: name, apply: happen})
	if ended != nil {
		return ended
	}
	return broken
}
