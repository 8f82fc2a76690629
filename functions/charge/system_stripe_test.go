package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/singleeffect/once/shared/intenttest/sim"
)

// declines is a card that never pays.
const declines = "pm_declines"

// till plays Stripe for a system of several processes: it keeps the answer to each key for its window and not a moment longer, and
// the books.
type till struct {
	world   *sim.World
	keys    map[string]stored   // by idempotency key
	status  map[string]string   // by PaymentIntent, which may still be processing
	charges map[string][]charge // the books, by the intent that each charge names
	number  int
}

// charge is money that was taken.
type charge struct {
	receipt receipt
	cents   int64
}

// stored is the answer to a key's first request.
type stored struct {
	at      time.Time
	request string
	page    page
}

// page is an answer.
type page struct {
	status int
	body   string
}

func newTill(w *sim.World) *till {
	return &till{world: w, keys: map[string]stored{}, status: map[string]string{}, charges: map[string][]charge{}}
}

// client is the function's as a process has it, but for the way to Stripe.
func (t *till) client(p *sim.Process) *stripeAPI { return newStripe(fixed(apiKey), "", road{t, p}) }

// road is a process's way to Stripe.
type road struct {
	till    *till
	process *sim.Process
}

func (r road) RoundTrip(request *http.Request) (*http.Response, error) {
	// The body leaves when it is read: see package arrival.
	body := sync.OnceValue(func() string {
		form, _ := io.ReadAll(request.Body) // it is in memory
		return string(form)
	})
	var key string
	for name, values := range request.Header { // not by Get: see sendOnce
		if strings.EqualFold(name, "Idempotency-Key") {
			key = values[0]
		}
	}
	var answer page
	header := http.Header{"Content-Type": {"application/json"}, "Request-Id": {"req_1"}}
	err := r.process.Reach(request.Context(), request.Method+" "+request.URL.Path+" "+key, func() {
		replayed := false
		if request.Method == http.MethodGet {
			answer = r.till.retrieve(strings.TrimPrefix(request.URL.Path, "/v1/payment_intents/"))
		} else {
			answer, replayed = r.till.create(key, body())
		}
		if replayed {
			header.Set("Idempotent-Replayed", "true")
		}
		r.till.world.Say("  stripe answers %d %s", answer.status, answer.body)
	})
	if !sim.Unreached(err) { // so it has left, also where it arrives later
		body()
	}
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: answer.status, Status: strconv.Itoa(answer.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(strings.NewReader(answer.body)), ContentLength: int64(len(answer.body)), Request: request,
	}, nil
}

// create answers a request for a charge: as the first time, if it knows the key. Some answers come in front of the idempotency
// layer, and so say nothing of a key that it knows.
func (t *till) create(key, request string) (answer page, replayed bool) {
	if t.world.Unusual() {
		switch t.world.Rand.IntN(4) {
		case 0:
			return complaint(http.StatusTooManyRequests, "invalid_request_error", "rate_limit"), false
		case 1:
			return complaint(http.StatusUnauthorized, "invalid_request_error", "api_key_expired"), false
		case 2:
			return complaint(http.StatusForbidden, "invalid_request_error", ""), false
		case 3:
			return complaint(http.StatusBadRequest, "invalid_request_error", "parameter_missing"), false
		}
	}
	switch first, known := t.keys[key]; {
	case known && t.world.Now().Sub(first.at) >= stripeWindow: // forgotten
	case known && first.request != request:
		return complaint(http.StatusBadRequest, "idempotency_error", ""), false
	case known:
		return first.page, true
	}
	form, err := url.ParseQuery(request)
	if err != nil {
		t.world.Fail("stripe is asked for %q", request)
	}
	answer, kept := t.first(form)
	if kept {
		t.keys[key] = stored{t.world.Now(), request, answer}
	}
	return answer, false
}

// first answers a request under a new key; kept says whether the answer is that key's from now on.
func (t *till) first(form url.Values) (answer page, kept bool) {
	if t.world.Unusual() {
		switch t.world.Rand.IntN(5) {
		case 0:
			return complaint(http.StatusBadRequest, "invalid_request_error", "resource_missing"), true
		case 1:
			return complaint(http.StatusConflict, "invalid_request_error", "idempotency_key_in_use"), false
		case 2:
			return complaint(http.StatusInternalServerError, "api_error", ""), true
		case 3:
			t.charge(form, "succeeded")
			return complaint(http.StatusInternalServerError, "api_error", ""), true
		case 4:
			id := t.charge(form, "processing")
			t.world.At(t.world.Within(time.Hour), id+" is through", func() { t.end(id, form) })
			return t.retrieve(id), true
		}
	}
	if form.Get("payment_method") == declines {
		return complaint(http.StatusPaymentRequired, "card_error", "card_declined"), true
	}
	return t.retrieve(t.charge(form, "succeeded")), true
}

// charge makes a PaymentIntent, and writes it into the books if it is through.
func (t *till) charge(form url.Values, status string) (id string) {
	t.number++
	id = fmt.Sprint(t.number)
	t.status[id] = status
	if status == "succeeded" {
		t.book(id, form)
	}
	return "pi_" + id
}

// end is how a payment that was processing ends.
func (t *till) end(paymentIntent string, form url.Values) {
	id := strings.TrimPrefix(paymentIntent, "pi_")
	if form.Get("payment_method") == declines {
		t.status[id] = "requires_payment_method"
		return
	}
	t.status[id] = "succeeded"
	t.book(id, form)
}

func (t *till) book(id string, form url.Values) {
	cents, err := strconv.ParseInt(form.Get("amount"), 10, 64)
	if err != nil {
		t.world.Fail("stripe is asked for %v", form)
	}
	of := form.Get("metadata[intent]")
	t.charges[of] = append(t.charges[of], charge{receipt{"pi_" + id, "ch_" + id}, cents})
}

// retrieve shows a PaymentIntent as it is.
func (t *till) retrieve(paymentIntent string) page {
	id := strings.TrimPrefix(paymentIntent, "pi_")
	return page{http.StatusOK, fmt.Sprintf(`{"id":"pi_%s","object":"payment_intent","latest_charge":"ch_%s","status":%q}`, id, id, t.status[id])}
}

func complaint(status int, kind, code string) page {
	return page{status, fmt.Sprintf(`{"error":{"type":%q,"code":%q,"message":"no"}}`, kind, code)}
}
