package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
)

// adjustment is the body of a message.
type adjustment struct {
	AccountID  intent.ID `json:"account_id"`
	DeltaCents int64     `json:"delta_cents"`
}

// Validate names the field at fault.
func (a *adjustment) Validate() error {
	if err := a.AccountID.Validate("account_id"); err != nil {
		return err
	}
	switch {
	case a.DeltaCents == 0:
		return &intent.PayloadError{Field: "delta_cents", Reason: "is missing or zero"}
	case a.DeltaCents == -1<<63:
		return &intent.PayloadError{Field: "delta_cents", Reason: "is out of range"}
	}
	return nil
}

// adjusted is the result of an adjustment that took place. A transaction returns
// no values, so it does not know the new balance.
type adjusted struct {
	AccountID  intent.ID `json:"account_id"`
	DeltaCents int64     `json:"delta_cents"`
}

// declined is the result of one that was refused.
type declined struct {
	Reason string `json:"reason"`
}

// ledger is the name of the accounts table: key account_id (S), balance in
// cents (N).
type ledger string

// adjust changes the balance, never below zero. An unknown account and
// insufficient funds are refused. The latter depends on what came before, which
// is why the queue is FIFO with one group an account. Order in it holds until a change
// is given up, after twelve hours of failures: those behind it then go on without it.
func (l ledger) adjust(_ context.Context, a adjustment, at intent.Attempt) (dynamo.Writes, error) {
	update := &types.Update{
		TableName:        aws.String(string(l)),
		Key:              map[string]types.AttributeValue{"account_id": &types.AttributeValueMemberS{Value: string(a.AccountID)}},
		UpdateExpression: aws.String("SET balance = balance + :delta"),
		// An update of an unknown account would create it.
		ConditionExpression:                 aws.String("attribute_exists(balance)"),
		ExpressionAttributeValues:           map[string]types.AttributeValue{":delta": cents(a.DeltaCents)},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if a.DeltaCents < 0 {
		update.ConditionExpression = aws.String("balance >= :needed") // false of an unknown account, too
		update.ExpressionAttributeValues[":needed"] = cents(-a.DeltaCents)
	}
	return dynamo.Writes{
		Items:  []types.TransactWriteItem{{Update: update}},
		Result: adjusted(a),
		Failed: func(reasons []types.CancellationReason) error { return refuse(reasons[0], at) },
	}, nil
}

// refuse tells by the item that the condition met. An account that is not there
// may be opened a moment later, beside the message, so it is refused only after
// that. Its group waits meanwhile, as its order demands.
func refuse(reason types.CancellationReason, at intent.Attempt) error {
	const unknown = "unknown account"
	switch {
	case len(reason.Item) == 0 && at.Early():
		return intent.NotApplied(errors.New(unknown))
	case len(reason.Item) == 0:
		return intent.Refuse(declined{unknown})
	}
	if _, ok := reason.Item["balance"].(*types.AttributeValueMemberN); !ok {
		return fmt.Errorf("account has no balance")
	}
	return intent.Refuse(declined{"insufficient funds"})
}

func cents(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
