package demo

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The odds of harm, for each request that a worker sends.
const (
	loseReplyOdds  = 0.04 // of DynamoDB's answers
	killAfterOdds  = 0.10 // right after an effect was applied, before the worker hears of it
	killSoonOdds   = 0.02 // at a random moment soon after
	soon           = 60 * time.Millisecond
	killsPerIntent = 0.25 // the most kills an operation gets by these odds, so that the run ends
)

// chaos decides what goes wrong in one stack. It counts what did.
type chaos struct {
	naive bool

	mu     sync.Mutex
	random *rand.Rand
	tolls  map[string]*toll
}

// toll is what went wrong for one operation.
type toll struct {
	kills       int  // left to chance
	forced      bool // the one kill after an effect, which every run has, was dealt
	lostReplies int
}

func newChaos(naive bool, seed uint64, operations []string, intents int) *chaos {
	c := &chaos{naive: naive, random: rand.New(rand.NewPCG(seed, uint64(len(operations)))), tolls: map[string]*toll{}}
	for _, operation := range operations {
		c.tolls[operation] = &toll{kills: int(killsPerIntent * float64(intents))}
	}
	return c
}

// decide gives the fate of a request of the operation's worker that the service
// has just answered with the status.
func (c *chaos) decide(operation string, kill func()) func(*http.Request, int) fate {
	return func(r *http.Request, status int) fate {
		c.mu.Lock()
		defer c.mu.Unlock()
		t := c.tolls[operation]
		if c.isEffect(operation, r) && status == http.StatusOK {
			if !t.forced {
				t.forced = true // so that a small run shows the fault too
				return dies
			}
			if t.kills > 0 && c.random.Float64() < killAfterOdds {
				t.kills--
				return dies
			}
		}
		if t.kills > 0 && c.random.Float64() < killSoonOdds {
			t.kills--
			time.AfterFunc(time.Duration(c.random.Int64N(int64(soon))), kill)
		}
		if isDynamoDB(r) && c.random.Float64() < loseReplyOdds {
			t.lostReplies++
			return losesIt
		}
		return replies
	}
}

// isEffect tells the request by which an operation takes effect.
func (c *chaos) isEffect(operation string, r *http.Request) bool {
	if !isDynamoDB(r) {
		return r.Method == http.MethodPost // to the provider
	}
	effect := "TransactWriteItems"
	if c.naive {
		effect = "UpdateItem"
	}
	return operation == "adjust" && strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+effect)
}

func isDynamoDB(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_")
}

// lost counts the answers that an operation's workers never heard.
func (c *chaos) lost(operation string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tolls[operation].lostReplies
}
