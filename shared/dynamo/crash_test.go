package dynamo_test

import (
	"context"
	"errors"
	"testing"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// crash is one way for the first delivery to end badly. Each leaves the message
// in the queue.
type crash struct {
	name string
	// plan spoils the first worker's requests.
	plan func(*worker) func(intenttest.Call) intenttest.Fault
	// during is what happens around the first worker's effect, which is act.
	during func(w *worker, act func() string) (any, error)

	early  intent.Kind // of a delivery while the first one's lease runs
	second intent.Kind // of one after it
	calls  int         // of the effect, in all deliveries
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

// worker is the first delivery's.
func (c crash) worker(t *testing.T, b *bench) *worker {
	w := b.worker(t)
	if c.plan != nil {
		w.plan = c.plan(w)
	}
	return w
}

// around puts what happens during the effect around the act.
func (c crash) around(w *worker, act func(intent.Attempt) string) intent.Effect[charge] {
	return func(_ context.Context, _ charge, a intent.Attempt) (any, error) {
		if c.during == nil {
			return act(a), nil
		}
		return c.during(w, func() string { return act(a) })
	}
}

func TestCrashKeyed(t *testing.T) {
	b := newBench(t)
	for _, c := range []crash{
		{"before the claim", on("PutItem", crashBefore), nil, intent.Executed, intent.Replayed, 1},
		{"after the claim, before the effect (C11)", on("PutItem", crashAfter), nil, intent.InProgress, intent.Executed, 1},
		{"during the effect, before the provider acts", nil, crashUnacted, intent.InProgress, intent.Executed, 1},
		{"during the effect, after the provider acted", nil, crashActed, intent.InProgress, intent.Executed, 2},
		{"after the effect, before completion", on("UpdateItem", crashBefore), nil, intent.InProgress, intent.Executed, 2},
		{"the claim's reply is lost", on("PutItem", loseReply), nil, intent.Replayed, intent.Replayed, 1},
		{"completion's reply is lost", on("UpdateItem", loseReply), nil, intent.Replayed, intent.Replayed, 1},
		{"completion's reply is lost, crash before it is read back", on("UpdateItem", crashAfter), nil, intent.Replayed, intent.Replayed, 1},
		{"after completion, before the acknowledgement", nil, nil, intent.Replayed, intent.Replayed, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			first := c.worker(t, b)
			h := first.keyed(p)
			h.Effect = c.around(first, func(a intent.Attempt) string { return p.charge(a.Downstream) })
			o, err := first.deliver(h, d)
			if !first.dead.Load() {
				want(t, "first delivery", o, err, intent.Executed)
			}

			early := b.worker(t)
			o, err = early.deliver(early.keyed(p), d)
			want(t, "delivery before the lease is over", o, err, c.early)
			if o.Kind == intent.InProgress && (o.Wait <= 0 || o.Wait > lapse) {
				t.Errorf("the message is put off for %v, want more than 0 and at most %v", o.Wait, lapse)
			}
			second := b.later(t, lapse)
			o, err = second.deliver(second.keyed(p), d)
			want(t, "delivery after it", o, err, c.second)
			o, err = second.deliver(second.keyed(p), d)
			want(t, "last delivery", o, err, intent.Replayed)
			if string(o.Result.JSON) != `"ch_1"` {
				t.Errorf("result: got %s, want the first charge", o.Result.JSON)
			}
			p.want(t, c.calls, 1)
		})
	}
}

func TestCrashLedger(t *testing.T) {
	b := newBench(t)
	for _, c := range []crash{
		{name: "before the transaction", plan: on("TransactWriteItems", crashBefore), early: intent.Executed},
		{name: "after the transaction, before its reply", plan: on("TransactWriteItems", crashAfter), early: intent.Replayed},
		{name: "the transaction's reply is lost", plan: on("TransactWriteItems", loseReply), early: intent.Replayed},
		{name: "after completion, before the acknowledgement", early: intent.Replayed},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := message(t, `{"cents":10}`)
			b.open(t, d.Key, 100)
			first := c.worker(t, b)
			o, err := first.deliver(first.ledger(d.Key), d)
			if !first.dead.Load() {
				want(t, "first delivery", o, err, intent.Executed)
			}
			second := b.worker(t) // at once: there is no lease to wait for
			o, err = second.deliver(second.ledger(d.Key), d)
			want(t, "second delivery", o, err, c.early)
			o, err = second.deliver(second.ledger(d.Key), d)
			want(t, "last delivery", o, err, intent.Replayed)
			if string(o.Result.JSON) != `"took 10"` {
				t.Errorf("result: got %s, want the first one's", o.Result.JSON)
			}
			b.wantBalance(t, d.Key, 90)
		})
	}
}

func TestCrashBlind(t *testing.T) {
	b := newBench(t)
	for _, c := range []crash{
		{"before the claim", on("PutItem", crashBefore), nil, intent.Executed, intent.Replayed, 1},
		{"after the claim, before the effect", on("PutItem", crashAfter), nil, intent.InProgress, intent.InDoubt, 0},
		{"during the effect, before the call", nil, crashUnacted, intent.InProgress, intent.InDoubt, 0},
		{"during the effect, after the call", nil, crashActed, intent.InProgress, intent.InDoubt, 1},
		{"after the effect, before completion", on("UpdateItem", crashBefore), nil, intent.InProgress, intent.InDoubt, 1},
		{"the claim's reply is lost", on("PutItem", loseReply), nil, intent.Replayed, intent.Replayed, 1},
		{"completion's reply is lost", on("UpdateItem", loseReply), nil, intent.Replayed, intent.Replayed, 1},
		{"after completion, before the acknowledgement", nil, nil, intent.Replayed, intent.Replayed, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			first := c.worker(t, b)
			h := first.blind(p)
			h.Effect = c.around(first, func(intent.Attempt) string { return p.send() })
			o, err := first.deliver(h, d)
			if !first.dead.Load() {
				want(t, "first delivery", o, err, intent.Executed)
			}
			early := b.worker(t)
			o, err = early.deliver(early.blind(p), d)
			want(t, "delivery before the lease is over", o, err, c.early)
			second := b.later(t, lapse)
			o, err = second.deliver(second.blind(p), d)
			want(t, "delivery after it", o, err, c.second)
			p.want(t, c.calls, c.calls)
			if c.second != intent.InDoubt {
				return
			}
			settle(t, b, d, p, c.calls > 0)
		})
	}
}

// settle asks a probe that knows: yes completes, no runs once.
func settle(t *testing.T, b *bench, d intent.Delivery, p *provider, sent bool) {
	t.Helper()
	w := b.later(t, lapse)
	h := w.blind(p)
	h.Probe = func(context.Context, charge, intent.Attempt) (intent.Verdict, any, error) {
		if sent {
			return intent.Yes, "mail_1", nil
		}
		return intent.No, nil, nil
	}
	o, err := w.deliver(h, d)
	want(t, "delivery before a no counts", o, err, intent.InProgress)
	w.advance(o.Wait)
	verdict := intent.Executed
	if sent {
		verdict = intent.Replayed
	}
	o, err = w.deliver(h, d)
	want(t, "delivery with a probe", o, err, verdict)
	o, err = w.deliver(w.blind(p), d)
	want(t, "last delivery", o, err, intent.Replayed)
	if string(o.Result.JSON) != `"mail_1"` {
		t.Errorf("result: got %s, want the one mail", o.Result.JSON)
	}
	p.want(t, 1, 1)
}
