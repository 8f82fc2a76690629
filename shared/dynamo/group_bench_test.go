package dynamo_test

import (
	"context"
	"crypto/rand"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// A batch of ten against DynamoDB Local: with group commit and without, of new
// messages and of such as were delivered before.
func BenchmarkBatchOfTen(b *testing.B) {
	table := intenttest.Table(b, intenttest.Engine(b), "intent")
	for _, how := range []string{"group", "alone"} {
		for _, what := range []string{"new", "duplicate"} {
			b.Run(how+"/"+what, func(b *testing.B) {
				faults := new(intenttest.Faults)
				store := dynamo.New(client(b, faults), table)
				if how == "alone" {
					store = store.Alone()
				}
				h := &intent.Keyed[charge]{
					Config: intent.Config{Scope: "bench", Operation: "charge", Store: store},
					Window: 24 * time.Hour,
					Effect: func(context.Context, charge, intent.Attempt) (any, error) { return nil, nil },
				}
				run, n := rand.Text(), 0
				batch := func() {
					if n++; what == "duplicate" {
						n = 0
					}
					ctx, cancel := context.WithTimeout(b.Context(), budget)
					defer cancel()
					deliver, leave := h.Group(10)
					var running sync.WaitGroup
					for i := range 10 {
						running.Go(func() {
							defer leave()
							d := intenttest.Delivery(b, run+strconv.Itoa(n)+"-"+strconv.Itoa(i), `{"cents":10}`)
							if o, err := deliver(ctx, d); err != nil || !o.Done() {
								b.Errorf("got %s", describe(o, err))
							}
						})
					}
					running.Wait()
				}
				batch()
				before := requests(faults)
				b.ReportAllocs()
				for b.Loop() {
					batch()
				}
				b.ReportMetric(float64(requests(faults)-before)/float64(b.N), "requests/op")
			})
		}
	}
}

func requests(f *intenttest.Faults) (n int) {
	for _, count := range f.Counts() {
		n += count
	}
	return n
}
