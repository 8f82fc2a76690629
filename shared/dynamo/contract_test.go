package dynamo_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

func TestContract(t *testing.T) {
	table := intenttest.Table(t, intenttest.Engine(t), "intent")
	intenttest.Contract(t, func(t testing.TB, faults *intenttest.Faults) intent.Store {
		return dynamo.New(client(t, faults), table)
	})
}

// client is tuned as the functions' own, and its requests meet the faults.
func client(t testing.TB, faults *intenttest.Faults) *dynamodb.Client {
	return intenttest.Engine(t, dynamo.Tune, func(o *dynamodb.Options) { o.HTTPClient = faults.Client() })
}
