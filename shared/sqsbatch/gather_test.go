package sqsbatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
)

// together fails all of a round's deliveries at the same moment.
type together struct{ round sync.WaitGroup }

func (*together) Validate() error { return nil }

var errAway = errors.New("store is away")

func (h *together) Deliver(context.Context, intent.Delivery) (intent.Outcome, error) {
	h.round.Done()
	h.round.Wait()
	return intent.Outcome{}, errAway
}

// Ten workers all fail, 100,000 times: always ten ids. It goes in where workers and
// their fates begin, since reading the messages again each time takes the most of it;
// TestC32ConcurrentFailures goes the whole way.
func TestC32FatesAreGathered(t *testing.T) {
	t.Parallel()
	const rounds, workers = 100_000, 10
	h := &together{}
	b, err := New(Config{Handler: h, Concurrency: workers, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	var messages []events.SQSMessage
	var ids []string
	for i := range workers {
		ids = append(ids, fmt.Sprint(i))
		messages = append(messages, events.SQSMessage{MessageId: ids[i], Body: fmt.Sprintf(`{"idempotency_key":"%d"}`, i)})
	}
	fates := make([]fate, workers)
	lanes := b.lanes(t.Context(), messages, fates)
	got := make([]string, 0, workers)
	for round := range rounds {
		clear(fates)
		h.round.Add(workers)
		b.work(t.Context(), lanes)
		got = got[:0]
		for _, failure := range b.answer(t.Context(), messages, fates).BatchItemFailures {
			got = append(got, failure.ItemIdentifier)
		}
		if !slices.Equal(got, ids) {
			t.Fatalf("round %d: listed %v, want %v", round, got, ids)
		}
	}
}
