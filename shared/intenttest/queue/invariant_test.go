package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestInvariants does random things to a queue and its dead-letter queue and checks after each what the package promises: no message
// is lost or in two places, none is delivered more often than the redrive policy says, none while it is hidden, and of a FIFO
// queue's group none beside one in flight and none out of order, whatever SQS chooses of what it leaves open there.
func TestInvariants(t *testing.T) {
	for _, fifo := range []bool{false, true} {
		for seed := range uint64(20) {
			t.Run(fmt.Sprint("fifo ", fifo, ", seed ", seed), func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 7))
				x := &explorer{random: random, delivered: map[string]int{}, hidden: map[string]time.Time{}, world: newWorld(t, fifo, func(c *Config[string]) {
					c.Choose = func(choice Choice, _ string, n int) int {
						if choice == Next || choice == Fewer {
							return random.IntN(n)
						}
						return 0
					}
				})}
				for range 400 {
					x.step()
					left := counted(x.q.Counts(x.now)) + counted(x.dead.Counts(x.now))
					x.want("left and deleted", left+x.deleted, x.sent)
				}
			})
		}
	}
}

type explorer struct {
	*world
	random        *rand.Rand
	sent, deleted int
	delivered     map[string]int
	hidden        map[string]time.Time // what is neither deleted nor given up: until when nobody may get it
	last          []Delivery[string]
}

func counted(c Counts) int { return c.Visible + c.InFlight + c.Delayed }

func (x *explorer) step() {
	switch x.random.IntN(6) {
	case 0, 1:
		x.sent++
		x.send(fmt.Sprintf("%c%05d", 'A'+rune(x.random.IntN(3)), x.sent))
	case 2:
		x.take(1 + x.random.IntN(4))
	case 3:
		if d := x.any(); d != nil {
			if deleted, _ := x.q.Delete(x.now, d.Handle); deleted {
				x.deleted++
				delete(x.hidden, d.Body)
			}
		}
	case 4:
		x.pass(time.Duration(x.random.IntN(8)) * time.Second)
	case 5:
		if d := x.any(); d != nil {
			to := time.Duration(x.random.IntN(15)) * time.Second
			if changed, _ := x.q.ChangeVisibility(x.now, d.Handle, to); changed {
				x.hidden[d.Body] = x.now.Add(to)
			}
		}
	}
}

// any is one of the latest deliveries.
func (x *explorer) any() *Delivery[string] {
	if len(x.last) == 0 {
		return nil
	}
	return &x.last[x.random.IntN(len(x.last))]
}

func (x *explorer) take(n int) {
	x.t.Helper()
	var buried []Message[string]
	x.last, buried = x.q.Receive(x.now, n, nil)
	for _, m := range buried {
		x.want("receives of what is given up", x.delivered[m.Body], 3)
		delete(x.hidden, m.Body)
	}
	before := map[byte]string{} // by group
	for _, d := range x.last {
		for body, until := range x.hidden {
			if until.After(x.now) && (body == d.Body || x.q.config.FIFO && body[0] == d.Body[0]) {
				x.t.Fatalf("delivered %s while %s is in flight", d.Body, body)
			}
		}
		group := d.Body[0]
		if x.q.config.FIFO && d.Body < before[group] {
			x.t.Fatalf("delivered %s after %s", d.Body, before[group])
		}
		before[group] = d.Body
		if x.delivered[d.Body]++; x.delivered[d.Body] > 3 {
			x.t.Fatalf("delivery %d of %s", x.delivered[d.Body], d.Body)
		}
	}
	for _, d := range x.last {
		x.hidden[d.Body] = x.now.Add(10 * time.Second)
	}
}
