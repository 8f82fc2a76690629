package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// reply is one scripted answer of SES's. The zero reply accepts the e-mail.
type reply struct {
	status     int
	code, text string // of an error
	body       string // instead of an error in SES's form
	sends      bool   // an error, but the e-mail is on its way

	// does runs once the e-mail is on its way, instead of the above.
	does func(w http.ResponseWriter, r *http.Request)
}

// sentMail is one e-mail that left.
type sentMail struct{ from, to, subject, text, tag string }

// fakeSES plays SES by a script: one reply a request, the last one again once the script is over. What
// left is counted here, at the far side.
type fakeSES struct {
	url      string
	mu       sync.Mutex
	script   []reply
	arrived  int
	mails    []sentMail
	incoming func() // a request has arrived, and nothing has left
}

func newFakeSES(t *testing.T, script ...reply) *fakeSES {
	t.Helper()
	p := &fakeSES{script: append(script, reply{})}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	p.url = s.URL
	return p
}

func (p *fakeSES) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		FromEmailAddress string
		Destination      struct{ ToAddresses []string }
		Content          struct {
			Simple struct {
				Subject struct{ Data string }
				Body    struct{ Text struct{ Data string } }
			}
		}
		EmailTags []struct{ Name, Value string }
	}
	err := json.NewDecoder(r.Body).Decode(&in)
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v2/email/outbound-emails" ||
		len(in.Destination.ToAddresses) != 1 || len(in.EmailTags) != 1 || in.EmailTags[0].Name != "intent" {
		http.Error(w, fmt.Sprintf("not an e-mail of ours: %v", err), http.StatusNotImplemented)
		return
	}
	if p.incoming != nil {
		p.incoming()
	}
	p.mu.Lock()
	p.arrived++
	next := p.script[0]
	if len(p.script) > 1 {
		p.script = p.script[1:]
	}
	if next.status == 0 || next.sends {
		p.mails = append(p.mails, sentMail{
			from: in.FromEmailAddress, to: in.Destination.ToAddresses[0],
			subject: in.Content.Simple.Subject.Data, text: in.Content.Simple.Body.Text.Data, tag: in.EmailTags[0].Value,
		})
	}
	id := fmt.Sprintf("mail-%d", len(p.mails))
	p.mu.Unlock()
	switch {
	case next.does != nil:
		next.does(w, r)
	case next.body != "":
		w.WriteHeader(next.status)
		_, _ = io.WriteString(w, next.body)
	case next.status != 0:
		w.Header().Set("X-Amzn-ErrorType", next.code)
		w.Header().Set("X-Amzn-RequestId", "request-1")
		w.WriteHeader(next.status)
		_, _ = fmt.Fprintf(w, `{"message":%q}`, next.text)
	default:
		_, _ = fmt.Fprintf(w, `{"MessageId":%q}`, id)
	}
}

// requests is how many have arrived.
func (p *fakeSES) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.arrived
}

func (p *fakeSES) sent() []sentMail {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.mails)
}

// wantSent compares the e-mails that left, by recipient.
func (p *fakeSES) wantSent(t *testing.T, what string, want map[string]int) {
	t.Helper()
	got := map[string]int{}
	for _, m := range p.sent() {
		got[m.to]++
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s: e-mails that left by recipient: got %v, want %v", what, got, want)
	}
}
