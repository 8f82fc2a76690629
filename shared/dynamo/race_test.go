package dynamo_test

import (
	"context"
	"sync"
	"testing"

	"github.com/singleeffect/once/shared/intent"
)

type deliverFunc func(context.Context, intent.Delivery) (intent.Outcome, error)

func (f deliverFunc) Deliver(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
	return f(ctx, d)
}

// C36: 64 deliveries of one intent at once.
func TestC36_Race(t *testing.T) {
	b := newBench(t)
	const deliveries, processes = 64, 4
	race := func(t *testing.T, d intent.Delivery, h func(*worker) handler) map[intent.Kind]int {
		t.Helper()
		var workers []*worker
		for range processes {
			workers = append(workers, b.worker(t))
		}
		start := make(chan struct{})
		var running sync.WaitGroup
		var mu sync.Mutex
		kinds := map[intent.Kind]int{}
		for i := range deliveries {
			running.Go(func() {
				w := workers[i%processes]
				<-start
				o, err := w.deliver(h(w), d)
				if err != nil {
					t.Errorf("delivery: got %s", describe(o, err))
				}
				mu.Lock()
				defer mu.Unlock()
				kinds[o.Kind]++
			})
		}
		close(start)
		running.Wait()
		if kinds[intent.Executed] != 1 {
			t.Errorf("outcomes: got %v, want 1 executed", kinds)
		}
		return kinds
	}
	t.Run("Keyed, the losers meet the running claim", func(t *testing.T) {
		p := new(provider)
		losers := make(chan struct{}, deliveries)
		kinds := race(t, message(t, `{"cents":10}`), func(w *worker) handler {
			h := w.keyed(p)
			h.Effect = func(ctx context.Context, _ charge, a intent.Attempt) (any, error) {
				for range deliveries - 1 {
					select {
					case <-losers:
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}
				return p.charge(a.Downstream), nil
			}
			return deliverFunc(func(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
				defer func() { losers <- struct{}{} }()
				return h.Deliver(ctx, d)
			})
		})
		if kinds[intent.InProgress] != deliveries-1 {
			t.Errorf("outcomes: got %v, want all others in progress", kinds)
		}
		p.want(t, 1, 1)
	})
	t.Run("Keyed", func(t *testing.T) {
		p := new(provider)
		kinds := race(t, message(t, `{"cents":10}`), func(w *worker) handler { return w.keyed(p) })
		if kinds[intent.Executed]+kinds[intent.InProgress]+kinds[intent.Replayed] != deliveries {
			t.Errorf("outcomes: got %v, want executed, in progress and replayed", kinds)
		}
		p.want(t, 1, 1) // the losers do not start their effect
	})
	t.Run("Ledger", func(t *testing.T) {
		d := message(t, `{"cents":10}`)
		b.open(t, d.Key, 1000)
		kinds := race(t, d, func(w *worker) handler { return w.ledger(d.Key) })
		if kinds[intent.Replayed] != deliveries-1 {
			t.Errorf("outcomes: got %v, want all others replayed", kinds)
		}
		b.wantBalance(t, d.Key, 990)
	})
}
