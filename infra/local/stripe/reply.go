package stripe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// The statuses of a PaymentIntent that the stand-in gives one.
const (
	statusSucceeded             = "succeeded"
	statusProcessing            = "processing"
	statusRequiresAction        = "requires_action"
	statusRequiresConfirmation  = "requires_confirmation"
	statusRequiresPaymentMethod = "requires_payment_method"
)

// paymentIntent is Stripe's PaymentIntent, without the fields that stay null here.
// Source: https://docs.stripe.com/api/payment_intents/object
type paymentIntent struct {
	ID                 string            `json:"id"`
	Object             string            `json:"object"`
	Amount             int64             `json:"amount"`
	AmountCapturable   int64             `json:"amount_capturable"`
	AmountReceived     int64             `json:"amount_received"`
	CaptureMethod      string            `json:"capture_method"`
	ClientSecret       string            `json:"client_secret"`
	ConfirmationMethod string            `json:"confirmation_method"`
	Created            int64             `json:"created"` // Unix seconds
	Currency           string            `json:"currency"`
	Customer           *string           `json:"customer"`
	LastPaymentError   *failure          `json:"last_payment_error"`
	LatestCharge       *string           `json:"latest_charge"` // an id, as long as nobody asks to expand it
	Livemode           bool              `json:"livemode"`
	Metadata           map[string]string `json:"metadata"`
	NextAction         *nextAction       `json:"next_action"`
	PaymentMethod      *string           `json:"payment_method"`
	PaymentMethodTypes []string          `json:"payment_method_types"`
	Status             string            `json:"status"`

	request Request
}

type nextAction struct {
	Type string `json:"type"`
}

// newPaymentIntent returns a PaymentIntent that nobody has confirmed yet.
func newPaymentIntent(id string, request Request, now time.Time) *paymentIntent {
	status := statusRequiresConfirmation
	if request.PaymentMethod == "" {
		status = statusRequiresPaymentMethod
	}
	return &paymentIntent{
		ID:                 id,
		Object:             "payment_intent",
		Amount:             request.Amount,
		CaptureMethod:      "automatic_async",
		ClientSecret:       id + "_secret_standin",
		ConfirmationMethod: "automatic",
		Created:            now.Unix(),
		Currency:           request.Currency,
		Customer:           orNull(request.Customer),
		Metadata:           request.Metadata,
		PaymentMethod:      orNull(request.PaymentMethod),
		PaymentMethodTypes: []string{"card"},
		Status:             status,
		request:            request,
	}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// failure is Stripe's error object. Source: https://docs.stripe.com/api/errors
type failure struct {
	status int

	Type          string         `json:"type"`
	Code          string         `json:"code,omitempty"`
	DeclineCode   string         `json:"decline_code,omitempty"`
	Charge        string         `json:"charge,omitempty"`
	Message       string         `json:"message"`
	Param         string         `json:"param,omitempty"`
	PaymentIntent *paymentIntent `json:"payment_intent,omitempty"`
}

func (f failure) answer() answer {
	return answerWith(f.status, struct {
		Error failure `json:"error"`
	}{f})
}

// answer is a reply as it goes out, and as a key stores it: bytes, so that nothing that happens to a
// PaymentIntent later changes what its key replays.
type answer struct {
	status   int
	body     []byte
	replayOf string // the Request-Id of the first request with this key, if this is a replay
}

func answerWith(status int, value any) answer {
	body, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("marshal a reply: %v", err)) // structs of strings and numbers always marshal
	}
	return answer{status: status, body: body}
}

func (a answer) write(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	if a.replayOf != "" {
		header.Set("Idempotent-Replayed", "true")
		header.Set("Original-Request", a.replayOf)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a caller that has hung up hears nothing: that is what a lost reply is
}
