package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// carrier stands for the carrier's own write, delivered, among the times of shipments.
const carrier = 0

// In whatever order shipments come, each of them twice, the order is shipped at the latest time. The
// carrier's delivered stands from when it is written; what comes later changes nothing, byte for byte.
func TestEveryOrderOfDeliveries(t *testing.T) {
	w := newWorld(t)
	worker := w.worker(t)
	for _, happens := range [][]int64{
		{noon, noon, noon + 1, noon + 1, noon - 86_400_000},
		{noon, noon, noon + 1, carrier},
	} {
		for _, order := range permutations(happens) {
			for _, status := range []string{"", "packed"} {
				w.put(t, "8821", status, nil)
				var latest int64
				delivered := ""
				for _, at := range order {
					if at == carrier {
						w.set(t, "8821", "delivered")
						delivered = w.row(t, "8821")
						continue
					}
					if listed := handle(t, worker, message("8821", at)); len(listed) != 0 {
						t.Errorf("%v from %q: shipment at %d listed", order, status, at)
					}
					if delivered == "" {
						latest = max(latest, at)
					} else if got := w.row(t, "8821"); got != delivered {
						t.Errorf("%v from %q: got %s, want %s as it was delivered", order, status, got, delivered)
					}
				}
				want := shippedRow("8821", latest)
				if delivered != "" {
					end := item{orderIDAttribute: text("8821"), "customer": text("7"), statusAttribute: text("delivered")}
					if latest != 0 {
						end[shippedAtAttribute] = number(latest)
					}
					want = row(end)
				}
				if got := w.row(t, "8821"); got != want {
					t.Errorf("%v from %q: got %s, want %s", order, status, got, want)
				}
			}
		}
	}
	if got := w.reasons(); len(got) != 0 {
		t.Errorf("quarantined %q, want nothing", got)
	}
}

// permutations are the distinct orders of s.
func permutations(s []int64) [][]int64 {
	if len(s) == 0 {
		return [][]int64{nil}
	}
	var all [][]int64
	for i, first := range s {
		if slices.Contains(s[:i], first) {
			continue
		}
		for _, rest := range permutations(slices.Delete(slices.Clone(s), i, i+1)) {
			all = append(all, append([]int64{first}, rest...))
		}
	}
	return all
}

func TestBeforeShipped(t *testing.T) {
	w := newWorld(t)
	for _, status := range []string{"", "pending", "placed", "confirmed", "paid", "processing", "packed"} {
		w.put(t, "8821", status, nil)
		w.wantDone(t, message("8821", noon))
		if got, want := w.row(t, "8821"), shippedRow("8821", noon); got != want {
			t.Errorf("from %q: got %s, want %s", status, got, want)
		}
	}
}

// The first trap: a late redelivery must not undo what came after.
func TestPastShipped(t *testing.T) {
	w := newWorld(t)
	for _, status := range []string{"delivered", "returned", "refunded", "cancelled"} {
		for name, more := range map[string]item{
			"shipped before":  {shippedAtAttribute: number(noon - 1)},
			"never shipped":   nil,
			"damaged":         {shippedAtAttribute: text("yesterday")},
			"with the others": {"carrier": text("DHL"), "pieces": number(2)},
		} {
			w.put(t, "8821", status, more)
			want := w.row(t, "8821")
			w.wantDone(t, message("8821", noon))
			if got := w.row(t, "8821"); got != want {
				t.Errorf("%s, %s: got %s, want %s as it was", status, name, got, want)
			}
		}
	}
}

func TestShippedAlready(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		more item
		want int64 // of shipped_at; 0 is as it was
	}{
		"without a time":             {nil, noon},
		"earlier":                    {item{shippedAtAttribute: number(noon - 1)}, noon},
		"at the same time":           {item{shippedAtAttribute: number(noon)}, 0},
		"later":                      {item{shippedAtAttribute: number(noon + 1)}, 0},
		"earlier, by a fraction":     {item{shippedAtAttribute: &types.AttributeValueMemberN{Value: "1795953599999.5"}}, noon},
		"later, out of proportion":   {item{shippedAtAttribute: &types.AttributeValueMemberN{Value: "1E+40"}}, 0},
		"earlier, out of proportion": {item{shippedAtAttribute: &types.AttributeValueMemberN{Value: "-1E+40"}}, noon},
	} {
		w.put(t, "8821", shipped, c.more)
		want := w.row(t, "8821")
		if c.want != 0 {
			want = shippedRow("8821", c.want)
		}
		w.wantDone(t, message("8821", noon))
		if got := w.row(t, "8821"); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// C78: an order that was shipped and put back stays where it was put, whatever copies of that shipment and of earlier ones
// come late. A later shipment ships it.
func TestPutBack(t *testing.T) {
	w := newWorld(t)
	for _, status := range []string{"", "pending", "placed", "confirmed", "paid", "processing", "packed"} {
		w.put(t, "8821", status, item{shippedAtAttribute: number(noon)})
		want := w.row(t, "8821")
		for _, at := range []int64{noon, noon - 1} {
			w.wantDone(t, message("8821", at))
			if got := w.row(t, "8821"); got != want {
				t.Errorf("put back to %q, a copy of a shipment at %d: got %s, want %s as it was", status, at, got, want)
			}
		}
		w.wantDone(t, message("8821", noon+1))
		if got, want := w.row(t, "8821"), shippedRow("8821", noon+1); got != want {
			t.Errorf("put back to %q, a later shipment: got %s, want %s", status, got, want)
		}
	}
}

// C65: the message may overtake its order's row. It is delivered again, and quarantined only from the fourth receive on, or
// where nobody knows how often it was received.
func TestOrderComesLater(t *testing.T) {
	w := newWorld(t)
	for n := 1; n <= 3; n++ {
		w.wantListed(t, received(message("8821", noon), n))
		if got := w.row(t, "8821"); got != "none" {
			t.Errorf("receive %d: got %s, want the order not created", n, got)
		}
	}
	w.wantQuarantined(t, received(message("8821", noon), 4), "unknown order")
	w.wantQuarantined(t, message("8821", noon), "unknown order")

	w = newWorld(t)
	w.wantListed(t, received(message("8821", noon), 1))
	w.put(t, "8821", "packed", nil)
	w.wantDone(t, received(message("8821", noon), 2))
	if got, want := w.row(t, "8821"), shippedRow("8821", noon); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What nobody has ranked is left to a person, untouched.
func TestQuarantined(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		more   item
		reason string
	}{
		"unranked status":         {item{statusAttribute: text("lost")}, "status is neither before shipped nor past it"},
		"other case":              {item{statusAttribute: text("Delivered")}, "status is neither before shipped nor past it"},
		"blank":                   {item{statusAttribute: text("")}, "status is neither before shipped nor past it"},
		"number":                  {item{statusAttribute: number(4)}, "status is no string"},
		"null":                    {item{statusAttribute: &types.AttributeValueMemberNULL{Value: true}}, "status is no string"},
		"time that is no number":  {item{statusAttribute: text(shipped), shippedAtAttribute: text("noon")}, "shipped_at is no number"},
		"the same, put back":      {item{statusAttribute: text("packed"), shippedAtAttribute: text("noon")}, "shipped_at is no number"},
		"the same, of no status":  {item{shippedAtAttribute: text("noon")}, "shipped_at is no number"},
		"unranked though shipped": {item{statusAttribute: text("lost"), shippedAtAttribute: number(noon)}, "status is neither before shipped nor past it"},
	} {
		t.Run(name, func(t *testing.T) {
			w.put(t, "8821", "", c.more)
			want := w.row(t, "8821")
			w.wantQuarantined(t, message("8821", noon), c.reason)
			if got := w.row(t, "8821"); got != want {
				t.Errorf("got %s, want %s as it was", got, want)
			}
		})
	}
	t.Run("unknown order", func(t *testing.T) {
		w.wantQuarantined(t, message("9999", noon), "unknown order")
		if got := w.row(t, "9999"); got != "none" {
			t.Errorf("got %s, want the order not created", got)
		}
	})
}

// Workers side by side, each with all shipments of an order in one batch, while the carrier delivers
// another one.
func TestSideBySide(t *testing.T) {
	w := newWorld(t)
	w.put(t, "8821", "packed", nil)
	w.put(t, "8822", "packed", nil)
	var messages []events.SQSMessage
	for i := range int64(5) {
		messages = append(messages, message("8821", noon+i), message("8822", noon+i))
	}
	var running sync.WaitGroup
	for i := range 6 {
		running.Go(func() {
			if i == 3 {
				w.set(t, "8822", "delivered")
			}
			if listed := w.deliver(t, messages...); len(listed) != 0 {
				t.Errorf("listed %v, want none", listed)
			}
		})
	}
	running.Wait()
	if got, want := w.row(t, "8821"), shippedRow("8821", noon+4); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := w.row(t, "8822"); !strings.Contains(got, `status="delivered"`) {
		t.Errorf("got %s, want it delivered", got)
	}
}

func TestValidate(t *testing.T) {
	long := strings.Repeat("8", intent.MaxIDBytes)
	for body, field := range map[string]string{
		`{"order_id":"8821","shipped_at":"2026-11-29T12:00:00Z"}`:        "",
		`{"order_id":8821,"shipped_at":1795953600000}`:                   "",
		`{"order_id":"8821","shipped_at":"2026-11-29T13:00:00.5+01:00"}`: "",
		`{"order_id":"` + long + `","shipped_at":1795953600000}`:         "",
		`{"order_id":"` + long + `8","shipped_at":1795953600000}`:        "order_id",
		`{"shipped_at":1795953600000}`:                                   "order_id",
		`{"order_id":null,"shipped_at":1795953600000}`:                   "order_id",
		`{"order_id":"","shipped_at":1795953600000}`:                     "order_id",
		`{"order_id":["8821"],"shipped_at":1795953600000}`:               "order_id",
		`{"order_id":"8821"}`:                                            "shipped_at",
		`{"order_id":"8821","shipped_at":null}`:                          "shipped_at",
		`{"order_id":"8821","shipped_at":"noon"}`:                        "shipped_at",
		`{"order_id":"8821","shipped_at":1795953600}`:                    "shipped_at", // seconds
		`{"order_id":"8821","shipped_at":1795953600000000}`:              "shipped_at", // microseconds
		`{"order_id":"8821","shipped_at":0}`:                             "shipped_at",
		`{"order_id":"8821","shipped_at":1795953600000.5}`:               "shipped_at",
	} {
		_, err := intent.Decode[shipment](intenttest.Payload(t, body))
		var payload *intent.PayloadError
		switch {
		case field == "" && err != nil:
			t.Errorf("%.80s: got %v, want no error", body, err)
		case field != "" && (!errors.As(err, &payload) || payload.Field != field):
			t.Errorf("%.80s: got %v, want an error of the field %s", body, err, field)
		}
	}
	// What cannot be read is not run, whatever is beside it.
	s, err := intent.Decode[shipment](intenttest.Payload(t, fmt.Sprintf(`{"order_id":"8821","shipped_at":%d}`, noon)))
	if err != nil || s != (shipment{OrderID: "8821", ShippedAt: noon}) {
		t.Errorf("got %+v and error %v", s, err)
	}
}
