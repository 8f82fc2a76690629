package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// The cart as it was at the checkout goes, up to and with the very millisecond; the rest stays.
func TestCleared(t *testing.T) {
	w := newWorld(t)
	w.add(t, "7", "long ago", 1)
	w.add(t, "7", "just before", noon-1)
	w.add(t, "7", "at the time", noon)
	w.add(t, "7", "just after", noon+1)
	w.add(t, "7", "much later", noon+86_400_000)
	w.add(t, "8", "somebody else's", noon-1)
	w.put(t, item{"user_id": text("7"), "item_id": text("no time")})
	w.put(t, item{"user_id": text("7"), "item_id": text("no number"), "added_at": text("1")})
	for range 2 {
		w.wantDone(t, message("7", noon))
		w.wantCart(t, "just after", "much later", "no number", "no time")
	}
	if got := w.cart(t, "8"); len(got) != 1 {
		t.Errorf("cart of another user: got %v, want it as it was", got)
	}
	w.wantDone(t, message("7", noon+1))
	w.wantDone(t, message("7", noon)) // an earlier checkout, late
	w.wantCart(t, "much later", "no number", "no time")
	w.wantDone(t, message("a user without a cart", noon))
}

// The second trap: a late redelivery must not delete what was put in since, which includes what was in the
// cart at the checkout, too.
func TestLateRedelivery(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 3, 0)
	w.wantDone(t, message("7", noon))
	w.wantCart(t)
	w.add(t, "7", "item-001", noon+3_600_000)
	w.add(t, "7", "lamp", noon+3_600_000)
	w.wantDone(t, message("7", noon))
	w.wantCart(t, "item-001", "lamp")
}

// Whatever comes between two deliveries, after each of them the cart holds what was put in after the
// checkouts delivered so far, and what has not been delivered yet has deleted nothing.
func TestEveryOrderOfDeliveriesAndAdditions(t *testing.T) {
	type step struct {
		name string // of the item that is put in; empty for a checkout
		at   int64
	}
	w := newWorld(t)
	worker := w.worker(t)
	steps := []step{
		{"book", noon - 1}, {"book", noon + 2}, // taken out and put in again, or the cart's only one
		{"lamp", noon}, {"pen", noon + 1},
		{"", noon}, {"", noon + 1}, {"", noon},
	}
	for n, order := range permutations(steps) {
		if n%25 != 0 { // 202 of the 5,040, from all over
			continue
		}
		user := fmt.Sprint("user-", n)
		cart := map[string]int64{}
		for i, s := range order {
			if s.name != "" {
				w.add(t, user, s.name, s.at)
				cart[s.name] = s.at
				continue
			}
			if listed := handle(t, t.Context(), worker, message(user, s.at)); len(listed) != 0 {
				t.Errorf("%v: listed %v", order, listed)
			}
			maps.DeleteFunc(cart, func(_ string, at int64) bool { return at <= s.at })
			want := slices.Sorted(maps.Keys(cart))
			if got := w.cart(t, user); !slices.Equal(got, want) {
				t.Fatalf("%v: after step %d: got %v, want %v", order, i, got, want)
			}
		}
	}
}

func permutations[T any](s []T) [][]T {
	if len(s) == 0 {
		return [][]T{nil}
	}
	var all [][]T
	for i, first := range s {
		for _, rest := range permutations(slices.Delete(slices.Clone(s), i, i+1)) {
			all = append(all, append([]T{first}, rest...))
		}
	}
	return all
}

// A cart may have more items than a batch write takes (25), and more bytes than a page of a query (1 MB).
// The reads are consistent, to the end, and bring keys only.
func TestLargeCarts(t *testing.T) {
	for name, c := range map[string]struct{ items, bytes, pages int }{
		"30 items":            {30, 0, 1},
		"30 items and 1.3 MB": {30, 45_000, 2},
		"210 items":           {210, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.fill(t, c.items, c.bytes)
			w.add(t, "7", "added since", noon+1)
			w.faults.Plan = func(call intenttest.Call) intenttest.Fault {
				if call.Operation == "Query" && !bytes.Contains(call.Body, []byte(`"ConsistentRead":true`)) {
					t.Errorf("got query %s, want a consistent one", call.Body)
				}
				return intenttest.Fault{Edit: func(r intenttest.Reply) intenttest.Reply {
					if strings.Contains(r.Body, "added_at") || strings.Contains(r.Body, "xxx") {
						t.Errorf("%s brings more than keys", call.Operation)
					}
					return r
				}}
			}
			w.wantDone(t, message("7", noon))
			w.wantCart(t, "added since")
			if got := w.faults.Counts(); got["Query"] != c.pages || got["DeleteItem"] != c.items {
				t.Errorf("requests: got %v, want %d queries and %d deletes", got, c.pages, c.items)
			}
			w.wantDone(t, message("7", noon))
			if got := w.faults.Counts(); got["DeleteItem"] != c.items {
				t.Errorf("deletes: got %d after a redelivery, want no more", got["DeleteItem"])
			}
		})
	}
}

// The first page of a query may be all of things that stay.
func TestPageWithoutAnythingToDelete(t *testing.T) {
	w := newWorld(t)
	var stay []string
	for i := range 30 {
		stay = append(stay, fmt.Sprintf("a-%02d", i))
		w.put(t, item{"user_id": text("7"), "item_id": text(stay[i]), "added_at": number(noon + 1), "note": text(strings.Repeat("x", 45_000))})
	}
	w.add(t, "7", "z", noon)
	w.wantDone(t, message("7", noon))
	w.wantCart(t, stay...)
}

// Deletes run side by side, and not too many of them.
func TestSideBySide(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 30, 0)
	var mu sync.Mutex
	running, most := 0, 0
	together := make(chan struct{}) // closed once as many run as may: the first ones wait for that
	w.faults.Plan = func(call intenttest.Call) intenttest.Fault {
		if call.Operation != "DeleteItem" {
			return intenttest.Fault{}
		}
		return intenttest.Fault{
			Before: func() {
				mu.Lock()
				running++
				if running > most {
					most = running
					if most == sideBySide {
						close(together)
					}
				}
				mu.Unlock()
				select {
				case <-together:
				case <-time.After(10 * time.Second):
				}
			},
			After: func() {
				mu.Lock()
				running--
				mu.Unlock()
			},
		}
	}
	w.wantDone(t, message("7", noon))
	w.wantCart(t)
	if most != sideBySide {
		t.Errorf("got up to %d deletes side by side, want %d", most, sideBySide)
	}
}

// Workers side by side clear two carts, each in one batch with its duplicates, while somebody shops.
func TestConcurrentDeliveries(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 30, 0)
	for i := range 30 {
		w.add(t, "8", fmt.Sprintf("item-%03d", i), noon)
	}
	messages := []events.SQSMessage{message("7", noon), message("8", noon), message("7", noon-5), message("8", noon+5)}
	messages[2].MessageId, messages[3].MessageId = "another of 7", "another of 8"
	var running sync.WaitGroup
	for range 3 {
		running.Go(func() {
			if listed := handle(t, t.Context(), w.worker(t), messages...); len(listed) != 0 {
				t.Errorf("listed %v, want none", listed)
			}
		})
	}
	var want []string
	for i := range 10 {
		name := fmt.Sprintf("item-%03d", 3*i)
		want = append(want, name)
		running.Go(func() {
			w.add(t, "7", name, noon+60_000) // out and in again
			w.add(t, "8", name, noon+60_000)
		})
	}
	running.Wait()
	w.wantCart(t, want...)
	if got := w.cart(t, "8"); !slices.Equal(got, want) {
		t.Errorf("cart of 8: got %v, want %v", got, want)
	}
}

func TestValidate(t *testing.T) {
	long := strings.Repeat("7", intent.MaxIDBytes)
	for body, field := range map[string]string{
		`{"user_id":"7","checked_out_at":"2026-11-29T12:00:00Z"}`:    "",
		`{"user_id":7,"checked_out_at":1795953600000}`:               "",
		`{"user_id":"` + long + `","checked_out_at":1795953600000}`:  "",
		`{"user_id":"` + long + `7","checked_out_at":1795953600000}`: "user_id",
		`{"checked_out_at":1795953600000}`:                           "user_id",
		`{"user_id":null,"checked_out_at":1795953600000}`:            "user_id",
		`{"user_id":"","checked_out_at":1795953600000}`:              "user_id",
		`{"user_id":{},"checked_out_at":1795953600000}`:              "user_id",
		`{"user_id":"7"}`:                                  "checked_out_at",
		`{"user_id":"7","checked_out_at":null}`:            "checked_out_at",
		`{"user_id":"7","checked_out_at":"yesterday"}`:     "checked_out_at",
		`{"user_id":"7","checked_out_at":1795953600}`:      "checked_out_at", // seconds
		`{"user_id":"7","checked_out_at":"1795953600000"}`: "checked_out_at",
		`{"user_id":"7","checked_out_at":true}`:            "checked_out_at",
	} {
		_, err := intent.Decode[checkout](intenttest.Payload(t, body))
		var payload *intent.PayloadError
		switch {
		case field == "" && err != nil:
			t.Errorf("%.80s: got %v, want no error", body, err)
		case field != "" && (!errors.As(err, &payload) || payload.Field != field):
			t.Errorf("%.80s: got %v, want an error of the field %s", body, err, field)
		}
	}
	c, err := intent.Decode[checkout](intenttest.Payload(t, `{"user_id":7,"checked_out_at":"2026-11-29T12:00:00Z"}`))
	if err != nil || c != (checkout{UserID: "7", CheckedOutAt: noon}) {
		t.Errorf("got %+v and error %v", c, err)
	}
}
