package stripe

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	stripego "github.com/stripe/stripe-go/v83"
)

func TestDeclines(t *testing.T) {
	tests := []struct {
		paymentMethod string
		code          stripego.ErrorCode
		decline       stripego.DeclineCode
	}{
		{"pm_card_visa_chargeDeclined", "card_declined", "generic_decline"},
		{"pm_card_visa_chargeDeclinedInsufficientFunds", "card_declined", "insufficient_funds"},
		{"pm_card_chargeDeclinedExpiredCard", "expired_card", ""},
		{"pm_card_authenticationRequired", "authentication_required", "authentication_required"},
	}
	for _, tt := range tests {
		t.Run(tt.paymentMethod, func(t *testing.T) {
			s, client := start(t, Config{})
			failed := createFails(t, client, with(order("key-1"), func(p *stripego.PaymentIntentCreateParams) { p.PaymentMethod = &tt.paymentMethod }))

			if failed.HTTPStatusCode != http.StatusPaymentRequired || failed.Type != stripego.ErrorTypeCard || failed.Code != tt.code || failed.DeclineCode != tt.decline {
				t.Errorf("got %d %s %s %s, want 402 card_error %s %s", failed.HTTPStatusCode, failed.Type, failed.Code, failed.DeclineCode, tt.code, tt.decline)
			}
			pi := failed.PaymentIntent
			if pi == nil || pi.Status != stripego.PaymentIntentStatusRequiresPaymentMethod {
				t.Fatalf("payment intent of the error: got %+v, want requires_payment_method", pi)
			}
			if pi.LastPaymentError == nil || pi.LastPaymentError.Code != tt.code || pi.LatestCharge == nil || failed.ChargeID != pi.LatestCharge.ID {
				t.Errorf("got last error %+v, latest charge %+v and charge %q, want code %s and the failed charge twice", pi.LastPaymentError, pi.LatestCharge, failed.ChargeID, tt.code)
			}
			wantCharges(t, s, 0)
		})
	}
}

func TestOtherStatuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*stripego.PaymentIntentCreateParams)
		want   stripego.PaymentIntentStatus
	}{
		{"on session with authentication", func(p *stripego.PaymentIntentCreateParams) {
			p.PaymentMethod, p.OffSession = stripego.String("pm_card_authenticationRequired"), nil
		}, stripego.PaymentIntentStatusRequiresAction},
		{"not confirmed", func(p *stripego.PaymentIntentCreateParams) { p.Confirm, p.OffSession = nil, nil }, stripego.PaymentIntentStatusRequiresConfirmation},
		{"no payment method", func(p *stripego.PaymentIntentCreateParams) {
			p.Confirm, p.OffSession, p.PaymentMethod = nil, nil, nil
		}, stripego.PaymentIntentStatusRequiresPaymentMethod},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, client := start(t, Config{})
			if pi := create(t, client, with(order("key-1"), tt.change)); pi.Status != tt.want {
				t.Errorf("got status %s, want %s", pi.Status, tt.want)
			}
			wantCharges(t, s, 0)
		})
	}
}

func TestInvalidParameters(t *testing.T) {
	tests := []struct {
		param  string
		code   stripego.ErrorCode
		change func(*stripego.PaymentIntentCreateParams)
	}{
		{"amount", "parameter_missing", func(p *stripego.PaymentIntentCreateParams) { p.Amount = nil }},
		{"amount", "amount_too_large", func(p *stripego.PaymentIntentCreateParams) { p.Amount = stripego.Int64(maxAmount + 1) }},
		{"currency", "", func(p *stripego.PaymentIntentCreateParams) { p.Currency = stripego.String("USD") }},
		{"payment_method", "parameter_missing", func(p *stripego.PaymentIntentCreateParams) { p.PaymentMethod = nil }},
		{"payment_method", "resource_missing", func(p *stripego.PaymentIntentCreateParams) { p.PaymentMethod = stripego.String("pm_none") }},
		{"customer", "resource_missing", func(p *stripego.PaymentIntentCreateParams) { p.Customer = stripego.String("7") }},
		{"off_session", "", func(p *stripego.PaymentIntentCreateParams) { p.Confirm = nil }},
		{"colour", "parameter_unknown", func(p *stripego.PaymentIntentCreateParams) { p.AddExtra("colour", "green") }},
	}
	for _, tt := range tests {
		t.Run(tt.param+" "+string(tt.code), func(t *testing.T) {
			s, client := start(t, Config{})
			failed := createFails(t, client, with(order("key-1"), tt.change))
			if failed.HTTPStatusCode != http.StatusBadRequest || failed.Type != stripego.ErrorTypeInvalidRequest || failed.Param != tt.param || failed.Code != tt.code {
				t.Errorf("got %d %s %s %s, want 400 invalid_request_error %s %s", failed.HTTPStatusCode, failed.Type, failed.Param, failed.Code, tt.param, tt.code)
			}
			wantCharges(t, s, 0)
		})
	}
}

func TestFaults(t *testing.T) {
	first := func(f Fault) func(Request) Fault {
		return func(r Request) Fault {
			if r.Arrival == 1 {
				return f
			}
			return Fault{}
		}
	}
	t.Run("dropped after the effect", func(t *testing.T) {
		s, client := start(t, Config{Fault: first(Fault{Drop: true})})
		_, err := client.V1PaymentIntents.Create(context.Background(), order("key-1"))
		var answered *stripego.Error
		if err == nil || errors.As(err, &answered) {
			t.Fatalf("got error %v, want a broken connection", err)
		}
		if pi := create(t, client, order("key-1")); !replayed(pi.LastResponse) || pi.LatestCharge.ID != s.Charges()[0].ID {
			t.Errorf("the second request got %s, not the charge of the first", pi.LatestCharge.ID)
		}
		wantCharges(t, s, 1)
	})
	t.Run("unreachable", func(t *testing.T) {
		s, client := start(t, Config{Fault: first(Fault{Refuse: Unreachable})})
		_, err := client.V1PaymentIntents.Create(context.Background(), order("key-1"))
		if err == nil {
			t.Error("got success, want an error")
		}
		wantCharges(t, s, 0)
	})
	t.Run("500 after the effect", func(t *testing.T) {
		s, client := start(t, Config{Fault: first(Fault{ServerError: true})})
		createFails(t, client, order("key-1"))
		wantCharges(t, s, 1)
	})
}

func TestProcessingUntilSettled(t *testing.T) {
	s, client := start(t, Config{Fault: func(Request) Fault { return Fault{Processing: true} }})
	pi := create(t, client, order("key-1"))
	if pi.Status != stripego.PaymentIntentStatusProcessing {
		t.Fatalf("got status %s, want processing", pi.Status)
	}
	wantCharges(t, s, 0)

	if got := s.Settle(); got != 1 {
		t.Errorf("settled %d, want 1", got)
	}
	wantCharges(t, s, 1)
	if again := create(t, client, order("key-1")); again.Status != stripego.PaymentIntentStatusProcessing {
		t.Errorf("the replay: got status %s, want the first answer's", again.Status)
	}
	now, err := client.V1PaymentIntents.Retrieve(context.Background(), pi.ID, nil)
	if err != nil || now.Status != stripego.PaymentIntentStatusSucceeded {
		t.Errorf("the present state: got %+v and error %v, want succeeded", now, err)
	}
	if got := s.Settle(); got != 0 {
		t.Errorf("settled %d more, want none", got)
	}
	wantCharges(t, s, 1)
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Fault: func(Request) Fault { return Fault{Delay: time.Minute} }})
		began := time.Now()
		s.create(httptest.NewRecorder(), formRequest(t, "amount=4999&currency=usd&payment_method=pm_card_visa&confirm=true"))
		if took := time.Since(began); took != time.Minute {
			t.Errorf("took %s, want 1m0s", took)
		}
		wantCharges(t, s, 1)
	})
}

// formRequest is a POST as curl sends it.
func formRequest(t *testing.T, form string) *http.Request {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/v1/payment_intents", strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}
