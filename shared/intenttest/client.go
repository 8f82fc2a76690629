package intenttest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/singleeffect/once/shared/intenttest/calls"
)

// shared is the engine of this test binary. It lives as long as the process:
// nobody knows which test is the last one.
var shared = sync.OnceValues(func() (string, error) {
	endpoint, _, err := Start(context.Background())
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return endpoint, Fitness(ctx, client(endpoint))
})

// Engine gives a client of this test binary's engine, which the first call
// starts and probes for fitness; with a broken engine every test fails, none
// is skipped. The options are the caller's: an HTTP client with Faults, a
// retryer.
func Engine(t testing.TB, options ...func(*dynamodb.Options)) *dynamodb.Client {
	t.Helper()
	endpoint, err := shared()
	if err != nil {
		t.Fatalf("DynamoDB engine: %v", err)
	}
	return client(endpoint, options...)
}

func client(endpoint string, options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "eu-central-1",
		BaseEndpoint: &endpoint,
		APIOptions:   []func(*middleware.Stack) error{calls.Record},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			// The engine refuses keys that are not alphanumeric.
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	}, options...)
}
