package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
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

// network is a way to Stripe.
type network func(*http.Request) (*http.Response, error)

func (n network) RoundTrip(r *http.Request) (*http.Response, error) { return n(r) }

// C58: a request that broke before its end did not charge: the claim is given back and the next delivery charges, once. One that was
// taken to its end may have charged. Breaking off is our own check: of an earlier attempt it says nothing.
func TestC58_ConnectionBreaks(t *testing.T) {
	const released, unknown = intent.StateReleased, intent.StateClaimed // unknown: left to lapse
	reset := &net.OpError{Op: "write", Net: "tcp", Err: syscall.ECONNRESET}
	visa := func(context.Context, string) (payer, bool, error) { return payer{"cus_7", "pm_card_visa"}, true, nil }
	p := newProvider(t, paymentIntent("succeeded"))
	if _, err := charging(newMemory(), p).Deliver(t.Context(), delivery(t, lesson)); err != nil {
		t.Fatal(err)
	}
	length := int64(len(p.requests()[0].body)) // the same in every attempt

	// after takes as many bytes of the request's body as it is told, and breaks.
	after := func(bytes int64) network {
		return func(r *http.Request) (*http.Response, error) {
			if n, err := io.CopyN(io.Discard, r.Body, bytes); n != bytes {
				t.Errorf("body: got %d bytes and error %v, want %d", n, err, bytes)
			}
			return nil, reset
		}
	}
	for _, tt := range []struct {
		name    string
		way     network
		state   intent.State
		charges int // in one delivery
	}{
		{"before anything was written", after(0), released, 0},
		{"in the middle of the request", after(length / 2), released, 0},
		{"before the last byte", after(length - 1), released, 0},
		{"after the request's end", func(r *http.Request) (*http.Response, error) {
			_, _ = io.Copy(io.Discard, r.Body)
			return nil, reset
		}, unknown, 0},
		{"after the charge", func(r *http.Request) (*http.Response, error) {
			response, err := newTransport().RoundTrip(r)
			if err != nil {
				return nil, err
			}
			_ = response.Body.Close()
			return nil, reset
		}, unknown, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := len(p.requests())
			breaking := charger{user: visa, pay: newStripe(fixed(apiKey), p.url, tt.way).pay}
			store := newMemory()
			_, err := keyedOf(store, breaking).Deliver(t.Context(), delivery(t, lesson))
			record := store.records["test#charge#order-8821-charge"]
			if record.State != tt.state || err == nil || record.ClaimedAt.IsZero() != (tt.state == released) {
				t.Errorf("first attempt: got %s, claimed at %v, and error %v, want %s", record.State, record.ClaimedAt, err, tt.state)
			}
			if got := len(p.requests()) - before; got != tt.charges {
				t.Errorf("first attempt: got %d charges, want %d", got, tt.charges)
			}
			checkSilence(t, err.Error()+record.Reason)
			if tt.state == released {
				out, err := charging(store, p).Deliver(t.Context(), delivery(t, lesson))
				if got := len(p.requests()) - before; out.Kind != intent.Executed || err != nil || got != 1 {
					t.Errorf("next delivery: got %s, error %v and %d charges, want one", out.Kind, err, got)
				}
			}

			store = newMemory()
			lapsed(t, store)
			_, err = keyedOf(store, breaking).Deliver(t.Context(), delivery(t, lesson))
			if got := store.records["test#charge#order-8821-charge"].State; !errors.Is(err, intent.ErrUnknown) || got != unknown {
				t.Errorf("after an attempt that may have charged: got %s and error %v, want it claimed and unknown", got, err)
			}
		})
	}
}

// C58, on a real connection: the far side resets it while most of the request is still to be written.
func TestC58_ResetWhileItIsWritten(t *testing.T) {
	far, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = far.Close() })
	go func() {
		conn, err := far.Accept()
		if err != nil {
			return // the test is over
		}
		_, _ = conn.Read(make([]byte, 1))
		_ = conn.(*net.TCPConn).SetLinger(0) // close by a reset
		_ = conn.Close()
	}()
	const moreThanSocketsHold = 64 << 20
	api := newStripe(fixed(apiKey), "http://"+far.Addr().String(), newTransport())
	large := func(context.Context, string) (payer, bool, error) {
		return payer{"cus_7", "pm_" + strings.Repeat("a", moreThanSocketsHold)}, true, nil
	}
	store := newMemory()
	_, err = keyedOf(store, charger{user: large, pay: api.pay}).Deliver(t.Context(), delivery(t, lesson))
	if got := store.records["test#charge#order-8821-charge"].State; !errors.Is(err, intent.ErrReleased) || got != intent.StateReleased {
		t.Errorf("got %s and error %v, want it released", got, err)
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
