package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
	"github.com/singleeffect/once/shared/secret"
)

const apiKey = "sk_test_of_the_tests"

var lesson = []byte(`{"idempotency_key":"order-8821-charge","user_id":"7","amount_cents":4999,"currency":"usd"}`)

// charging is a Keyed charge at a scripted Stripe, of a user whose card is on file.
func charging(store intent.Store, p *provider) *intent.Keyed[order] {
	visa := func(context.Context, string) (payer, bool, error) { return payer{"cus_7", "pm_card_visa"}, true, nil }
	return chargingOf(store, p, visa)
}

func chargingOf(store intent.Store, p *provider, user func(context.Context, string) (payer, bool, error)) *intent.Keyed[order] {
	return keyedOf(store, charger{user: user, pay: newStripe(fixed(apiKey), p.url, newTransport()).pay})
}

func keyedOf(store intent.Store, c charger) *intent.Keyed[order] {
	return &intent.Keyed[order]{
		Config: intent.Config{Scope: "test", Operation: operation, Store: store},
		Window: stripeWindow,
		Effect: c.charge,
	}
}

// fixed is an API key that stays.
func fixed(key string) *secret.Secret {
	s, err := secret.Fixed(key, apiKeyConfig("STRIPE_API_KEY"))
	if err != nil {
		panic(err) // a mistake of the test's
	}
	return s
}

func delivery(t *testing.T, body []byte) intent.Delivery {
	t.Helper()
	return intenttest.Delivery(t, "order-8821-charge", body)
}

// lapsed leaves the record of an attempt that nobody heard of again, an hour ago.
func lapsed(t *testing.T, m *memory) {
	t.Helper()
	d := delivery(t, lesson)
	key := intent.Key{Scope: "test", Operation: operation, ID: d.Key}
	ago := time.Now().Add(-time.Hour)
	m.records[key.String()] = intent.Record{
		Intent: key.String(), State: intent.StateClaimed, Owner: "earlier", Attempt: 1,
		ClaimedAt: ago, LeaseUntil: ago.Add(time.Minute), Fingerprint: d.Fingerprint,
	}
}

// Each answer of Stripe's, by what becomes of the intent's record: in a first attempt, and in one that
// takes over from an attempt that may have charged.
func TestAnswers(t *testing.T) {
	const (
		completed = intent.StateCompleted
		refused   = intent.StateRefused
		released  = intent.StateReleased
		unknown   = intent.StateClaimed // left to lapse
	)
	hangUp := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	tests := []struct {
		name        string
		reply       reply
		first, next intent.State
		result      string
	}{
		{"succeeded", paymentIntent("succeeded"), completed, completed, `{"payment_intent":"pi_1","latest_charge":"ch_1"}`},
		{"succeeded, replayed", paymentIntent("succeeded").again(), completed, completed, `{"payment_intent":"pi_1","latest_charge":"ch_1"}`},

		{"card declined", failure(402, "card_error", "card_declined", declinedIntent), refused, refused, `{"reason":"card_error","code":"card_declined","decline_code":"insufficient_funds","payment_intent":"pi_1"}`},
		{"authentication required", failure(402, "card_error", "authentication_required", ""), refused, refused, `{"reason":"card_error","code":"authentication_required"}`},
		{"requires_payment_method", paymentIntent("requires_payment_method"), refused, refused, `{"reason":"requires_payment_method","payment_intent":"pi_1"}`},
		{"requires_action", paymentIntent("requires_action"), refused, refused, `{"reason":"requires_action","payment_intent":"pi_1"}`},
		{"canceled", paymentIntent("canceled"), refused, refused, `{"reason":"canceled","payment_intent":"pi_1"}`},

		{"400 of the amount", failure(400, "invalid_request_error", "amount_too_small", `, "param": "amount"`), refused, unknown, `{"reason":"invalid_request","code":"amount_too_small","param":"amount"}`},
		{"400 of the amount, replayed", failure(400, "invalid_request_error", "amount_too_large", `, "param": "amount"`).again(), refused, refused, `{"reason":"invalid_request","code":"amount_too_large","param":"amount"}`},
		{"400, of our making", failure(400, "invalid_request_error", "parameter_unknown", `, "param": "colour"`), released, unknown, ""},
		{"400, of our making, replayed", failure(400, "invalid_request_error", "parameter_missing", `, "param": "currency"`).again(), released, released, ""},
		// C57: keys of the wrong mode or account, API versions, and what nobody has classified.
		{"no such customer", failure(400, "invalid_request_error", "resource_missing", `, "param": "customer"`), released, unknown, ""},
		{"no such customer, replayed", failure(400, "invalid_request_error", "resource_missing", `, "param": "customer"`).again(), released, released, ""},
		{"a similar object exists in live mode", wrongMode, released, unknown, ""},
		{"livemode mismatch", failure(400, "invalid_request_error", "livemode_mismatch", ""), released, unknown, ""},
		{"no code", failure(400, "invalid_request_error", "", ""), released, unknown, ""},
		{"a code of the future", failure(400, "invalid_request_error", "moon_phase_mismatch", ""), released, unknown, ""},
		{"a card error of the future", failure(402, "card_error", "moon_phase_mismatch", ""), released, released, ""},
		{"a live card and a test key", failure(402, "card_error", "card_declined", `, "decline_code": "test_mode_live_card"`), released, released, ""},
		{"404, of a wrong address", failure(404, "invalid_request_error", "", ""), released, unknown, ""},
		{"402 of another type", failure(402, "invalid_request_error", "balance_insufficient", ""), released, released, ""},

		{"401", failure(401, "invalid_request_error", "", ""), released, released, ""},
		{"403", failure(403, "invalid_request_error", "", ""), released, released, ""},
		{"429 rate limit", failure(429, "invalid_request_error", "rate_limit", ""), released, released, ""},
		{"429 lock timeout", failure(429, "invalid_request_error", "lock_timeout", ""), released, released, ""},

		{"processing", paymentIntent("processing"), unknown, unknown, ""},
		{"requires_confirmation", paymentIntent("requires_confirmation"), unknown, unknown, ""},
		{"requires_capture", paymentIntent("requires_capture"), unknown, unknown, ""},
		{"a status of the future", paymentIntent("thawing"), unknown, unknown, ""},
		{"no payment intent", reply{status: 200, body: `{}`}, unknown, unknown, ""},
		{"idempotency error", failure(400, "idempotency_error", "", ""), unknown, unknown, ""},
		{"409 in flight", failure(409, "invalid_request_error", "idempotency_key_in_use", ""), unknown, unknown, ""},
		{"409 of any type", failure(409, "card_error", "card_declined", ""), unknown, unknown, ""},
		{"400 of Stripe's own making", failure(400, "api_error", "", ""), unknown, unknown, ""},
		{"400 of a type of the future", failure(400, "lunar_error", "amount_too_small", ""), unknown, unknown, ""},
		{"404 of a proxy", reply{status: 404, body: "<html>cus_7</html>"}, unknown, unknown, ""},
		{"408 of a proxy", failure(408, "invalid_request_error", "", ""), unknown, unknown, ""},
		{"424", failure(424, "invalid_request_error", "", ""), unknown, unknown, ""},
		{"500", failure(500, "api_error", "", ""), unknown, unknown, ""},
		{"500 replayed", failure(500, "api_error", "", "").again(), unknown, unknown, ""},
		{"503 of a proxy", reply{status: 503, body: "<html>cus_7</html>"}, unknown, unknown, ""},
		{"429 of a proxy", reply{status: 429, body: "<html>cus_7</html>"}, unknown, unknown, ""},
		{"not JSON", reply{status: 200, body: "pi_1_secret_x"}, unknown, unknown, ""},
		{"hung up", reply{does: hangUp}, unknown, unknown, ""},
	}
	for _, tt := range tests {
		for attempt, want := range map[string]intent.State{"first attempt": tt.first, "after an attempt that may have charged": tt.next} {
			t.Run(tt.name+"/"+attempt, func(t *testing.T) {
				store, p := newMemory(), newProvider(t, tt.reply)
				takeover := attempt != "first attempt"
				if takeover {
					lapsed(t, store)
				}
				out, err := charging(store, p).Deliver(context.Background(), delivery(t, lesson))
				record := store.records["test#charge#order-8821-charge"]

				if record.State != want {
					t.Fatalf("record: got %s, want %s (outcome %+v, error %v)", record.State, want, out, err)
				}
				if want.Final() {
					if got := string(out.Result.JSON); got != tt.result {
						t.Errorf("result: got %s, want %s", got, tt.result)
					}
				} else if err == nil {
					t.Error("no error for a message that must come again")
				}
				if stands := !record.ClaimedAt.IsZero(); stands != (takeover || want != released) {
					t.Errorf("window counts from a claim: got %v", stands)
				}
				if got := len(p.requests()); got != 1 {
					t.Errorf("requests to Stripe: got %d, want 1", got)
				}
				checkSilence(t, fmt.Sprint(err)+record.Reason)
			})
		}
	}
}

// checkSilence fails if what may be logged or stored says what it must not.
func checkSilence(t *testing.T, text string) {
	t.Helper()
	for _, secret := range []string{apiKey, "secret", "cus_7", "pm_card_visa", "4999"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q tells %q", text, secret)
		}
	}
}

// A replayed answer never changes: one that was processing would stay unknown to the end of the window.
func TestReplayedProcessingIsLookedUp(t *testing.T) {
	tests := []struct {
		name string
		now  reply
		want intent.State
	}{
		{"succeeded since", paymentIntent("succeeded"), intent.StateCompleted},
		{"failed since", paymentIntent("requires_payment_method"), intent.StateRefused},
		{"processing still", paymentIntent("processing"), intent.StateClaimed},
		{"429 on the look", failure(429, "invalid_request_error", "rate_limit", ""), intent.StateClaimed},
		{"404 on the look", failure(404, "invalid_request_error", "resource_missing", ""), intent.StateClaimed},
		{"400 on the look", failure(400, "invalid_request_error", "", "").again(), intent.StateClaimed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store, p := newMemory(), newProvider(t, paymentIntent("processing").again(), tt.now)
			lapsed(t, store)
			out, err := charging(store, p).Deliver(context.Background(), delivery(t, lesson))
			if got := store.records["test#charge#order-8821-charge"].State; got != tt.want {
				t.Errorf("record: got %s, want %s (outcome %+v, error %v)", got, tt.want, out, err)
			}
			if got := p.requests(); len(got) != 2 || got[1].method != http.MethodGet || got[1].path != "/v1/payment_intents/pi_1" {
				t.Errorf("requests: got %+v, want a POST and a GET of pi_1", got)
			}
		})
	}
}

// The context ends while Stripe has the request: the claim stays, to lapse.
func TestCutOff(t *testing.T) {
	ctx, cut := context.WithCancel(context.Background())
	defer cut()
	store := newMemory()
	p := newProvider(t, reply{does: func(_ http.ResponseWriter, r *http.Request) {
		cut()
		<-r.Context().Done()
	}})
	_, err := charging(store, p).Deliver(ctx, delivery(t, lesson))
	if got := store.records["test#charge#order-8821-charge"].State; err == nil || got != intent.StateClaimed {
		t.Errorf("got record %s and error %v, want it claimed, and an error", got, err)
	}
	checkSilence(t, fmt.Sprint(err))
}
