package stripe

import (
	"net/http"
	"time"
)

// Request is what hooks and faults get to see of one POST.
type Request struct {
	Key           string // the Idempotency-Key header; "" if there is none
	Arrival       int    // how many POSTs with this key have arrived, this one included; from 1
	Customer      string
	PaymentMethod string
	Amount        int64
	Currency      string
	Metadata      map[string]string
}

// Fault says how one request goes wrong. Its parts combine; the zero value is no fault.
type Fault struct {
	// Delay is waited in real time before anything else. The request goes on even if its caller has
	// hung up meanwhile.
	Delay time.Duration

	// Refuse answers before the key is looked at: nothing is executed and nothing is stored.
	Refuse Refusal

	// Processing leaves the PaymentIntent processing instead of charging it, until Settle. It means
	// nothing to a payment method that is declined.
	Processing bool

	// ServerError answers 500 although the effect stands. That 500 is what the key stores and replays.
	ServerError bool

	// Drop closes the connection instead of replying, whatever the reply would have been.
	Drop bool
}

// Refusal is an answer that Stripe gives before its idempotency layer.
type Refusal string

// The refusals.
const (
	RateLimited  Refusal = "rate limited" // 429, code rate_limit
	LockTimeout  Refusal = "lock timeout" // 429, code lock_timeout: another request held the object's lock
	Unauthorized Refusal = "unauthorized" // 401
	Forbidden    Refusal = "forbidden"    // 403: a restricted key without the permission
	NotExecuted  Refusal = "not executed" // 500 from in front of the API
	Unreachable  Refusal = "unreachable"  // 503 with a body that is not JSON, as a proxy sends it
)

var unauthorized = failure{
	status:  http.StatusUnauthorized,
	Type:    "invalid_request_error",
	Message: "You did not provide a valid test API key.",
}

// reply returns what a refusal sends.
func (r Refusal) reply() answer {
	switch r {
	case RateLimited:
		return failure{
			status: http.StatusTooManyRequests, Type: "invalid_request_error", Code: "rate_limit",
			Message: "Request rate limit exceeded.",
		}.answer()
	case LockTimeout:
		return failure{
			status: http.StatusTooManyRequests, Type: "invalid_request_error", Code: "lock_timeout",
			Message: "This object cannot be accessed right now because another API request or Stripe process is currently accessing it.",
		}.answer()
	case Unauthorized:
		return unauthorized.answer()
	case Forbidden:
		return failure{
			status: http.StatusForbidden, Type: "invalid_request_error",
			Message: "The provided key does not have the required permissions for this endpoint.",
		}.answer()
	case NotExecuted:
		return serverError.answer()
	case Unreachable:
		return answer{status: http.StatusServiceUnavailable, body: []byte("<html>upstream connect error</html>\n")}
	default:
		panic("unknown refusal " + string(r))
	}
}
