package memdb

import (
	"errors"
	"fmt"
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// UnsupportedError is returned for what DynamoDB can do and this database cannot:
// nothing is ever ignored in silence.
type UnsupportedError struct {
	What string // as the request names it
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("memdb does not support %s", e.What)
}

// unsupported reports the first of the features that is used.
func unsupported(features ...feature) error {
	for _, f := range features {
		if f.used {
			return &UnsupportedError{What: f.name}
		}
	}
	return nil
}

type feature struct {
	name string
	used bool
}

// invalid is what DynamoDB says of a request that it refuses to run. It has no
// type of its own in the SDK.
func invalid(format string, args ...any) error {
	return &smithy.GenericAPIError{Code: "ValidationException", Message: fmt.Sprintf(format, args...), Fault: smithy.FaultClient}
}

func isInvalid(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == "ValidationException"
}

// unknown is what DynamoDB says of a value that a member of a request cannot have.
func unknown[T ~string](member string, v T, known string) error {
	return invalid("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must satisfy enum value set: [%s]", v, member, known)
}

// checkReports refuses what no request can ask to be told beside its answer. ItemCollectionMetrics are of tables with local
// indexes only: of others DynamoDB tells none.
func checkReports(capacity types.ReturnConsumedCapacity, collections types.ReturnItemCollectionMetrics) error {
	switch capacity {
	case "", types.ReturnConsumedCapacityIndexes, types.ReturnConsumedCapacityTotal, types.ReturnConsumedCapacityNone:
	default:
		return unknown("returnConsumedCapacity", capacity, "INDEXES, TOTAL, NONE")
	}
	switch collections {
	case "", types.ReturnItemCollectionMetricsSize, types.ReturnItemCollectionMetricsNone:
		return nil
	}
	return unknown("returnItemCollectionMetrics", collections, "SIZE, NONE")
}

func notFound() error {
	message := "Requested resource not found"
	return &types.ResourceNotFoundException{Message: &message}
}

const conditionFailed = "The conditional request failed"

// refused is a failed condition, with the item where it was asked for.
func refused(w *write, old *row) error {
	message := conditionFailed
	return &types.ConditionalCheckFailedException{Message: &message, Item: w.shown(old)}
}

// answered is the error as the SDK's client returns it: errors.As finds the
// exception, and retryers the status.
func answered(operation string, err error) error {
	var api smithy.APIError
	var operationErr *smithy.OperationError
	switch {
	case errors.As(err, &operationErr):
		return err // whoever planned it has made it so
	case errors.As(err, &api):
		err = &awshttp.ResponseError{
			RequestID: requestID,
			ResponseError: &smithyhttp.ResponseError{
				Response: &smithyhttp.Response{Response: &http.Response{StatusCode: statusOf(api), Header: http.Header{}}},
				Err:      err,
			},
		}
	}
	return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: operation, Err: err}
}

// requestID is the same for all: answers are to be reproducible.
const requestID = "MEMDB"

func statusOf(err smithy.APIError) int {
	if err.ErrorFault() == smithy.FaultServer {
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

// mismatchError is an invalid request that shows only at the table: in a
// transaction it is the action's own reason.
type mismatchError struct{ error }

func (e *mismatchError) Unwrap() error { return e.error }

func mismatch(format string, args ...any) error { return &mismatchError{invalid(format, args...)} }
