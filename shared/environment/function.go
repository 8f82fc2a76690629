package environment

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
	"github.com/singleeffect/once/shared/telemetry"
)

// Function is what the functions of the stack have in common, made once per
// cold start.
type Function struct {
	AWS    aws.Config
	Client *dynamodb.Client
	Store  *dynamo.Store // of the records; Intent has it too
	Intent intent.Config // complete, for the class of the effect
	batch  sqsbatch.Config
}

// NewFunction reads SCOPE, INTENT_TABLE, QUEUE_URL, DEAD_LETTER_QUEUE_URL,
// LEASE_MARGIN_SECONDS and RETENTION_DAYS, and what Lambda sets, and makes the
// clients. The caller reads its own variables before, so that the error names all of
// them.
func NewFunction(operation string, v *Variables) (*Function, error) {
	table := v.Required("INTENT_TABLE")
	queueURL := v.Required("QUEUE_URL")
	deadLetterURL := v.Required("DEAD_LETTER_QUEUE_URL")
	intents := intent.Config{
		Scope:       v.Required("SCOPE"),
		Operation:   operation,
		LeaseMargin: v.Whole("LEASE_MARGIN_SECONDS", time.Second),
		Retention:   v.Whole("RETENTION_DAYS", 24*time.Hour),
	}
	cfg := awsConfig(v)
	if err := v.Err(); err != nil {
		return nil, err
	}
	client := dynamo.NewClient(cfg)
	metrics := telemetry.NewEmitter(os.Stdout, intents.Scope, operation, v.Optional("AWS_LAMBDA_FUNCTION_VERSION"), time.Now)
	store := dynamo.New(client, table)
	intents.Store = store
	return &Function{
		AWS:    cfg,
		Client: client,
		Store:  store,
		Intent: intents,
		batch: sqsbatch.Config{
			Queue:         sqs.NewFromConfig(cfg, func(o *sqs.Options) { o.HTTPClient = dynamo.AttemptClient() }),
			QueueURL:      queueURL,
			DeadLetterURL: deadLetterURL,
			Observe:       func(ctx context.Context, r sqsbatch.Report) { metrics.Observe(ctx, telemetry.Batch(r)) },
			Log:           slog.New(slog.NewJSONHandler(os.Stderr, nil)).With("operation", operation),
		},
	}, nil
}

// Batch runs the handler on the function's queue.
func (f *Function) Batch(h sqsbatch.Handler) (*sqsbatch.Batch, error) {
	c := f.batch
	c.Handler = h
	return sqsbatch.New(c)
}

// Start hands what wire makes to Lambda. A failure to wire ends the process with
// an init error that says what is missing.
func Start(wire func(context.Context, *Variables) (*sqsbatch.Batch, error)) {
	batch, err := wire(context.Background(), NewVariables(os.LookupEnv))
	if err != nil {
		slog.New(slog.NewJSONHandler(os.Stderr, nil)).Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	lambda.Start(batch)
}
