package dynamo_test

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

// A record of another release, as old code meets it during a canary, is neither
// compared nor changed, and nothing is run.
func TestUnknownFormat(t *testing.T) {
	b := newBench(t)
	for name, change := range map[string]item{
		"format of a later release":        {"v": n(2)},
		"state of a later release":         {"state": s("archived")},
		"no format":                        {"v": nil},
		"no state":                         {"state": nil},
		"another fingerprint is not asked": {"v": n(2), "fingerprint": s("sha512:1234")},
	} {
		for _, state := range []intent.State{intent.StateClaimed, intent.StateReleased, intent.StateInDoubt} {
			for class, h := range classes {
				t.Run(name+"/"+string(state)+"/"+class, func(t *testing.T) {
					p := new(provider)
					d := message(t, `{"cents":10}`)
					b.open(t, d.Key, 100)
					b.standing(t, d, state)
					it := b.item(t, intentOf(d))
					for attribute, value := range change {
						if it[attribute] = value; value == nil {
							delete(it, attribute)
						}
					}
					b.put(t, b.records, it)
					w := b.later(t, lapse)
					o, err := w.deliver(h(w, p, d.Key), d)
					wantFormatError(t, o, err)
					wantUntouched(t, b, d, it)
					p.want(t, 0, 0)
					b.wantBalance(t, d.Key, 100)
					if got := w.writes(); got != 1 {
						t.Errorf("requests that write: got %d, want 1", got)
					}
					o, err = intent.Lookup(t.Context(), w.store, intent.Key{Scope: "test", Operation: "charge", ID: d.Key})
					wantFormatError(t, o, err)
				})
			}
		}
	}
}

func wantFormatError(t *testing.T, o intent.Outcome, err error) {
	t.Helper()
	var format *intent.FormatError
	o.Intent = ""
	if !errors.As(err, &format) || !reflect.DeepEqual(o, intent.Outcome{}) {
		t.Errorf("got %s, want a FormatError", describe(o, err))
	}
}

// What is damaged is an error that names the attribute, and is left as it is.
func TestDamagedRecord(t *testing.T) {
	b := newBench(t)
	for name, damage := range map[string]item{
		"attempt": {"attempt": s("one")}, "lease": {"lease_until": s("soon")}, "owner": {"owner": n(1)}, "result": {"result": n(1)},
		"fingerprint": {"fingerprint": s("abc")}, "longer fingerprint": {"fingerprint": s(strings.Repeat("0", 66))},
		"beside a kept result": {"attempt": s("one"), "result": &types.AttributeValueMemberM{Value: item{"sibling": s("elsewhere")}}},
		"half a digit more":    {"fingerprint": s(strings.Repeat("0", 65))}, "blind": {"blind": s("true")},
		"result of no name": {"result": &types.AttributeValueMemberM{Value: item{"sibling": s("")}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			b.standing(t, d, intent.StateClaimed)
			it := b.item(t, intentOf(d))
			maps.Copy(it, damage)
			b.put(t, b.records, it)
			w := b.later(t, lapse)
			if o, err := w.deliver(w.keyed(p), d); err == nil {
				t.Errorf("delivery: got %s, want an error", describe(o, err))
			}
			wantUntouched(t, b, d, it)
			p.want(t, 0, 0)
		})
	}
}

// A duplicate is billed on the size of what stands: there is nothing in it that says
// nothing.
func TestAttributesOfAClaim(t *testing.T) {
	b := newBench(t)
	d := message(t, `{"cents":10}`)
	b.standing(t, d, intent.StateClaimed)
	it := b.item(t, intentOf(d))
	if got, want := slices.Sorted(maps.Keys(it)), []string{"attempt", "claimed_at", "fingerprint", "intent", "lease_until", "message_id", "owner", "state", "v"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Of several faults the first is named.
func TestFirstFaultOfARecord(t *testing.T) {
	b := newBench(t)
	d := message(t, `{"cents":10}`)
	b.standing(t, d, intent.StateClaimed)
	it := b.item(t, intentOf(d))
	it["owner"], it["attempt"] = n(1), s("one")
	b.put(t, b.records, it)
	w := b.worker(t)
	if _, err := w.store.Load(t.Context(), intentOf(d)); err == nil || !strings.Contains(err.Error(), `"owner" is not a string`) {
		t.Errorf("got error %v, want the first fault's", err)
	}
}

// A claim without an owner or a lease can be named by no takeover. It fails its
// message at once, and not after trying to the deadline.
func TestRecordThatNobodyCanName(t *testing.T) {
	b := newBench(t)
	for _, attribute := range []string{"owner", "lease_until"} {
		t.Run(attribute, func(t *testing.T) {
			p := new(provider)
			d := message(t, `{"cents":10}`)
			b.standing(t, d, intent.StateClaimed)
			it := b.item(t, intentOf(d))
			delete(it, attribute)
			b.put(t, b.records, it)
			w := b.later(t, lapse)
			if o, err := w.deliver(w.keyed(p), d); err == nil {
				t.Errorf("delivery: got %s, want an error", describe(o, err))
			}
			if got := w.faults.Counts()["UpdateItem"]; got > 1 {
				t.Errorf("got %d updates, want 1 at the most", got)
			}
			wantUntouched(t, b, d, it)
			p.want(t, 0, 0)
		})
	}
}

// A late copy of a renewal does not move the lease back.
func TestLateRenewal(t *testing.T) {
	b := newBench(t)
	d := message(t, `{"cents":10}`)
	w := b.worker(t)
	b.standing(t, d, intent.StateClaimed)
	claim, err := w.store.Load(t.Context(), intentOf(d))
	if err != nil {
		t.Fatal(err)
	}
	early, late := claim, claim
	early.LeaseUntil = claim.LeaseUntil.Add(10 * time.Second)
	late.LeaseUntil = claim.LeaseUntil.Add(20 * time.Second)
	for _, next := range []intent.Record{late, early} {
		if got, err := w.store.Amend(t.Context(), next); err != nil || !got.LeaseUntil.Equal(late.LeaseUntil) {
			t.Errorf("got a lease until %v and error %v, want %v", got.LeaseUntil, err, late.LeaseUntil)
		}
	}
}
