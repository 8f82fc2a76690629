package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// reply is one scripted answer of Stripe's, in its schema.
type reply struct {
	status   int
	body     string
	replayed bool                                         // Idempotent-Replayed: true
	after    string                                       // Retry-After
	does     func(w http.ResponseWriter, r *http.Request) // instead of the above
}

// sent is one request as it reached the provider.
type sent struct {
	method, path, body string
	header             http.Header
}

// provider plays Stripe by a script: one reply a request, the last one again once the script is over.
type provider struct {
	url    string
	mu     sync.Mutex
	script []reply
	sent   []sent
}

func newProvider(t *testing.T, script ...reply) *provider {
	t.Helper()
	p := &provider{script: script}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	p.url = s.URL
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.sent = append(p.sent, sent{r.Method, r.URL.Path, string(body), r.Header.Clone()})
	next := p.script[0]
	if len(p.script) > 1 {
		p.script = p.script[1:]
	}
	p.mu.Unlock()
	if next.does != nil {
		next.does(w, r)
		return
	}
	w.Header().Set("Request-Id", "req_1")
	if next.replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	if next.after != "" {
		w.Header().Set("Retry-After", next.after)
	}
	w.WriteHeader(next.status)
	_, _ = io.WriteString(w, next.body)
}

// answer is another script from now on.
func (p *provider) answer(script ...reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.script = script
}

func (p *provider) requests() []sent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent
}

// Replies of Stripe's.

func paymentIntent(status string) reply {
	return reply{status: http.StatusOK, body: `{"id": "pi_1", "object": "payment_intent", "amount": 4999, "currency": "usd",
		"client_secret": "pi_1_secret_x", "customer": "cus_7", "payment_method": "pm_card_visa", "latest_charge": "ch_1", "status": "` + status + `"}`}
}

func failure(status int, kind, code, rest string) reply {
	return reply{status: status, body: `{"error": {"type": "` + kind + `", "code": "` + code + `", "message": "about cus_7"` + rest + `}}`}
}

func (r reply) again() reply { r.replayed = true; return r }

const declinedIntent = `, "decline_code": "insufficient_funds", "charge": "ch_1", "payment_intent": {"id": "pi_1", "object": "payment_intent",
	"client_secret": "pi_1_secret_x", "status": "requires_payment_method"}`

// wrongMode is what Stripe says of a customer of the other mode.
var wrongMode = reply{status: http.StatusBadRequest, body: `{"error": {"type": "invalid_request_error", "code": "resource_missing", "param": "customer",
	"message": "No such customer: 'cus_7'; a similar object exists in live mode, but a test mode key was used to make this request."}}`}
