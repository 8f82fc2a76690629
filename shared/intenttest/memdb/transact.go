package memdb

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// TransactWriteItems is a *dynamodb.Client's. Unlike that it draws no token: a call without one is not remembered.
func (db *DB) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return serve(ctx, db, "TransactWriteItems", in, transactWriteItems)
}

// transaction is a list of writes that happen together or not at all.
type transaction struct {
	writes  []*write
	reasons []error // those that are known before it runs; nil is none
	size    int     // bytes of the items, keys and values in the request
	invalid bool    // an action does not fit its table: the first of them is the reason, and no action is evaluated
}

func transactWriteItems(r *request, in *dynamodb.TransactWriteItemsInput) (*dynamodb.TransactWriteItemsOutput, error) {
	token := aws.ToString(in.ClientRequestToken)
	if err := checkReports(in.ReturnConsumedCapacity, in.ReturnItemCollectionMetrics); err != nil {
		return nil, err
	}
	switch n := len(in.TransactItems); {
	case n == 0:
		return nil, invalid("1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1")
	case n > maxActions:
		return nil, invalid("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to %d", maxActions)
	case in.ClientRequestToken != nil && token == "":
		return nil, invalid("1 validation error detected: Value '' at 'clientRequestToken' failed to satisfy constraint: Member must have length greater than or equal to 1")
	case len(token) > maxToken:
		return nil, invalid("1 validation error detected: Value '%s' at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to %d", token, maxToken)
	}
	t, err := r.transaction(in.TransactItems)
	if err != nil {
		return nil, err
	}
	fingerprint := ""
	if token != "" {
		fingerprint = fingerprintOf(in.TransactItems)
		if done, err := r.replayed(t, token, fingerprint); done || err != nil {
			return r.transacted(in), err
		}
	}
	planned := false
	for i := range t.writes {
		if fault := r.part(i); fault != nil {
			t.reasons[i], planned = fault, true
		}
	}
	if err := r.commit(t, token, fingerprint, planned); err != nil {
		return nil, err
	}
	return r.transacted(in), nil
}

func (r *request) transacted(in *dynamodb.TransactWriteItemsInput) *dynamodb.TransactWriteItemsOutput {
	return &dynamodb.TransactWriteItemsOutput{ConsumedCapacity: r.meter.answer(in.ReturnConsumedCapacity, true)}
}

// transaction checks the actions as far as it can be done without the rows.
func (r *request) transaction(actions []types.TransactWriteItem) (*transaction, error) {
	t := &transaction{reasons: make([]error, len(actions))}
	type place struct {
		table *table
		key   key
	}
	places := make(map[place]bool, len(actions))
	twice := false
	for i, action := range actions {
		w, size, err := r.action(action)
		var late *mismatchError
		switch {
		case errors.As(err, &late):
			if !t.invalid {
				t.reasons[i], t.invalid = late, true
			}
		case err != nil:
			return nil, err
		default:
			twice = twice || places[place{w.table, w.key}]
			places[place{w.table, w.key}] = true
		}
		t.writes = append(t.writes, w)
		t.size += size
	}
	if twice && !t.invalid {
		return nil, invalid("Transaction request cannot include multiple operations on one item")
	}
	if t.size > maxTransaction {
		return nil, invalid("Transaction payload size cannot exceed 4MB. Payload Size: %d", t.size)
	}
	return t, nil
}

// action makes a write of one of a transaction's, and says what it adds to the request's size.
func (r *request) action(action types.TransactWriteItem) (w *write, size int, err error) {
	kinds := 0
	for _, given := range []bool{action.ConditionCheck != nil, action.Put != nil, action.Update != nil, action.Delete != nil} {
		if given {
			kinds++
		}
	}
	if kinds > 1 {
		return nil, 0, invalid("TransactItems can only contain one of Check, Put, Update or Delete")
	}
	switch {
	case action.Put != nil:
		return r.putAction(action.Put)
	case action.Update != nil:
		return r.updateAction(action.Update)
	case action.Delete != nil:
		a := action.Delete
		w, size, err = r.keyedAction(a.TableName, a.Key, a.ConditionExpression, a.ExpressionAttributeNames, a.ExpressionAttributeValues,
			a.ReturnValuesOnConditionCheckFailure)
		if err == nil {
			w.remove = true
		}
		return w, size, err
	case action.ConditionCheck != nil:
		a := action.ConditionCheck
		if a.ConditionExpression == nil {
			return nil, 0, invalid("Value null at 'transactItems.member.conditionCheck.conditionExpression' failed to satisfy constraint: Member must not be null")
		}
		return r.keyedAction(a.TableName, a.Key, a.ConditionExpression, a.ExpressionAttributeNames, a.ExpressionAttributeValues,
			a.ReturnValuesOnConditionCheckFailure)
	}
	return nil, 0, invalid("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request")
}

func (r *request) putAction(a *types.Put) (*write, int, error) {
	showOld, err := showsOld(a.ReturnValuesOnConditionCheckFailure)
	if err != nil {
		return nil, 0, err
	}
	c, err := writeCondition(a.ConditionExpression, a.ExpressionAttributeNames, a.ExpressionAttributeValues)
	if err != nil {
		return nil, 0, err
	}
	w, err := r.newPut(a.TableName, a.Item, c, showOld)
	if err != nil {
		return nil, 0, err
	}
	size := sizeOf(w.put)
	if size > maxItem {
		return nil, 0, invalid("Item size has exceeded the maximum allowed size")
	}
	return w, size + valuesSize(a.ExpressionAttributeValues), nil
}

func (r *request) updateAction(a *types.Update) (*write, int, error) {
	showOld, err := showsOld(a.ReturnValuesOnConditionCheckFailure)
	if err != nil {
		return nil, 0, err
	}
	if a.UpdateExpression == nil {
		return nil, 0, invalid("1 validation error detected: Value null at 'transactItems.member.update.updateExpression' failed to satisfy constraint: Member must not be null")
	}
	u, c, err := writeUpdate(a.UpdateExpression, a.ConditionExpression, a.ExpressionAttributeNames, a.ExpressionAttributeValues)
	if err != nil {
		return nil, 0, err
	}
	w, err := r.newUpdate(a.TableName, a.Key, u, c, showOld)
	if err != nil {
		return nil, 0, err
	}
	return w, sizeOf(w.keyItem) + valuesSize(a.ExpressionAttributeValues), nil
}

func (r *request) keyedAction(tableName *string, named item, condition *string, names map[string]string, values item,
	show types.ReturnValuesOnConditionCheckFailure,
) (*write, int, error) {
	showOld, err := showsOld(show)
	if err != nil {
		return nil, 0, err
	}
	c, err := writeCondition(condition, names, values)
	if err != nil {
		return nil, 0, err
	}
	w, err := r.newKeyed(tableName, named, c, showOld)
	if err != nil {
		return nil, 0, err
	}
	return w, sizeOf(w.keyItem) + valuesSize(values), nil
}

func valuesSize(values item) int {
	size := 0
	for _, v := range values {
		if n, ok := v.(*types.AttributeValueMemberN); ok {
			size += len(n.Value) // not canonical yet, and small
			continue
		}
		size += valueSize(v)
	}
	return size
}

// commit does all writes, or none. Planned: the plan has said that it fails.
func (r *request) commit(t *transaction, token, fingerprint string, planned bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	// While the plan's Before ran, the same token may have been good elsewhere.
	if done, err := r.replay(t, token, fingerprint); done || err != nil {
		return err
	}
	before, after := make([]*row, len(t.writes)), make([]*row, len(t.writes))
	if !t.invalid {
		t.evaluate(before, after)
	}
	if slices.ContainsFunc(t.reasons, func(err error) bool { return err != nil }) {
		if !planned && !t.invalid {
			r.costFailed(t, before)
		}
		return t.cancelled(before)
	}
	for i, w := range t.writes {
		w.table.replace(w.key, after[i])
		r.cost(w.table, 0, 2*writeUnits(before[i], after[i]))
	}
	r.tokens.remember(token, fingerprint, r.now())
	return nil
}

// evaluate finds what the writes would do, and the reasons why they do not. If one is invalid it is the only reason: a failed
// condition beside it would read as if the request had been done before. Reasons that the plan gave stay.
func (t *transaction) evaluate(before, after []*row) {
	planned := slices.Clone(t.reasons)
	for i, w := range t.writes {
		if planned[i] == nil {
			before[i] = w.table.find(w.key)
			after[i], t.reasons[i] = w.outcome(before[i])
		}
	}
	if i := slices.IndexFunc(t.reasons, isInvalid); i >= 0 {
		planned[i] = t.reasons[i]
		t.reasons = planned
	}
}

func (r *request) costFailed(t *transaction, before []*row) {
	for i, w := range t.writes {
		if w != nil {
			r.cost(w.table, 0, 2*writeUnits(before[i], nil))
		}
	}
}

// cancelled is the transaction's error, with a reason for each action.
func (t *transaction) cancelled(before []*row) error {
	reasons := make([]types.CancellationReason, len(t.writes))
	codes := make([]string, len(t.writes))
	for i, err := range t.reasons {
		codes[i] = "None"
		if err != nil {
			var message string
			codes[i], message = partCode(err)
			reasons[i].Message = &message
			if w := t.writes[i]; w != nil && isRefusal(err) {
				reasons[i].Item = w.shown(before[i])
			}
		}
		reasons[i].Code = &codes[i]
	}
	message := "Transaction cancelled, please refer cancellation reasons for specific reasons [" + strings.Join(codes, ", ") + "]"
	return &types.TransactionCanceledException{Message: &message, CancellationReasons: reasons}
}
