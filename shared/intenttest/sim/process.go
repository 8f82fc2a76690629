package sim

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/calls"
)

// maxSkew is how far a process's clock may be off: less than the margins between two of them.
const maxSkew = 2 * time.Second

// Process is one process of the function, from its cold start until it is killed.
type Process struct {
	world  *World
	name   string
	skew   time.Duration
	dead   bool                 // guarded by World.mu
	frozen time.Time            // until then; the driver's
	held   map[string]time.Time // the driver's: see call.from

	batch []delivery     // guarded by World.mu, as what follows: of the invocation
	told  map[asked]told // what the invocation's deliveries came to
	ended int            // of them
}

// Now is the process's wall clock.
func (p *Process) Now() time.Time { return time.Now().Add(p.skew) }

// DB is DynamoDB as the process reaches it.
func (p *Process) DB() *Table {
	calls.Name("INTENT_TABLE", Records)
	return &Table{p}
}

// saw records a call of the function.
func (p *Process) saw(input any) {
	if !p.world.plan.wrong {
		calls.Saw(input)
	}
}

// Log is the process's.
func (p *Process) Log() *slog.Logger {
	return slog.New(slog.NewTextHandler(p, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

// Write takes a line of the log.
func (p *Process) Write(line []byte) (int, error) {
	p.note("%s", strings.TrimSuffix(string(line), "\n"))
	return len(line), nil
}

// note says something from a handler's goroutine.
func (p *Process) note(format string, args ...any) {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	if p.dead { // and says nothing any more
		return
	}
	p.world.notes = append(p.world.notes, p.name+"   "+fmt.Sprintf(format, args...))
}

// Handler is what a batch is made with.
type Handler interface {
	Validate() error
	Deliver(context.Context, intent.Delivery) (intent.Outcome, error)
}

// Watch is h, whose calls are known by the message that they are for.
func (p *Process) Watch(h Handler) Handler { return &watched{h, p} }

type watched struct {
	Handler
	process *Process
}

func (h *watched) OneAtATime() bool {
	one, ok := h.Handler.(interface{ OneAtATime() bool })
	return ok && one.OneAtATime()
}

func (h *watched) Keyless() bool {
	keyless, ok := h.Handler.(interface{ Keyless() bool })
	return ok && keyless.Keyless()
}

type deliverer = func(context.Context, intent.Delivery) (intent.Outcome, error)

func (h *watched) Group(members int) (deliver deliverer, leave func()) {
	deliver, leave = h.Handler.Deliver, func() {}
	if g, ok := h.Handler.(interface {
		Group(int) (deliverer, func())
	}); ok {
		deliver, leave = g.Group(members)
	}
	return h.process.watch(deliver), leave
}

func (p *Process) watch(deliver deliverer) deliverer {
	return func(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
		o, err := deliver(context.WithValue(ctx, label{}, d.MessageID), d)
		p.note("%s: %s %v", d.MessageID, o.Kind, err)
		p.world.mu.Lock()
		defer p.world.mu.Unlock()
		key := d.Key
		if key == "" {
			key = d.MessageID
		}
		p.ended++
		p.told[asked{key, d.Fingerprint}] = told{o.Wait, err != nil, p.ended}
		return o, err
	}
}

// die kills the process where it stands: it hears nothing any more, and nothing that it would still send arrives.
func (p *Process) die() {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	p.dead = true
}

// freeze lets one process stand still for a while.
func (w *World) freeze() {
	k := w.workers[w.Rand.IntN(len(w.workers))]
	if k.process == nil || w.calm {
		return
	}
	k.process.frozen = time.Now().Add(w.Within(8 * time.Second))
	w.say("%s is frozen until %s", k.process.name, k.process.frozen.Format(time.TimeOnly))
}
