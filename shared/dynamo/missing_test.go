package dynamo_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// stripItem takes the items out of a failed condition, as some engines leave
// them out.
func stripItem(r intenttest.Reply) intenttest.Reply {
	var reply struct {
		Type                string `json:"__type"`
		Message             string
		CancellationReasons []struct{ Code string } `json:",omitempty"`
	}
	if r.Status == 200 || json.Unmarshal([]byte(r.Body), &reply) != nil {
		return r
	}
	body, err := json.Marshal(reply)
	if err != nil {
		return r
	}
	return intenttest.Reply{Status: r.Status, Body: string(body)}
}

func TestC24_ItemMissingFromTheError(t *testing.T) {
	b := newBench(t)
	// strip makes a worker whose failed conditions come without the item; of the
	// reads that follow, the first n find nothing.
	strip := func(t *testing.T, n int) *worker {
		w := b.worker(t)
		w.plan = func(call intenttest.Call) intenttest.Fault {
			switch {
			case call.Operation != "GetItem":
				return intenttest.Fault{Edit: stripItem}
			case !bytes.Contains(call.Body, []byte(`"ConsistentRead":true`)):
				t.Errorf("read %s is not consistent", call.Body)
			case call.Number <= n:
				return intenttest.Fault{Reply: &intenttest.Reply{Status: 200, Body: "{}"}}
			}
			return intenttest.Fault{}
		}
		return w
	}
	for _, class := range []string{"Keyed", "Ledger"} {
		put := map[string]string{"Keyed": "PutItem", "Ledger": "TransactWriteItems"}[class]
		// done makes an intent that was executed, and a way to deliver it again.
		done := func(t *testing.T, p *provider) (d intent.Delivery, h func(*worker) handler) {
			d = message(t, `{"cents":10}`)
			b.open(t, d.Key, 100)
			h = func(w *worker) handler {
				if class == "Keyed" {
					return w.keyed(p)
				}
				return w.ledger(d.Key)
			}
			w := b.worker(t)
			o, err := w.deliver(h(w), d)
			want(t, "first delivery", o, err, intent.Executed)
			return d, h
		}
		for _, c := range []struct {
			name   string
			vanish int
			counts map[string]int
			err    error
		}{
			{"found by a consistent read", 0, map[string]int{put: 1, "GetItem": 1}, nil},
			{"found by the second read", 1, map[string]int{put: 2, "GetItem": 2}, nil},
			{"never found", 9, map[string]int{put: 3, "GetItem": 3}, intent.ErrVanished},
		} {
			t.Run(class+"/"+c.name, func(t *testing.T) {
				p := new(provider)
				d, h := done(t, p)
				w := strip(t, c.vanish)
				o, err := w.deliver(h(w), d)
				if c.err == nil {
					want(t, "redelivery", o, err, intent.Replayed)
				} else if !errors.Is(err, c.err) || o.Intent == "" {
					t.Errorf("redelivery: got %s of %q, want %v of the intent", describe(o, err), o.Intent, c.err)
				}
				if got := w.faults.Counts(); !maps.Equal(got, c.counts) {
					t.Errorf("requests: got %v, want %v", got, c.counts)
				}
				if len(p.calls) > 1 {
					t.Errorf("got %d calls, want 1 at most", len(p.calls))
				}
				b.wantBalance(t, d.Key, map[string]int64{"Keyed": 100, "Ledger": 90}[class])
			})
		}
	}
	t.Run("gone meanwhile, claimed again", func(t *testing.T) {
		p := new(provider)
		d := message(t, `{"cents":10}`)
		other := b.worker(t)
		claim := claimOf(d)
		claim.LeaseUntil = claim.ClaimedAt.Add(time.Minute)
		if _, err := other.store.Claim(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		w := strip(t, 0)
		stripped := w.plan
		w.plan = func(call intenttest.Call) intenttest.Fault {
			f := stripped(call)
			if call.Operation == "PutItem" && call.Number == 1 {
				f.After = func() { b.remove(t, intentOf(d)) }
			}
			return f
		}
		o, err := w.deliver(w.keyed(p), d)
		want(t, "delivery", o, err, intent.Executed)
		p.want(t, 1, 1)
	})
	t.Run("completion refused without the record", func(t *testing.T) {
		p := new(provider)
		d := message(t, `{"cents":10}`)
		w := strip(t, 0)
		stripped := w.plan
		w.plan = func(call intenttest.Call) intenttest.Fault {
			f := stripped(call)
			f.LoseReply = call.Operation == "UpdateItem" && call.Number == 1
			return f
		}
		o, err := w.deliver(w.keyed(p), d)
		want(t, "delivery", o, err, intent.Executed)
		p.want(t, 1, 1)
	})
}
