package intent_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// The clock of a bubble of testing/synctest. What is tested here takes no time
// of the wall clock's, and starts in the year 2000.
const (
	timeout = 30 * time.Second // of an invocation
	margin  = 3 * time.Second  // of the lease, past the timeout
	skew    = 2 * time.Second
	settled = time.Minute // after a lapsed lease a probe's "no" counts
	window  = 24 * time.Hour
	lapsed  = timeout + margin + skew // when a claim may be taken over
)

type order struct {
	Item string `json:"item"`
}

const (
	orderID = "order-1"
	record  = "shop#charge#order-1"
	book    = `{"item":"book"}`
)

// delivery is a message that asks for the intent.
func delivery(t *testing.T, payload string) intent.Delivery {
	t.Helper()
	return intenttest.Delivery(t, orderID, payload)
}

// world is one intent's surroundings: the store, and an effect and a probe that
// do what the test says.
type world struct {
	t      *testing.T
	store  *memory
	effect func(context.Context, intent.Attempt) (any, error)
	probe  func(context.Context, intent.Attempt) (intent.Verdict, any, error)
	stall  func() // hits whoever looks at the clock

	ahead     time.Duration // the next worker's clock is, of the test's
	retention time.Duration // zero: the default
	maxAge    time.Duration // zero: the default
	sentAt    time.Time     // of the next delivery

	mu   sync.Mutex
	runs []intent.Attempt // of the effect
	asks []intent.Attempt // of the probe
}

func newWorld(t *testing.T) *world {
	return &world{t: t, store: newMemory(t), effect: func(context.Context, intent.Attempt) (any, error) { return receipt("r-1"), nil }}
}

func receipt(id string) map[string]string { return map[string]string{"receipt": id} }

// class is a class of effect; each is tried on what they do alike.
type class struct {
	name  string
	blind bool
}

var keyed, blind = class{name: "Keyed"}, class{name: "Blind", blind: true}

type handler interface {
	Validate() error
	Deliver(context.Context, intent.Delivery) (intent.Outcome, error)
}

func (w *world) config() intent.Config {
	ahead, stall := w.ahead, w.stall
	now := func() time.Time {
		if stall != nil {
			stall()
		}
		return time.Now().Add(ahead)
	}
	return intent.Config{Scope: "shop", Operation: "charge", Store: w.store, Now: now, Retention: w.retention, MaxAge: w.maxAge}
}

// handler is a worker's. Each run of its effect is counted, and none may start
// unless a claim of its own stands and runs.
func (w *world) handler(c class) handler {
	var probe intent.Probe[order]
	if w.probe != nil {
		probe = w.ask
	}
	var h handler = &intent.Keyed[order]{Config: w.config(), Window: window, Effect: w.run, Probe: probe}
	if c.blind {
		h = &intent.Blind[order]{Config: w.config(), Effect: w.run, Probe: probe}
	}
	if err := h.Validate(); err != nil {
		w.t.Fatal(err)
	}
	return h
}

func (w *world) run(ctx context.Context, o order, a intent.Attempt) (any, error) {
	standing := w.store.record(a.Key.String())
	if standing.State != intent.StateClaimed || standing.Attempt != a.Number || !time.Now().Before(standing.LeaseUntil) {
		w.t.Errorf("effect starts at %v under %+v", time.Now(), standing)
	}
	if o.Item == "" {
		w.t.Error("effect starts without its payload")
	}
	w.mu.Lock()
	w.runs = append(w.runs, a)
	w.mu.Unlock()
	return w.effect(ctx, a)
}

func (w *world) ask(ctx context.Context, _ order, a intent.Attempt) (intent.Verdict, any, error) {
	w.mu.Lock()
	w.asks = append(w.asks, a)
	w.mu.Unlock()
	return w.probe(ctx, a)
}

// deliver is one invocation with its own deadline.
func (w *world) deliver(c class, payload string) (intent.Outcome, error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	d := delivery(w.t, payload)
	d.SentAt = w.sentAt
	return w.handler(c).Deliver(ctx, d)
}

// lapse leaves a claim behind whose effect nobody knows the end of, and lets it
// lapse.
func (w *world) lapse(c class) intent.Record {
	w.t.Helper()
	effect := w.effect
	w.effect = func(context.Context, intent.Attempt) (any, error) { panic("killed") }
	w.store.plan = on("amend in_doubt", 1, fault{err: fmt.Errorf("killed"), dropped: true})
	_, _ = w.deliver(c, book)
	w.effect, w.store.plan, w.runs = effect, nil, nil
	standing := w.store.record(record)
	w.wantState(intent.StateClaimed)
	time.Sleep(lapsed)
	return standing
}

// doubt leaves a claim in doubt behind whose lease is over.
func (w *world) doubt(c class) intent.Record {
	w.t.Helper()
	standing := w.lapse(c)
	standing = standing.Parked("killed", time.Now())
	w.store.put(standing)
	return standing
}

func (w *world) wantRuns(want int) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := len(w.runs); got != want {
		w.t.Errorf("effects: got %d, want %d", got, want)
	}
}

func (w *world) wantState(want intent.State) intent.Record {
	w.t.Helper()
	standing := w.store.record(record)
	if standing.State != want {
		w.t.Errorf("record: got %s, want %s: %+v", standing.State, want, standing)
	}
	return standing
}

// causedBy reports that target is in err, or in the effect's own error inside it.
func causedBy(err, target error) bool {
	var of *intent.EffectError
	return errors.Is(err, target) || errors.As(err, &of) && errors.Is(of.Err, target)
}

func wantKind(t *testing.T, got intent.Outcome, err error, want intent.Kind) {
	t.Helper()
	if err != nil || got.Kind != want {
		t.Errorf("got %+v and error %v, want %s", got, err, want)
	}
}

// bubble runs a subtest on a clock of its own. At its end no goroutine may be left.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// both runs it for each class.
func both(t *testing.T, f func(t *testing.T, c class)) {
	for _, c := range []class{keyed, blind} {
		bubble(t, c.name, func(t *testing.T) { f(t, c) })
	}
}
