package intent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// Whatever became of a delivery, its outcome names the intent as logs do.
func TestOutcomeNamesItsIntent(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		want := (intent.Key{Scope: "shop", Operation: "charge", ID: orderID}).ShortHash()
		for _, payload := range []string{book, book, `{"item":"pen"}`} {
			if o, err := w.deliver(c, payload); err != nil || o.Intent != want || len(want) != 12 {
				t.Errorf("got %+v and error %v, want the intent %s", o, err, want)
			}
		}
		w.effect = func(context.Context, intent.Attempt) (any, error) { return nil, intent.NotApplied(errProvider) }
		w.store.remove(record)
		if o, err := w.deliver(c, book); err == nil || o.Intent != want {
			t.Errorf("got %+v and error %v, want an error, and the intent %s", o, err, want)
		}
	})
}

// An intent that is too old to run without a record takes its lapsed claim over as it stands: as the next attempt, within the
// window that began with the first.
func TestOldIntentTakesOverWhatStands(t *testing.T) {
	bubble(t, "Keyed", func(t *testing.T) {
		w := newWorld(t)
		before := w.lapse(keyed)
		w.retention, w.maxAge, w.sentAt = retention, maxAge, time.Now().Add(-2*retention)
		o, err := w.deliver(keyed, book)
		wantKind(t, o, err, intent.Executed)
		if after := w.store.record(record); after.Attempt != before.Attempt+1 || !after.ClaimedAt.Equal(before.ClaimedAt) {
			t.Errorf("got attempt %d claimed at %v, want %d and %v", after.Attempt, after.ClaimedAt, before.Attempt+1, before.ClaimedAt)
		}
	})
}

// Every end is remembered for as long as the configuration says, to the second.
func TestRetentionOfEveryEnd(t *testing.T) {
	for name, end := range map[string]func(w *world, c class){
		"completed": func(*world, class) {},
		"refused": func(w *world, _ class) {
			w.effect = func(context.Context, intent.Attempt) (any, error) { return nil, intent.Refuse("declined") }
		},
		"completed by a probe": func(w *world, c class) {
			w.probe = saysYes
			w.doubt(c)
			time.Sleep(settled)
		},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, c class) {
				w := newWorld(t)
				end(w, c)
				w.retention, w.maxAge = retention, maxAge
				if o, err := w.deliver(c, book); err != nil || !o.Done() {
					t.Fatalf("got %+v and error %v, want an end", o, err)
				}
				if got := w.store.record(record).ExpiresAt; got.Unix() != time.Now().Add(retention).Unix() {
					t.Errorf("expires at %v, want %v from now", got, retention)
				}
			})
		})
	}
}

// A record that a probe released says so to whoever reads it next.
func TestReleasedByAProbe(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.probe = saysNo
		w.doubt(c)
		time.Sleep(settled)
		w.store.plan = on("replace claimed", 1, fault{err: errPut, dropped: true})
		if _, err := w.deliver(c, book); !errors.Is(err, errPut) {
			t.Fatalf("got error %v, want the store's", err)
		}
		if got := w.wantState(intent.StateReleased); got.Reason != "probe: did not happen" {
			t.Errorf("got the reason %q, want that the probe said no", got.Reason)
		}
		w.wantRuns(0)
	})
}

// Where another has ended the intent meanwhile, the record answers, and what the effect said is told beside it.
func TestCauseBesideAnothersEnd(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.effect = func(context.Context, intent.Attempt) (any, error) {
			ended := w.store.record(record)
			ended.State, ended.Owner = intent.StateCompleted, intent.NewOwner()
			w.store.put(ended)
			return nil, intent.NotApplied(errProvider)
		}
		o, err := w.deliver(c, book)
		wantKind(t, o, err, intent.Replayed)
		if o.Cause == nil || !strings.Contains(o.Cause.Error(), errProvider.Error()) {
			t.Errorf("got the cause %v, want what the effect said", o.Cause)
		}
	})
}

func TestIDValidate(t *testing.T) {
	for id, want := range map[intent.ID]string{
		"":  "is missing or empty",
		"7": "",
		intent.ID(strings.Repeat("7", intent.MaxIDBytes)):   "",
		intent.ID(strings.Repeat("7", intent.MaxIDBytes+1)): "has 2049 bytes, the limit is 2048",
	} {
		err := id.Validate("order_id")
		var wrong *intent.PayloadError
		if (err != nil) != (want != "") || err != nil && (!errors.As(err, &wrong) || wrong.Field != "order_id" || wrong.Reason != want) {
			t.Errorf("an ID of %d bytes: got error %v, want %q", len(id), err, want)
		}
	}
}
