package intent_test

import (
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// A Keyed record, lapsed or released, is not run again if the provider might
// forget its key before the new claim would lapse: an hour before its window
// ends, less the lease and the skew margin.
func TestWindow(t *testing.T) {
	const last = window - time.Hour - lapsed // for a claim to begin, counted from claimed_at
	for name, c := range map[string]struct {
		state intent.State
		after time.Duration
		kind  intent.Kind
	}{
		"lapsed, just inside":         {intent.StateClaimed, last, intent.Executed},
		"lapsed, just past":           {intent.StateClaimed, last + time.Millisecond, intent.InDoubt},
		"lapsed, long past":           {intent.StateClaimed, 30 * 24 * time.Hour, intent.InDoubt},
		"released, just inside":       {intent.StateReleased, last, intent.Executed},
		"released, just past":         {intent.StateReleased, last + time.Millisecond, intent.InDoubt},
		"completed, past: it replays": {intent.StateCompleted, 30 * 24 * time.Hour, intent.Replayed},
	} {
		bubble(t, name, func(t *testing.T) {
			w := newWorld(t)
			before := w.standing(c.state)
			before.ExpiresAt = time.Time{}
			w.store.put(before)
			time.Sleep(c.after)
			o, err := w.deliver(keyed, book)
			wantKind(t, o, err, c.kind)
			if c.kind != intent.InDoubt {
				return
			}
			w.wantRuns(0)
			if after := w.wantState(intent.StateInDoubt); after.Reason == "" || o.Reason != after.Reason || !after.ClaimedAt.Equal(before.ClaimedAt) {
				t.Errorf("record: got %+v, want it in doubt with the reason of the outcome, %q", after, o.Reason)
			}
		})
	}
	bubble(t, "released and free", func(t *testing.T) { // nothing was ever sent
		w := newWorld(t)
		r := w.standing(intent.StateReleased)
		unbound(&r)
		w.store.put(r)
		time.Sleep(30 * 24 * time.Hour)
		o, err := w.deliver(keyed, book)
		wantKind(t, o, err, intent.Executed)
	})
	bubble(t, "past it, with a probe", func(t *testing.T) {
		w := newWorld(t)
		w.probe = saysYes
		w.standing(intent.StateClaimed)
		time.Sleep(30 * 24 * time.Hour)
		o, err := w.deliver(keyed, book)
		wantKind(t, o, err, intent.Replayed)
		w.wantRuns(0)
	})
}

// C41: attempt 1 is unknown. That attempt 2 was not applied says nothing of it:
// its window goes on, and when it is over nothing is sent.
func TestC41NotAppliedKeepsTheWindow(t *testing.T) {
	bubble(t, "Keyed", func(t *testing.T) {
		w := newWorld(t)
		first := w.lapse(keyed)
		w.effect = verdicts["NotApplied, answered"].effect
		for range 3 { // however often
			_, _ = w.deliver(keyed, book)
			if r := w.wantState(intent.StateReleased); !r.ClaimedAt.Equal(first.ClaimedAt) {
				t.Errorf("claimed_at: got %v, want the first attempt's %v", r.ClaimedAt, first.ClaimedAt)
			}
			time.Sleep(time.Hour)
		}
		w.wantRuns(3)
		o, err := w.deliver(keyed, `{"item":"pen"}`)
		wantKind(t, o, err, intent.Conflict) // nor is the payload free
		time.Sleep(window)
		w.effect = verdicts["nil"].effect
		o, err = w.deliver(keyed, book)
		wantKind(t, o, err, intent.InDoubt)
		w.wantRuns(3)
	})
}
