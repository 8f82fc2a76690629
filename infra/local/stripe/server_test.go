package stripe

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	stripego "github.com/stripe/stripe-go/v83"
)

// start serves config on loopback and returns it with a client of Stripe's own library, whose own
// retries are off: a test says itself how often it asks.
func start(t *testing.T, config Config) (*Server, *stripego.Client) {
	t.Helper()
	s := New(config)
	return s, clientOf(t, s, "sk_test_standin")
}

func clientOf(t *testing.T, handler http.Handler, key string) *stripego.Client {
	t.Helper()
	listening := httptest.NewServer(handler)
	t.Cleanup(listening.Close)
	return stripego.NewClient(key, stripego.WithBackends(stripego.NewBackendsWithConfig(&stripego.BackendConfig{
		URL:               stripego.String(listening.URL),
		HTTPClient:        listening.Client(),
		MaxNetworkRetries: stripego.Int64(0),
		EnableTelemetry:   stripego.Bool(false),
		LeveledLogger:     &stripego.LeveledLogger{Level: stripego.LevelNull},
	})))
}

// order is the charge that most tests make: 49.99 dollars with Stripe's card that pays.
func order(key string) *stripego.PaymentIntentCreateParams {
	p := &stripego.PaymentIntentCreateParams{
		Amount:             stripego.Int64(4999),
		Currency:           stripego.String("usd"),
		Customer:           stripego.String("cus_7"),
		PaymentMethod:      stripego.String("pm_card_visa"),
		PaymentMethodTypes: []*string{stripego.String("card")},
		Confirm:            stripego.Bool(true),
		OffSession:         stripego.Bool(true),
		Metadata:           map[string]string{"intent": "order-8821-charge"},
	}
	if key != "" {
		p.SetIdempotencyKey(key)
	}
	return p
}

func with(p *stripego.PaymentIntentCreateParams, change func(*stripego.PaymentIntentCreateParams)) *stripego.PaymentIntentCreateParams {
	change(p)
	return p
}

func create(t *testing.T, client *stripego.Client, p *stripego.PaymentIntentCreateParams) *stripego.PaymentIntent {
	t.Helper()
	pi, err := client.V1PaymentIntents.Create(context.Background(), p)
	if err != nil {
		t.Fatalf("create a payment intent: %v", err)
	}
	return pi
}

func createFails(t *testing.T, client *stripego.Client, p *stripego.PaymentIntentCreateParams) *stripego.Error {
	t.Helper()
	pi, err := client.V1PaymentIntents.Create(context.Background(), p)
	var failed *stripego.Error
	if !errors.As(err, &failed) {
		t.Fatalf("create a payment intent: got %+v and error %v, want an error of Stripe's form", pi, err)
	}
	return failed
}

func replayed(r *stripego.APIResponse) bool { return r.Header.Get("Idempotent-Replayed") == "true" }

func wantCharges(t *testing.T, s *Server, want int) {
	t.Helper()
	if got := s.Charges(); len(got) != want {
		t.Errorf("charges made: got %d %+v, want %d", len(got), got, want)
	}
}

func TestSucceededChargeIsListed(t *testing.T) {
	s, client := start(t, Config{})
	pi := create(t, client, order("key-1"))

	if pi.Status != stripego.PaymentIntentStatusSucceeded || pi.LatestCharge == nil {
		t.Fatalf("got status %s and latest charge %v, want succeeded with a charge", pi.Status, pi.LatestCharge)
	}
	charges := s.Charges()
	if len(charges) != 1 {
		t.Fatalf("got %d charges, want 1", len(charges))
	}
	got := charges[0]
	if got.ID != pi.LatestCharge.ID || got.PaymentIntent != pi.ID || got.Amount != 4999 || got.Currency != "usd" ||
		got.Customer != "cus_7" || got.PaymentMethod != "pm_card_visa" || got.IdempotencyKey != "key-1" ||
		got.Metadata["intent"] != "order-8821-charge" {
		t.Errorf("listed charge: got %+v", got)
	}
}

// A client that names no key charges anew each time: what the naive twin of a handler does. (Stripe's
// library then draws a key itself, another one for every call.)
func TestWithoutKeyEveryCallCharges(t *testing.T) {
	s, client := start(t, Config{})
	for range 3 {
		create(t, client, order(""))
	}
	wantCharges(t, s, 3)
	if got := s.Charges().ByCustomer()["cus_7"]; got != 3 {
		t.Errorf("charges of the customer: got %d, want 3", got)
	}
	if got := s.Charges().ByMetadata("intent")["order-8821-charge"]; got != 3 {
		t.Errorf("charges of the intent: got %d, want 3", got)
	}
	if got := len(s.Charges().ByKey()); got != 3 {
		t.Errorf("keys drawn by the library: got %d, want 3", got)
	}
}

func TestRetrieve(t *testing.T) {
	_, client := start(t, Config{})
	pi := create(t, client, order("key-1"))

	t.Run("OK", func(t *testing.T) {
		got, err := client.V1PaymentIntents.Retrieve(context.Background(), pi.ID, nil)
		if err != nil || got.ID != pi.ID || got.Status != stripego.PaymentIntentStatusSucceeded {
			t.Errorf("got %+v and error %v, want %s, succeeded", got, err, pi.ID)
		}
	})
	t.Run("ErrUnknown", func(t *testing.T) {
		_, err := client.V1PaymentIntents.Retrieve(context.Background(), "pi_none", nil)
		var failed *stripego.Error
		if !errors.As(err, &failed) || failed.HTTPStatusCode != http.StatusNotFound || failed.Code != stripego.ErrorCodeResourceMissing {
			t.Errorf("got %v, want a 404 resource_missing", err)
		}
	})
}

func TestAuthorization(t *testing.T) {
	for name, key := range map[string]string{"no key": "", "live key": "sk_live_1", "publishable key": "pk_test_1"} {
		t.Run(name, func(t *testing.T) {
			s := New(Config{})
			failed := createFails(t, clientOf(t, s, key), order("key-1"))
			if failed.HTTPStatusCode != http.StatusUnauthorized {
				t.Errorf("got status %d, want 401", failed.HTTPStatusCode)
			}
			wantCharges(t, s, 0)
		})
	}
}
