package main

import (
	"errors"
	"net/http"
	"slices"

	"github.com/stripe/stripe-go/v83"

	"github.com/singleeffect/once/shared/intent"
)

// classifyPayment reads a PaymentIntent, Stripe's answer to our key.
//
//	succeeded                 completed
//	requires_payment_method   refused: the card would not pay
//	requires_action           refused: off session nobody is there to authenticate
//	canceled                  refused: final at Stripe, it can take no money any more
//	processing                unknown: it may still end either way
//	requires_confirmation     unknown: our request confirms, so Stripe did not do what it was asked
//	requires_capture          unknown: the money is held but not taken; somebody may still capture it
//	anything else             unknown
func classifyPayment(pi *stripe.PaymentIntent) (receipt, error) {
	switch {
	case pi.Status == stripe.PaymentIntentStatusSucceeded:
		paid := receipt{PaymentIntent: pi.ID}
		if pi.LatestCharge != nil {
			paid.LatestCharge = pi.LatestCharge.ID
		}
		return paid, nil
	case slices.Contains(refusedStatuses, pi.Status):
		no := refusal{Reason: string(pi.Status), PaymentIntent: pi.ID}
		if last := pi.LastPaymentError; last != nil {
			no.Code, no.DeclineCode = string(last.Code), string(last.DeclineCode)
		}
		return receipt{}, intent.Answered(intent.Refuse(no))
	default:
		return receipt{}, &stripeError{Status: http.StatusOK, Code: string(pi.Status), PaymentIntent: pi.ID}
	}
}

// refusedStatuses are those of a payment that was not made, and that nothing of ours goes on with.
var refusedStatuses = []stripe.PaymentIntentStatus{
	stripe.PaymentIntentStatusRequiresPaymentMethod,
	stripe.PaymentIntentStatusRequiresAction,
	stripe.PaymentIntentStatusCanceled,
}

// classifyError reads the error of a create. The order matters: a status in front of the idempotency layer
// tells more than the error's type, which is invalid_request_error for most of them.
//
//	the request cannot have arrived    not applied
//	429, 401, 403                      not applied
//	5xx, 409, 424, any other status    unknown: it may have charged (5xx: the key replays a stored one),
//	                                   or a request with this key is still under way (409)
//	idempotency_error                  unknown: the key's first request, which was another, may have charged
//	api_error, a type of the future    unknown
//	a payment in another status        unknown, whatever the error says of it
//	400, 402, 404 with a refusal code  refused
//	400, 402, 404                      not applied: keys, modes, accounts, permissions, parameters, API
//	                                   versions, and every code that we do not know are ours to mend
//	no answer                          unknown
//
// That the request cannot have arrived is our own check (package arrival): it says nothing of an earlier
// attempt.
//
// What is ours to mend is delivered again, counted as failed, and in the end given up to the dead-letter
// queue, which rings. Refused, it would be remembered as the customer's no for as long as records are.
//
// 429 is "not applied" for lock_timeout too: "a request trying to acquire a lock that's already held
// elsewhere, and timing out" (https://docs.stripe.com/rate-limits#object-lock-timeouts). Such a
// conflict is not stored, "because no API endpoint initiates the execution"
// (https://docs.stripe.com/api/idempotent_requests), and the library itself sends it again under the
// same key. Of an earlier attempt these three say nothing: limits and API keys come before the
// idempotency layer (https://docs.stripe.com/error-low-level). That is safe because the next attempt
// asks under the same key, and the window still counts from the attempt that may have charged.
//
// A 402 comes from the execution, so it is the answer to our key: had an earlier request been executed,
// its answer would be replayed instead. "Most 400s that sent invalid parameters" (error-low-level, as
// above) come before the idempotency layer, and others from the execution. So a 400 and a 404 are marked
// as the answer to our key only if the key replays them; else they are our own check, in effect, and
// count only while no earlier attempt can have charged.
func classifyError(err error, mayHaveArrived bool) error {
	if !mayHaveArrived {
		return intent.NotApplied(redact(err))
	}
	var e *stripe.Error
	if !errors.As(err, &e) {
		return redact(err)
	}
	switch e.HTTPStatusCode {
	case http.StatusTooManyRequests, http.StatusUnauthorized, http.StatusForbidden:
		return intent.Answered(intent.NotApplied(redact(err)))
	case http.StatusBadRequest, http.StatusPaymentRequired, http.StatusNotFound:
	default:
		return redact(err)
	}
	if e.Type != stripe.ErrorTypeCard && e.Type != stripe.ErrorTypeInvalidRequest {
		return redact(err)
	}
	if pi := e.PaymentIntent; pi != nil && pi.Status != "" && !slices.Contains(refusedStatuses, pi.Status) {
		return redact(err) // whatever the error says, the payment may have been made, or may still be
	}
	verdict := intent.NotApplied(redact(err))
	if isRefusal(e) {
		verdict = intent.Refuse(refusalOf(e))
	}
	if e.HTTPStatusCode == http.StatusPaymentRequired || replayed(e.LastResponse) {
		verdict = intent.Answered(verdict)
	}
	return verdict
}

// refusalCodes are the error codes that are the customer's or the card's no, or the business's: an
// amount that Stripe does not take in this currency. All others are ours to mend. processing_error is
// among them although it is nobody's fault: the key replays it, so this intent has no better end.
// Source: https://docs.stripe.com/error-codes
var refusalCodes = []stripe.ErrorCode{
	stripe.ErrorCodeAmountTooLarge,
	stripe.ErrorCodeAmountTooSmall,
	stripe.ErrorCodeAuthenticationRequired,
	stripe.ErrorCodeCardDeclineRateLimitExceeded,
	stripe.ErrorCodeCardDeclined,
	stripe.ErrorCodeExpiredCard,
	stripe.ErrorCodeIncorrectAddress,
	stripe.ErrorCodeIncorrectCVC,
	stripe.ErrorCodeIncorrectNumber,
	stripe.ErrorCodeIncorrectZip,
	stripe.ErrorCodeIndiaRecurringPaymentMandateCanceled,
	stripe.ErrorCodeInsufficientFunds,
	stripe.ErrorCodeInvalidCVC,
	stripe.ErrorCodeInvalidExpiryMonth,
	stripe.ErrorCodeInvalidExpiryYear,
	stripe.ErrorCodeInvalidNumber,
	stripe.ErrorCodePaymentIntentAuthenticationFailure,
	stripe.ErrorCodePaymentIntentPaymentAttemptFailed,
	stripe.ErrorCodePaymentMethodCustomerDecline,
	stripe.ErrorCodePaymentMethodProviderDecline,
	stripe.ErrorCodeProcessingError,
}

// wrongModeDeclines are the decline codes that speak of the API key's mode and not of the card: a live
// card met a test key, or a test card a live one. The last two are in answers but not in Stripe's list
// (https://docs.stripe.com/declines/codes). Every other decline code only says why the card was declined.
var wrongModeDeclines = []stripe.DeclineCode{stripe.DeclineCodeTestModeDecline, "test_mode_live_card", "live_mode_test_card"}

func isRefusal(e *stripe.Error) bool {
	return slices.Contains(refusalCodes, e.Code) && !slices.Contains(wrongModeDeclines, e.DeclineCode)
}

func refusalOf(e *stripe.Error) refusal {
	no := refusal{Reason: invalidRequest, Code: string(e.Code), DeclineCode: string(e.DeclineCode), Param: e.Param}
	if e.Type == stripe.ErrorTypeCard {
		no.Reason = cardError
	}
	if e.PaymentIntent != nil {
		no.PaymentIntent = e.PaymentIntent.ID
	}
	return no
}

// replayed reports whether an answer is the one that Stripe stored under our key.
func replayed(r *stripe.APIResponse) bool {
	return r != nil && r.Header.Get("Idempotent-Replayed") == "true"
}
