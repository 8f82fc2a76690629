package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/stripe/stripe-go/v83"

	"github.com/singleeffect/once/shared/arrival"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/secret"
)

const (
	// stripeTimeout bounds one request where the effect's own deadline does not. Stripe's library would
	// wait for 80 s, which outlives the function.
	stripeTimeout = 20 * time.Second

	// stripeIdle is how long a connection is kept for the next request. A frozen sandbox wakes up with
	// dead ones; what is older than this by the wall clock is not tried.
	stripeIdle = 20 * time.Second

	// maxMetadata is Stripe's limit on a metadata value, in characters.
	// Source: https://docs.stripe.com/api/metadata
	maxMetadata = 500
)

// stripeAPI charges through Stripe's PaymentIntents.
type stripeAPI struct {
	key      *secret.Secret
	backends *stripe.Backends
	last     atomic.Pointer[keyedClient]
}

// keyedClient is a client with the API key that it was made of.
type keyedClient struct {
	*stripe.Client
	key string
}

// newStripe returns a client with nothing of the library's that works behind our back: no retries (the
// queue retries), no telemetry, no logs (they would carry what Stripe answers), no globals. base is
// the API's address; empty means Stripe's own. The API version is the one that the library pins.
func newStripe(key *secret.Secret, base string, network http.RoundTripper) *stripeAPI {
	config := &stripe.BackendConfig{
		HTTPClient:        &http.Client{Timeout: stripeTimeout, Transport: sendOnce{arrival.Client(network.RoundTrip)}},
		MaxNetworkRetries: stripe.Int64(0),
		EnableTelemetry:   stripe.Bool(false),
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull},
	}
	if base != "" {
		config.URL = &base
	}
	return &stripeAPI{key: key, backends: stripe.NewBackendsWithConfig(config)}
}

// client returns the client of a key. It is kept until the key changes: a client is made of some
// hundred services, of which this function calls one.
func (s *stripeAPI) client(key string) *stripe.Client {
	if last := s.last.Load(); last != nil && last.key == key {
		return last.Client
	}
	made := &keyedClient{stripe.NewClient(key, stripe.WithBackends(s.backends)), key}
	s.last.Store(made)
	return made.Client
}

func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.IdleConnTimeout = stripeIdle
	return t
}

// sendOnce keeps net/http from sending a request again by itself. It does so when a connection that
// was used before breaks without an answer, for requests that carry an Idempotency-Key (package
// net/http, Transport). The first copy may have charged; a second one that Stripe then turns away
// before it looks at the key (429, 401) would be read as "not applied" although it was. Under a name
// in lower case the header is the same to Stripe and unknown to the transport.
type sendOnce struct{ next http.RoundTripper }

func (s sendOnce) RoundTrip(r *http.Request) (*http.Response, error) {
	const name = "Idempotency-Key"
	if key := r.Header.Get(name); key != "" {
		r = r.Clone(r.Context())
		r.Header.Del(name)
		r.Header["idempotency-key"] = []string{key}
	}
	return s.next.RoundTrip(r)
}

// request is what is asked of Stripe: a function of the payload, the payer's row and the key alone. A
// clock, an attempt or a release in it would make the next attempt another request, which Stripe
// refuses to take for the same.
//
// It is a card's charge and says so: left to the account's settings, payment methods that redirect
// the customer would make Stripe ask for a return_url, which nobody is there to follow.
func request(p payer, o order, a intent.Attempt) *stripe.PaymentIntentCreateParams {
	params := &stripe.PaymentIntentCreateParams{
		Amount:             &o.AmountCents,
		Currency:           &o.Currency,
		Customer:           &p.customer,
		PaymentMethod:      &p.paymentMethod,
		PaymentMethodTypes: []*string{stripe.String("card")},
		Confirm:            stripe.Bool(true),
		OffSession:         stripe.Bool(true),
	}
	// A key too long for metadata is left out: a value that Stripe will not take would lose the charge.
	if key := a.Key.String(); utf8.RuneCountInString(key) <= maxMetadata {
		params.AddMetadata("intent", key)
	}
	params.SetIdempotencyKey(a.Downstream)
	return params
}

// pay makes the charge, or learns what became of it. An answer that the key replays is as old as the
// attempt that it was given to, and never changes. Where its PaymentIntent was not at an end, the
// PaymentIntent itself tells how it went on: a customer whose bank asks for authentication may have come
// back and completed it (https://docs.stripe.com/payments/cards/charging-saved-cards).
//
// A 401 says that the API key is no longer good: it was rotated while this process was warm. It comes
// before anything is executed, so the request is made again, once, under the same downstream key: the
// account is the same, and so are the keys that it remembers.
func (s *stripeAPI) pay(ctx context.Context, p payer, o order, a intent.Attempt) (receipt, error) {
	used := s.key.Get()
	pi, mayHaveArrived, err := s.create(ctx, used, p, o, a)
	if isUnauthorized(err) {
		current, unread := s.key.Renew(ctx, used)
		switch {
		case current != used:
			used = current
			pi, mayHaveArrived, err = s.create(ctx, used, p, o, a)
		case unread != nil:
			return receipt{}, intent.Answered(intent.NotApplied(fmt.Errorf("%w; %v", redact(err), unread)))
		}
	}
	if past := replayedPayment(pi, err); past != nil && past.Status != stripe.PaymentIntentStatusSucceeded && past.Status != stripe.PaymentIntentStatusCanceled {
		now, err := s.client(used).V1PaymentIntents.Retrieve(ctx, past.ID, nil)
		if err != nil {
			return receipt{}, redact(err) // says nothing of the charge, whatever its status
		}
		return classifyPayment(now)
	}
	if err != nil {
		return receipt{}, classifyError(err, mayHaveArrived)
	}
	return classifyPayment(pi)
}

// replayedPayment is the PaymentIntent in an answer that the key replays; nil if there is none.
func replayedPayment(pi *stripe.PaymentIntent, err error) *stripe.PaymentIntent {
	var e *stripe.Error
	switch {
	case errors.As(err, &e) && replayed(e.LastResponse):
		return e.PaymentIntent
	case err == nil && replayed(pi.LastResponse):
		return pi
	}
	return nil
}

// create asks for the PaymentIntent, and tells whether the request may have arrived.
func (s *stripeAPI) create(ctx context.Context, key string, p payer, o order, a intent.Attempt) (pi *stripe.PaymentIntent, mayHaveArrived bool, err error) {
	ctx, call := arrival.Track(ctx)
	pi, err = s.client(key).V1PaymentIntents.Create(ctx, request(p, o, a))
	return pi, call.MayHaveArrived(), err
}

func isUnauthorized(err error) bool {
	e, ok := errors.AsType[*stripe.Error](err)
	return ok && e.HTTPStatusCode == http.StatusUnauthorized
}
