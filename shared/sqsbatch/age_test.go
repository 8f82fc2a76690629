package sqsbatch_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// Messages that are run as one are one intent, which is as old as the eldest of them,
// whichever came first in the batch.
func TestAgeOfMessagesThatAreOne(t *testing.T) {
	t.Parallel()
	const retention = 90 * 24 * time.Hour // what is older and has no record may have happened
	now := time.Now().Truncate(time.Millisecond)
	young, old, tooOld := now.Add(-time.Minute), now.Add(-time.Hour), now.Add(-retention)
	var unknown time.Time
	for name, of := range map[string]func(id string) events.SQSMessage{
		"standard": func(id string) events.SQSMessage { return asking(id, "k") },
		"FIFO":     func(id string) events.SQSMessage { return grouped(asking(id, "k"), "A") },
	} {
		for _, tt := range []struct {
			sent   []time.Time
			eldest time.Time
			runs   int
		}{
			{[]time.Time{young, old}, old, 1},
			{[]time.Time{old, young}, old, 1},
			{[]time.Time{unknown, old}, old, 1},
			{[]time.Time{old, unknown}, old, 1},
			{[]time.Time{young, tooOld}, tooOld, 0},
			{[]time.Time{tooOld, young}, tooOld, 0},
			{[]time.Time{young, tooOld, old}, tooOld, 0},
		} {
			var messages []events.SQSMessage
			order := name
			for i, at := range tt.sent {
				m, age := of(fmt.Sprint(i)), " unknown"
				if !at.IsZero() {
					m, age = sentAt(m, at), fmt.Sprint(" ", now.Sub(at))
				}
				messages = append(messages, m)
				order += age
			}
			t.Run(order, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				wantIDs(t, "listed", r.handle(messages...))
				wantIDs(t, "run", r.hand.keys(), "k")
				if got := r.hand.deliveries[0].SentAt; !got.Equal(tt.eldest) {
					t.Errorf("handed over as of %v, want %v", got, tt.eldest)
				}

				shop, m, c := newShop(t, quarantining)
				wantIDs(t, "listed", shop.handle(messages...))
				quarantined := 0
				if tt.runs == 0 {
					quarantined = len(messages)
				}
				if got := len(shop.queue.taken()); c.total() != tt.runs || len(m.all()) != tt.runs || got != quarantined {
					t.Errorf("got %d effects, %d records and %d copies in quarantine, want %d, %d and %d",
						c.total(), len(m.all()), got, tt.runs, tt.runs, quarantined)
				}
			})
		}
	}
}
