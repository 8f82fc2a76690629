package memdb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// PutItem is a *dynamodb.Client's.
func (db *DB) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return serve(ctx, db, "PutItem", in, putItem)
}

// UpdateItem is a *dynamodb.Client's. UPDATED_OLD and UPDATED_NEW are for updates of whole attributes.
func (db *DB) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return serve(ctx, db, "UpdateItem", in, updateItem)
}

// DeleteItem is a *dynamodb.Client's.
func (db *DB) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return serve(ctx, db, "DeleteItem", in, deleteItem)
}

// GetItem is a *dynamodb.Client's. Reads are consistent, also those that need not be.
func (db *DB) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return serve(ctx, db, "GetItem", in, getItem)
}

// run does one write and returns the rows before and after it.
func (r *request) run(w *write) (before, after *row, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before = w.table.find(w.key)
	after, err = w.outcome(before)
	switch {
	case err == nil:
		r.cost(w.table, 0, writeUnits(before, after))
		w.table.replace(w.key, after)
	case isRefusal(err):
		r.cost(w.table, 0, writeUnits(before, nil))
	}
	return before, after, err
}

func isRefusal(err error) bool {
	_, ok := err.(*types.ConditionalCheckFailedException)
	return ok
}

func putItem(r *request, in *dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error) {
	c, showOld, err := wholeItem(*in)
	if err != nil {
		return nil, err
	}
	w, err := r.newPut(in.TableName, in.Item, c, showOld)
	if err != nil {
		return nil, err
	}
	before, _, err := r.run(w)
	if err != nil {
		return nil, err
	}
	return &dynamodb.PutItemOutput{Attributes: oldItem(in.ReturnValues, before), ConsumedCapacity: r.meter.one(in.ReturnConsumedCapacity)}, nil
}

func deleteItem(r *request, in *dynamodb.DeleteItemInput) (*dynamodb.DeleteItemOutput, error) {
	// A put says all that a deletion does, beside the item itself.
	c, showOld, err := wholeItem(dynamodb.PutItemInput{
		Expected: in.Expected, ConditionalOperator: in.ConditionalOperator, ReturnValues: in.ReturnValues,
		ReturnConsumedCapacity: in.ReturnConsumedCapacity, ReturnItemCollectionMetrics: in.ReturnItemCollectionMetrics,
		ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure, ConditionExpression: in.ConditionExpression,
		ExpressionAttributeNames: in.ExpressionAttributeNames, ExpressionAttributeValues: in.ExpressionAttributeValues,
	})
	if err != nil {
		return nil, err
	}
	w, err := r.newKeyed(in.TableName, in.Key, c, showOld)
	if err != nil {
		return nil, err
	}
	w.remove = true
	before, _, err := r.run(w)
	if err != nil {
		return nil, err
	}
	return &dynamodb.DeleteItemOutput{Attributes: oldItem(in.ReturnValues, before), ConsumedCapacity: r.meter.one(in.ReturnConsumedCapacity)}, nil
}

func updateItem(r *request, in *dynamodb.UpdateItemInput) (*dynamodb.UpdateItemOutput, error) {
	err := unsupported(feature{"Expected", in.Expected != nil}, feature{"ConditionalOperator", in.ConditionalOperator != ""},
		feature{"AttributeUpdates", in.AttributeUpdates != nil})
	if err != nil {
		return nil, err
	}
	if err := checkReports(in.ReturnConsumedCapacity, in.ReturnItemCollectionMetrics); err != nil {
		return nil, err
	}
	showOld, err := showsOld(in.ReturnValuesOnConditionCheckFailure)
	if err != nil {
		return nil, err
	}
	u, c, err := writeUpdate(in.UpdateExpression, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	if err != nil {
		return nil, err
	}
	w, err := r.newUpdate(in.TableName, in.Key, u, c, showOld)
	if err != nil {
		return nil, err
	}
	if err := w.update.canReturn(in.ReturnValues); err != nil {
		return nil, err
	}
	before, after, err := r.run(w)
	if err != nil {
		return nil, err
	}
	return &dynamodb.UpdateItemOutput{
		Attributes:       w.update.returned(in.ReturnValues, before, after),
		ConsumedCapacity: r.meter.one(in.ReturnConsumedCapacity),
	}, nil
}

func getItem(r *request, in *dynamodb.GetItemInput) (*dynamodb.GetItemOutput, error) {
	if err := unsupported(feature{"AttributesToGet", in.AttributesToGet != nil}); err != nil {
		return nil, err
	}
	if err := checkReports(in.ReturnConsumedCapacity, ""); err != nil {
		return nil, err
	}
	s, err := newScope(in.ExpressionAttributeNames, nil, expression{"ProjectionExpression", in.ProjectionExpression})
	if err != nil {
		return nil, err
	}
	p, err := parseProjection(in.ProjectionExpression, s)
	if err != nil {
		return nil, err
	}
	if err := s.unused(); err != nil {
		return nil, err
	}
	t, err := r.table(in.TableName)
	if err != nil {
		return nil, err
	}
	k, _, err := t.keyed(in.Key)
	if err != nil {
		return nil, err
	}
	if err := t.scalarKeys(nil, nil, p); err != nil {
		return nil, err
	}
	out := &dynamodb.GetItemOutput{}
	if found := r.read(t, k, aws.ToBool(in.ConsistentRead)); found != nil {
		out.Item = p.of(found.item)
	}
	out.ConsumedCapacity = r.meter.one(in.ReturnConsumedCapacity)
	return out, nil
}

// read is the row at a place; nil if there is none, which costs as much.
func (r *request) read(t *table, k key, consistent bool) *row {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := t.find(k)
	size := 0
	if found != nil {
		size = found.size
	}
	r.cost(t, readUnits(size, consistent), 0)
	return found
}

// wholeItem reads what a put and a deletion say beside the item that they write.
func wholeItem(in dynamodb.PutItemInput) (c condition, showOld bool, err error) {
	if err := unsupported(feature{"Expected", in.Expected != nil}, feature{"ConditionalOperator", in.ConditionalOperator != ""}); err != nil {
		return nil, false, err
	}
	if err := checkReports(in.ReturnConsumedCapacity, in.ReturnItemCollectionMetrics); err != nil {
		return nil, false, err
	}
	if showOld, err = showsOld(in.ReturnValuesOnConditionCheckFailure); err != nil {
		return nil, false, err
	}
	if err := noneOrOld(in.ReturnValues); err != nil {
		return nil, false, err
	}
	c, err = writeCondition(in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	return c, showOld, err
}

// writeCondition parses the only expression that a put, a deletion or a check has.
func writeCondition(text *string, names map[string]string, values item) (condition, error) {
	s, err := newScope(names, values, expression{"ConditionExpression", text})
	if err != nil {
		return nil, err
	}
	c, err := parseCondition("ConditionExpression", text, s)
	if err != nil {
		return nil, err
	}
	return c, s.unused()
}

// writeUpdate parses the expressions of an update.
func writeUpdate(updateText, conditionText *string, names map[string]string, values item) (u *update, c condition, err error) {
	s, err := newScope(names, values, expression{"UpdateExpression", updateText}, expression{"ConditionExpression", conditionText})
	if err != nil {
		return nil, nil, err
	}
	if updateText != nil {
		if u, err = parse(expressionParser("UpdateExpression", *updateText, s), (*parser).update); err != nil {
			return nil, nil, err
		}
	}
	if c, err = parseCondition("ConditionExpression", conditionText, s); err != nil {
		return nil, nil, err
	}
	return u, c, s.unused()
}

func noneOrOld(v types.ReturnValue) error {
	switch v {
	case "", types.ReturnValueNone, types.ReturnValueAllOld:
		return nil
	}
	return invalid("Return values set to invalid value")
}

func oldItem(v types.ReturnValue, before *row) item {
	if v != types.ReturnValueAllOld || before == nil {
		return nil
	}
	return giveItem(before.item)
}

// canReturn: of a nested attribute DynamoDB returns what only it knows to cut out.
func (u *update) canReturn(v types.ReturnValue) error {
	switch v {
	case "", types.ReturnValueNone, types.ReturnValueAllOld, types.ReturnValueAllNew:
		return nil
	case types.ReturnValueUpdatedOld, types.ReturnValueUpdatedNew:
		for _, to := range u.targets {
			if len(to) > 1 {
				return &UnsupportedError{What: string(v) + " of a nested attribute"}
			}
		}
		return nil
	}
	return invalid("Return values set to invalid value")
}

func (u *update) returned(v types.ReturnValue, before, after *row) item {
	of := before
	if v == types.ReturnValueAllNew || v == types.ReturnValueUpdatedNew {
		of = after
	}
	switch {
	case of == nil || v == "" || v == types.ReturnValueNone:
		return nil
	case v == types.ReturnValueAllOld || v == types.ReturnValueAllNew:
		return giveItem(of.item)
	}
	if len(u.targets) == 0 { // which is no projection at all
		return nil
	}
	if updated := projection(u.targets).of(of.item); len(updated) > 0 {
		return updated
	}
	return nil
}
