package explore

import (
	"cmp"
	"slices"
	"strings"
	"testing/synctest"
	"time"
)

// schedule lets the workers go, one call at a time, until all have ended.
func (w *world) schedule(workers []*worker) {
	var current *worker
	passes := w.passes()
	started := 0
	for {
		w.settle(workers[:started])
		var ready []*arrival
		for _, k := range workers[:started] {
			calls, _, _ := k.calls()
			slices.SortStableFunc(calls, func(a, b *arrival) int {
				return cmp.Or(strings.Compare(a.operation, b.operation), cmp.Compare(a.member, b.member))
			})
			if k == current { // it goes on, if nothing unusual happens
				ready = append(calls, ready...)
			} else {
				ready = append(ready, calls...)
			}
		}
		if len(ready) == 0 && started == len(workers) {
			return
		}
		// Who goes on: one of the ready, a delivery that begins, time, or an event.
		options := len(ready)
		begin, pass, events := -1, -1, -1
		if started < len(workers) {
			begin = options
			options++
		}
		if len(ready) > 0 {
			pass = options
			options += len(passes)
			events = options
			options += len(w.onTheirWay())
		}
		switch o := w.choose(options); {
		case o < len(ready):
			current = ready[o].worker
			w.step(ready[o])
		case o == begin:
			current = workers[started]
			started++
			w.begin(current)
		case o < events:
			w.pass(passes[o-pass])
		default:
			w.arrives(o - events)
		}
	}
}

// begin lets a delivery begin. The clocks that are off are so by the same, so that no
// two differ by more than that; beyond the assumptions some are ahead and some behind.
// Where nothing is unusual, it is as the one before it was.
func (w *world) begin(k *worker) {
	clocks := []time.Duration{0, w.skew(), -w.skew()}
	if w.off != 0 && w.breach == "" {
		clocks = []time.Duration{0, w.off}
	}
	var ways []func()
	for _, off := range clocks {
		ways = append(ways, func() {
			k.skew = off
			w.off = cmp.Or(w.off, off)
		})
	}
	if k.number < w.side { // it may be of another message, under the same key
		ways = append(ways, func() { k.body = 1 })
	}
	if w.aged { // of a release that remembers for longer, or for less long
		ways = append(ways, func() { w.retention = shortest + longer - w.retention })
	}
	if w.nested {
		for m := 1; m < len(manners); m++ {
			ways = append(ways, func() { k.manner = m })
		}
	}
	if w.changes { // of a release with another class
		for _, kind := range []Class{Keyed, Blind, Ledger} {
			if kind != w.current {
				ways = append(ways, func() { w.current = kind })
			}
		}
	}
	ways[w.choose(len(ways))]()
	k.kind = w.current
	w.say("delivery %d begins: %s, clock %v ahead", k.number, bodies[k.body], k.skew)
	switch {
	case w.aged:
		w.say("  its intent is %v old, the retention %v", time.Since(k.sent), w.retention)
	case w.nested:
		w.say("  its effect %s", manners[k.manner].name)
	case w.changes:
		w.say("  its effect is %s", k.kind)
	}
	k.run()
}

// pass lets time pass. What is under way for as long as the provider's window has
// arrived before that ends, or never does.
func (w *world) pass(d time.Duration) {
	w.say("%v pass", d)
	if d > window/2 {
		time.Sleep(w.lapse())
		synctest.Wait()
		w.arriveAll()
	}
	time.Sleep(d)
}

// settle waits until every process waits for leave with a call. Time passes only
// where one does not: who backs off, or waits for company, goes on then.
func (w *world) settle(workers []*worker) {
	synctest.Wait()
	for range 60 {
		busy := false
		for _, k := range workers {
			calls, running, dead := k.calls()
			for _, a := range calls {
				if dead { // with its process
					a.proceed <- crashBefore
					synctest.Wait()
				}
			}
			busy = busy || running && (len(calls) == 0 || dead)
		}
		if !busy {
			return
		}
		time.Sleep(time.Second)
		synctest.Wait()
	}
}

// step lets one call through.
func (w *world) step(a *arrival) {
	k := a.worker
	f := a.fates[w.choose(len(a.fates))]
	w.say("delivery %d: %s: %s", k.number, a.operation, f)
	a.proceed <- f
	synctest.Wait()
	if _, running, dead := k.calls(); !running {
		for _, t := range k.told {
			w.say("delivery %d ends: dead %t, %s, wait %v, %v", k.number, dead, t.outcome.Kind, t.outcome.Wait, t.err)
		}
	}
}

// event happens at some time after what caused it.
type event struct {
	name   string
	worker int       // whose doing it was
	doubt  bool      // it may also never happen: its call was cut off before it was let through
	until  time.Time // it has happened by then, or never does; zero: whenever
	happen func()
}

// underwayEffect is an effect whose caller heard nothing.
const underwayEffect = "effect under way"

// later puts an event on its way.
func (w *world) later(e event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(w.pending, e)
}

// onTheirWay are the events to come, in an order that is the same in every run.
func (w *world) onTheirWay() []event {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = slices.DeleteFunc(w.pending, func(e event) bool { return !e.until.IsZero() && !time.Now().Before(e.until) })
	slices.SortStableFunc(w.pending, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.worker, b.worker), strings.Compare(a.name, b.name))
	})
	return w.pending
}

// arrives lets one of them happen.
func (w *world) arrives(n int) {
	e := w.onTheirWay()[n]
	w.pending = slices.Delete(w.pending, n, n+1)
	w.say("%s of delivery %d arrives", e.name, e.worker)
	e.happen()
}

// arriveAll lets all of them happen that are not lost for good.
func (w *world) arriveAll() {
	for len(w.onTheirWay()) > 0 {
		if w.pending[0].doubt && w.choose(2) == 0 {
			w.pending = w.pending[1:]
			continue
		}
		w.arrives(0)
	}
}

// forget drops what is on its way.
func (w *world) forget(name string) {
	w.pending = slices.DeleteFunc(w.pending, func(e event) bool { return e.name == name })
}
