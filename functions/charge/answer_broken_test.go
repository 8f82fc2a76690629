package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// raw answers with bytes of the test's own, and leaves the connection to what comes then.
func raw(t *testing.T, text string, then func(net.Conn)) reply {
	return reply{does: func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, text)
		then(conn)
	}}
}

// An answer that breaks off leaves the charge unknown, and so does one that is not of Stripe's form. The error tells the two
// apart, and quotes neither.
func TestAnswerThatBreaksOff(t *testing.T) {
	const begun = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"id\": \"pi_1\", \"client_secret\": \"pi_1_secret_x\""
	closed := func(c net.Conn) { _ = c.Close() }
	reset := func(c net.Conn) {
		time.Sleep(50 * time.Millisecond) // so that what was written is read before the reset is
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}
	over := make(chan struct{})
	defer close(over)
	open := func(c net.Conn) { <-over; _ = c.Close() }
	for name, tt := range map[string]struct {
		answer reply
		cancel bool // the call, as soon as the answer has begun
		says   string
	}{
		"closed":         {raw(t, begun, closed), false, "call stripe: "},
		"reset":          {raw(t, begun, reset), false, "call stripe: "},
		"out of time":    {raw(t, begun, open), false, "call stripe: "},
		"given up":       {raw(t, begun, open), true, "call stripe: "},
		"a proxy's page": {reply{status: 200, body: "<html>pi_1_secret_x</html>"}, false, errUnreadable.Error()},
		"nothing":        {reply{status: 200}, false, errUnreadable.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			if tt.cancel {
				time.AfterFunc(100*time.Millisecond, cancel)
			}
			p := newProvider(t, tt.answer)
			_, err := newStripe(fixed(apiKey), p.url, newTransport()).pay(ctx, payer{"cus_7", "pm_card_visa"}, sample, attempt("order-1", 1))
			if err == nil || !strings.HasPrefix(err.Error(), tt.says) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got error %v, want one that begins with %q", err, tt.says)
			}
		})
	}
}

// What Stripe answers is told by its ids, by which its own logs know it.
func TestErrorNamesThePayment(t *testing.T) {
	p := newProvider(t, failure(500, "api_error", "", `, "payment_intent": {"id": "pi_1", "object": "payment_intent", "status": "processing"}`))
	_, err := newStripe(fixed(apiKey), p.url, newTransport()).pay(t.Context(), payer{"cus_7", "pm_card_visa"}, sample, attempt("order-1", 1))
	if err == nil || !strings.Contains(err.Error(), "payment intent pi_1") || !strings.Contains(err.Error(), "req_1") {
		t.Errorf("got error %v, want one that names pi_1 and req_1", err)
	}
}

// The key replays an answer that was not the end, and the PaymentIntent cannot be read: whatever Stripe says of the read, of
// the charge nothing is known.
func TestPaymentThatCannotBeRead(t *testing.T) {
	for name, read := range map[string]reply{
		"not found":     failure(404, "invalid_request_error", "resource_missing", ""),
		"too many":      failure(429, "invalid_request_error", "rate_limit", ""),
		"declined card": failure(402, "card_error", "card_declined", declinedIntent),
	} {
		store, p := newMemory(), newProvider(t, paymentIntent("processing").again(), read)
		_, err := charging(store, p).Deliver(t.Context(), delivery(t, lesson))
		if got := store.records["test#charge#order-8821-charge"].State; !errors.Is(err, intent.ErrUnknown) || got != intent.StateClaimed {
			t.Errorf("%s: got %s and error %v, want it claimed and unknown", name, got, err)
		}
		if panicked := (*intent.PanicError)(nil); errors.As(err, &panicked) {
			t.Errorf("%s: %v", name, err)
		}
		if requests := p.requests(); len(requests) != 2 || requests[1].header["Idempotency-Key"] != nil {
			t.Errorf("%s: got %v, want a second request, and no key with a read", name, requests)
		}
	}
}

// Without another address it is Stripe's own that is called.
func TestAddressOfStripe(t *testing.T) {
	var host string
	nowhere := network(func(r *http.Request) (*http.Response, error) {
		host = r.URL.Scheme + "://" + r.URL.Host
		return nil, errors.New("no network")
	})
	_, _ = newStripe(fixed(apiKey), "", nowhere).pay(t.Context(), payer{"cus_7", "pm_card_visa"}, sample, attempt("order-1", 1))
	if host != "https://api.stripe.com" {
		t.Errorf("called %q", host)
	}
}
