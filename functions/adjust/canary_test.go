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

// C73: neither a message, nor a key, nor an account, which is the message's group, is told by the log, the metrics or a reason.
func TestCanaries(t *testing.T) {
	canary.Function{
		Name:   "adjust",
		Tables: []memdb.Table{{Name: "accounts", Keys: []string{"account_id"}}},
		Rows: func(s *canary.Set) map[string][]map[string]types.AttributeValue {
			return map[string][]map[string]types.AttributeValue{"accounts": {
				{"account_id": &types.AttributeValueMemberS{Value: s.Text("7")}, "balance": cents(1_000_000_000_000)},
				{"account_id": &types.AttributeValueMemberS{Value: s.Text("9")}, "balance": &types.AttributeValueMemberS{Value: s.Text("a balance")}},
			}}
		},
		Environment: func(*canary.Set) map[string]string { return map[string]string{"ACCOUNTS_TABLE": "accounts"} },
		Wire: func(lookup func(string) (string, bool)) (lambda.Handler, error) {
			batch, err := wire(t.Context(), environment.NewVariables(calls.Lookup(lookup), calls.Record))
			if err != nil {
				return nil, err
			}
			return batch, nil
		},
	}.Test(t)
}
