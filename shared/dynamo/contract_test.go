package dynamo_test

import (
	"context"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

func TestContract(t *testing.T) {
	t.Parallel() // it waits more than it works
	table := intenttest.Table(t, intenttest.Engine(t), "intent")
	intenttest.Contract(t, func(t testing.TB, faults *intenttest.Faults) intent.Store {
		return dynamo.New(client(t, faults), table)
	})
}

// A group keeps to the same contract: what a record is told does not depend on who
// shares its call.
func TestContractInGroup(t *testing.T) {
	t.Parallel()
	table := intenttest.Table(t, intenttest.Engine(t), "intent")
	intenttest.Contract(t, func(t testing.TB, faults *intenttest.Faults) intent.Store {
		return &accompanied{dynamo.New(client(t, faults), table)}
	})
}

// accompanied is a store whose every claim and end by the owner shares its call with
// the claim of another intent.
type accompanied struct{ *dynamo.Store }

func (s *accompanied) Claim(ctx context.Context, next intent.Record) (intent.Record, error) {
	return s.beside(func(g intent.Store) (intent.Record, error) { return g.Claim(ctx, next) })
}

func (s *accompanied) Amend(ctx context.Context, next intent.Record) (intent.Record, error) {
	return s.beside(func(g intent.Store) (intent.Record, error) { return g.Amend(ctx, next) })
}

func (s *accompanied) beside(f func(intent.Store) (intent.Record, error)) (intent.Record, error) {
	g, leave := s.Group(2)
	ctx, cancel := context.WithCancel(context.Background())
	var other sync.WaitGroup
	other.Go(func() {
		defer leave()
		_, _ = g.Claim(ctx, intenttest.Draft())
	})
	r, err := f(g)
	cancel()
	leave()
	other.Wait()
	return r, err
}

// client is tuned as the functions' own, and its requests meet the faults.
func client(t testing.TB, faults *intenttest.Faults) *dynamodb.Client {
	return intenttest.Engine(t, dynamo.Tune, func(o *dynamodb.Options) { o.HTTPClient = faults.Client() })
}
