package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// C71: what speaks of Stripe as a whole is told from what speaks of one charge, whatever the verdict on that charge; and for how long
// Stripe asks to be left alone.
func TestOutageC71(t *testing.T) {
	t.Parallel()
	down := httptest.NewServer(nil)
	down.Close()
	later := func(r reply, after string) reply { r.after = after; return r }
	limited, broken := failure(429, "invalid_request_error", "rate_limit", ""), failure(503, "api_error", "", "")
	for name, c := range map[string]struct {
		answer reply
		url    string
		asked  time.Duration // at most, and a minute less at the least
		whole  bool
	}{
		"nobody listens":                {answer: reply{}, url: down.URL, whole: true},
		"it breaks off":                 {answer: reply{does: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }}, whole: true},
		"a page of a proxy's":           {answer: reply{status: 502, body: "<html>"}, whole: true},
		"it fails":                      {answer: broken, whole: true},
		"it fails, and says how long":   {answer: later(broken, "420"), asked: 7 * time.Minute, whole: true},
		"until a date":                  {answer: later(broken, time.Now().Add(7*time.Minute).UTC().Format(http.TimeFormat)), asked: 7 * time.Minute, whole: true},
		"until a date gone by":          {answer: later(broken, time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)), whole: true},
		"and what it says is unclear":   {answer: later(broken, "-1"), whole: true},
		"it fails as it failed before":  {answer: broken.again()},
		"it limits":                     {answer: later(limited, "2"), asked: 2 * time.Second, whole: true},
		"somebody holds the customer":   {answer: later(failure(429, "invalid_request_error", "lock_timeout", ""), "2")},
		"the key is in use":             {answer: failure(409, "invalid_request_error", "idempotency_key_in_use", "")},
		"the API key is not good":       {answer: failure(401, "invalid_request_error", "", "")},
		"the customer is not there":     {answer: wrongMode},
		"the payment is not at its end": {answer: paymentIntent("processing")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, c.answer)
			if c.url != "" {
				p.url = c.url
			}
			_, err := charging(newMemory(), p).Deliver(context.Background(), delivery(t, lesson))
			if err == nil {
				t.Fatal("no error")
			}
			asked, whole := intent.AskedToWait(err)
			if whole != c.whole || asked > c.asked || asked < c.asked-time.Minute {
				t.Errorf("of the whole: %t, for %v, want %t and %v: %v", whole, asked, c.whole, c.asked, err)
			}
			checkSilence(t, err.Error())
		})
	}
}
