package dynamo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

var (
	errBusy    error = &types.ProvisionedThroughputExceededException{}
	errRefused error = &types.ConditionalCheckFailedException{}
)

// unsent is what the SDK says when there was no way to the service.
func unsent(err error) error { return &smithyhttp.RequestSendError{Err: err} }

// status is an answer of which nothing but its status tells.
func status(code int) error {
	return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: code}}, Err: errors.New("sorry")}
}

// What may pass is tried again; what is an answer is not.
func TestTransient(t *testing.T) {
	reasons := func(codes ...string) error {
		var all []types.CancellationReason
		for _, code := range codes {
			all = append(all, types.CancellationReason{Code: aws.String(code)})
		}
		return &types.TransactionCanceledException{CancellationReasons: all}
	}
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{errBusy, true},
		{&smithy.GenericAPIError{Code: "ThrottlingException"}, true},
		{&smithy.GenericAPIError{Code: "RequestTimeout"}, true},
		{&types.TransactionConflictException{}, true},
		{&types.TransactionInProgressException{}, true},
		{&types.IdempotentParameterMismatchException{}, true},
		{reasons("None", "TransactionConflict"), true},
		{reasons("ThrottlingError", "None"), true},
		{reasons("ProvisionedThroughputExceeded"), true},
		{reasons("ConditionalCheckFailed", "TransactionInProgress"), true},
		{errUnprocessed, true},
		{unsent(&net.DNSError{Err: "no such host", IsNotFound: true}), true},
		{unsent(context.DeadlineExceeded), true},
		{io.ErrUnexpectedEOF, true},
		{status(http.StatusInternalServerError), true},
		{status(http.StatusServiceUnavailable), true},

		{errRefused, false},
		{reasons("ConditionalCheckFailed", "None"), false},
		{reasons("ValidationError", "ItemCollectionSizeLimitExceeded"), false},
		{reasons(), false},
		{&smithy.GenericAPIError{Code: "ValidationException"}, false},
		{&smithy.GenericAPIError{Code: "AccessDeniedException"}, false},
		{&aws.RequestCanceledError{Err: context.Canceled}, false},
		{status(http.StatusBadRequest), false},
		{nil, false},
	} {
		err := tt.err
		if err != nil {
			err = fmt.Errorf("operation error DynamoDB: %w", err)
		}
		if got := transient(err); got != tt.want {
			t.Errorf("%v (%T): transient: got %t, want %t", err, tt.err, got, tt.want)
		}
	}
}

// How long the tries go on, and what is said of them.
func TestPersist(t *testing.T) {
	// busyFor is a service that is busy for so long.
	busyFor := func(d time.Duration) func(context.Context, int) error {
		until := time.Now().Add(d)
		return func(context.Context, int) error {
			if time.Now().Before(until) {
				return errBusy
			}
			return nil
		}
	}
	// then is busy once, and then hangs until its caller gives up; it says what err says.
	then := func(err func(ctx context.Context) error) func(context.Context, int) error {
		return func(ctx context.Context, try int) error {
			if try == 1 {
				return errBusy
			}
			<-ctx.Done()
			return err(ctx)
		}
	}
	asContext := func(ctx context.Context) error { return &aws.RequestCanceledError{Err: ctx.Err()} }
	for name, tt := range map[string]struct {
		deadline time.Duration // 0: none
		cancel   time.Duration // 0: never
		call     func() func(context.Context, int) error
		want     []error // each is in what persist returns; none: it succeeds
		took     time.Duration
	}{
		"as long as the deadline allows":  {time.Hour, 0, func() func(context.Context, int) error { return busyFor(50 * time.Minute) }, nil, 51 * time.Minute},
		"not for ever without a deadline": {0, 0, func() func(context.Context, int) error { return busyFor(time.Hour) }, []error{errBusy, context.DeadlineExceeded}, patience},
		"to the deadline":                 {5 * time.Second, 0, func() func(context.Context, int) error { return busyFor(time.Hour) }, []error{errBusy, context.DeadlineExceeded}, 5 * time.Second},
		"to the cancellation":             {time.Hour, 5 * time.Second, func() func(context.Context, int) error { return busyFor(time.Hour) }, []error{errBusy, errGone}, 5 * time.Second},
		"the deadline in a try":           {5 * time.Second, 0, func() func(context.Context, int) error { return then(asContext) }, []error{errBusy, context.DeadlineExceeded}, 5 * time.Second},
		"the cancellation in a try":       {time.Hour, 5 * time.Second, func() func(context.Context, int) error { return then(asContext) }, []error{errBusy, errGone}, 5 * time.Second},
		"an answer that comes as the deadline does": {5 * time.Second, 0, func() func(context.Context, int) error {
			return then(func(context.Context) error { return errRefused })
		}, []error{errRefused}, 5 * time.Second},
		"a success that comes as the deadline does": {5 * time.Second, 0, func() func(context.Context, int) error { return then(func(context.Context) error { return nil }) }, nil, 5 * time.Second},
		"a try's own timeout": {time.Minute, 0, func() func(context.Context, int) error {
			return func(_ context.Context, try int) error {
				if try < 4 {
					return unsent(context.DeadlineExceeded)
				}
				return nil
			}
		}, nil, 3 * maxBackoff},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, ctx := time.Now(), context.Background()
				if tt.deadline != 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.deadline)
					defer cancel()
				}
				ctx, cancel := context.WithCancelCause(ctx)
				defer cancel(nil)
				if tt.cancel != 0 {
					defer time.AfterFunc(tt.cancel, func() { cancel(errGone) }).Stop()
				}
				call, try := tt.call(), 0
				err := persist(ctx, func(ctx context.Context) error { try++; return call(ctx, try) })
				if (err == nil) != (tt.want == nil) {
					t.Errorf("got error %v, want %v", err, tt.want)
				}
				for _, want := range tt.want {
					if !errors.Is(err, want) {
						t.Errorf("got error %v, want %v in it", err, want)
					}
				}
				if took := time.Since(began); took > tt.took {
					t.Errorf("took %v, want %v at the most", took, tt.took)
				}
			})
		})
	}
}
