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

// C73: neither a message, nor a key, nor a user's name and address is told by the log, the metrics or a reason.
func TestCanaries(t *testing.T) {
	canary.Function{
		Name: operation, Keep: []string{"kind"},
		Tables: []memdb.Table{{Name: "users", Keys: []string{userIDAttribute}}, {Name: "emails", Keys: []string{emailIDAttribute}}},
		Rows: func(s *canary.Set) map[string][]map[string]types.AttributeValue {
			return map[string][]map[string]types.AttributeValue{"users": {{
				userIDAttribute:  &types.AttributeValueMemberS{Value: s.Text("7")},
				addressAttribute: &types.AttributeValueMemberS{Value: s.Exact("an address", "canary7@example.com")},
				nameAttribute:    &types.AttributeValueMemberS{Value: s.Text("Ada")},
			}}}
		},
		Environment: func(*canary.Set) map[string]string {
			return map[string]string{"USERS_TABLE": "users", "EMAILS_TABLE": "emails", "EMAIL_FROM": "shop@example.com"}
		},
		Services: map[string]http.HandlerFunc{"AWS_ENDPOINT_URL_SESV2": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"MessageId": "mail-1"}`))
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
