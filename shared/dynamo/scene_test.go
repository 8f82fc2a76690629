package dynamo_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// column is a class in the table of crashes, with or without writes that commit
// with its completion.
type column struct {
	name, class     string
	claim, complete string // the requests that do it
	writes          bool
	result          string // of its one effect
}

var columns = []column{
	{name: "Ledger", class: "Ledger", claim: "TransactWriteItems", complete: "TransactWriteItems", result: `"took 10"`},
	{name: "Keyed", class: "Keyed", claim: "PutItem", complete: "UpdateItem", result: `"ch_1"`},
	{name: "Blind", class: "Blind", claim: "PutItem", complete: "UpdateItem", result: `"mail_1"`},
	{name: "Keyed with writes", class: "Keyed", claim: "PutItem", complete: "TransactWriteItems", writes: true, result: `"ch_1"`},
	{name: "Blind with writes", class: "Blind", claim: "PutItem", complete: "TransactWriteItems", writes: true, result: `"mail_1"`},
}

// scene is one intent in one column.
type scene struct {
	column
	b *bench
	p *provider
	d intent.Delivery
}

// course is what happens around an effect's call, which is act.
type course func(w *worker, act func() string) (any, error)

// verdict is a probe that knows.
type verdict func(s scene) (intent.Verdict, any)

func saysYes(s scene) (intent.Verdict, any) {
	result := any("mail_1")
	if s.class == "Keyed" {
		result = "ch_1"
	}
	return intent.Yes, s.completed(result)
}

func saysNo(scene) (intent.Verdict, any) { return intent.No, nil }

// completed is the result of a done effect, with its row where the column has one.
func (s scene) completed(result any) any {
	if s.writes {
		return dynamo.WithWrites(result, s.b.row(s.d))
	}
	return result
}

// handler is the worker's. Nil: the effect just calls; there is no probe.
func (s scene) handler(w *worker, around course, probe verdict) handler {
	effect := func(_ context.Context, _ charge, a intent.Attempt) (any, error) {
		act := s.p.send
		if s.class == "Keyed" {
			act = func() string { return s.p.charge(a.Downstream) }
		}
		if around == nil {
			return s.completed(act()), nil
		}
		result, err := around(w, act)
		return s.completed(result), err
	}
	var ask intent.Probe[charge]
	if probe != nil {
		ask = func(context.Context, charge, intent.Attempt) (intent.Verdict, any, error) {
			v, result := probe(s)
			return v, result, nil
		}
	}
	switch s.class {
	case "Keyed":
		h := w.keyed(s.p)
		h.Effect, h.Probe = effect, ask
		return h
	case "Blind":
		h := w.blind(s.p)
		h.Effect, h.Probe = effect, ask
		return h
	}
	return w.ledger(s.d.Key)
}

// row is a write that commits with a completion. It counts how often it does.
func (b *bench) row(d intent.Delivery) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &b.accounts, Key: item{"account_id": s(d.Key)},
		UpdateExpression: aws.String("ADD balance :one"), ExpressionAttributeValues: item{":one": n(1)},
	}}
}

// wantRows: the row was committed so often.
func (b *bench) wantRows(t *testing.T, d intent.Delivery, rows int) {
	t.Helper()
	if rows > 0 {
		b.wantBalance(t, d.Key, int64(rows))
		return
	}
	out, err := b.db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &b.accounts, Key: item{"account_id": s(d.Key)}, ConsistentRead: aws.Bool(true),
	})
	if err != nil || len(out.Item) > 0 {
		t.Errorf("row: got %v and error %v, want none", out.Item, err)
	}
}

func (s scene) wantRows(t *testing.T, rows int) {
	t.Helper()
	if s.writes {
		s.b.wantRows(t, s.d, rows)
	}
}

func (s scene) wantEffects(t *testing.T, calls, effects int) {
	t.Helper()
	if s.class == "Ledger" {
		s.b.wantBalance(t, s.d.Key, 100-10*int64(effects))
		return
	}
	s.p.want(t, calls, effects)
}

func (s scene) calls() int { return len(s.p.calls) }

// want is what a delivery is expected to come to. A row is there if and only if
// the record is final.
func (s scene) want(t *testing.T, what string, o intent.Outcome, err error, kind intent.Kind) {
	t.Helper()
	want(t, what, o, err, kind)
	if o.Kind == intent.Executed {
		s.wantRows(t, 1)
	}
	if !s.b.record(t, s.d).State.Final() {
		s.wantRows(t, 0)
	}
}

// play is a fault and the deliveries after it.
type play func(t *testing.T, s scene, kinds []intent.Kind)

// settler ends a doubt. It returns the result that is replayed from then on, and
// how often the row has been committed.
type settler func(t *testing.T, s scene, sent bool) (result string, rows int)

func claiming(fault func(*worker) intenttest.Fault) play {
	return func(t *testing.T, s scene, kinds []intent.Kind) { s.redelivered(t, on(s.claim, fault), nil, kinds) }
}

func completing(fault func(*worker) intenttest.Fault) play {
	return func(t *testing.T, s scene, kinds []intent.Kind) { s.redelivered(t, on(s.complete, fault), nil, kinds) }
}

func during(around course) play {
	return func(t *testing.T, s scene, kinds []intent.Kind) { s.redelivered(t, nil, around, kinds) }
}

// redelivered is a first delivery that ends badly or unheard, one while its lease
// runs, and one after it.
func (s scene) redelivered(t *testing.T, plan func(*worker) func(intenttest.Call) intenttest.Fault, around course, kinds []intent.Kind) {
	t.Helper()
	first := s.b.worker(t)
	if plan != nil {
		first.plan = plan(first)
	}
	o, err := first.deliver(s.handler(first, around, nil), s.d)
	if !first.dead.Load() {
		s.want(t, "first delivery", o, err, intent.Executed)
	}
	early, late := s.b.worker(t), s.b.later(t, lapse)
	o, err = early.deliver(s.handler(early, nil, nil), s.d)
	s.want(t, "delivery before the lease is over", o, err, kinds[0])
	if o.Kind == intent.InProgress && (o.Wait <= 0 || o.Wait > lapse) {
		t.Errorf("the message is put off for %v, want more than 0 and at most %v", o.Wait, lapse)
	}
	o, err = late.deliver(s.handler(late, nil, nil), s.d)
	s.want(t, "delivery after it", o, err, kinds[1])
}

// zombieBefore is a worker that stalls when its claim is made, until its lease is
// over and another delivery has been. A Ledger's stalls before its transaction.
func zombieBefore(t *testing.T, s scene, kinds []intent.Kind) {
	zombie, successor := s.b.worker(t), s.b.later(t, lapse)
	wakes := func() {
		o, err := successor.deliver(s.handler(successor, nil, nil), s.d)
		s.want(t, "successor", o, err, kinds[0])
		zombie.advance(lapse)
	}
	zombie.plan = on(s.claim, func(*worker) intenttest.Fault {
		if s.class == "Ledger" {
			return intenttest.Fault{Before: wakes}
		}
		return intenttest.Fault{After: wakes}
	})(zombie)
	o, err := zombie.deliver(s.handler(zombie, nil, nil), s.d)
	s.want(t, "zombie", o, err, kinds[1])
}

// zombieDuring is one that stalls before its call. What its successor has made of
// the record stands afterwards, unless it is in doubt.
func zombieDuring(probe verdict) play {
	return func(t *testing.T, s scene, kinds []intent.Kind) {
		zombie, successor := s.b.worker(t), s.b.later(t, lapse+time.Minute)
		var taken item
		o, err := zombie.deliver(s.handler(zombie, func(_ *worker, act func() string) (any, error) {
			o, err := successor.deliver(s.handler(successor, nil, probe), s.d)
			s.want(t, "successor", o, err, kinds[0])
			taken = s.b.item(t, intentOf(s.d))
			zombie.advance(lapse)
			return act(), nil
		}, nil), s.d)
		s.want(t, "zombie", o, err, kinds[1])
		if kinds[0] != intent.InDoubt {
			wantUntouched(t, s.b, s.d, taken)
		}
	}
}

// pastItsWindow is a redelivery when the provider may have forgotten the key.
func pastItsWindow(t *testing.T, s scene, kinds []intent.Kind) {
	first, late := s.b.worker(t), s.b.later(t, pastWindow)
	first.plan = on(s.complete, crashBefore)(first)
	_, _ = first.deliver(s.handler(first, nil, nil), s.d)
	s.p.forget()
	o, err := late.deliver(s.handler(late, nil, nil), s.d)
	s.want(t, "delivery", o, err, kinds[0])
}

// on is a plan for the first request of an operation.
func on(operation string, fault func(*worker) intenttest.Fault) func(*worker) func(intenttest.Call) intenttest.Fault {
	return func(w *worker) func(intenttest.Call) intenttest.Fault {
		return func(call intenttest.Call) intenttest.Fault {
			if call.Operation == operation && call.Number == 1 {
				return fault(w)
			}
			return intenttest.Fault{}
		}
	}
}

func crashBefore(w *worker) intenttest.Fault { return intenttest.Fault{Before: w.crash, Drop: true} }
func crashAfter(w *worker) intenttest.Fault  { return intenttest.Fault{LoseReply: true, After: w.crash} }
func loseReply(*worker) intenttest.Fault     { return intenttest.Fault{LoseReply: true} }

var errCrashed = errors.New("crashed")

func crashUnacted(w *worker, _ func() string) (any, error) {
	w.crash()
	return nil, errCrashed
}

func crashActed(w *worker, act func() string) (any, error) {
	act()
	w.crash()
	return nil, errCrashed
}
