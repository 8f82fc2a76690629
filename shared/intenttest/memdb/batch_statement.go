package memdb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// BatchExecuteStatement is a *dynamodb.Client's. Each statement is a step of its own: other calls may come in between.
func (db *DB) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	return serve(ctx, db, "BatchExecuteStatement", in, batchExecuteStatement)
}

func batchExecuteStatement(r *request, in *dynamodb.BatchExecuteStatementInput) (*dynamodb.BatchExecuteStatementOutput, error) {
	if err := checkReports(in.ReturnConsumedCapacity, ""); err != nil {
		return nil, err
	}
	switch n := len(in.Statements); {
	case n == 0:
		return nil, invalid("1 validation error detected: Value '[]' at 'statements' failed to satisfy constraint: Member must have length greater than or equal to 1")
	case n > maxStatements:
		return nil, invalid("1 validation error detected: Value at 'statements' failed to satisfy constraint: Member must have length less than or equal to %d", maxStatements)
	}
	all, errs, err := r.batch(in.Statements)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.BatchExecuteStatementOutput{Responses: make([]types.BatchStatementResponse, len(all))}
	for i, p := range all {
		err := errs[i]
		if fault := r.part(i); fault != nil {
			err = fault
		}
		response := &out.Responses[i]
		if p != nil {
			response.TableName = &p.table.name
		}
		if err == nil {
			var items []map[string]types.AttributeValue
			items, err = r.execute(p, aws.ToBool(in.Statements[i].ConsistentRead))
			if len(items) > 0 {
				response.Item = items[0]
			}
		}
		if err != nil {
			response.Error = statementError(p, err)
		}
	}
	out.ConsumedCapacity = r.meter.answer(in.ReturnConsumedCapacity, false)
	return out, nil
}

// batch prepares the statements; some may be at fault, the batch may be as a whole.
func (r *request) batch(statements []types.BatchStatementRequest) (all []*prepared, errs []error, err error) {
	all, errs = make([]*prepared, len(statements)), make([]error, len(statements))
	type place struct {
		table *table
		key   key
	}
	places := make(map[place]bool, len(statements))
	reads, writes := 0, 0
	for i, s := range statements {
		if err := checkLength(s.Statement); err != nil {
			return nil, nil, err
		}
		parameters, err := takeParameters(s.Parameters)
		if err != nil {
			return nil, nil, err
		}
		p, err := r.prepare(s.Statement, parameters, s.ReturnValuesOnConditionCheckFailure)
		switch {
		case err == nil && !p.whole:
			err = invalid("Select statements within BatchExecuteStatement must specify the primary key in the where clause.")
		case err == nil && p.verb == "SELECT" && !p.table.isKeyOnly(p.where):
			p, err = nil, invalid("Only single item select is supported")
		case err == nil && p.verb == "SELECT":
			reads++
		case err == nil:
			writes++
		}
		if all[i], errs[i] = p, err; err != nil {
			continue
		}
		if places[place{p.table, p.key}] {
			return nil, nil, invalid("Provided list of item keys contains duplicates")
		}
		places[place{p.table, p.key}] = true
	}
	if reads > 0 && writes > 0 {
		return nil, nil, invalid("Read and write requests together in the same batch is not supported.")
	}
	return all, errs, nil
}

// statementError is the error of one statement. An INSERT that meets an item shows it if asked to, which DynamoDB Local does
// not.
func statementError(p *prepared, err error) *types.BatchStatementError {
	code, message := partCode(err)
	e := &types.BatchStatementError{Code: types.BatchStatementErrorCodeEnum(code), Message: &message}
	failed, refused := err.(*types.ConditionalCheckFailedException)
	if !refused {
		return e
	}
	e.Item = failed.Item
	if p != nil && p.verb == "INSERT" {
		message, e.Code = duplicate, types.BatchStatementErrorCodeEnumDuplicateItem
	}
	return e
}
