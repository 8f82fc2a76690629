package main

import (
	"context"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intenttest/calls"
	"github.com/singleeffect/once/shared/intenttest/canary"
	"github.com/singleeffect/once/shared/intenttest/memdb"
)

// C73: neither a message nor what an order's row says is told by the log, the metrics or a reason.
func TestCanaries(t *testing.T) {
	canaries(func(*canary.Set) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{statusAttribute: text("packed")}
	}).Test(t)
}

func TestCanariesOfRows(t *testing.T) {
	for name, row := range map[string]func(*canary.Set) map[string]types.AttributeValue{
		"a status of nobody's": func(s *canary.Set) map[string]types.AttributeValue {
			return map[string]types.AttributeValue{statusAttribute: text(s.Text("a status"))}
		},
		"a time that is none": func(s *canary.Set) map[string]types.AttributeValue {
			return map[string]types.AttributeValue{statusAttribute: text(shipped), shippedAtAttribute: text(s.Text("a time"))}
		},
	} {
		t.Run(name, canaries(row).TestSamples)
	}
}

// canaries is the function with order 8821 in a row.
func canaries(row func(*canary.Set) map[string]types.AttributeValue) canary.Function {
	return canary.Function{
		Name: "ship", Keep: []string{"shipped_at"},
		Tables: []memdb.Table{{Name: "orders", Keys: []string{orderIDAttribute}}},
		Rows: func(s *canary.Set) map[string][]map[string]types.AttributeValue {
			order := row(s)
			order[orderIDAttribute] = text(s.Text("8821"))
			return map[string][]map[string]types.AttributeValue{"orders": {order}}
		},
		Environment: func(*canary.Set) map[string]string { return map[string]string{"ORDERS_TABLE": "orders"} },
		Wire: func(lookup func(string) (string, bool)) (lambda.Handler, error) {
			batch, err := wire(context.Background(), environment.NewVariables(calls.Lookup(lookup), calls.Record))
			if err != nil {
				return nil, err
			}
			return batch, nil
		},
	}
}
