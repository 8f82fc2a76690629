package main

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stripe/stripe-go/v83"

	"github.com/singleeffect/once/shared/intent"
)

var sample = order{UserID: "7", AmountCents: 4999, Currency: "usd"}

func attempt(id string, number int) intent.Attempt {
	key := intent.Key{Scope: "test", Operation: operation, ID: id}
	return intent.Attempt{Key: key, Downstream: key.Downstream(), Number: number, MessageID: "m"}
}

func TestRequest(t *testing.T) {
	p := newProvider(t, paymentIntent("succeeded"))
	api := newStripe(fixed(apiKey), p.url, newTransport())
	first := attempt("order-8821-charge", 1)
	if _, err := api.pay(context.Background(), payer{"cus_7", "pm_card_visa"}, sample, first); err != nil {
		t.Fatal(err)
	}
	got := p.requests()[0]

	t.Run("parameters", func(t *testing.T) {
		form, err := url.ParseQuery(got.body)
		if err != nil {
			t.Fatal(err)
		}
		want := url.Values{
			"amount": {"4999"}, "currency": {"usd"}, "customer": {"cus_7"}, "payment_method": {"pm_card_visa"},
			"payment_method_types[0]": {"card"}, "confirm": {"true"}, "off_session": {"true"},
			"metadata[intent]": {"test#charge#order-8821-charge"},
		}
		if got.method != http.MethodPost || got.path != "/v1/payment_intents" || form.Encode() != want.Encode() {
			t.Errorf("got %s %s %s, want POST /v1/payment_intents %s", got.method, got.path, form.Encode(), want.Encode())
		}
	})
	t.Run("headers", func(t *testing.T) {
		for name, want := range map[string]string{
			"Idempotency-Key":           first.Downstream,
			"Authorization":             "Bearer " + apiKey,
			"Stripe-Version":            stripe.APIVersion,
			"X-Stripe-Client-Telemetry": "",
		} {
			if got := got.header.Get(name); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
	})
	t.Run("the same in every attempt", func(t *testing.T) {
		again := attempt("order-8821-charge", 7)
		again.MessageID = "another"
		if _, err := newStripe(fixed(apiKey), p.url, newTransport()).pay(context.Background(), payer{"cus_7", "pm_card_visa"}, sample, again); err != nil {
			t.Fatal(err)
		}
		if next := p.requests()[1]; next.body != got.body || next.header.Get("Idempotency-Key") != got.header.Get("Idempotency-Key") {
			t.Errorf("got %q, want %q", next.body, got.body)
		}
	})
}

// A key may be longer than Stripe's metadata: the charge must not be lost for it.
func TestLongKeyIsNotMetadata(t *testing.T) {
	fits := maxMetadata - len("test#charge#")
	for length, want := range map[int]bool{fits: true, fits + 1: false} {
		params := request(payer{"cus_7", "pm_card_visa"}, sample, attempt(strings.Repeat("k", length), 1))
		if _, got := params.Metadata["intent"]; got != want {
			t.Errorf("a key of %d characters in the metadata: got %v, want %v", length, got, want)
		}
	}
}

// A connection that was used before breaks after the request has arrived. net/http would send a
// request with an Idempotency-Key once more; what Stripe says of the second copy (429, say) would then
// pass for its word on the first, which may have charged.
func TestBrokenConnectionIsNotSentAgain(t *testing.T) {
	reset := func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		if err := connection.(*net.TCPConn).SetLinger(0); err != nil { // a reset, not an end
			t.Error(err)
		}
		_ = connection.Close()
	}
	p := newProvider(t, paymentIntent("succeeded"), reply{does: reset}, failure(429, "invalid_request_error", "rate_limit", ""))
	api := newStripe(fixed(apiKey), p.url, newTransport())
	if _, err := api.pay(context.Background(), payer{"cus_7", "pm_card_visa"}, sample, attempt("order-1", 1)); err != nil {
		t.Fatal(err)
	}
	_, err := api.pay(context.Background(), payer{"cus_7", "pm_card_visa"}, sample, attempt("order-2", 1))
	if err == nil {
		t.Error("got success, want an error")
	}
	if got := len(p.requests()); got != 2 {
		t.Errorf("requests to Stripe: got %d, want 2: one for each charge", got)
	}
	if got := p.requests()[1].header.Get("Idempotency-Key"); got != attempt("order-2", 1).Downstream {
		t.Errorf("key of the second charge: got %q", got)
	}
}
