package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
	"github.com/singleeffect/once/shared/secret"
)

// Each character that borders on those of a key, or of a currency, is outside.
func TestCharactersOfAKey(t *testing.T) {
	for key, says := range map[string]string{
		"sk_test_azAZ09_": "", "rk_live_a": "",
		"sk_a/": "more than letters", "sk_a:": "more than letters", "sk_a@": "more than letters", "sk_a[": "more than letters",
		"sk_a^": "more than letters", "sk_a`": "more than letters", "sk_a{": "more than letters", "sk_a-": "more than letters",
		"sk_": "begins neither", "rk": "begins neither", "ak_live_a": "begins neither", "pk_live_a": "publishable",
	} {
		_, err := secret.Fixed(key, apiKeyConfig("STRIPE_API_KEY"))
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got error %v, want %q", key, err, says)
		}
	}
}

func TestCharactersOfACurrency(t *testing.T) {
	for currency, ok := range map[string]bool{"aaz": true, "zza": true, "us`": false, "us{": false, "`us": false, "{us": false} {
		_, err := intent.Decode[order](intenttest.Payload(t, `{"user_id":"7","amount_cents":1,"currency":"`+currency+`"}`))
		var at *intent.PayloadError
		if ok != (err == nil) || !ok && (!errors.As(err, &at) || at.Field != "currency") {
			t.Errorf("%s: got error %v", currency, err)
		}
	}
}

// A key that Stripe takes is not read again, though another one is stored already.
func TestGoodKeyIsNotReadAgain(t *testing.T) {
	r := newRotation(t)
	r.stripe.answer(paymentIntent("succeeded"))
	r.manager.rotate(newKey)
	if err := r.want(t, newMemory(), intent.StateCompleted, 1, 1); err != nil {
		t.Error(err)
	}
	r.stripe.answer(failure(429, "invalid_request_error", "rate_limit", ""))
	_ = r.want(t, newMemory(), intent.StateReleased, 2, 1)
}
