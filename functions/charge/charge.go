package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// operation is the name of this effect within the scope. It is part of every record's key and of
// every key that Stripe has seen: renaming it makes old intents new ones.
const operation = "charge"

// stripeWindow is how long Stripe keeps an idempotency key: it may remove one that is "at least 24
// hours old". Source: https://docs.stripe.com/api/idempotent_requests
const stripeWindow = 24 * time.Hour

// maxAmountCents is the largest amount that Stripe takes: eight digits.
// Source: https://docs.stripe.com/api/payment_intents/create#create_payment_intent-amount
const maxAmountCents = 99_999_999

// order is the body of a message. Its key is the handler's to find.
type order struct {
	UserID      intent.ID `json:"user_id"`
	AmountCents int64     `json:"amount_cents"` // in the currency's smallest unit
	Currency    string    `json:"currency"`     // ISO 4217, in lower case as Stripe wants it
}

// Validate returns an *intent.PayloadError that names the field at fault. Which currencies Stripe
// takes, and from what amount, is Stripe's to say: see classifyError.
func (o *order) Validate() error {
	if err := o.UserID.Validate("user_id"); err != nil {
		return err
	}
	switch {
	case o.AmountCents < 1 || o.AmountCents > maxAmountCents:
		return &intent.PayloadError{Field: "amount_cents", Reason: fmt.Sprintf("is missing or not from 1 to %d", maxAmountCents)}
	case !isCurrency(o.Currency):
		return &intent.PayloadError{Field: "currency", Reason: "is missing or not three lower-case letters"}
	}
	return nil
}

func isCurrency(s string) bool {
	for _, c := range []byte(s) {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return len(s) == 3
}

// receipt is the result of a charge that went through, and what every duplicate gets back.
type receipt struct {
	PaymentIntent string `json:"payment_intent"`
	LatestCharge  string `json:"latest_charge"`
}

// refusal is the result of a charge that will not be made.
type refusal struct {
	Reason        string `json:"reason"`
	Code          string `json:"code,omitempty"`         // Stripe's error code
	DeclineCode   string `json:"decline_code,omitempty"` // the card issuer's reason
	Param         string `json:"param,omitempty"`        // the request's parameter at fault
	PaymentIntent string `json:"payment_intent,omitempty"`
}

// The reasons of a refusal.
const (
	unknownUser     = "unknown_user"
	noPaymentMethod = "no_payment_method"
	cardError       = "card_error"
	invalidRequest  = "invalid_request"
	// or the status of a PaymentIntent: requires_payment_method, requires_action, canceled
)

// payer is who pays, by Stripe's ids. They are not secret, but nobody else's business either.
type payer struct {
	customer, paymentMethod string
}

// charger makes the charge of one intent: the effect.
type charger struct {
	// user looks a payer up; false if there is no such user.
	user func(ctx context.Context, id string) (payer, bool, error)

	// pay asks Stripe for the charge under a.Downstream.
	pay func(ctx context.Context, p payer, o order, a intent.Attempt) (receipt, error)
}

// charge is the intent.Effect. What it decides before it asks Stripe is its own check, not the
// provider's answer, and so is not marked as one: after an attempt that may have charged, the user's
// row may have changed, and "unknown user" would be recorded of a charge that was made.
//
// The row may also have changed what is asked under the key. Stripe then answers with an
// idempotency_error, which is unknown: the first request may have charged.
func (c charger) charge(ctx context.Context, o order, a intent.Attempt) (any, error) {
	p, found, err := c.user(ctx, string(o.UserID))
	switch {
	case err != nil:
		return nil, intent.NotApplied(fmt.Errorf("read user: %w", err))
	case !found:
		return nil, missing(unknownUser, a)
	case p.customer == "" || p.paymentMethod == "":
		return nil, missing(noPaymentMethod, a)
	}
	paid, err := c.pay(ctx, p, o, a)
	if err != nil {
		return nil, err
	}
	return paid, nil
}

// missing is what a charge comes to whose payer lacks something. It may be there a moment later: the
// row is written beside the message, and Stripe's ids when Stripe has told them. So the charge is
// refused only after that.
func missing(reason string, a intent.Attempt) error {
	if a.Early() {
		return intent.NotApplied(errors.New(reason))
	}
	return intent.Refuse(refusal{Reason: reason})
}
