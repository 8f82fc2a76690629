package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/singleeffect/once/shared/intent"
)

// C58: a request that never had a connection did not charge. The claim is given back and the next delivery charges, once. That is
// our own check: of an earlier attempt it says nothing.
func TestNoConnection(t *testing.T) {
	refusing := httptest.NewServer(nil)
	refusing.Close()
	p := newProvider(t, paymentIntent("succeeded"))
	tls := httptest.NewTLSServer(p) // its certificate is nobody's
	defer tls.Close()
	live := context.Background()
	over, cancel := context.WithCancel(live)
	cancel()

	for name, c := range map[string]struct {
		base string
		ctx  context.Context // of the call
	}{
		"nobody listens":               {refusing.URL, live},
		"the name does not resolve":    {"http://stripe.invalid", live},
		"no TLS there":                 {strings.Replace(p.url, "http:", "https:", 1), live},
		"the TLS handshake fails":      {tls.URL, live},
		"the context is over by then":  {p.url, over},
		"the address cannot be called": {"ftp://127.0.0.1", live},
	} {
		t.Run(name, func(t *testing.T) {
			api := newStripe(fixed(apiKey), c.base, newTransport())
			pay := func(_ context.Context, q payer, o order, a intent.Attempt) (receipt, error) {
				return api.pay(c.ctx, q, o, a)
			}
			visa := func(context.Context, string) (payer, bool, error) { return payer{"cus_7", "pm_card_visa"}, true, nil }
			before := len(p.requests())

			store := newMemory()
			_, err := keyedOf(store, charger{user: visa, pay: pay}).Deliver(live, delivery(t, lesson))
			record := store.records["test#charge#order-8821-charge"]
			if !errors.Is(err, intent.ErrReleased) || record.State != intent.StateReleased || !record.ClaimedAt.IsZero() {
				t.Errorf("first attempt: got %s and error %v, want it released as if never claimed", record.State, err)
			}
			checkSilence(t, err.Error()+record.Reason)
			if out, err := charging(store, p).Deliver(live, delivery(t, lesson)); out.Kind != intent.Executed || err != nil || len(p.requests()) != before+1 {
				t.Errorf("next delivery: got %s, error %v and %d charges, want one", out.Kind, err, len(p.requests())-before)
			}

			store = newMemory()
			lapsed(t, store)
			_, err = keyedOf(store, charger{user: visa, pay: pay}).Deliver(live, delivery(t, lesson))
			if got := store.records["test#charge#order-8821-charge"].State; !errors.Is(err, intent.ErrUnknown) || got != intent.StateClaimed {
				t.Errorf("after an attempt that may have charged: got %s and error %v, want it claimed and unknown", got, err)
			}
		})
	}
}

// The tracker's hook comes with HTTP/2 as well, which Stripe speaks, and before the handler sees a request.
func TestConnectedOverHTTP2(t *testing.T) {
	arrived := 0
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if arrived++; r.ProtoMajor != 2 {
			t.Errorf("got %s, want HTTP/2", r.Proto)
		}
		panic(http.ErrAbortHandler)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	for range 2 { // on a new connection, and on the kept one
		var tracker connTracker
		request, err := http.NewRequestWithContext(tracker.trace(t.Context()), http.MethodPost, s.URL, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Client().Do(request); err == nil || !tracker.connected() {
			t.Errorf("got error %v and connected %t, want an error of a request that may have arrived", err, tracker.connected())
		}
	}
	if arrived != 2 {
		t.Errorf("arrived: got %d, want 2", arrived)
	}
}

// C58: a kept connection that died while the sandbox was frozen takes the request and gives no answer. Whether it arrived nobody
// knows.
func TestDeadConnectionIsUnknown(t *testing.T) {
	p := newProvider(t, paymentIntent("succeeded"))
	api := newStripe(fixed(apiKey), p.url, newTransport())
	if _, err := api.pay(t.Context(), payer{"cus_7", "pm_card_visa"}, sample, attempt("order-1", 1)); err != nil {
		t.Fatal(err)
	}
	p.answer(reply{does: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }})
	store := newMemory()
	visa := func(context.Context, string) (payer, bool, error) { return payer{"cus_7", "pm_card_visa"}, true, nil }
	_, err := keyedOf(store, charger{user: visa, pay: api.pay}).Deliver(t.Context(), delivery(t, lesson))
	if got := store.records["test#charge#order-8821-charge"].State; !errors.Is(err, intent.ErrUnknown) || got != intent.StateClaimed {
		t.Errorf("got %s and error %v, want it claimed and unknown", got, err)
	}
}
