package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/naive/naivetest"
	"github.com/singleeffect/once/shared/intenttest"
)

// provider charges as Stripe does: once for each idempotency key.
type provider struct {
	mu      sync.Mutex
	charges map[string]url.Values // by key
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/payment_intents" || r.Header.Get("Authorization") != "Bearer sk_test_naive" {
		http.NotFound(w, r)
		return
	}
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.charges[r.Header.Get("Idempotency-Key")] = r.PostForm
	fmt.Fprint(w, `{"id":"pi_1","object":"payment_intent","status":"succeeded"}`)
}

func TestDeliveries(t *testing.T) {
	p := &provider{charges: map[string]url.Values{}}
	listening := httptest.NewServer(p)
	t.Cleanup(listening.Close)
	db := intenttest.Engine(t)
	users := intenttest.Table(t, db, "user_id")
	t.Setenv("USERS_TABLE", users)
	t.Setenv("STRIPE_API_BASE", listening.URL)
	t.Setenv("STRIPE_API_KEY", "sk_test_naive")
	if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &users, Item: map[string]types.AttributeValue{
		"user_id":               &types.AttributeValueMemberS{Value: "7"},
		"stripe_customer":       &types.AttributeValueMemberS{Value: "cus_7"},
		"stripe_payment_method": &types.AttributeValueMemberS{Value: "pm_card_visa"},
	}}); err != nil {
		t.Fatal(err)
	}
	naivetest.Deliveries(t, naivetest.Twin{
		DB:     db,
		Effect: charge(db),
		Message: func(key string) string {
			return fmt.Sprintf(`{"idempotency_key":%q,"user_id":"7","amount_cents":4999,"currency":"usd"}`, key)
		},
		Effects: func() int {
			p.mu.Lock()
			defer p.mu.Unlock()
			return len(p.charges)
		},
	})
	want := url.Values{
		"amount": {"4999"}, "currency": {"usd"}, "customer": {"cus_7"}, "payment_method": {"pm_card_visa"},
		"payment_method_types[0]": {"card"}, "confirm": {"true"}, "off_session": {"true"},
	}
	for key, got := range p.charges {
		if !maps.EqualFunc(got, want, func(a, b []string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
			t.Errorf("charge under %q: got %v, want %v", key, got, want)
		}
	}
}
