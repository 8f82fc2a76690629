package dynamo_test

import (
	"context"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// edit changes attributes of the record.
func (b *bench) edit(t *testing.T, d intent.Delivery, change item) {
	t.Helper()
	it := b.item(t, intentOf(d))
	for name, value := range change {
		it[name] = value
	}
	b.put(t, b.records, it)
}

// Ten intents in one batch, each of which stands otherwise: each is decided from its
// own record and no other.
func TestGroupOfEveryState(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	minutesAgo := time.Now().Add(-5 * time.Minute)
	ended := func(t *testing.T, d intent.Delivery, verdict error) {
		w := b.worker(t)
		h := w.keyed(nil)
		h.Effect = func(context.Context, charge, intent.Attempt) (any, error) { return "first", verdict }
		if o, err := w.deliver(h, d); err != nil || !o.Done() {
			t.Errorf("first delivery: got %s", describe(o, err))
		}
	}
	for name, twice := range map[string]bool{"each once": false, "each beside a new one": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases := []struct {
				name      string
				stand     func(t *testing.T, d intent.Delivery)
				kind      intent.Kind // none: a FormatError
				attempt   int
				result    string
				untouched bool
			}{
				{"new", func(*testing.T, intent.Delivery) {}, intent.Executed, 1, `"now"`, false},
				{"completed", func(t *testing.T, d intent.Delivery) { ended(t, d, nil) }, intent.Replayed, 1, `"first"`, true},
				{"refused", func(t *testing.T, d intent.Delivery) { ended(t, d, intent.Refuse("no")) }, intent.Refused, 1, `"no"`, true},
				{"running", func(t *testing.T, d intent.Delivery) { b.standing(t, d, intent.StateClaimed) }, intent.InProgress, 1, "", true},
				{"in doubt", func(t *testing.T, d intent.Delivery) { b.standing(t, d, intent.StateInDoubt) }, intent.InDoubt, 1, "", true},
				{"another payload", func(t *testing.T, d intent.Delivery) {
					b.standing(t, repeated(t, d, "0", `{"cents":1}`), intent.StateClaimed)
				}, intent.Conflict, 1, "", true},
				{"released", func(t *testing.T, d intent.Delivery) { b.standing(t, d, intent.StateReleased) }, intent.Executed, 2, `"now"`, false},
				{"lapsed", func(t *testing.T, d intent.Delivery) {
					b.standing(t, d, intent.StateClaimed)
					b.edit(t, d, item{"lease_until": n(minutesAgo.UnixMilli())})
				}, intent.Executed, 2, `"now"`, false},
				{"forgotten", func(t *testing.T, d intent.Delivery) {
					ended(t, d, nil)
					b.edit(t, d, item{"expires_at": n(minutesAgo.Unix()), "attempt": n(7)})
				}, intent.Executed, 1, `"now"`, false},
				{"of another release", func(t *testing.T, d intent.Delivery) {
					b.standing(t, d, intent.StateClaimed)
					b.edit(t, d, item{"v": n(2)})
				}, "", 0, "", true},
			}
			batch, before := messages(t, len(cases)), make([]item, len(cases))
			for i, c := range cases {
				c.stand(t, batch[i])
				before[i] = b.item(t, intentOf(batch[i]))
			}
			if twice {
				batch = append(batch, messages(t, len(cases))...)
			}
			w := b.patient(t)
			h := w.keyed(nil)
			h.Effect = func(context.Context, charge, intent.Attempt) (any, error) { return "now", nil }
			outcomes, errs := w.batch(h, batch...)
			for i, c := range cases {
				if c.kind == "" {
					wantFormatError(t, outcomes[i], errs[i])
				} else {
					want(t, c.name, outcomes[i], errs[i], c.kind)
				}
				if o := outcomes[i]; o.Attempt != c.attempt || string(o.Result.JSON) != c.result {
					t.Errorf("%s: got %s, want attempt %d and result %s", c.name, describe(o, errs[i]), c.attempt, c.result)
				}
				if c.untouched {
					wantUntouched(t, b, batch[i], before[i])
				}
			}
			for i, d := range batch[len(cases):] {
				want(t, "new one beside them", outcomes[len(cases)+i], errs[len(cases)+i], intent.Executed)
				if got := b.record(t, d).State; got != intent.StateCompleted {
					t.Errorf("state: got %s, want completed", got)
				}
			}
			if got := w.faults.Counts()["PutItem"]; got != 1 {
				t.Errorf("puts: got %d, want 1, for the forgotten one", got)
			}
		})
	}
}
