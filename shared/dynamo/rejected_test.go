package dynamo_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// rejections are writes that a completion cannot commit, each with what is said
// of it. The engine says so itself, where it can be brought to.
func (b *bench) rejections(d intent.Delivery) map[string]struct {
	result any
	reply  *intenttest.Reply // nil: the engine's
	says   string
	sent   int // transactions
} {
	failing := types.TransactWriteItem{Put: &types.Put{
		TableName: &b.accounts, Item: item{"account_id": s(d.Key), "balance": n(1)},
		ConditionExpression: aws.String("attribute_exists(account_id)"),
	}}
	invalid := b.row(d)
	invalid.Update.UpdateExpression = aws.String("ADD balance :one, account_id :one")
	record := types.TransactWriteItem{Delete: &types.Delete{TableName: &b.records, Key: item{"intent": s(intentOf(d))}}}
	return map[string]struct {
		result any
		reply  *intenttest.Reply
		says   string
		sent   int
	}{
		"a condition fails":         {dynamo.WithWrites("done", b.row(d), b.rows(d.Key, 1)[0], check(b, d)), nil, "3: ConditionalCheckFailed", 1},
		"the last one's does":       {dynamo.WithWrites("done", append(b.rows(d.Key, dynamo.MaxWrites-1), failing)...), nil, "98: ConditionalCheckFailed", 1},
		"one is invalid":            {dynamo.WithWrites("done", invalid), nil, "ValidationError", 1},
		"one is on the record":      {dynamo.WithWrites("done", record), nil, "ValidationException", 1},
		"they are too many":         {dynamo.WithWrites("done", b.rows(d.Key, dynamo.MaxWrites+1)...), nil, "they are 99, the limit is 98", 0},
		"they are of another store": {intent.Completion{Result: "done", Writes: []string{"row"}}, nil, "they are a []string", 0},
		"invalid by a reason":       {dynamo.WithWrites("done", b.row(d)), cancelled("None", "ValidationError"), "1: ValidationError", 1},
		"a collection too large":    {dynamo.WithWrites("done", b.row(d)), cancelled("None", "ItemCollectionSizeLimitExceeded"), "1: ItemCollectionSizeLimitExceeded", 1},
	}
}

// check is a condition that does not hold.
func check(b *bench, d intent.Delivery) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: &b.accounts, Key: item{"account_id": s("no such account of " + d.Key)}, ConditionExpression: aws.String("attribute_exists(account_id)"),
	}}
}

// A Keyed effect whose completion is rejected has happened, and nobody knows: its
// claim lapses, and it is asked again under the same key.
func TestRejectedWritesKeyed(t *testing.T) {
	b := newBench(t)
	for name := range b.rejections(intent.Delivery{}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := new(provider)
			d := message(t, `{"cents":10}`)
			c := b.rejections(d)[name]
			w := b.worker(t)
			if c.reply != nil {
				w.plan = stuck(c.reply)
			}
			o, err := w.deliver(writing["Keyed"](w, p, func() (any, error) { return c.result, nil }), d)
			if !errors.Is(err, intent.ErrUnknown) || !errors.Is(err, intent.ErrWritesRejected) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("delivery: got %s, want ErrUnknown and ErrWritesRejected with %q", describe(o, err), c.says)
			}
			if got := w.faults.Counts()["TransactWriteItems"]; got != c.sent {
				t.Errorf("transactions sent: got %d, want %d", got, c.sent)
			}
			b.wantRows(t, d, 0)
			early := b.worker(t)
			o, err = early.deliver(early.keyed(p), d)
			want(t, "delivery while the lease runs", o, err, intent.InProgress)
			late := b.later(t, lapse)
			o, err = late.deliver(writing["Keyed"](late, p, ends("done", b.row(d))), d)
			want(t, "delivery after it", o, err, intent.Executed)
			b.wantRows(t, d, 1)
			p.want(t, 2, 1)
		})
	}
}

// A Blind one is in doubt at once. Its record says why, by the codes, and it is
// not run a second time.
func TestRejectedWritesBlind(t *testing.T) {
	b := newBench(t)
	for name := range b.rejections(intent.Delivery{}) {
		for verdict, end := range map[string]func(any) (any, error){
			"done":    func(result any) (any, error) { return result, nil },
			"refused": func(result any) (any, error) { return nil, intent.Refuse(result) },
		} {
			t.Run(name+"/"+verdict, func(t *testing.T) {
				t.Parallel()
				p := new(provider)
				d := message(t, `{"cents":10}`)
				c := b.rejections(d)[name]
				w := b.worker(t)
				if c.reply != nil {
					w.plan = stuck(c.reply)
				}
				o, err := w.deliver(writing["Blind"](w, p, func() (any, error) { return end(c.result) }), d)
				want(t, "delivery", o, err, intent.InDoubt)
				r := b.record(t, d)
				if r.State != intent.StateInDoubt || !strings.Contains(r.Reason, c.says) || o.Reason != r.Reason || !errors.Is(o.Cause, intent.ErrWritesRejected) {
					t.Errorf("record: got %s with reason %q, outcome's %q, cause %v, want in doubt with %q", r.State, r.Reason, o.Reason, o.Cause, c.says)
				}
				for _, after := range []time.Duration{0, lapse, 24 * time.Hour} {
					later := b.later(t, after)
					o, err = later.deliver(writing["Blind"](later, p, ends("done", b.row(d))), d)
					want(t, "delivery after "+after.String(), o, err, intent.InDoubt)
				}
				b.wantRows(t, d, 0)
				p.want(t, 1, 1)
			})
		}
	}
}

// A probe's yes whose writes are rejected leaves the doubt as it was; one whose
// writes are not settles it.
func TestRejectedWritesOfAProbe(t *testing.T) {
	b := newBench(t)
	for class := range writing {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			p := new(provider)
			d := message(t, `{"cents":10}`)
			b.standing(t, d, intent.StateInDoubt)
			before := b.item(t, intentOf(d))
			w := b.later(t, lapse+time.Minute)
			probing := func(result any) handler {
				yes := func(context.Context, charge, intent.Attempt) (intent.Verdict, any, error) {
					return intent.Yes, result, nil
				}
				if class == "Blind" {
					h := w.blind(p)
					h.Probe = yes
					return h
				}
				h := w.keyed(p)
				h.Probe = yes
				return h
			}
			o, err := w.deliver(probing(dynamo.WithWrites("found", b.row(d), check(b, d))), d)
			if !errors.Is(err, intent.ErrWritesRejected) || !strings.Contains(err.Error(), "2: ConditionalCheckFailed") {
				t.Errorf("delivery: got %s, want ErrWritesRejected with the codes", describe(o, err))
			}
			wantUntouched(t, b, d, before)
			b.wantRows(t, d, 0)
			w.plan = on("TransactWriteItems", loseReply)(w)
			o, err = w.deliver(probing(dynamo.WithWrites("found", b.row(d))), d)
			want(t, "next delivery", o, err, intent.Replayed)
			if string(o.Result.JSON) != `"found"` {
				t.Errorf("result: got %s, want the probe's", o.Result.JSON)
			}
			b.wantRows(t, d, 1)
			p.want(t, 0, 0)
		})
	}
}

// A Ledger has its own place for writes. A Completion in another is refused
// before anything is written, and no refusal of the intent.
func TestLedgerTakesNoCompletion(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct {
		effect func(d intent.Delivery) (dynamo.Writes, error)
		is     error
		says   string
	}{
		"as its result": {func(d intent.Delivery) (dynamo.Writes, error) {
			return dynamo.Writes{Items: b.rows(d.Key, 1), Result: dynamo.WithWrites("done", b.row(d))}, nil
		}, nil, "ledger effect's result is a Completion"},
		"as its refusal's": {func(d intent.Delivery) (dynamo.Writes, error) {
			return dynamo.Writes{}, intent.Refuse(dynamo.WithWrites("declined", b.row(d)))
		}, intent.ErrWritesRejected, "no claim"},
	} {
		t.Run(name, func(t *testing.T) {
			d := message(t, `{"cents":10}`)
			w := b.worker(t)
			h := w.ledger(d.Key)
			h.Effect = func(context.Context, charge, intent.Attempt) (dynamo.Writes, error) { return c.effect(d) }
			o, err := w.deliver(h, d)
			if err == nil || !strings.Contains(err.Error(), c.says) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("delivery: got %s, want an error that says %q", describe(o, err), c.says)
			}
			if got := w.writes(); got != 0 {
				t.Errorf("requests that write: got %d, want none", got)
			}
		})
	}
}

// Where the writes were not even looked at, they are not rejected: the same completion
// may pass later.
func TestWritesThatWereNotLookedAt(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct {
		answer *intenttest.Reply
		ended  bool // the caller's time
	}{
		"not allowed":   {refused("AccessDeniedException"), false},
		"out of time":   {nil, true},
		"no such thing": {refused("ResourceNotFoundException"), false},
	} {
		t.Run(name, func(t *testing.T) {
			w, d := b.worker(t), message(t, `{"cents":10}`)
			w.plan = func(call intenttest.Call) intenttest.Fault {
				if call.Operation == "TransactWriteItems" {
					return intenttest.Fault{Reply: c.answer}
				}
				return intenttest.Fault{}
			}
			claim := claimOf(d)
			if _, err := w.store.Claim(t.Context(), claim); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.ended {
				cancel()
			}
			done := claim.Finish(intent.StateCompleted, dynamo.WithWrites("done", b.row(d)), time.Now(), time.Hour)
			if got, err := w.store.Amend(ctx, done); err == nil || errors.Is(err, intent.ErrWritesRejected) {
				t.Errorf("got %+v and error %v, want an error that rejects nothing", got, err)
			}
			if got := b.record(t, d).State; got != intent.StateClaimed {
				t.Errorf("state: got %q, want %q", got, intent.StateClaimed)
			}
			b.wantRows(t, d, 0)
		})
	}
}

// What an effect hands back beside its refusal does not count, however wrong it is.
func TestLedgerRefusesWhateverItsWrites(t *testing.T) {
	b := newBench(t)
	for name, writes := range map[string]func(d intent.Delivery) dynamo.Writes{
		"too many": func(d intent.Delivery) dynamo.Writes { return dynamo.Writes{Items: b.rows(d.Key, dynamo.MaxWrites+1)} },
		"a completion": func(d intent.Delivery) dynamo.Writes {
			return dynamo.Writes{Result: dynamo.WithWrites("done", b.row(d))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := message(t, `{"cents":10}`)
			w := b.worker(t)
			h := w.ledger(d.Key)
			h.Effect = func(context.Context, charge, intent.Attempt) (dynamo.Writes, error) {
				return writes(d), intent.Refuse("declined")
			}
			o, err := w.deliver(h, d)
			want(t, "delivery", o, err, intent.Refused)
			if got := b.record(t, d).State; got != intent.StateRefused {
				t.Errorf("state: got %q, want %q", got, intent.StateRefused)
			}
			b.wantRows(t, d, 0)
		})
	}
}

// A claim has no completion that writes could join.
func TestClaimTakesNoWrites(t *testing.T) {
	b := newBench(t)
	w := b.worker(t)
	d := message(t, `{"cents":10}`)
	claim := claimOf(d)
	claim.Writes = b.rows(d.Key, 1)
	for name, next := range map[string]intent.Record{"a claim": claim, "a final record": claim.Finish(intent.StateCompleted, nil, time.Now(), time.Hour)} {
		if got, err := w.store.Claim(t.Context(), next); !errors.Is(err, intent.ErrWritesRejected) {
			t.Errorf("%s: got %+v and error %v, want ErrWritesRejected", name, got, err)
		}
		for _, err := range claimTogether(t, w, next) {
			if !errors.Is(err, intent.ErrWritesRejected) {
				t.Errorf("%s in a group: got error %v, want ErrWritesRejected", name, err)
			}
		}
	}
	if got := w.writes(); got != 0 || len(b.item(t, intentOf(d))) != 0 {
		t.Errorf("requests that write: got %d, want none", got)
	}
}

// claimTogether claims a record and another one like it in a group of two.
func claimTogether(t *testing.T, w *worker, next intent.Record) (errs [2]error) {
	t.Helper()
	group, leave := w.store.Group(len(errs))
	var running sync.WaitGroup
	for i := range errs {
		next := next
		next.Intent += strings.Repeat("+", i)
		running.Go(func() {
			defer leave()
			_, errs[i] = group.Claim(t.Context(), next)
		})
	}
	running.Wait()
	return errs
}

// A claim that says more than a claim does keeps that, also in a group.
func TestClaimOfMore(t *testing.T) {
	b := newBench(t)
	w := b.worker(t)
	d := message(t, `{"cents":10}`)
	claim := claimOf(d)
	claim.Reason = "because"
	for _, err := range claimTogether(t, w, claim) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{claim.Intent, claim.Intent + "+"} {
		if got, err := w.store.Load(t.Context(), key); err != nil || got.Reason != claim.Reason {
			t.Errorf("got %+v and error %v, want the reason", got, err)
		}
	}
}
