package explore

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
)

var (
	key       = intent.Key{Scope: "proof", Operation: "charge", ID: "k"}
	companion = intent.Key{Scope: "proof", Operation: "charge", ID: "other"}
	third     = intent.Key{Scope: "proof", Operation: "charge", ID: "third"}
)

type deliverer interface {
	Deliver(context.Context, intent.Delivery) (intent.Outcome, error)
}

type grouper interface {
	Group(members int) (deliver func(context.Context, intent.Delivery) (intent.Outcome, error), leave func())
}

// handler is a process's, of that intent.
func (k *worker) handler(s *subject) deliverer {
	w := k.world
	c := intent.Config{
		Scope: s.key.Scope, Operation: s.key.Operation, Store: dynamo.New(w.reach(k), records), Retention: w.retention, Now: k.now,
	}
	switch kind := k.kindOf(s); {
	case kind == Keyed:
		return &intent.Keyed[payload]{Config: c, Window: window, Effect: k.effect}
	case kind == Ledger:
		return &dynamo.Ledger[payload]{Config: c, Effect: k.ledger}
	case w.probes:
		return &intent.Blind[payload]{Config: c, Effect: k.effect, Probe: k.probe, ProbeAfter: probeAfter}
	}
	return &intent.Blind[payload]{Config: c, Effect: k.effect}
}

// kindOf is the class of effect that the worker has for an intent.
func (k *worker) kindOf(s *subject) Class {
	if k.world.changes {
		return k.kind
	}
	return s.kind
}

// opening is enough for many effects: no second one is refused for want of money.
const opening = 1000

// open gives each intent an account that its ledger takes from.
func (w *world) open() error {
	for _, s := range w.subjects {
		if s.kind != Ledger && !w.changes {
			continue
		}
		it := named(s.key.String())
		it["balance"], it["taken"] = number(opening), number(0)
		if _, err := w.db.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String(accounts), Item: it}); err != nil {
			return err
		}
	}
	return nil
}

// ledger takes the cents from an account that has enough for one, and counts that.
func (k *worker) ledger(_ context.Context, p payload, a intent.Attempt) (dynamo.Writes, error) {
	return dynamo.Writes{
		Items: []types.TransactWriteItem{{Update: &types.Update{
			TableName: aws.String(accounts), Key: named(a.Key.String()),
			UpdateExpression: aws.String("SET balance = balance - :d, taken = taken + :one"), ConditionExpression: aws.String("balance >= :d"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":d": number(p.Cents), ":one": number(1)},
		}}},
		Result: k.world.ledgerReceipt(p.Cents),
		Failed: func([]types.CancellationReason) error { return intent.Refuse("insufficient funds") },
	}, nil
}

// ledgerReceipt is made from the payload: a transaction returns no values.
func (w *world) ledgerReceipt(cents int64) string { return w.padded(fmt.Sprint("taken ", cents)) }

// padded makes a result too large for the record, where results are.
func (w *world) padded(receipt string) string {
	if w.large {
		return receipt + strings.Repeat(".", 600)
	}
	return receipt
}

// takenBy are the effects on the account of an intent.
func (w *world) takenBy(s *subject) []taken {
	n := w.tally(s)
	all := make([]taken, n.taken-s.before.taken)
	if cents := n.cents - s.before.cents; len(all) > 0 {
		all[0] = taken{cents, w.ledgerReceipt(cents)}
	} else if cents != 0 {
		w.fail("the balance changes by %d without an effect", cents)
	}
	return all
}

// account is an item of the accounts' table; nil if there is none.
func (w *world) account(name string) map[string]types.AttributeValue {
	for _, it := range w.db.Items(accounts) {
		if it["account"].(*types.AttributeValueMemberS).Value == name {
			return it
		}
	}
	return nil
}

func named(account string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"account": &types.AttributeValueMemberS{Value: account}}
}

func number(n int64) types.AttributeValue { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }

func numberIn(it map[string]types.AttributeValue, name string) int64 {
	if v, ok := it[name].(*types.AttributeValueMemberN); ok {
		n, _ := strconv.ParseInt(v.Value, 10, 64)
		return n
	}
	return 0
}
