package soak

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/singleeffect/once/infra/local/lambda"
	"github.com/singleeffect/once/infra/local/mapping"
	"github.com/singleeffect/once/infra/local/proxy"
	"github.com/singleeffect/once/infra/local/stack"
)

// services are the variables that tell a function where its services are.
var services = []string{"AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SESV2", "AWS_ENDPOINT_URL_SQS", "STRIPE_API_BASE"}

// odds are those of a fault, for each exchange. A dropped one costs an attempt's
// timeout of 1 s, and often with it an invocation of 2 s.
var odds = []struct {
	fault proxy.Fault
	odds  float64
}{{proxy.Hold, 0.015}, {proxy.Drop, 0.006}, {proxy.Reset, 0.015}, {proxy.Cut, 0.015}}

const (
	longest = 2500 * time.Millisecond // that something is held: beyond the caller's patience
	soon    = 60 * time.Millisecond   // that a kill at a random moment comes after its exchange began

	// exchangesPerIntent are those that can take a kill: a batch dies once.
	exchangesPerIntent = 5
)

// trouble is what befalls the functions. It remembers what did.
type trouble struct {
	seed  uint64
	kill  float64 // the odds of a kill, for each exchange
	most  int     // kills, after which there are no more, so that the run ends
	began time.Time
	log   io.Writer

	mu         sync.Mutex
	ways       uint64 // proxies opened
	drawn      map[proxy.Fault]int
	lost       int                   // replies, of the proxies that are closed
	deliveries map[string][]delivery // by function and body
	delivered  int
	kills      int // processes killed while they ran a batch
}

// delivery is one time that a message was handed to a function.
type delivery struct {
	at     time.Duration // when its batch was over, from the beginning of the run
	id     string
	worker int
	err    error // why the whole batch failed
}

// newTrouble aims five standard deviations above the kills that there are to be, so
// that a run hardly ever has fewer.
func newTrouble(seed uint64, intents, kills int, log io.Writer) *trouble {
	aim := float64(kills) + 5*math.Sqrt(float64(kills))
	return &trouble{
		seed: seed, kill: aim / float64(exchangesPerIntent*intents), most: kills + (kills+4)/5,
		began: time.Now(), log: log, drawn: map[proxy.Fault]int{}, deliveries: map[string][]delivery{},
	}
}

// prepare puts a proxy on each of a worker's ways.
func (t *trouble) prepare(w *stack.Worker, environment map[string]string) (func(), error) {
	kill := func() {
		if err := w.Kill(); err != nil {
			fmt.Fprintf(t.log, "kill worker %d of %s: %v\n", w.Number, w.Function.Folder, err)
		}
	}
	var open []*proxy.Proxy
	release := func() {
		for _, p := range open {
			p.Close()
			t.mu.Lock()
			t.lost += p.Lost()
			t.mu.Unlock()
		}
	}
	for _, name := range services {
		address, ok := strings.CutPrefix(environment[name], "http://")
		if !ok {
			continue // the function has no such service
		}
		p, err := proxy.New(proxy.Config{Service: address, Fate: t.fates(kill), Kill: kill})
		if err != nil {
			release()
			return nil, err
		}
		open = append(open, p)
		environment[name] = "http://" + p.Address()
	}
	return release, nil
}

// fates draws the fates of the exchanges of one more proxy.
func (t *trouble) fates(kill func()) func() proxy.Fate {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ways++
	random := rand.New(rand.NewPCG(t.seed, t.ways))
	return func() proxy.Fate {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.draw(random, kill)
	}
}

// draw draws one fate. A third of the kills come at any moment soon, and not with the
// exchange.
func (t *trouble) draw(random *rand.Rand, kill func()) proxy.Fate {
	at := random.Float64()
	fate := proxy.Fate{After: random.IntN(2) == 0, For: time.Duration(random.Int64N(int64(longest)))}
	late, moment := random.IntN(3) == 0, time.Duration(random.Int64N(int64(soon)))
	switch {
	case at >= t.kill:
		fate.Fault = faultAt(at - t.kill)
	case t.kills < t.most && late:
		time.AfterFunc(moment, kill)
	case t.kills < t.most:
		fate.Fault = proxy.Kill
	}
	t.drawn[fate.Fault]++
	return fate
}

// faultAt is the fault with which the odds, one after the other, reach the point.
func faultAt(point float64) proxy.Fault {
	for _, o := range odds {
		if point < o.odds {
			return o.fault
		}
		point -= o.odds
	}
	return proxy.None
}

// observe hears of every batch.
func (t *trouble) observe(function string, b mapping.Batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.delivered += len(b.Messages)
	if killed(b.Err) {
		t.kills++
	}
	for i, body := range b.Bodies {
		name := function + body
		t.deliveries[name] = append(t.deliveries[name], delivery{at: time.Since(t.began), id: b.Messages[i], worker: b.Poller, err: b.Err})
	}
}

// killed tells a process that got SIGKILL from one that ended by itself.
func killed(err error) bool {
	crash := new(lambda.CrashError)
	return errors.As(err, &crash) && strings.Contains(crash.Message, "signal: killed")
}

// met says what befell the exchanges.
func (t *trouble) met() string {
	n := t.drawn
	return fmt.Sprintf("%d exchanges went well; %d were held, %d dropped, %d reset, %d cut, and %d killed their caller.",
		n[proxy.None], n[proxy.Hold], n[proxy.Drop], n[proxy.Reset], n[proxy.Cut], n[proxy.Kill])
}
