package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// API is what this package calls of DynamoDB. The role of a function needs
// dynamodb:PutItem, UpdateItem and GetItem on the record table; for Group also
// PartiQLInsert, PartiQLUpdate and BatchGetItem.
type API interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchExecuteStatement(context.Context, *dynamodb.BatchExecuteStatementInput, ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

const (
	// AttemptTimeout ends one attempt of a call. The SDK sets none by default, and
	// a connection that died while the sandbox was frozen answers nothing.
	AttemptTimeout = time.Second

	// sdkAttempts are the SDK's own; what it gives up on, the store goes on with
	// until the context ends.
	sdkAttempts = 3

	// baseBackoff doubles with each try up to maxBackoff: the bounds of the full
	// jitter between tries, the SDK's and ours.
	baseBackoff = 25 * time.Millisecond
	maxBackoff  = time.Second
)

// NewClient returns a client with a timeout for each attempt and few, quick
// retries. Make one per cold start.
func NewClient(cfg aws.Config) *dynamodb.Client { return dynamodb.NewFromConfig(cfg, Tune) }

// Tune sets on a client's options what the store counts on.
func Tune(o *dynamodb.Options) {
	o.HTTPClient = AttemptClient()
	o.APIOptions = append(o.APIOptions, HideAnswers)
	o.Retryer = retry.NewStandard(func(so *retry.StandardOptions) {
		so.MaxAttempts = sdkAttempts
		// The SDK's own starts at 1 s for throttling, which two retries make a short
		// invocation's whole time.
		so.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) { return backoff(attempt), nil })
		// The SDK's quota of retries is shared by all calls of a client and would
		// give up on a completion because others had been throttled.
		so.RateLimiter = ratelimit.None
	})
}

// AttemptClient is an HTTP client that ends each attempt after AttemptTimeout,
// for the other AWS services that a handler calls.
func AttemptClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTimeout(AttemptTimeout)
}
