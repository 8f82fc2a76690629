package stripe

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intenttest"
)

// The real charge function at the stand-in: the reply to its first request is lost while the charge is
// processing; the money moves; a later delivery takes the intent over, is replayed "processing" and
// looks. That is one charge, and every kind of request the function makes: stripe-mock checks each by
// Stripe's own OpenAPI description.
func TestChargeFunction(t *testing.T) {
	mock := stripeOpenAPI(t).mock
	s := New(Config{Fault: func(r Request) Fault { return Fault{Processing: true, Drop: r.Arrival == 1} }})
	seen := &recorder{next: s}
	api := httptest.NewServer(seen)
	defer api.Close()

	db := intenttest.Engine(t)
	users := intenttest.Table(t, db, "user_id")
	if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &users, Item: map[string]types.AttributeValue{
		"user_id":               &types.AttributeValueMemberS{Value: "7"},
		"stripe_customer":       &types.AttributeValueMemberS{Value: "cus_7"},
		"stripe_payment_method": &types.AttributeValueMemberS{Value: "pm_card_visa"},
	}}); err != nil {
		t.Fatal(err)
	}
	f := run(t, "./functions/charge", 2*time.Second,
		"SCOPE=test", "INTENT_TABLE="+intenttest.Table(t, db, "intent"), "USERS_TABLE="+users,
		"QUEUE_URL=http://127.0.0.1:1/once-charge", "DEAD_LETTER_QUEUE_URL=http://127.0.0.1:1/once-charge-dead",
		"LEASE_MARGIN_SECONDS=1", "RETENTION_DAYS=90", "PROVIDER_WINDOW_HOURS=24",
		"STRIPE_API_KEY=sk_test_standin", "STRIPE_API_BASE="+api.URL,
		"AWS_ENDPOINT_URL_DYNAMODB="+*db.Options().BaseEndpoint, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test")
	event, err := os.ReadFile(root + "/events/charge-first-delivery.json")
	if err != nil {
		t.Fatal(err)
	}

	if response := f.invoke(t, string(event)); !strings.Contains(response, "itemIdentifier") {
		t.Errorf("the first delivery, whose reply was lost: got %s, want it listed", response)
	}
	if got := s.Settle(); got != 1 {
		t.Fatalf("settled %d, want 1", got)
	}
	// Redeliver until the lease of the first delivery has lapsed.
	for strings.Contains(f.invoke(t, string(event)), "itemIdentifier") {
	}
	wantCharges(t, s, 1)
	if charges := s.Charges(); len(charges) == 1 && (charges[0].Amount != 4999 || charges[0].Customer != "cus_7") {
		t.Errorf("charged %+v, want 4999 of cus_7", charges[0])
	}

	methods := map[string]int{}
	for i, r := range seen.requests {
		methods[r.Method]++
		checked := httptest.NewRecorder()
		mock.ServeHTTP(checked, r)
		if checked.Code != http.StatusOK {
			t.Errorf("stripe-mock on request %d, %s %s: %d %s", i, r.Method, r.URL.Path, checked.Code, checked.Body)
		}
	}
	if methods[http.MethodPost] != 2 || methods[http.MethodGet] != 1 {
		t.Errorf("recorded %v, want two POSTs and a GET", methods)
	}
	for _, secret := range []string{"sk_test_standin", "cus_7", "pm_card_visa", "_secret_"} {
		if strings.Contains(f.log.String(), secret) {
			t.Errorf("the function's log tells %q:\n%s", secret, f.log.String())
		}
	}
}
