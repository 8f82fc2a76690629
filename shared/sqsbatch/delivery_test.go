package sqsbatch_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// Bodies of one fingerprint ask for one thing, also where encoding/json takes
// two of their keys for one field and the last of them counts.
func TestOneFingerprintIsOnePayload(t *testing.T) {
	t.Parallel()
	type order struct {
		AmountCents int `json:"amount_cents"`
	}
	charged := map[int]int{}
	r := newRig(t, func(c *sqsbatch.Config) {
		c.Concurrency = 1
		c.Handler = &intent.Keyed[order]{Config: shop(&memory{}), Window: 24 * time.Hour,
			Effect: func(_ context.Context, o order, _ intent.Attempt) (any, error) {
				charged[o.AmountCents]++
				return nil, intent.NotApplied(context.Canceled) // so that both bodies run
			}}
	})
	one := `{"idempotency_key":"k","amount_cents":1,"Amount_Cents":2}`
	other := `{"Amount_Cents":2, "amount_cents":1, "idempotency_key":"k"}`
	for _, body := range []string{one, other} {
		wantIDs(t, "listed", r.handle(message("1", body)), "1")
	}
	if len(charged) != 1 {
		t.Errorf("got amounts %v, want one of them", charged)
	}
}

// A handler that ends its goroutine, and one that says nothing at all, fail
// their message alone, and the log does not leave it unexplained.
func TestNoOutcome(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(context.Context, intent.Delivery) (intent.Outcome, error){
		"goroutine ended": func(context.Context, intent.Delivery) (intent.Outcome, error) {
			runtime.Goexit()
			return executed, nil
		},
		"nothing said": always(intent.Outcome{}, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *sqsbatch.Config) { c.Concurrency = 1 })
			r.hand.do = func(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
				if d.Key == "b" {
					return do(ctx, d)
				}
				return executed, nil
			}
			wantIDs(t, "listed", r.handle(asking("1", "a"), asking("2", "b"), asking("3", "c")), "2")
			if line := r.log.about(t, "2"); line["error"] != "ended without an outcome" {
				t.Errorf("got log line %v, want it to say so", line)
			}
			if got := r.report(); got.Failed != 1 || got.Listed != 1 {
				t.Errorf("got report %+v", got)
			}
		})
	}
}
