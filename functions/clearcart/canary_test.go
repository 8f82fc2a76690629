package main

import (
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intenttest/calls"
	"github.com/singleeffect/once/shared/intenttest/canary"
	"github.com/singleeffect/once/shared/intenttest/memdb"
)

// C73: neither a message nor what is in a cart is told by the log, the metrics or a reason.
func TestCanaries(t *testing.T) {
	canary.Function{
		Name: "clearcart", Keep: []string{"checked_out_at"},
		Tables: []memdb.Table{{Name: "carts", Keys: []string{"user_id", "item_id"}}},
		Rows: func(s *canary.Set) map[string][]map[string]types.AttributeValue {
			return map[string][]map[string]types.AttributeValue{"carts": {{
				"user_id": &types.AttributeValueMemberS{Value: s.Text("7")}, "item_id": &types.AttributeValueMemberS{Value: s.Text("an item")},
				"added_at": &types.AttributeValueMemberN{Value: "1"},
			}}}
		},
		Environment: func(*canary.Set) map[string]string { return map[string]string{"CARTS_TABLE": "carts"} },
		Wire: func(lookup func(string) (string, bool)) (lambda.Handler, error) {
			batch, err := wire(t.Context(), environment.NewVariables(calls.Lookup(lookup), calls.Record))
			if err != nil {
				return nil, err
			}
			return batch, nil
		},
	}.Test(t)
}
