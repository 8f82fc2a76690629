package dynamo_test

import (
	"errors"
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
)

// The records' where nothing else is said.
const (
	retention = 90 * 24 * time.Hour
	maxAge    = 19 * 24 * time.Hour
)

// sent is the delivery of an intent that is so old by the machine's clock.
func sent(d intent.Delivery, age time.Duration) intent.Delivery {
	d.SentAt = time.Now().Add(-age)
	return d
}

// wantExpired: nothing was run, and nothing written.
func (w *worker) wantExpired(t *testing.T, what string, d intent.Delivery, o intent.Outcome, err error) {
	t.Helper()
	if !errors.Is(err, intent.ErrExpired) || o.Kind != "" {
		t.Errorf("%s: got %s, want ErrExpired", what, describe(o, err))
	}
	if got := w.writes(); got != 0 {
		t.Errorf("%s: got %d requests that write, want none", what, got)
	}
	if it := w.item(t, intentOf(d)); len(it) != 0 {
		t.Errorf("%s: record: got %v, want none", what, it)
	}
}

// C47: an intent that is older than MaxAge, and has no record, is not run.
func TestC47TooOld(t *testing.T) {
	b := newBench(t)
	for class, h := range classes {
		for name, c := range map[string]struct {
			age    time.Duration
			tooOld bool
		}{
			"as old as it may be":   {maxAge - time.Minute, false},
			"older":                 {maxAge + time.Second, true},
			"as old as the records": {retention, true},
			"years older":           {20 * retention, true},
		} {
			t.Run(class+"/"+name, func(t *testing.T) {
				t.Parallel()
				p := new(provider)
				d := sent(message(t, `{"cents":10}`), c.age)
				b.open(t, d.Key, 100)
				w := b.worker(t)
				o, err := w.deliver(h(w, p, d.Key), d)
				if !c.tooOld {
					want(t, "delivery", o, err, intent.Executed)
					b.wantOneEffect(t, class, p, d)
					return
				}
				w.wantExpired(t, "delivery", d, o, err)
				p.want(t, 0, 0)
				b.wantBalance(t, d.Key, 100)
				if got := w.faults.Counts()["GetItem"]; got != 1 {
					t.Errorf("reads: got %d, want one consistent look", got)
				}
			})
		}
	}
}

// However old it is, a record that stands says what becomes of it, unless it is past its
// retention and only TTL has not deleted it yet.
func TestOldIntentWithARecord(t *testing.T) {
	b := newBench(t)
	const pen = `{"cents":11}`
	for name, c := range map[string]struct {
		state                intent.State // as another delivery left it; completed by one of the class
		body                 string
		later                time.Duration
		keyed, blind, ledger intent.Kind // empty: an error
	}{
		"completed":                          {intent.StateCompleted, `{"cents":10}`, 0, intent.Replayed, intent.Replayed, intent.Replayed},
		"C47 completed, expired but there":   {intent.StateCompleted, `{"cents":10}`, 2 * retention, "", "", ""},
		"refused":                            {intent.StateRefused, `{"cents":10}`, 0, intent.Refused, intent.Refused, intent.Refused},
		"running":                            {intent.StateClaimed, `{"cents":10}`, 0, intent.InProgress, intent.InProgress, ""},
		"lapsed":                             {intent.StateClaimed, `{"cents":10}`, lapse, intent.Executed, intent.InDoubt, ""},
		"lapsed, past the provider's window": {intent.StateClaimed, `{"cents":10}`, pastWindow, intent.InDoubt, intent.InDoubt, ""},
		"C51 released, but bound":            {intent.StateReleased, `{"cents":10}`, 0, intent.Executed, intent.InDoubt, ""},
		"in doubt":                           {intent.StateInDoubt, `{"cents":10}`, 0, intent.InDoubt, intent.InDoubt, ""},
		"completed, another payload":         {intent.StateCompleted, pen, 0, intent.Conflict, intent.Conflict, intent.Conflict},
		"C47 expired, another payload":       {intent.StateCompleted, pen, 2 * retention, "", "", ""},
		"in doubt, another payload":          {intent.StateInDoubt, pen, 0, intent.Conflict, intent.Conflict, intent.Conflict},
	} {
		for class, kind := range map[string]intent.Kind{"Keyed": c.keyed, "Blind": c.blind, "Ledger": c.ledger} {
			t.Run(name+"/"+class, func(t *testing.T) {
				t.Parallel()
				p := new(provider)
				d := message(t, `{"cents":10}`)
				b.open(t, d.Key, 100)
				b.standing(t, d, intent.StateClaimed)
				if c.state != intent.StateClaimed {
					b.moved(t, d, c.state)
				}
				w := b.later(t, c.later)
				old := sent(repeated(t, d, "message-2", c.body), 2*retention)
				o, err := w.deliver(classes[class](w, p, d.Key), old)
				wantErr := intent.ErrOtherClass
				if c.later == 2*retention {
					wantErr = intent.ErrExpired
				}
				if kind != "" {
					want(t, "delivery", o, err, kind)
				} else if !errors.Is(err, wantErr) {
					t.Errorf("delivery: got %s, want %v", describe(o, err), wantErr)
				}
				effects := 0
				if kind == intent.Executed {
					effects = 1
				}
				p.want(t, effects, effects)
				b.wantBalance(t, d.Key, 100)
			})
		}
	}
	t.Run("a format of another release", func(t *testing.T) {
		for class, h := range classes {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			b.open(t, d.Key, 100)
			b.put(t, b.records, item{"intent": s(intentOf(d)), "v": n(2), "state": s("elsewhere")})
			before := b.item(t, intentOf(d))
			w := b.worker(t)
			o, err := w.deliver(h(w, p, d.Key), sent(d, 2*retention))
			if format := (*intent.FormatError)(nil); !errors.As(err, &format) {
				t.Errorf("%s: got %s, want a FormatError", class, describe(o, err))
			}
			wantUntouched(t, b, d, before)
			p.want(t, 0, 0)
		}
	})
}

// moved leads a standing claim on to the state.
func (b *bench) moved(t *testing.T, d intent.Delivery, to intent.State) {
	t.Helper()
	r := b.record(t, d)
	if r.State, r.Reason = to, "because"; to.Final() {
		r = r.Finish(to, "before", time.Now(), retention)
	}
	if _, err := dynamo.New(b.db, b.records).Amend(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// A delivery after the retention runs nothing twice: neither while TTL has not deleted
// the record nor after it has. One whose intent's age nobody knows is what is left to
// run twice.
func TestDelayLongerThanTheRetention(t *testing.T) {
	b := newBench(t)
	for class, h := range classes {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			p := new(provider)
			d := sent(b.executed(t, class, p), 0)
			late := b.later(t, retention+time.Hour)
			before := b.item(t, intentOf(d))
			o, err := late.deliver(h(late, p, d.Key), d)
			if !errors.Is(err, intent.ErrExpired) {
				t.Errorf("delivery while the expired record is there: got %s, want ErrExpired", describe(o, err))
			}
			wantUntouched(t, b, d, before)
			b.remove(t, intentOf(d))
			later := b.later(t, retention+2*time.Hour)
			o, err = later.deliver(h(later, p, d.Key), d)
			later.wantExpired(t, "delivery when it is deleted", d, o, err)
			b.wantOneEffect(t, class, p, d)
		})
	}
}

// C47: the intent is done under the shortest retention. Then the retention is raised,
// and the same message comes once more: when its record is past the old retention but
// still there, and when it is gone.
func TestC47RetentionIsRaised(t *testing.T) {
	b := newBench(t)
	const shortest = 40 * 24 * time.Hour
	for class, h := range classes {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			p := new(provider)
			d := sent(message(t, `{"cents":10}`), 0)
			b.open(t, d.Key, 100)
			first := b.worker(t)
			first.retention = shortest
			o, err := first.deliver(h(first, p, d.Key), d)
			want(t, "delivery", o, err, intent.Executed)
			for n, there := range []bool{true, false} {
				if !there {
					b.remove(t, intentOf(d))
				}
				w := b.later(t, shortest+time.Duration(n+1)*24*time.Hour)
				w.retention = retention
				if o, err := w.deliver(h(w, p, d.Key), d); !errors.Is(err, intent.ErrExpired) {
					t.Errorf("record there: %t: got %s, want ErrExpired", there, describe(o, err))
				}
			}
			b.wantOneEffect(t, class, p, d)
		})
	}
}

// C52: a record with a format or a state of another release is never taken for none,
// also when its expires_at has passed. Nothing is run, and it stays as it was.
func TestC52UnknownAndExpired(t *testing.T) {
	b := newBench(t)
	past := n(time.Now().Add(-100 * 24 * time.Hour).Unix())
	for name, it := range map[string]item{
		"format":                 {"v": n(2), "state": s("completed"), "expires_at": past},
		"state":                  {"v": n(1), "state": s("noted"), "expires_at": past},
		"format and state":       {"v": n(2), "state": s("elsewhere"), "expires_at": past},
		"no format":              {"state": s("completed"), "expires_at": past},
		"an undecided state":     {"v": n(1), "state": s("in_doubt"), "expires_at": past, "owner": s("another"), "lease_until": n(1), "claimed_at": n(1)},
		"a format, not past yet": {"v": n(2), "state": s("completed"), "expires_at": n(time.Now().Add(time.Hour).Unix())},
	} {
		for class, h := range classes {
			for way, d := range map[string]intent.Delivery{"of unknown age": message(t, `{"cents":10}`), "old": sent(message(t, `{"cents":10}`), 2*maxAge)} {
				t.Run(name+"/"+class+"/"+way, func(t *testing.T) {
					t.Parallel()
					p := new(provider)
					b.open(t, d.Key, 100)
					record := item{"intent": s(intentOf(d)), "fingerprint": s(d.Fingerprint.String())}
					maps.Copy(record, it)
					b.put(t, b.records, record)
					before := b.item(t, intentOf(d))
					w := b.worker(t)
					o, err := w.deliver(h(w, p, d.Key), d)
					var format *intent.FormatError
					if name != "an undecided state" && !errors.As(err, &format) {
						t.Errorf("got %s, want a FormatError", describe(o, err))
					}
					if err == nil && o.Done() {
						t.Errorf("got %s, want it neither run nor answered", describe(o, err))
					}
					wantUntouched(t, b, d, before)
					p.want(t, 0, 0)
					b.wantBalance(t, d.Key, 100)
				})
			}
		}
	}
}

// C17: TTL deletes by a Number of epoch seconds. Every final record has one, and
// its sibling the same; what is undecided has none.
func TestC17_ExpiresAt(t *testing.T) {
	b := newBench(t)
	const short = 40 * 24 * time.Hour
	for name, c := range map[string]struct {
		handler func(w *worker, p *provider, d intent.Delivery) handler
		final   bool
	}{
		"Keyed":           {func(w *worker, p *provider, d intent.Delivery) handler { return w.keyed(p) }, true},
		"Blind":           {func(w *worker, p *provider, d intent.Delivery) handler { return w.blind(p) }, true},
		"Ledger":          {func(w *worker, p *provider, d intent.Delivery) handler { return w.ledger(d.Key) }, true},
		"Ledger, refused": {func(w *worker, p *provider, d intent.Delivery) handler { return w.ledger("no such account") }, true},
		"with writes and a sibling": {func(w *worker, p *provider, d intent.Delivery) handler {
			return writing["Keyed"](w, p, ends(text(1000), b.row(d)))
		}, true},
		"released": {func(w *worker, p *provider, d intent.Delivery) handler {
			return w.answering(p, intent.NotApplied(errCrashed))
		}, false},
		"claimed": {func(w *worker, p *provider, d intent.Delivery) handler { return w.answering(p, errCrashed) }, false},
		"in doubt": {func(w *worker, p *provider, d intent.Delivery) handler {
			return writing["Blind"](w, p, func() (any, error) { return nil, errCrashed })
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := new(provider)
			d := message(t, `{"cents":10}`)
			if name == "Ledger" {
				b.open(t, d.Key, 100)
			}
			w := b.worker(t)
			w.retention = short
			began := time.Now()
			_, _ = w.deliver(c.handler(w, p, d), d)
			it := b.item(t, intentOf(d))
			if !c.final {
				if expires, ok := it["expires_at"]; ok || len(it) == 0 {
					t.Errorf("record: got %v with expires_at %v, want it never forgotten", it["state"], expires)
				}
				return
			}
			wantExpiry(t, it, began.Add(short))
			if result, ok := it["result"].(*types.AttributeValueMemberM); ok {
				wantExpiry(t, b.item(t, result.Value["sibling"].(*types.AttributeValueMemberS).Value), began.Add(short))
			} else if name == "with writes and a sibling" {
				t.Errorf("result: got %v, want a sibling's name", it["result"])
			}
		})
	}
}

func wantExpiry(t *testing.T, it item, about time.Time) {
	t.Helper()
	expires, ok := it["expires_at"].(*types.AttributeValueMemberN)
	if !ok {
		t.Fatalf("expires_at: got %T, want a Number", it["expires_at"])
	}
	seconds, err := strconv.ParseInt(expires.Value, 10, 64)
	if err != nil || seconds <= 1e9 || seconds >= 1e11 {
		t.Errorf("expires_at: got %s, want epoch seconds", expires.Value)
	}
	if off := time.Unix(seconds, 0).Sub(about); off < -time.Second || off > budget {
		t.Errorf("expires_at: got %v, want %v", time.Unix(seconds, 0), about)
	}
}
