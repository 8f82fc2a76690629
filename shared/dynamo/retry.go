package dynamo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// patience bounds the retries under a context without a deadline.
const patience = 30 * time.Second

// persist repeats call until it succeeds, fails for good, or ctx ends, with full
// jitter in between. Every call it repeats is conditional, so that a repetition
// of one whose reply was lost shows itself.
func persist(ctx context.Context, call func(context.Context) error) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	var last error
	for n := 1; ; n++ {
		err := call(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)):
			return fmt.Errorf("gave up in try %d: %w", n, errors.Join(last, context.Cause(ctx)))
		case !transient(err):
			return err
		}
		last = err
		pause := time.NewTimer(backoff(n))
		select {
		case <-ctx.Done():
			pause.Stop()
			return fmt.Errorf("gave up after try %d: %w", n, errors.Join(last, context.Cause(ctx)))
		case <-pause.C:
		}
	}
}

// backoff is full jitter: anything up to a doubling bound.
func backoff(n int) time.Duration {
	bound := min(baseBackoff<<min(n, 10), maxBackoff)
	return rand.N(bound)
}

// retryables are what the SDK retries, throttling among it.
var retryables = retry.IsErrorRetryables(retry.DefaultRetryables)

// transient reports errors that may pass: throttling, a fault of the service or
// of the way to it, and a conflict with a transaction under way, which the SDK
// does not retry and which plain puts and updates meet too.
func transient(err error) bool {
	var conflict *types.TransactionConflictException
	var mismatch *types.IdempotentParameterMismatchException
	var cancelled *types.TransactionCanceledException
	var unsent *smithyhttp.RequestSendError
	switch {
	case errors.As(err, &conflict), errors.Is(err, errUnprocessed):
		return true
	case errors.As(err, &mismatch):
		return true // of a token that is good for one call: the next has its own
	case errors.As(err, &cancelled):
		return passing(cancelled.CancellationReasons)
	case errors.As(err, &unsent):
		return true // no way to the service, also where the SDK takes that for lasting
	case errors.Is(err, io.ErrUnexpectedEOF):
		return true // the answer broke off: a lost reply that the SDK does not retry
	}
	return retryables.IsErrorRetryable(err) == aws.TrueTernary
}

// passing reports a reason among a cancelled transaction's that says nothing of
// the conditions: the transaction was not decided, the same one may succeed.
func passing(reasons []types.CancellationReason) bool {
	for _, r := range reasons {
		switch aws.ToString(r.Code) {
		case "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded", "TransactionInProgress":
			return true
		}
	}
	return false
}
