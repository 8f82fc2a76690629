// Package ses stands in for Amazon SES, as far as sending one simple e-mail needs it, on this machine.
//
// What it promises: POST /v2/email/outbound-emails, SendEmail of the SES API v2, sends an e-mail each
// time that it is asked to, and counts it, so that a test or a demo counts e-mails at the far side and
// not by a sender's own word. Like SES it knows no idempotency keys: a request that comes twice is two
// e-mails. What it does not: it checks no signature, takes every sender for verified, knows neither
// templates nor raw messages, and delivers to nobody.
//
// An emulator that can be asked for what was sent (kumo) keeps it for a whole process and listens where
// it likes; two systems that are compared side by side need a far side each. The tests compare the two.
//
// Source: https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html.
package ses

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// Config says how a Server behaves. The zero value is an SES without faults.
type Config struct {
	// Throttle says whether one request is more than the account may make; it is called once for each.
	// Such a request is answered before anything in it is looked at, as SES does it: what is wrong with
	// it shows only when it comes again. Defaults to none.
	Throttle func() bool

	// Fault says how one request goes wrong; it is called once for each that can be read. Defaults to
	// no faults.
	Fault func(Email) Fault

	// AfterSend is called when an e-mail has left and nothing has been answered yet. It may block: what
	// happens to the caller meanwhile (it may be killed) does not call the e-mail back.
	AfterSend func(Email)
}

// Fault says how one request goes wrong. Its parts combine; the zero value is no fault.
type Fault struct {
	// Refuse answers with an error instead of sending.
	Refuse *Error

	// Drop closes the connection instead of replying, whatever the reply would have been.
	Drop bool
}

// Error is an answer of SES's that is not a success.
type Error struct {
	Status int // HTTP
	Code   string
	Text   string
}

// throttled is the answer to more requests than the account may make.
var throttled = &Error{http.StatusTooManyRequests, "TooManyRequestsException", "Maximum sending rate exceeded."}

// Rejected is the answer to an e-mail from an identity that SES has not verified.
// Source: https://docs.aws.amazon.com/ses/latest/dg/troubleshoot-error-messages.html
var Rejected = &Error{http.StatusBadRequest, "MessageRejected", "Email address is not verified. The following identities failed the check in region US-EAST-1: shop@example.com"}

// Server is the stand-in, an http.Handler safe for concurrent use.
type Server struct {
	config Config
	mux    *http.ServeMux

	mu   sync.Mutex
	sent Emails
}

// New returns a stand-in that has sent nothing yet. Its address is for AWS_ENDPOINT_URL_SESV2.
func New(config Config) *Server {
	if config.Throttle == nil {
		config.Throttle = func() bool { return false }
	}
	if config.Fault == nil {
		config.Fault = func(Email) Fault { return Fault{} }
	}
	if config.AfterSend == nil {
		config.AfterSend = func(Email) {}
	}
	s := &Server{config: config, mux: http.NewServeMux()}
	s.mux.HandleFunc("POST /v2/email/outbound-emails", s.sendEmail)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		(&Error{http.StatusNotFound, "UnknownOperationException", "Nothing stands in for " + r.Method + " " + r.URL.Path}).write(w)
	})
	return s
}

// ServeHTTP answers one API request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Sent returns every e-mail sent so far, in their order; its length is their total.
func (s *Server) Sent() Emails {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

func (s *Server) sendEmail(w http.ResponseWriter, r *http.Request) {
	if s.config.Throttle() {
		throttled.write(w)
		return
	}
	email, refusal := read(r)
	var fault Fault
	if refusal == nil {
		fault = s.config.Fault(email)
		refusal = fault.Refuse
	}
	if refusal == nil {
		email = s.send(email)
		s.config.AfterSend(email)
	}
	switch {
	case fault.Drop:
		// net/http's own way to close a connection without a reply; it logs nothing for it.
		panic(http.ErrAbortHandler)
	case refusal != nil:
		refusal.write(w)
	default:
		answer(w, http.StatusOK, map[string]string{"MessageId": email.ID})
	}
}

// send gives the e-mail an id of SES's form, which depends on what was sent before alone.
func (s *Server) send(email Email) Email {
	s.mu.Lock()
	defer s.mu.Unlock()
	email.ID = fmt.Sprintf("0100000000000000-%08x-0000-4000-8000-000000000000-000000", len(s.sent)+1)
	s.sent = append(s.sent, email)
	return email
}

func (e *Error) write(w http.ResponseWriter) {
	w.Header().Set("X-Amzn-ErrorType", e.Code)
	answer(w, e.Status, map[string]string{"message": e.Text})
}

func answer(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-RequestId", "00000000-0000-4000-8000-000000000000")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only if nobody listens any more
}
