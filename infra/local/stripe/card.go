package stripe

import (
	"net/http"
	"slices"
)

const authenticationRequired = "authentication_required"

// paying are Stripe's test payment methods that succeed.
// Source: https://docs.stripe.com/testing#cards
var paying = []string{"pm_card_visa", "pm_card_visa_debit", "pm_card_mastercard", "pm_card_amex"}

// declines are Stripe's test payment methods that fail, each with the error it fails with.
// Source: https://docs.stripe.com/testing#declined-payments
var declines = map[string]failure{
	"pm_card_visa_chargeDeclined":                      decline("card_declined", "generic_decline", "Your card was declined."),
	"pm_card_visa_chargeDeclinedInsufficientFunds":     decline("card_declined", "insufficient_funds", "Your card has insufficient funds."),
	"pm_card_visa_chargeDeclinedLostCard":              decline("card_declined", "lost_card", "Your card was declined."),
	"pm_card_visa_chargeDeclinedStolenCard":            decline("card_declined", "stolen_card", "Your card was declined."),
	"pm_card_visa_chargeDeclinedVelocityLimitExceeded": decline("card_declined", "card_velocity_exceeded", "Your card was declined for making repeated attempts too frequently."),
	"pm_card_chargeDeclinedExpiredCard":                decline("expired_card", "", "Your card has expired."),
	"pm_card_chargeDeclinedIncorrectCvc":               decline("incorrect_cvc", "", "Your card's security code is incorrect."),
	"pm_card_chargeDeclinedProcessingError":            decline("processing_error", "", "An error occurred while processing your card."),
	"pm_card_authenticationRequired":                   decline(authenticationRequired, authenticationRequired, "Your card was declined. This transaction requires authentication."),
}

func decline(code, declineCode, message string) failure {
	return failure{
		status: http.StatusPaymentRequired, Type: "card_error",
		Code: code, DeclineCode: declineCode, Message: message,
	}
}

func known(paymentMethod string) bool {
	_, fails := declines[paymentMethod]
	return fails || slices.Contains(paying, paymentMethod)
}
