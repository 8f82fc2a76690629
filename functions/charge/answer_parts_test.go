package main

import (
	"net/http"
	"testing"

	"github.com/singleeffect/once/shared/intent"
)

// What Stripe leaves out of an answer, or tells more than it must, changes no verdict.
func TestPartsOfAnAnswer(t *testing.T) {
	intentWith := func(rest string) reply {
		return reply{status: http.StatusOK, body: `{"id": "pi_1", "object": "payment_intent", "client_secret": "pi_1_secret_x"` + rest + `}`}
	}
	for name, tt := range map[string]struct {
		reply  reply
		want   intent.State
		result string
	}{
		"succeeded, no charge named": {intentWith(`, "status": "succeeded"`), intent.StateCompleted, `{"payment_intent":"pi_1","latest_charge":""}`},
		"its last error is told": {intentWith(`, "status": "requires_payment_method", "last_payment_error": {"type": "card_error", "code": "card_declined", "decline_code": "lost_card"}`),
			intent.StateRefused, `{"reason":"requires_payment_method","code":"card_declined","decline_code":"lost_card","payment_intent":"pi_1"}`},
		"its payment has no status": {failure(402, "card_error", "card_declined", `, "payment_intent": {"id": "pi_1", "object": "payment_intent"}`),
			intent.StateRefused, `{"reason":"card_error","code":"card_declined","payment_intent":"pi_1"}`},
		"its payment has another status": {failure(402, "card_error", "card_declined", `, "payment_intent": {"id": "pi_1", "object": "payment_intent", "status": "processing"}`),
			intent.StateClaimed, ""},
	} {
		store, p := newMemory(), newProvider(t, tt.reply)
		out, err := charging(store, p).Deliver(t.Context(), delivery(t, lesson))
		record := store.records["test#charge#order-8821-charge"]
		if record.State != tt.want || string(out.Result.JSON) != tt.result {
			t.Errorf("%s: got %s with %s and error %v, want %s with %s", name, record.State, out.Result.JSON, err, tt.want, tt.result)
		}
	}
}

// C60: the key is rotated while an intent takes over, and the new key replays an answer that was not the end: how the payment
// stands now is asked with the new key.
func TestRotatedKeyReplaysAnOldAnswer(t *testing.T) {
	r, store := newRotation(t), newMemory()
	lapsed(t, store)
	r.manager.rotate(newKey)
	r.stripe.answer(failure(401, "invalid_request_error", "api_key_expired", ""), paymentIntent("processing").again(), paymentIntent("succeeded"))
	if err := r.want(t, store, intent.StateCompleted, 3, 2); err != nil {
		t.Error(err)
	}
	for i, key := range []string{apiKey, newKey, newKey} {
		if got := r.stripe.requests()[i].header.Get("Authorization"); got != "Bearer "+key {
			t.Errorf("request %d: got %s, want the key %s", i, got, key)
		}
	}
}

// C60: a 401 that nothing mends is Stripe's word on this request, also after an attempt that may have charged: the claim is
// given back, and the provider's window still counts from that attempt.
func TestUnreadableSuccessorInATakeover(t *testing.T) {
	r, store := newRotation(t), newMemory()
	lapsed(t, store)
	r.manager.rotate("")
	_ = r.want(t, store, intent.StateReleased, 1, 2)
	if record := store.records["test#charge#order-8821-charge"]; record.ClaimedAt.IsZero() {
		t.Error("the window counts from nothing, want it to count from the attempt that may have charged")
	}
}

// A client is made of some hundred services: one is kept for as long as its key is good. A connection is kept no longer than
// Stripe keeps it.
func TestWhatIsKept(t *testing.T) {
	api := newStripe(fixed(apiKey), "", newTransport())
	first := api.client(apiKey)
	if api.client(apiKey) != first {
		t.Error("the same key has another client")
	}
	if api.client(newKey) == first {
		t.Error("another key has the same client")
	}
	if got := newTransport().IdleConnTimeout; got != stripeIdle {
		t.Errorf("connections are kept for %v, want %v", got, stripeIdle)
	}
}
