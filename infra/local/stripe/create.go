package stripe

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// maxKey is Stripe's limit on an idempotency key, in characters.
const maxKey = 255

// serverError is Stripe's 500. Replayed under its key or not executed at all: the body does not tell.
var serverError = failure{
	status: http.StatusInternalServerError, Type: "api_error",
	Message: "An unknown error occurred.",
}

// create answers POST /v1/payment_intents.
func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	parameters, invalid := parse(r)
	request := parameters.request
	request.Key = r.Header.Get("Idempotency-Key")
	s.mu.Lock()
	s.arrivals[request.Key]++
	request.Arrival = s.arrivals[request.Key]
	s.mu.Unlock()
	if request.Key != "" {
		w.Header().Set("Idempotency-Key", request.Key)
	}

	fault := s.config.Fault(request)
	if fault.Delay > 0 {
		time.Sleep(fault.Delay)
	}
	a := s.decide(request, parameters, invalid, fault, w.Header().Get("Request-Id"))
	if fault.Drop {
		// net/http's own way to close a connection without a reply; it logs nothing for it.
		panic(http.ErrAbortHandler)
	}
	a.write(w)
}

// decide takes a request through the gates behind authorization and returns its answer.
func (s *Server) decide(request Request, parameters parameters, invalid *failure, fault Fault, id string) answer {
	if fault.Refuse != "" {
		return fault.Refuse.reply()
	}
	if len(request.Key) > maxKey {
		return failure{
			status: http.StatusBadRequest, Type: "invalid_request_error",
			Message: fmt.Sprintf("Idempotency keys are at most %d characters long.", maxKey),
		}.answer()
	}
	if invalid != nil {
		return invalid.answer()
	}
	started, instead := s.begin(request.Key, parameters.fingerprint, id)
	if instead != nil {
		return *instead
	}
	s.config.BeforeEffect(request)
	a := s.execute(request, parameters, fault)
	s.config.AfterEffect(request)
	s.finish(started, a)
	return a
}

// execute makes the PaymentIntent and, if it is confirmed with a card that pays, the charge.
func (s *Server) execute(request Request, parameters parameters, fault Fault) answer {
	if missing := resourceMissing(request); missing != nil {
		return missing.answer()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	intent := newPaymentIntent(s.nextIDLocked("pi"), request, s.config.Now())
	s.intents[intent.ID] = intent
	a := s.confirmLocked(intent, parameters, fault)
	if fault.ServerError {
		return serverError.answer()
	}
	return a
}

func (s *Server) confirmLocked(intent *paymentIntent, parameters parameters, fault Fault) answer {
	if !parameters.confirm {
		return answerWith(http.StatusOK, intent)
	}
	declined, fails := declines[intent.request.PaymentMethod]
	switch {
	case fails && declined.Code == authenticationRequired && !parameters.offSession:
		intent.Status = statusRequiresAction
		intent.NextAction = &nextAction{Type: "use_stripe_sdk"}
		return answerWith(http.StatusOK, intent)
	case fails:
		// Off session nobody is there to authenticate: an attempt that would need it is a decline,
		// and the PaymentIntent waits for another payment method.
		failed := s.nextIDLocked("ch")
		declined.Charge = failed
		intent.Status = statusRequiresPaymentMethod
		intent.LatestCharge = &failed
		intent.LastPaymentError = &declined
		intent.PaymentMethod = nil
		withIntent := declined
		withIntent.PaymentIntent = intent
		return withIntent.answer()
	case fault.Processing:
		intent.Status = statusProcessing
		return answerWith(http.StatusOK, intent)
	default:
		s.chargeLocked(intent)
		return answerWith(http.StatusOK, intent)
	}
}

// resourceMissing names an id that the account does not have. Stripe looks ids up while it executes,
// so this 400 is stored under the key, unlike those of parameters that cannot be read.
func resourceMissing(request Request) *failure {
	if c := request.Customer; c != "" && !strings.HasPrefix(c, "cus_") {
		return &failure{
			status: http.StatusBadRequest, Type: "invalid_request_error", Code: "resource_missing", Param: "customer",
			Message: fmt.Sprintf("No such customer: '%s'", c),
		}
	}
	if m := request.PaymentMethod; m != "" && !known(m) {
		return &failure{
			status: http.StatusBadRequest, Type: "invalid_request_error", Code: "resource_missing", Param: "payment_method",
			Message: fmt.Sprintf("No such PaymentMethod: '%s'", m),
		}
	}
	return nil
}
