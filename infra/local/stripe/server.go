// Package stripe stands in for Stripe's API, as far as a card charge needs it, on this machine.
//
// What it promises: POST /v1/payment_intents honours Idempotency-Key as Stripe documents it, and
// every charge it makes is counted, so that a test or a demo counts effects at the provider and not
// by a handler's own word. What it does not: it knows no customers (any id of the form cus_… will
// do), only Stripe's own test payment methods, and no card, account or fee.
//
// A request goes through these gates, in Stripe's order. What the first three answer says nothing of
// the key: it is not stored, and the same key may be answered otherwise next time.
//
//	API key → limits → parameters → idempotency key ┬→ first answer replayed
//	 401,403    429        400                      ├→ 400 idempotency_error, 409 in flight
//	                                                └→ effect → answer stored → reply
//
// Sources: https://docs.stripe.com/api/idempotent_requests and https://docs.stripe.com/error-low-level.
package stripe

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Window is how long Stripe keeps an idempotency key: "at least 24 hours". The stand-in forgets at
// the first moment Stripe may, which is the one that hurts.
const Window = 24 * time.Hour

// Config says how a Server behaves. The zero value is a provider without faults.
type Config struct {
	// Now is the clock by which keys are forgotten. Defaults to time.Now.
	Now func() time.Time

	// Fault says how one POST goes wrong; it is called once for each, before anything else is done
	// with it. Defaults to no faults.
	Fault func(Request) Fault

	// BeforeEffect is called when execution has begun and nothing has been charged yet, AfterEffect
	// when the effect stands and nothing has been answered yet. Both may block, and the key is in
	// flight until they return: what happens to the caller in between (it may be killed) does not
	// stop the request, as it would not at Stripe. Neither is called for a replay.
	BeforeEffect, AfterEffect func(Request)
}

// Server is the stand-in, an http.Handler safe for concurrent use.
type Server struct {
	config Config
	mux    *http.ServeMux

	mu       sync.Mutex
	keys     map[string]*execution
	intents  map[string]*paymentIntent
	charges  Charges
	arrivals map[string]int
	serial   int // numbers ids, so that a run's ids depend on its requests alone
}

// New returns a provider that has charged nothing yet.
func New(config Config) *Server {
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Fault == nil {
		config.Fault = func(Request) Fault { return Fault{} }
	}
	if config.BeforeEffect == nil {
		config.BeforeEffect = func(Request) {}
	}
	if config.AfterEffect == nil {
		config.AfterEffect = func(Request) {}
	}
	s := &Server{
		config:   config,
		mux:      http.NewServeMux(),
		keys:     map[string]*execution{},
		intents:  map[string]*paymentIntent{},
		arrivals: map[string]int{},
	}
	s.mux.HandleFunc("POST /v1/payment_intents", s.create)
	s.mux.HandleFunc("GET /v1/payment_intents/{id}", s.retrieve)
	s.mux.HandleFunc("/", s.unknownURL)
	return s
}

// ServeHTTP answers one API request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Request-Id", s.nextID("req"))
	if !authorized(r) {
		unauthorized.answer().write(w)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// authorized reports whether r carries a test key, as a bearer token or as basic user name. A live
// key is turned away: it has no business at a stand-in.
func authorized(r *http.Request) bool {
	key, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer {
		key, _, _ = r.BasicAuth()
	}
	return strings.HasPrefix(key, "sk_test_") || strings.HasPrefix(key, "rk_test_")
}

func (s *Server) unknownURL(w http.ResponseWriter, r *http.Request) {
	failure{
		status:  http.StatusNotFound,
		Type:    "invalid_request_error",
		Message: fmt.Sprintf("Unrecognized request URL (%s: %s).", r.Method, r.URL.Path),
	}.answer().write(w)
}

func (s *Server) retrieve(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.mu.Lock()
	intent, found := s.intents[id]
	var a answer
	if found {
		a = answerWith(http.StatusOK, intent)
	}
	s.mu.Unlock()
	if !found {
		failure{
			status:  http.StatusNotFound,
			Type:    "invalid_request_error",
			Code:    "resource_missing",
			Param:   "intent",
			Message: fmt.Sprintf("No such payment_intent: '%s'", id),
		}.answer().write(w)
		return
	}
	a.write(w)
}

// nextID draws an id of Stripe's form: a prefix, an underscore and 24 characters.
func (s *Server) nextID(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nextIDLocked(prefix)
}

func (s *Server) nextIDLocked(prefix string) string {
	s.serial++
	return fmt.Sprintf("%s_3Standin%016d", prefix, s.serial)
}
