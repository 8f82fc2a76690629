package sim

import (
	"slices"
	"strings"
	"testing/synctest"
	"time"
)

// maxSteps ends a history that never comes to rest.
const maxSteps = 100_000

// settle goes on until nothing more happens by itself.
func (w *World) settle() {
	for range maxSteps {
		w.look()
		if len(w.events) > 0 && !w.events[0].at.After(time.Now()) {
			e := w.events[0]
			w.events = w.events[1:]
			w.say("%s", e.name)
			e.happen()
			continue
		}
		if len(w.ready()) == 0 && len(w.idle()) == 0 {
			if !w.wait() {
				return
			}
			continue
		}
		time.Sleep(w.Within(w.pause()))
		w.look()
		w.step()
	}
	w.Fail("it does not come to rest")
}

// pause bounds how long the next step takes. Once in a while that is long, and invocations run out of time.
func (w *World) pause() time.Duration {
	if !w.calm && w.Rand.IntN(50) == 0 {
		return w.timeout / 4
	}
	return w.pace
}

// look waits until all others wait, and sees to what has ended.
func (w *World) look() {
	for {
		synctest.Wait()
		w.mu.Lock()
		notes := w.notes
		w.notes = nil
		var dead []*call
		w.waiting = slices.DeleteFunc(w.waiting, func(c *call) bool {
			if c.process.dead {
				dead = append(dead, c)
			}
			return c.process.dead
		})
		w.mu.Unlock()
		slices.Sort(notes) // several may have ended at one time
		for _, n := range notes {
			w.say("%s", n)
		}
		for _, k := range w.workers {
			k.reap()
		}
		if len(dead) == 0 {
			return
		}
		for _, c := range dead {
			c.answer(nil) // and ends there
		}
	}
}

// step lets one call through, or begins an invocation.
func (w *World) step() {
	ready, idle := w.ready(), w.idle()
	switch {
	case len(ready) > 0 && (len(idle) == 0 || w.Rand.IntN(5) > 0):
		w.let(ready[w.Rand.IntN(len(ready))])
	case len(idle) > 0:
		idle[w.Rand.IntN(len(idle))].invoke()
	}
}

// ready are the calls that may be let through, in an order that is the same in every run.
func (w *World) ready() []*call {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	var ready []*call
	for _, c := range w.waiting {
		if !now.Before(c.from()) {
			ready = append(ready, c)
		}
	}
	slices.SortStableFunc(ready, func(a, b *call) int { return strings.Compare(a.name, b.name) })
	return ready
}

// idle are the workers that have nothing to do though there are messages.
func (w *World) idle() []*worker {
	if !w.queue.live.Ready(time.Now()) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(w.workers), (*worker).busy)
}

// wait lets time pass until something may be done. False: nothing will.
func (w *World) wait() bool {
	now := time.Now()
	next := []time.Time{w.queue.live.Next(now)}
	if len(w.events) > 0 {
		next = append(next, w.events[0].at)
	}
	busy := false
	for _, k := range w.workers {
		busy = busy || k.busy()
	}
	w.mu.Lock()
	for _, c := range w.waiting {
		next = append(next, c.from())
	}
	w.mu.Unlock()
	next = slices.DeleteFunc(next, func(t time.Time) bool { return !t.After(now) })
	if len(next) == 0 && !busy {
		return false
	}
	var timer <-chan time.Time
	if len(next) > 0 {
		timer = time.After(slices.MinFunc(next, time.Time.Compare).Sub(now))
	}
	select {
	case <-w.arrived:
	case <-timer:
	}
	return true
}
