package dynamo_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
)

// settle is an operator's verb on a doubt: a write over it as it is shown. What
// did not happen is free again, under an owner of its own.
func (b *bench) settle(t *testing.T, d intent.Delivery, to intent.State) {
	t.Helper()
	doubt := b.record(t, d)
	next := doubt.Finish(to, "by the operator", time.Now(), 90*24*time.Hour)
	if to == intent.StateReleased {
		next = doubt
		next.State, next.Owner, next.ClaimedAt, next.Reason = to, intent.NewOwner(), time.Time{}, "operator: did not happen"
	}
	got, err := dynamo.New(b.db, b.records).Replace(t.Context(), doubt, next)
	if err != nil || doubt.State != intent.StateInDoubt || got.State != to {
		t.Errorf("settle %s: got %+v, %v, want %s", doubt.State, got, err, to)
	}
}

// C46: a doubt leaves the queue for the dead-letter queue, is settled there, and
// is redriven under another message id, days later.
func TestC46_SettledAndRedriven(t *testing.T) {
	b := newBench(t)
	for _, class := range []string{"Keyed", "Blind"} {
		for to, c := range map[intent.State]struct {
			kind   intent.Kind
			calls  int
			result string
		}{
			intent.StateReleased:  {intent.Executed, 1, ""},
			intent.StateCompleted: {intent.Replayed, 0, `"by the operator"`},
			intent.StateRefused:   {intent.Refused, 0, `"by the operator"`},
		} {
			t.Run(class+"/settled to "+string(to), func(t *testing.T) {
				t.Parallel()
				p := new(provider)
				d := message(t, `{"cents":10}`)
				b.standing(t, d, intent.StateInDoubt)
				w := b.worker(t)
				o, err := w.deliver(classes[class](w, p, d.Key), d)
				want(t, "first delivery", o, err, intent.InDoubt)
				b.settle(t, d, to)
				redriven := repeated(t, d, "message-2", string(d.Payload.Canonical()))
				late := b.later(t, 13*24*time.Hour)
				o, err = late.deliver(classes[class](late, p, d.Key), redriven)
				want(t, "redriven", o, err, c.kind)
				p.want(t, c.calls, c.calls)
				if c.result != "" && string(o.Result.JSON) != c.result {
					t.Errorf("result: got %s, want %s", o.Result.JSON, c.result)
				}
				if o.Kind == intent.Executed && (o.Attempt != 2 || b.record(t, d).MessageID != "message-2") {
					t.Errorf("got attempt %d of %s, want the second, of the redriven message", o.Attempt, b.record(t, d).MessageID)
				}
				o, err = late.deliver(classes[class](late, p, d.Key), redriven)
				if want := c.kind; err != nil || o.Kind != want && (want != intent.Executed || o.Kind != intent.Replayed) {
					t.Errorf("last delivery: got %s, want %s again", describe(o, err), want)
				}
				p.want(t, c.calls, c.calls)
			})
		}
	}
}

// C46: redriven though nobody settled it, a doubt stays one.
func TestC46_RedrivenUnsettled(t *testing.T) {
	b := newBench(t)
	p := new(provider)
	d := message(t, `{"cents":10}`)
	w := b.worker(t)
	h := w.blind(p)
	h.Effect = func(context.Context, charge, intent.Attempt) (any, error) {
		p.send()
		return nil, errors.New("connection reset")
	}
	o, err := w.deliver(h, d)
	want(t, "first delivery", o, err, intent.InDoubt)
	before := b.item(t, intentOf(d))
	for range 3 {
		late := b.later(t, 13*24*time.Hour)
		o, err = late.deliver(late.blind(p), repeated(t, d, "message-2", string(d.Payload.Canonical())))
		want(t, "redriven", o, err, intent.InDoubt)
		if o.Wait != 0 {
			t.Errorf("the message is put off for %v, though nobody is left to ask", o.Wait)
		}
	}
	wantUntouched(t, b, d, before)
	p.want(t, 1, 1)
}
