package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/stripe/stripe-go/v83"

	"github.com/singleeffect/once/shared/intent"
)

// answered reads a PaymentIntent, Stripe's answer to our key.
//
//	succeeded                 completed
//	requires_payment_method   refused: the card would not pay
//	requires_action           refused: off session nobody is there to authenticate
//	canceled                  refused: final at Stripe, it can take no money any more
//	processing                unknown: it may still end either way
//	requires_confirmation     unknown: our request confirms, so Stripe did not do what it was asked
//	requires_capture          unknown: the money is held but not taken; somebody may still capture it
//	anything else             unknown
func answered(pi *stripe.PaymentIntent) (receipt, error) {
	switch pi.Status {
	case stripe.PaymentIntentStatusSucceeded:
		paid := receipt{PaymentIntent: pi.ID}
		if pi.LatestCharge != nil {
			paid.LatestCharge = pi.LatestCharge.ID
		}
		return paid, nil
	case stripe.PaymentIntentStatusRequiresPaymentMethod,
		stripe.PaymentIntentStatusRequiresAction,
		stripe.PaymentIntentStatusCanceled:
		no := refusal{Reason: string(pi.Status), PaymentIntent: pi.ID}
		if last := pi.LastPaymentError; last != nil {
			no.Code, no.DeclineCode = string(last.Code), string(last.DeclineCode)
		}
		return receipt{}, intent.Answered(intent.Refuse(no))
	default:
		return receipt{}, &stripeError{Status: http.StatusOK, Code: string(pi.Status), PaymentIntent: pi.ID}
	}
}

// failed reads the error of a create. The order matters: a status in front of the idempotency layer
// tells more than the error's type, which is invalid_request_error for most of them.
//
//	5xx                       unknown: it may have charged, and the key replays a stored 500
//	409                       unknown: a request with this key is still under way
//	429, 401, 403             not applied
//	idempotency_error         unknown: the key's first request, which was another, may have charged
//	card_error                refused
//	400                       refused
//	no answer, anything else  unknown
//
// 429 is "not applied" for lock_timeout too: "a request trying to acquire a lock that's already held
// elsewhere, and timing out" (https://docs.stripe.com/rate-limits#object-lock-timeouts). Such a
// conflict is not stored, "because no API endpoint initiates the execution"
// (https://docs.stripe.com/api/idempotent_requests), and the library itself sends it again under the
// same key. Of an earlier attempt these three say nothing: limits and API keys come before the
// idempotency layer (https://docs.stripe.com/error-low-level). That is safe because the next attempt
// asks under the same key, and the window still counts from the attempt that may have charged.
//
// A 400 is final, and "most 400s that sent invalid parameters" also come before that layer. So it is
// marked as the answer to our key only if the key replays it; else it is our own check, in effect, and
// counts only while no earlier attempt can have charged.
//
// One of the request's form is not the business's no: what a faulty release sends would be refused for
// as long as it is remembered. It is delivered again, and in the end found in the dead-letter queue.
func failed(err error) error {
	var e *stripe.Error
	if !errors.As(err, &e) {
		return unknown(err)
	}
	switch {
	case e.HTTPStatusCode >= http.StatusInternalServerError, e.HTTPStatusCode == http.StatusConflict:
		return unknown(err)
	case e.HTTPStatusCode == http.StatusTooManyRequests,
		e.HTTPStatusCode == http.StatusUnauthorized,
		e.HTTPStatusCode == http.StatusForbidden:
		return intent.Answered(intent.NotApplied(unknown(err)))
	case e.Type == stripe.ErrorTypeIdempotency:
		return unknown(err)
	case e.Type == stripe.ErrorTypeCard:
		return intent.Answered(intent.Refuse(refusalOf(e, cardError)))
	case e.HTTPStatusCode == http.StatusBadRequest && strings.HasPrefix(string(e.Code), ourFault):
		said := intent.NotApplied(unknown(err))
		if replayed(e.LastResponse) {
			said = intent.Answered(said)
		}
		return said
	case e.HTTPStatusCode == http.StatusBadRequest:
		no := intent.Refuse(refusalOf(e, invalidRequest))
		if replayed(e.LastResponse) {
			no = intent.Answered(no)
		}
		return no
	default:
		return unknown(err)
	}
}

// ourFault begins the codes for a request that is not formed as Stripe wants it: parameter_missing,
// parameter_unknown, parameter_invalid_integer and so on (https://docs.stripe.com/error-codes). What
// users and cards can be at fault for has other codes.
const ourFault = "parameter_"

func refusalOf(e *stripe.Error, reason string) refusal {
	no := refusal{Reason: reason, Code: string(e.Code), DeclineCode: string(e.DeclineCode), Param: e.Param}
	if e.PaymentIntent != nil {
		no.PaymentIntent = e.PaymentIntent.ID
	}
	return no
}

// replayed reports whether an answer is the one that Stripe stored under our key.
func replayed(r *stripe.APIResponse) bool {
	return r != nil && r.Header.Get("Idempotent-Replayed") == "true"
}

// stripeError is what may be logged of an answer of Stripe's. The library's own error prints the whole
// PaymentIntent, client secret and card data included, and Stripe's messages repeat what was sent.
type stripeError struct {
	Status        int // HTTP
	Type          string
	Code          string // or the status of the PaymentIntent
	Param         string
	PaymentIntent string
	RequestID     string // under which Stripe's own logs know it
}

func (e *stripeError) Error() string {
	text := fmt.Sprintf("stripe answered %d", e.Status)
	for _, part := range []struct{ name, value string }{
		{"type", e.Type}, {"code", e.Code}, {"param", e.Param}, {"payment intent", e.PaymentIntent}, {"request", e.RequestID},
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

// unknown is err without what must not be logged.
func unknown(err error) error {
	var e *stripe.Error
	var broken net.Error
	var call *url.Error
	switch {
	case errors.As(err, &e):
		said := &stripeError{Status: e.HTTPStatusCode, Type: string(e.Type), Code: string(e.Code), Param: e.Param, RequestID: e.RequestID}
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
