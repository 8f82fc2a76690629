package dynamo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// A copy of the transaction that is late lands after another copy was refused, and
// before the refusal is put: what its own owner's record says is not a refusal.
func TestLateCopyOfARefusedTransaction(t *testing.T) {
	b := newBench(t)
	d := message(t, `{"cents":10}`)
	b.open(t, d.Key, 5)
	w := b.worker(t)
	w.plan = func(call intenttest.Call) intenttest.Fault {
		if call.Operation != "PutItem" {
			return intenttest.Fault{}
		}
		var refusal struct{ Item map[string]map[string]string }
		if err := json.Unmarshal(call.Body, &refusal); err != nil {
			t.Error(err)
		}
		refusal.Item["state"] = map[string]string{"S": string(intent.StateCompleted)}
		return intenttest.Fault{Before: func() {
			record := item{}
			for name, value := range refusal.Item {
				if text, ok := value["S"]; ok {
					record[name] = s(text)
				} else {
					record[name] = &types.AttributeValueMemberN{Value: value["N"]}
				}
			}
			b.put(t, b.records, record)
		}}
	}
	o, err := w.deliver(w.ledger(d.Key), d)
	want(t, "delivery", o, err, intent.Replayed)
}

// C42: balance 5. B is cancelled, for it needs 10; a deposit; A, of the same
// intent, commits; now B would say refused.
func TestC42_RefusalIsSaidOnlyOnceItsPutHasWon(t *testing.T) {
	b := newBench(t)
	race := func(t *testing.T, replyLost bool) {
		d := message(t, `{"cents":10}`)
		b.open(t, d.Key, 5)
		refusing, committing := b.worker(t), b.worker(t)
		refusing.plan = on("PutItem", func(*worker) intenttest.Fault {
			return intenttest.Fault{LoseReply: replyLost, Before: func() {
				b.open(t, d.Key, 105)
				o, err := committing.deliver(committing.ledger(d.Key), d)
				want(t, "A", o, err, intent.Executed)
			}}
		})(refusing)
		o, err := refusing.deliver(refusing.ledger(d.Key), d)
		want(t, "B", o, err, intent.Replayed)
		o, err = refusing.deliver(refusing.ledger(d.Key), d)
		want(t, "last delivery", o, err, intent.Replayed)
		b.wantBalance(t, d.Key, 95)
	}
	t.Run("A commits first", func(t *testing.T) { race(t, false) })
	t.Run("A commits first, the refusal's reply is lost", func(t *testing.T) { race(t, true) })
	t.Run("the refusal wins", func(t *testing.T) {
		d := message(t, `{"cents":10}`)
		b.open(t, d.Key, 5)
		refusing, committing := b.worker(t), b.worker(t)
		refusing.plan = on("PutItem", loseReply)(refusing)
		committing.plan = on("TransactWriteItems", func(*worker) intenttest.Fault {
			return intenttest.Fault{Before: func() {
				o, err := refusing.deliver(refusing.ledger(d.Key), d)
				want(t, "B", o, err, intent.Refused)
				b.open(t, d.Key, 105)
			}}
		})(committing)
		o, err := committing.deliver(committing.ledger(d.Key), d)
		want(t, "A", o, err, intent.Refused)
		if string(o.Result.JSON) != `"insufficient funds"` {
			t.Errorf("result: got %s, want the refusal's", o.Result.JSON)
		}
		b.wantBalance(t, d.Key, 105)
	})
}

// A record in a state that a Ledger never writes was written by another class.
func TestLedgerMeetsAnotherClass(t *testing.T) {
	b := newBench(t)
	for _, state := range []intent.State{intent.StateClaimed, intent.StateReleased, intent.StateInDoubt} {
		t.Run(string(state), func(t *testing.T) {
			d := message(t, `{"cents":10}`)
			b.open(t, d.Key, 100)
			b.standing(t, d, state)
			before := b.item(t, intentOf(d))
			w := b.later(t, lapse)
			if o, err := w.deliver(w.ledger(d.Key), d); !errors.Is(err, intent.ErrOtherClass) {
				t.Errorf("delivery: got %s, want ErrOtherClass", describe(o, err))
			}
			wantUntouched(t, b, d, before)
			b.wantBalance(t, d.Key, 100)
		})
	}
}

// standing leads the intent to the state.
func (b *bench) standing(t *testing.T, d intent.Delivery, state intent.State) {
	t.Helper()
	store, r := dynamo.New(b.db, b.records), claimOf(d)
	if _, err := store.Claim(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if r.State = state; state != intent.StateClaimed {
		r.Reason = "because"
		if _, err := store.Amend(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

// With nothing beside the record the intent is one plain conditional put.
func TestLedgerWithoutWrites(t *testing.T) {
	b := newBench(t)
	d := message(t, `{"cents":10}`)
	w := b.worker(t)
	h := w.ledger("")
	h.Effect = func(context.Context, charge, intent.Attempt) (dynamo.Writes, error) {
		return dynamo.Writes{Result: "seen"}, nil
	}
	o, err := w.deliver(h, d)
	want(t, "delivery", o, err, intent.Executed)
	o, err = w.deliver(h, d)
	want(t, "redelivery", o, err, intent.Replayed)
	if counts := w.faults.Counts(); counts["PutItem"] != 2 || counts["TransactWriteItems"] != 0 {
		t.Errorf("requests: got %v, want two puts", counts)
	}
}

// A transaction takes 100 actions: the record, a sibling and 98 of the effect's.
func TestLedgerWrites(t *testing.T) {
	b := newBench(t)
	for writes, ok := range map[int]bool{dynamo.MaxWrites: true, dynamo.MaxWrites + 1: false} {
		t.Run(fmt.Sprint(writes), func(t *testing.T) {
			d := message(t, `{"cents":10}`)
			w := b.worker(t)
			h := w.ledger("")
			h.Effect = func(context.Context, charge, intent.Attempt) (dynamo.Writes, error) {
				out := dynamo.Writes{Result: text(1000)} // with a sibling
				for i := range writes {
					out.Items = append(out.Items, types.TransactWriteItem{Put: &types.Put{
						TableName: &w.accounts, Item: item{"account_id": s(fmt.Sprintf("%s-%d", d.Key, i)), "balance": n(1)},
					}})
				}
				return out, nil
			}
			o, err := w.deliver(h, d)
			if !ok {
				if err == nil || w.writes() != 0 {
					t.Errorf("delivery: got %s and %d requests, want an error and none", describe(o, err), w.writes())
				}
				return
			}
			want(t, "delivery", o, err, intent.Executed)
			b.wantBalance(t, fmt.Sprintf("%s-%d", d.Key, writes-1), 1)
			o, err = w.deliver(h, d)
			want(t, "redelivery", o, err, intent.Replayed)
			wantResult(t, "redelivery", o.Result, text(1000), false)
		})
	}
}

// meaning is the worker's ledger with another meaning of failed conditions.
func (w *worker) meaning(key string, failed func([]types.CancellationReason) error) *dynamo.Ledger[charge] {
	h := w.ledger(key)
	plan := h.Effect
	h.Effect = func(ctx context.Context, c charge, a intent.Attempt) (dynamo.Writes, error) {
		writes, err := plan(ctx, c, a)
		writes.Failed = failed
		return writes, err
	}
	return h
}

// A failed condition has its meaning also beside a result that is put aside: each reason is of its own item.
func TestLedgerConditionBesideALargeResult(t *testing.T) {
	b := newBench(t)
	d := message(t, `{"cents":10}`)
	b.open(t, d.Key, 5)
	w := b.worker(t)
	h := w.meaning(d.Key, func(reasons []types.CancellationReason) error {
		if len(reasons) != 1 || aws.ToString(reasons[0].Code) != "ConditionalCheckFailed" {
			t.Errorf("got reasons %v, want that of the one item", reasons)
		}
		return intent.Refuse(errInsufficient.Error())
	})
	plan := h.Effect
	h.Effect = func(ctx context.Context, c charge, a intent.Attempt) (dynamo.Writes, error) {
		writes, err := plan(ctx, c, a)
		writes.Result = text(1000)
		return writes, err
	}
	o, err := w.deliver(h, d)
	want(t, "delivery", o, err, intent.Refused)
	b.wantBalance(t, d.Key, 5)
}

// Without a meaning of its own a failed condition leaves the intent unclaimed.
func TestLedgerConditionWithoutMeaning(t *testing.T) {
	b := newBench(t)
	d := message(t, `{"cents":10}`)
	b.open(t, d.Key, 5)
	w := b.worker(t)
	h := w.meaning(d.Key, nil)
	if o, err := w.deliver(h, d); err == nil || !strings.Contains(err.Error(), "ConditionalCheckFailed") {
		t.Errorf("delivery: got %s, want an error that names the code", describe(o, err))
	}
	if it := b.item(t, intentOf(d)); len(it) != 0 {
		t.Errorf("record: got %v, want none", it)
	}
	b.open(t, d.Key, 15)
	o, err := w.deliver(h, d)
	want(t, "next delivery", o, err, intent.Executed)
	b.wantBalance(t, d.Key, 5)
}

func TestLedgerValidate(t *testing.T) {
	valid := dynamo.Ledger[charge]{
		Config: intent.Config{Scope: "test", Operation: "adjust", Store: dynamo.New(nil, "records")},
		Effect: func(context.Context, charge, intent.Attempt) (dynamo.Writes, error) { return dynamo.Writes{}, nil },
	}
	for name, c := range map[string]struct {
		spoil func(*dynamo.Ledger[charge])
		field string
	}{
		"OK":            {func(*dynamo.Ledger[charge]) {}, ""},
		"no effect":     {func(l *dynamo.Ledger[charge]) { l.Effect = nil }, "Effect"},
		"no store":      {func(l *dynamo.Ledger[charge]) { l.Store = nil }, "Store"},
		"another store": {func(l *dynamo.Ledger[charge]) { l.Store = struct{ intent.Store }{} }, "Store"},
		"no scope":      {func(l *dynamo.Ledger[charge]) { l.Scope = "" }, "Scope or Operation"},
	} {
		t.Run(name, func(t *testing.T) {
			l := valid
			c.spoil(&l)
			err := l.Validate()
			var config *intent.ConfigError
			if c.field == "" && err != nil || c.field != "" && (!errors.As(err, &config) || config.Field != c.field) {
				t.Errorf("got %v, want an error of the field %q", err, c.field)
			}
		})
	}
}

// A message whose payload or key is unusable never runs, however old it is, and
// asks the table for nothing.
func TestLedgerUnusableDelivery(t *testing.T) {
	b := newBench(t)
	d := message(t, `{"cents":10}`)
	w := b.worker(t)
	noKey, badPayload := d, sent(repeated(t, d, "message-1", `{"cents":"ten"}`), 2*retention)
	noKey.Key = ""
	var key *intent.KeyError
	if o, err := w.deliver(w.ledger(d.Key), noKey); !errors.As(err, &key) {
		t.Errorf("no key: got %s, want a KeyError", describe(o, err))
	}
	var payload *intent.PayloadError
	if o, err := w.deliver(w.ledger(d.Key), badPayload); !errors.As(err, &payload) || payload.Field != "cents" {
		t.Errorf("bad payload: got %s, want a PayloadError of cents", describe(o, err))
	}
	if got := w.faults.Counts(); len(got) != 0 {
		t.Errorf("requests: got %v, want none", got)
	}
}

// A Ledger that is not one runs nothing, and says which field is at fault (C82).
func TestLedgerThatIsNotChecked(t *testing.T) {
	var config *intent.ConfigError
	if o, err := (&dynamo.Ledger[charge]{}).Deliver(t.Context(), message(t, `{"cents":10}`)); !errors.As(err, &config) {
		t.Errorf("got %s, want a ConfigError", describe(o, err))
	}
}

// Whatever became of a delivery, its outcome names the intent, and the record its message and the time of its claim.
func TestLedgerNamesItsIntent(t *testing.T) {
	b := newBench(t)
	d := message(t, `{"cents":10}`)
	b.open(t, d.Key, 100)
	w := b.worker(t)
	name := (intent.Key{Scope: "test", Operation: "charge", ID: d.Key}).ShortHash()
	began := time.Now().Truncate(time.Millisecond)
	var told intent.Attempt
	for i := range 2 {
		h := w.ledger(d.Key)
		plan := h.Effect
		h.Effect = func(ctx context.Context, c charge, a intent.Attempt) (dynamo.Writes, error) {
			if i == 0 {
				told = a
			}
			return plan(ctx, c, a)
		}
		again := repeated(t, d, fmt.Sprint("message-", i+1), `{"cents":10}`)
		again.Receives = 3
		o, err := w.deliver(h, again)
		if err != nil || o.Intent != name || o.Attempt != 1 {
			t.Errorf("delivery %d: got %s of %q, want attempt 1 of %q", i+1, describe(o, err), o.Intent, name)
		}
	}
	key := intent.Key{Scope: "test", Operation: "charge", ID: d.Key}
	if want := (intent.Attempt{Key: key, Downstream: key.Downstream(), Number: 1, MessageID: "message-1", Receives: 3}); told != want {
		t.Errorf("the effect was told %+v, want %+v", told, want)
	}
	if r := b.record(t, d); r.MessageID != "message-1" || r.ClaimedAt.Before(began) || r.ClaimedAt.After(time.Now()) {
		t.Errorf("got message %q claimed at %v, want the first one, now", r.MessageID, r.ClaimedAt)
	}
	d = message(t, `{"cents":10}`)
	h := &dynamo.Ledger[charge]{Config: w.config(), Effect: func(context.Context, charge, intent.Attempt) (dynamo.Writes, error) {
		return dynamo.Writes{}, errCrashed
	}}
	name = (intent.Key{Scope: "test", Operation: "charge", ID: d.Key}).ShortHash()
	if o, err := w.deliver(h, d); err == nil || o.Intent != name {
		t.Errorf("failure: got %s of %q, want %q", describe(o, err), o.Intent, name)
	}
}

// An effect that means nothing by its failed conditions is no refusal.
func TestLedgerFailedMeansNothing(t *testing.T) {
	b := newBench(t)
	d := message(t, `{"cents":10}`)
	b.open(t, d.Key, 5)
	w := b.worker(t)
	h := w.meaning(d.Key, func([]types.CancellationReason) error { return nil })
	if o, err := w.deliver(h, d); err == nil || !strings.Contains(err.Error(), "returned no error") {
		t.Errorf("delivery: got %s, want an error", describe(o, err))
	}
	if it := b.item(t, intentOf(d)); len(it) != 0 {
		t.Errorf("record: got %v, want none", it)
	}
}

// An intent that is too old to run is not planned either, and a record that has expired does not answer for a plan that fails.
func TestLedgerPlansAndExpiry(t *testing.T) {
	b := newBench(t)
	w := b.worker(t)
	plans := 0
	h := &dynamo.Ledger[charge]{Config: w.config(), Effect: func(context.Context, charge, intent.Attempt) (dynamo.Writes, error) {
		plans++
		return dynamo.Writes{}, errCrashed
	}}
	d := sent(message(t, `{"cents":10}`), 2*maxAge)
	if o, err := w.deliver(h, d); !errors.Is(err, intent.ErrExpired) || plans != 0 {
		t.Errorf("too old: got %s after %d plans, want ErrExpired after none", describe(o, err), plans)
	}
	for name, expired := range map[string]bool{"expired": true, "not expired": false} {
		d = message(t, `{"cents":10}`)
		r := claimOf(d).Finish(intent.StateCompleted, nil, time.Now(), time.Hour)
		if expired {
			r.ExpiresAt = time.Now().Add(-time.Minute)
		}
		if _, err := dynamo.New(b.db, b.records).Claim(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if o, err := w.deliver(h, d); (err == nil) == expired || err == nil && o.Kind != intent.Replayed {
			t.Errorf("%s: got %s", name, describe(o, err))
		}
	}
}

// What a Ledger's effect ends with says nothing of its message, unless it means to.
func TestLedgerErrorIsNotItsMessages(t *testing.T) {
	b := newBench(t)
	for name, end := range map[string]error{
		"of another payload": &intent.PayloadError{Field: "reply", Reason: "is not JSON"},
		"to be quarantined":  intent.Quarantine(errors.New("unknown order")),
	} {
		w := b.worker(t)
		h := &dynamo.Ledger[charge]{Config: w.config(), Effect: func(context.Context, charge, intent.Attempt) (dynamo.Writes, error) {
			return dynamo.Writes{}, end
		}}
		o, err := w.deliver(h, message(t, `{"cents":10}`))
		want := intent.ErrNotDone
		if name == "to be quarantined" {
			want = intent.ErrUnprocessable
		}
		var of *intent.EffectError
		var payload *intent.PayloadError
		if !errors.Is(err, want) || !errors.As(err, &of) || of.Err != end || errors.As(err, &payload) {
			t.Errorf("%s: got %s, want %v", name, describe(o, err), want)
		}
	}
}

// plans are the ways in which a plan can fail because of what it reads.
var plans = map[string]func() (dynamo.Writes, error){
	"an error":        func() (dynamo.Writes, error) { return dynamo.Writes{}, errCrashed },
	"Quarantine":      func() (dynamo.Writes, error) { return dynamo.Writes{}, intent.Quarantine(errCrashed) },
	"Refuse":          func() (dynamo.Writes, error) { return dynamo.Writes{}, intent.Refuse("closed since") },
	"a panic":         func() (dynamo.Writes, error) { panic(errCrashed) },
	"too many writes": func() (dynamo.Writes, error) { return dynamo.Writes{Items: make([]types.TransactWriteItem, 99)}, nil },
	"invalid writes": func() (dynamo.Writes, error) {
		return dynamo.Writes{Items: []types.TransactWriteItem{{Delete: &types.Delete{TableName: aws.String("no such table"), Key: item{"k": s("k")}}}}}, nil
	},
}

// C54: a Ledger intent is completed, and a duplicate comes while what its plan reads is
// broken. The record answers, whatever the plan says; so it does for another payload.
func TestC54RecordBeforePlan(t *testing.T) {
	b := newBench(t)
	for name, plan := range plans {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := message(t, `{"cents":10}`)
			b.open(t, d.Key, 100)
			first := b.worker(t)
			o, err := first.deliver(first.ledger(d.Key), d)
			want(t, "delivery", o, err, intent.Executed)
			w := b.worker(t)
			h := &dynamo.Ledger[charge]{Config: w.config(), Effect: func(context.Context, charge, intent.Attempt) (dynamo.Writes, error) { return plan() }}
			o, err = w.deliver(h, repeated(t, d, "message-2", `{"cents":10}`))
			want(t, "duplicate", o, err, intent.Replayed)
			o, err = w.deliver(h, repeated(t, d, "message-3", `{"cents":11}`))
			want(t, "another payload", o, err, intent.Conflict)
			b.wantBalance(t, d.Key, 90)

			alone := message(t, `{"cents":10}`) // an intent without a record fails by its plan
			if o, err := w.deliver(h, alone); (err == nil) != (name == "Refuse") {
				t.Errorf("without a record: got %s", describe(o, err))
			}
		})
	}
}

// A record that cannot be read leaves open what it says, so a plan's failure does not
// count: the message is listed, not quarantined.
func TestC54RecordThatCannotBeRead(t *testing.T) {
	b := newBench(t)
	w := b.worker(t)
	w.plan = func(call intenttest.Call) intenttest.Fault {
		if call.Operation == "GetItem" {
			return intenttest.Fault{Reply: &intenttest.Reply{Status: 400, Body: `{"__type":"AccessDeniedException"}`}}
		}
		return intenttest.Fault{}
	}
	h := &dynamo.Ledger[charge]{Config: w.config(), Effect: func(context.Context, charge, intent.Attempt) (dynamo.Writes, error) { return plans["Quarantine"]() }}
	if o, err := w.deliver(h, message(t, `{"cents":10}`)); err == nil || !strings.Contains(err.Error(), "AccessDenied") || errors.Is(err, intent.ErrUnprocessable) {
		t.Errorf("got %s, want the read's error alone", describe(o, err))
	}
}

// C55: an effect runs once a delivery, whatever error it returns, also one of ours.
func TestC55EffectErrorsAreOpaque(t *testing.T) {
	b := newBench(t)
	for _, end := range []error{intent.ErrVanished, intent.ErrNoTime, intent.ErrLost, intent.ErrUnknown, intent.ErrReleased, intent.ErrExpired, intent.ErrWritesRejected,
		intent.ErrUnprocessable, intent.ErrNoKey, &intent.KeyError{Field: "key"}, &intent.FormatError{Version: 2}} {
		for way, failed := range map[string]bool{"plan": false, "Failed": true} {
			t.Run(end.Error()+"/"+way, func(t *testing.T) {
				t.Parallel()
				w := b.worker(t)
				runs := 0
				h := &dynamo.Ledger[charge]{Config: w.config(), Effect: func(ctx context.Context, c charge, a intent.Attempt) (dynamo.Writes, error) {
					if runs++; failed {
						writes, err := w.ledger("nobody's").Effect(ctx, c, a)
						writes.Failed = func([]types.CancellationReason) error { return end }
						return writes, err
					}
					return dynamo.Writes{}, fmt.Errorf("plan: %w", end)
				}}
				o, err := w.deliver(h, message(t, `{"cents":10}`))
				if !errors.Is(err, intent.ErrNotDone) || errors.Is(err, end) {
					t.Errorf("got %s, want ErrNotDone alone", describe(o, err))
				}
				if runs != 1 {
					t.Errorf("the effect runs %d times, want once", runs)
				}
			})
		}
	}
}
