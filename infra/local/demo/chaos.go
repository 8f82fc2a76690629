package demo

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// The odds of harm in the crowd, for each request that a worker sends.
const (
	loseReplyOdds  = 0.04 // of DynamoDB's answers, and of SES's
	killAfterOdds  = 0.10 // right after an effect was applied, before the worker hears of it
	killSoonOdds   = 0.02 // at a random moment soon after
	soon           = 60 * time.Millisecond
	killsPerIntent = 0.25 // the most kills an operation gets by these odds, so that the run ends
)

// chaos decides what goes wrong in one stack. It counts what did.
type chaos struct {
	naive bool

	mu     sync.Mutex
	chance bool // whether the odds count
	random *rand.Rand
	tolls  map[string]*toll // by operation
}

// toll is what goes wrong for one operation.
type toll struct {
	forced      int          // kills right after an effect that are still owed
	dying       map[int]bool // the workers that were killed for it, until their batch is over
	kills       int          // left to chance
	lostReplies int
}

// newChaos harms nobody yet.
func newChaos(naive bool, seed uint64) *chaos {
	c := &chaos{naive: naive, random: rand.New(rand.NewPCG(seed, uint64(len(operations)))), tolls: map[string]*toll{}}
	for _, o := range operations {
		c.tolls[o.name] = &toll{dying: map[int]bool{}}
	}
	return c
}

// force kills the workers of each operation's next so many batches that take
// effect, right after they did.
func (c *chaos) force(batches int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.tolls {
		t.forced = batches
	}
}

// crowd lets the odds count, and forces one kill, so that a small run shows the
// faults too.
func (c *chaos) crowd(intents int) {
	c.force(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.chance = true
	for _, t := range c.tolls {
		t.kills = int(killsPerIntent * float64(intents))
	}
}

// decide gives the fate of a request of the operation's worker that the service
// has just answered with the status.
func (c *chaos) decide(o *operation, worker int, kill func()) func(*http.Request, int) fate {
	return func(r *http.Request, status int) fate {
		c.mu.Lock()
		defer c.mu.Unlock()
		t := c.tolls[o.name]
		if o.effect(r, c.naive) && status == http.StatusOK {
			if t.forced > 0 {
				// Not counted before the batch is over: what else it has under way
				// takes no kill from the next.
				t.dying[worker] = true
				return dies
			}
			if t.kills > 0 && c.chance && c.random.Float64() < killAfterOdds {
				t.kills--
				return dies
			}
		}
		if !c.chance {
			return replies
		}
		if t.kills > 0 && c.random.Float64() < killSoonOdds {
			t.kills--
			time.AfterFunc(time.Duration(c.random.Int64N(int64(soon))), kill)
		}
		if losable(r) && c.random.Float64() < loseReplyOdds {
			t.lostReplies++
			return losesIt
		}
		return replies
	}
}

// losable: Stripe's answers are not lost, since its own faults have tests of
// their own; a kill loses them.
func losable(r *http.Request) bool { return toDynamoDB(r) || welcome.effect(r, false) }

// failed tells that a worker's batch is over and brought no answer.
func (c *chaos) failed(operation string, worker int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.tolls[operation]; t.dying[worker] {
		delete(t.dying, worker)
		t.forced = max(t.forced-1, 0)
	}
}

// lost counts the answers that an operation's workers never heard.
func (c *chaos) lost(operation string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tolls[operation].lostReplies
}
