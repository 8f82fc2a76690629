package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/calls"
	"github.com/singleeffect/once/shared/secret"
)

const newKey = "sk_test_of_tomorrow"

// rotation is a warm process whose API key is rotated at Stripe: the old one is no longer good there.
type rotation struct {
	manager *manager
	stripe  *provider
	key     *secret.Secret
	now     time.Time
	charge  func(intent.Store) *intent.Keyed[order]
}

func newRotation(t *testing.T) *rotation {
	t.Helper()
	r := &rotation{manager: newManager(t, apiKey), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	r.stripe = newProvider(t, reply{does: func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Authorization") != "Bearer "+newKey {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(failure(401, "invalid_request_error", "api_key_expired", "").body))
			return
		}
		_, _ = w.Write([]byte(paymentIntent("succeeded").body))
	}})
	client := secretsmanager.NewFromConfig(calls.Config(aws.Config{
		Region: "us-east-1", BaseEndpoint: &r.manager.url, Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	}))
	config := apiKeyConfig("STRIPE_SECRET_ARN")
	config.Now = func() time.Time { return r.now }
	var err error
	if r.key, err = secret.Read(t.Context(), client, arn, config); err != nil {
		t.Fatal(err)
	}
	api := newStripe(r.key, r.stripe.url, newTransport())
	visa := func(context.Context, string) (payer, bool, error) { return payer{"cus_7", "pm_card_visa"}, true, nil }
	r.charge = func(s intent.Store) *intent.Keyed[order] { return keyedOf(s, charger{user: visa, pay: api.pay}) }
	return r
}

// want delivers the lesson's charge and checks what becomes of it, and how often Stripe and Secrets Manager have been asked so far.
func (r *rotation) want(t *testing.T, store *memory, state intent.State, requests, reads int) error {
	t.Helper()
	_, err := r.charge(store).Deliver(t.Context(), delivery(t, lesson))
	if got := store.records["test#charge#order-8821-charge"].State; got != state {
		t.Errorf("record: got %s (error %v), want %s", got, err, state)
	}
	if got := len(r.stripe.requests()); got != requests {
		t.Errorf("requests to Stripe: got %d, want %d", got, requests)
	}
	if got := r.manager.reads(); got != reads {
		t.Errorf("reads of the secret: got %d, want %d", got, reads)
	}
	checkSilence(t, strings.ReplaceAll(fmt.Sprint(err), "the secret", "the text")) // which an error may speak of
	return err
}

// C60: the attempt is made again with the new key, under the same downstream key. So is one that takes over from an attempt that
// may have charged.
func TestRotatedKey(t *testing.T) {
	for name, prepare := range map[string]func(*testing.T, *memory){"first attempt": func(*testing.T, *memory) {}, "takeover": lapsed} {
		t.Run(name, func(t *testing.T) {
			r, store := newRotation(t), newMemory()
			prepare(t, store)
			r.manager.rotate(newKey)
			_ = r.want(t, store, intent.StateCompleted, 2, 2)
			q := r.stripe.requests()
			if len(q) != 2 {
				t.FailNow()
			}
			if q[0].body != q[1].body || q[0].header.Get("Idempotency-Key") != q[1].header.Get("Idempotency-Key") || q[1].header.Get("Idempotency-Key") == "" {
				t.Errorf("got %+v, then %+v, want the same request under the same key", q[0], q[1])
			}
			_ = r.want(t, newMemory(), intent.StateCompleted, 3, 2) // the next one goes by the new key at once
		})
	}
}

// C60: the effects of one process share one read, and each charges once.
func TestRotatedKeyOfManyEffects(t *testing.T) {
	const many = 20
	r, store := newRotation(t), newMemory()
	r.manager.rotate(newKey)
	handler := r.charge(store)
	var running sync.WaitGroup
	for n := range many {
		running.Go(func() {
			d := delivery(t, lesson)
			d.Key = fmt.Sprint("order-", n)
			if out, err := handler.Deliver(t.Context(), d); out.Kind != intent.Executed || err != nil {
				t.Errorf("%s: got %s and error %v", d.Key, out.Kind, err)
			}
		})
	}
	running.Wait()
	charged := map[string]int{}
	for _, q := range r.stripe.requests() {
		if q.header.Get("Authorization") == "Bearer "+newKey {
			charged[q.header.Get("Idempotency-Key")]++
		}
	}
	if len(charged) != many || len(r.stripe.requests()) > 2*many || r.manager.reads() != 2 {
		t.Errorf("got %d charges in %d requests after %d reads, want %d in twice as many at most, and 2 reads", len(charged), len(r.stripe.requests()), r.manager.reads(), many)
	}
}

// C60: a key that is revoked before its successor is stored is not applied, and the secret is read again once a minute.
func TestRevokedKey(t *testing.T) {
	r, store := newRotation(t), newMemory()
	for n := range 3 {
		if err := r.want(t, store, intent.StateReleased, n+1, 2); !errors.Is(err, intent.ErrReleased) {
			t.Errorf("got %v, want it released", err)
		}
	}
	r.manager.rotate("sk_test_of_yesterday") // which is not good either: it is tried once
	r.now = r.now.Add(secret.RenewInterval)
	_ = r.want(t, store, intent.StateReleased, 5, 3)
	r.manager.rotate(newKey)
	r.now = r.now.Add(secret.RenewInterval)
	_ = r.want(t, store, intent.StateCompleted, 7, 4)
}

// C60: a read that fails changes nothing, and the log says why it failed.
func TestUnreadableSuccessor(t *testing.T) {
	for name, text := range map[string]string{"denied": "", "a JSON object": `{"key":"sk_test_c4n4ry"}`} {
		t.Run(name, func(t *testing.T) {
			r, store := newRotation(t), newMemory()
			r.manager.rotate(text)
			err := r.want(t, store, intent.StateReleased, 1, 2)
			if err == nil || !strings.Contains(err.Error(), "stripe answered 401") || !strings.Contains(err.Error(), "STRIPE_SECRET_ARN: the secret") || strings.Contains(err.Error(), "4ry") {
				t.Errorf("got %v, want both errors, without the secret", err)
			}
			if got := r.key.Get(); got != apiKey {
				t.Errorf("got %s, want the old key in use", got)
			}
		})
	}
}
