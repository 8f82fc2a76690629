package dynamo_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/singleeffect/once/shared/intent"
)

// batch is one invocation of the worker with several messages, all side by side.
func (w *worker) batch(h *intent.Keyed[charge], messages ...intent.Delivery) ([]intent.Outcome, []error) {
	ctx, cancel := context.WithTimeout(w.ctx, budget)
	defer cancel()
	deliver, leave := h.Group(len(messages))
	outcomes, errs := make([]intent.Outcome, len(messages)), make([]error, len(messages))
	var running sync.WaitGroup
	for i, d := range messages {
		running.Go(func() {
			defer leave()
			outcomes[i], errs[i] = deliver(ctx, d)
		})
	}
	running.Wait()
	return outcomes, errs
}

// messages are first deliveries of so many intents.
func messages(t *testing.T, n int) []intent.Delivery {
	t.Helper()
	var all []intent.Delivery
	for range n {
		all = append(all, message(t, fmt.Sprintf(`{"cents":10,"order":%q}`, rand.Text())))
	}
	return all
}

// A batch of ten costs two requests, and one that is delivered again costs one: what
// stands comes with the error, for which this engine needs one more.
func TestGroupRequests(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, p := b.worker(t), new(provider)
	ten := messages(t, 10)
	for _, step := range []struct {
		name string
		kind intent.Kind
		want map[string]int
	}{
		{"new", intent.Executed, map[string]int{"BatchExecuteStatement": 2}},
		{"again", intent.Replayed, map[string]int{"BatchExecuteStatement": 3, "BatchGetItem": 1}},
	} {
		outcomes, errs := w.batch(w.keyed(p), ten...)
		for i := range ten {
			want(t, step.name, outcomes[i], errs[i], step.kind)
		}
		if got := w.faults.Counts(); !maps.Equal(got, step.want) {
			t.Errorf("%s: requests so far: got %v, want %v", step.name, got, step.want)
		}
	}
	if p.effects != 10 {
		t.Errorf("effects: got %d, want 10", p.effects)
	}
	for _, d := range ten {
		if r := b.record(t, d); r.State != intent.StateCompleted || r.Attempt != 1 || r.ExpiresAt.IsZero() || r.Fingerprint != d.Fingerprint {
			t.Errorf("got record %+v", r)
		}
	}
}
