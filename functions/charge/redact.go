package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"

	"github.com/stripe/stripe-go/v83"
)

// stripeError is what may be logged of an answer of Stripe's. The library's own error prints the whole
// PaymentIntent, client secret and card data included, and Stripe's messages repeat what was sent.
type stripeError struct {
	Status        int // HTTP
	Type          string
	Code          string // or the status of the PaymentIntent
	DeclineCode   string
	Param         string
	PaymentIntent string
	RequestID     string // under which Stripe's own logs know it
}

func (e *stripeError) Error() string {
	text := fmt.Sprintf("stripe answered %d", e.Status)
	for _, part := range []struct{ name, value string }{
		{"type", e.Type}, {"code", e.Code}, {"decline code", e.DeclineCode}, {"param", e.Param},
		{"payment intent", e.PaymentIntent}, {"request", e.RequestID},
	} {
		if part.value != "" {
			text += ", " + part.name + " " + part.value
		}
	}
	return text
}

// errUnreadable is returned for an answer that is not of Stripe's form, such as a proxy's page. What
// the library says of it quotes the body.
var errUnreadable = errors.New("stripe's answer is not readable")

// redact is err without what must not be logged. It keeps whether that speaks of Stripe as a whole.
func redact(err error) error { return outage(err, loggable(err)) }

func loggable(err error) error {
	var e *stripe.Error
	var broken net.Error
	var call *url.Error
	switch {
	case errors.As(err, &e):
		said := &stripeError{
			Status: e.HTTPStatusCode, Type: string(e.Type), Code: string(e.Code), DeclineCode: string(e.DeclineCode), Param: e.Param, RequestID: e.RequestID,
		}
		if e.PaymentIntent != nil {
			said.PaymentIntent = e.PaymentIntent.ID
		}
		return said
	case errors.As(err, &call), errors.As(err, &broken), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Errorf("call stripe: %w", err)
	default:
		return errUnreadable
	}
}
