package main

import (
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intenttest/calls"
	"github.com/singleeffect/once/shared/intenttest/canary"
	"github.com/singleeffect/once/shared/intenttest/memdb"
)

// C73: neither a message, nor a key, nor a user's row, nor a secret is told by the log, the metrics or a reason.
func TestCanaries(t *testing.T) {
	canary.Function{
		Name: operation, Keep: []string{"currency"},
		Tables: []memdb.Table{{Name: "users", Keys: []string{userIDAttribute}}},
		Rows: func(s *canary.Set) map[string][]map[string]types.AttributeValue {
			return map[string][]map[string]types.AttributeValue{"users": {{
				userIDAttribute:        &types.AttributeValueMemberS{Value: s.Text("7")},
				customerAttribute:      &types.AttributeValueMemberS{Value: s.Exact("a customer", "cus_canary7")},
				paymentMethodAttribute: &types.AttributeValueMemberS{Value: s.Exact("a payment method", "pm_canary7")},
			}}}
		},
		Environment: func(s *canary.Set) map[string]string {
			return map[string]string{
				"USERS_TABLE": "users", "PROVIDER_WINDOW_HOURS": "24", "CLAIM": "batch", "STRIPE_SECRET_ARN": "",
				"STRIPE_API_KEY": s.Exact("Stripe's key", "sk_test_canary7Key"),
			}
		},
		Services: map[string]http.HandlerFunc{"STRIPE_API_BASE": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"id": "pi_1", "object": "payment_intent", "status": "succeeded", "latest_charge": "ch_1"}`))
		}},
		Wire: func(lookup func(string) (string, bool)) (lambda.Handler, error) {
			batch, err := wire(t.Context(), environment.NewVariables(calls.Lookup(lookup), calls.Record))
			if err != nil {
				return nil, err
			}
			return batch, nil
		},
	}.Test(t)
}
