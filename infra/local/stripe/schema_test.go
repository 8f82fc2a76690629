package stripe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	stripego "github.com/stripe/stripe-go/v83"
	"github.com/stripe/stripe-mock/embedded"
	"github.com/stripe/stripe-mock/server"
	"github.com/stripe/stripe-mock/spec"
)

// openAPI is Stripe's own description of its API, and stripe-mock, which checks requests by it.
type openAPI struct {
	description *spec.Spec
	mock        http.Handler
}

// loadOpenAPI takes seconds under -race, so it is done once.
var loadOpenAPI = sync.OnceValues(func() (openAPI, error) {
	description, err := server.LoadSpec(embedded.OpenAPISpec, "")
	if err != nil {
		return openAPI{}, err
	}
	fixtures, err := server.LoadFixtures(embedded.OpenAPIFixtures, "")
	if err != nil {
		return openAPI{}, err
	}
	mock, err := server.NewStubServer(fixtures, description, false, false)
	if err != nil {
		return openAPI{}, err
	}
	return openAPI{description, http.HandlerFunc(mock.HandleRequest)}, nil
})

func stripeOpenAPI(t *testing.T) openAPI {
	t.Helper()
	api, err := loadOpenAPI()
	if err != nil {
		t.Fatalf("load Stripe's OpenAPI: %v", err)
	}
	return api
}

// recorder keeps what passes between a client and the stand-in.
type recorder struct {
	next http.Handler

	mu       sync.Mutex
	requests []*http.Request // with their bodies back in place
	replies  []*httptest.ResponseRecorder
}

func (c *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	kept := r.Clone(context.Background())
	kept.Body = io.NopCloser(bytes.NewReader(body))
	reply := httptest.NewRecorder()
	defer func() { // also of what is dropped
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests, c.replies = append(c.requests, kept), append(c.replies, reply)
	}()
	c.next.ServeHTTP(reply, r)
	for name, values := range reply.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(reply.Code)
	_, _ = w.Write(reply.Body.Bytes())
}

// Every reply of the stand-in has only fields that Stripe's objects have, of the types they have there,
// and all the required ones; and stripe-mock takes every request of these tests that the stand-in took.
func TestRepliesAreOfStripesSchema(t *testing.T) {
	api := stripeOpenAPI(t)
	s := New(Config{Fault: func(r Request) Fault { return Fault{Processing: r.Key == "processing"} }})
	seen := &recorder{next: s}
	client := clientOf(t, seen, "sk_test_standin")

	paid := create(t, client, order("paid"))
	create(t, client, order("paid"))
	create(t, client, order("processing"))
	for _, pm := range []string{"pm_card_visa_chargeDeclined", "pm_card_authenticationRequired"} {
		createFails(t, client, with(order(pm), func(p *stripego.PaymentIntentCreateParams) { p.PaymentMethod = &pm }))
	}
	createFails(t, client, with(order("paid"), func(p *stripego.PaymentIntentCreateParams) { p.Amount = stripego.Int64(1) }))
	if _, err := client.V1PaymentIntents.Retrieve(context.Background(), paid.ID, nil); err != nil {
		t.Fatal(err)
	}

	for i, reply := range seen.replies {
		object := "payment_intent"
		if reply.Code >= 400 {
			object = "error"
		}
		var got map[string]any
		if err := json.Unmarshal(reply.Body.Bytes(), &got); err != nil {
			t.Fatalf("reply %d: %v", i, err)
		}
		checkObject(t, api.description, object, got)

		checked := httptest.NewRecorder()
		api.mock.ServeHTTP(checked, seen.requests[i])
		if checked.Code != http.StatusOK {
			t.Errorf("stripe-mock on request %d: %d %s", i, checked.Code, checked.Body)
		}
	}
	if len(seen.replies) != 7 {
		t.Errorf("recorded %d replies, want 7", len(seen.replies))
	}
}

// checkObject compares an object with Stripe's schema of that name.
func checkObject(t *testing.T, description *spec.Spec, name string, got map[string]any) {
	t.Helper()
	schema := description.Components.Schemas[name]
	for _, required := range schema.Required {
		if _, ok := got[required]; !ok {
			t.Errorf("%s: lacks %s", name, required)
		}
	}
	for field, value := range got {
		property, ok := schema.Properties[field]
		if !ok {
			t.Errorf("%s: Stripe has no field %s", name, field)
			continue
		}
		if len(property.Enum) > 0 && !slices.Contains(property.Enum, value) {
			t.Errorf("%s.%s: %v is none of %v", name, field, value, property.Enum)
		}
		switch nested := map[string]string{"error": "api_errors", "payment_intent": "payment_intent", "last_payment_error": "api_errors"}[field]; {
		case value == nil:
			if !property.Nullable {
				t.Errorf("%s.%s: is null, Stripe's never is", name, field)
			}
		case nested != "":
			checkObject(t, description, nested, value.(map[string]any))
		case property.Type != "" && property.Type != jsonType(value):
			t.Errorf("%s.%s: is %s, Stripe's is %s", name, field, jsonType(value), property.Type)
		}
	}
}

func jsonType(value any) string {
	switch v := value.(type) {
	case string:
		return spec.TypeString
	case bool:
		return spec.TypeBoolean
	case float64:
		if v == float64(int64(v)) {
			return spec.TypeInteger
		}
		return spec.TypeNumber
	case []any:
		return spec.TypeArray
	default:
		return spec.TypeObject
	}
}

// The check above can fail: stripe-mock turns away what Stripe does not have.
func TestStripeMockTurnsAwayUnknownParameters(t *testing.T) {
	mock := stripeOpenAPI(t).mock
	client := clientOf(t, mock, "sk_test_standin")
	_, err := client.V1PaymentIntents.Create(context.Background(),
		with(order("key-1"), func(p *stripego.PaymentIntentCreateParams) { p.AddExtra("colour", "green") }))
	var failed *stripego.Error
	if !errors.As(err, &failed) || failed.HTTPStatusCode != http.StatusBadRequest {
		t.Errorf("got %v, want a 400", err)
	}
}
