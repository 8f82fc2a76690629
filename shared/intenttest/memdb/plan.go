package memdb

import (
	"context"
	"errors"
	"net"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Call is what a plan is asked about.
type Call struct {
	// Operation is the API's name, such as "PutItem".
	Operation string
	// Number counts the calls of this operation, from 1.
	Number int
	// Input is the caller's, such as *dynamodb.PutItemInput, to be read only.
	Input any
	// Index is -1 for the call as a whole. Else it is the index of one of its parts: of TransactItems, of Statements, or of a
	// BatchGetItem's keys, counted over its tables in the order of their names.
	Index int
}

// Fault says what happens to a call, or to a part of one. The zero value lets it pass.
type Fault struct {
	// Before runs before the database sees the call, or the part: what it does, the database sees first. For a transaction's
	// part that is before all of them, for a transaction is one step.
	Before func()
	// Err answers instead of the database, which does nothing: an exception of package types, a *smithy.GenericAPIError, or
	// what a broken connection says.
	//
	// Of a part it is an exception that becomes the part's own error, all else goes on: a reason in TransactionCanceledException
	// (and the transaction is cancelled), a BatchStatementError, or one of UnprocessedKeys.
	Err error
	// HideItems answers failed conditions without their items, as some engines do. Calls only.
	HideItems bool
	// LoseReply lets the database do all it does and gives the caller a connection error instead of the answer. Calls only.
	LoseReply bool
	// After runs when the database is done and the caller has not yet heard. Calls only.
	After func()
}

// LikeLocal is a Plan by which the database leaves the items out of the errors of a batch of statements, as DynamoDB Local does.
func LikeLocal(c Call) Fault {
	return Fault{HideItems: c.Operation == "BatchExecuteStatement" && c.Index < 0}
}

// request is one call on its way through the database.
type request struct {
	*DB
	call  Call
	meter meter
}

// serve runs one call as the plan has it.
func serve[In, Out any](ctx context.Context, db *DB, operation string, in *In, run func(*request, *In) (*Out, error)) (*Out, error) {
	if err := ctx.Err(); err != nil {
		return nil, answered(operation, &aws.RequestCanceledError{Err: err})
	}
	if in == nil {
		in = new(In)
	}
	r := &request{DB: db, call: Call{Operation: operation, Input: in, Index: -1}}
	fault := r.fault(-1)
	if fault.Before != nil {
		fault.Before()
	}
	if fault.Err != nil {
		return nil, answered(operation, fault.Err)
	}
	out, err := run(r, in)
	if fault.HideItems {
		hideItems(out, err)
	}
	if fault.After != nil {
		fault.After()
	}
	switch {
	case fault.LoseReply:
		return nil, answered(operation, &smithyhttp.RequestSendError{Err: &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}})
	case err != nil:
		return nil, answered(operation, err)
	}
	return out, nil
}

// fault asks the plan, about the call first.
func (r *request) fault(index int) Fault {
	r.planMu.Lock()
	defer r.planMu.Unlock()
	if index < 0 {
		r.counts[r.call.Operation]++
		r.call.Number = r.counts[r.call.Operation]
	}
	if r.plan == nil {
		return Fault{}
	}
	call := r.call
	call.Index = index
	return r.plan(call)
}

// part asks the plan about a part, runs what it wants run before, and returns the error that the part is to end with.
func (r *request) part(index int) error {
	if r.plan == nil {
		return nil
	}
	fault := r.fault(index)
	if fault.Before != nil {
		fault.Before()
	}
	return fault.Err
}

// cost notes what the call costs. The database is locked.
func (r *request) cost(t *table, read, write float64) {
	r.meter.add(t, read, write)
	u := r.usage[r.call.Operation]
	u.ReadUnits += read
	u.WriteUnits += write
	r.usage[r.call.Operation] = u
}

func hideItems(out any, err error) {
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		failed.Item = nil
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		for i := range cancelled.CancellationReasons {
			cancelled.CancellationReasons[i].Item = nil
		}
	}
	if batch, ok := out.(*dynamodb.BatchExecuteStatementOutput); ok && batch != nil {
		for _, response := range batch.Responses {
			if response.Error != nil {
				response.Error.Item = nil
			}
		}
	}
}

// partCode is an exception's code where it is the error of a transaction's action or of a statement, which have other names
// for some.
func partCode(err error) (code, message string) {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return "InternalServerError", err.Error()
	}
	switch code := api.ErrorCode(); code {
	case "ConditionalCheckFailedException":
		return "ConditionalCheckFailed", api.ErrorMessage()
	case "TransactionConflictException":
		return "TransactionConflict", api.ErrorMessage()
	case "TransactionInProgressException":
		return "TransactionInProgress", api.ErrorMessage()
	case "ProvisionedThroughputExceededException":
		return "ProvisionedThroughputExceeded", api.ErrorMessage()
	case "ThrottlingException":
		return "ThrottlingError", api.ErrorMessage()
	case "ItemCollectionSizeLimitExceededException":
		return "ItemCollectionSizeLimitExceeded", api.ErrorMessage()
	case "ValidationException":
		return "ValidationError", api.ErrorMessage()
	case "ResourceNotFoundException":
		return "ResourceNotFound", api.ErrorMessage()
	case "DuplicateItemException":
		return "DuplicateItem", api.ErrorMessage()
	case "AccessDeniedException":
		return "AccessDenied", api.ErrorMessage()
	default:
		return code, api.ErrorMessage()
	}
}

func messageOf(err error) string {
	_, message := partCode(err)
	return message
}
