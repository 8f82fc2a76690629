package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

// maxVanished bounds the tries while the record that refuses them cannot be found.
const maxVanished = 3

// Writes is what a Ledger effect wants done, all of it or nothing.
type Writes struct {
	// Items are up to MaxWrites actions, none of them on the record table. Ask for
	// ALL_OLD on condition failures to be shown the item in Failed. With none the
	// intent is only remembered.
	Items []types.TransactWriteItem

	// Result is what every duplicate gets back. A transaction returns no values,
	// so it is made from the payload; it is no Completion.
	Result any

	// Failed gives the failure of the items' own conditions a meaning: reasons
	// has one entry for each item. intent.Refuse refuses the intent; any other
	// error leaves it unclaimed, to be delivered again. Defaults to an error that
	// names the codes.
	Failed func(reasons []types.CancellationReason) error
}

// Ledger runs effects that are writes to DynamoDB: they take effect once within
// the record's retention, atomically, since the record and the writes are one
// transaction. There is no claim and no lease: whoever's transaction lands
// first has done it all.
//
// The role of the function needs, beside what the writes need,
// dynamodb:PutItem and GetItem on the record table.
type Ledger[P any] struct {
	intent.Config // its Store must be a *Store

	// Effect turns the payload into writes. It may read, but it must not write:
	// it runs for every delivery that finds no record. intent.Refuse refuses the
	// intent; any other error leaves it unclaimed. Required.
	Effect func(ctx context.Context, payload P, a intent.Attempt) (Writes, error)
}

// Validate returns a *intent.ConfigError.
func (l *Ledger[P]) Validate() error {
	if l.Effect == nil {
		return &intent.ConfigError{Field: "Effect", Reason: "is missing"}
	}
	if err := l.Config.Validate(); err != nil {
		return err
	}
	if _, ok := l.Store.(*Store); !ok {
		return &intent.ConfigError{Field: "Store", Reason: fmt.Sprintf("is a %T, want a *dynamo.Store", l.Store)}
	}
	return nil
}

// Deliver commits the intent once or tells what became of it. An error means
// that the message is to be delivered again.
func (l *Ledger[P]) Deliver(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
	payload, err := intent.Decode[P](d.Payload)
	if err != nil {
		return intent.Outcome{}, err
	}
	key, err := l.Key(d.Key)
	if err != nil {
		return intent.Outcome{}, err
	}
	for range maxVanished {
		o, err := l.try(ctx, key, d, payload)
		if !errors.Is(err, intent.ErrVanished) {
			return o, err
		}
	}
	return intent.Outcome{}, intent.ErrVanished
}

// try plans the writes and commits them under an owner of its own.
func (l *Ledger[P]) try(ctx context.Context, key intent.Key, d intent.Delivery, payload P) (intent.Outcome, error) {
	if err := intent.TimeToStart(ctx); err != nil {
		return intent.Outcome{}, err
	}
	effectCtx, stop := intent.EffectContext(ctx)
	defer stop()
	storeCtx, cancel := intent.StoreContext(ctx)
	defer cancel()
	store := l.Store.(*Store)
	config := l.WithDefaults()
	if config.MayBeForgotten(ctx, d.SentAt) {
		standing, err := intent.Remembered(storeCtx, store, key)
		if err != nil {
			return intent.Outcome{}, err
		}
		return outcome(standing, intent.Record{Fingerprint: d.Fingerprint}, intent.Executed)
	}
	now := config.Now()
	record := intent.Record{
		Intent:      key.String(),
		Owner:       intent.NewOwner(),
		Attempt:     1,
		ClaimedAt:   now,
		Fingerprint: d.Fingerprint,
		MessageID:   d.MessageID,
	}
	writes, err := l.plan(effectCtx, payload, intent.Attempt{Key: key, Downstream: key.Downstream(), Number: 1, MessageID: d.MessageID, Receives: d.Receives})
	if err == nil {
		done := record.Finish(intent.StateCompleted, writes.Result, now, config.Retention)
		standing, rejected, err2 := store.commit(storeCtx, done, writes.Items)
		if err2 != nil {
			return intent.Outcome{}, err2
		}
		if rejected == nil {
			return outcome(standing, done, intent.Executed)
		}
		err = writes.failed(rejected)
	}
	result, ok := intent.Refusal(err)
	if !ok {
		return intent.Outcome{}, intent.NotDone(err)
	}
	// A refusal is said only once its own conditional put has won: while we were
	// told no, another delivery of this intent may have been told yes.
	refused := record.Finish(intent.StateRefused, result, now, config.Retention)
	standing, err := store.Claim(storeCtx, refused)
	if err != nil {
		return intent.Outcome{}, err
	}
	return outcome(standing, refused, intent.Refused)
}

func (l *Ledger[P]) plan(ctx context.Context, payload P, a intent.Attempt) (Writes, error) {
	var w Writes
	err := intent.Contain(func() (err error) {
		w, err = l.Effect(ctx, payload, a)
		return err
	})
	if err == nil && len(w.Items) > MaxWrites {
		err = fmt.Errorf("ledger effect asks for %d writes, the limit is %d", len(w.Items), MaxWrites)
	}
	if _, ok := w.Result.(intent.Completion); err == nil && ok {
		err = errors.New("ledger effect's result is a Completion: its writes belong into Items")
	}
	return w, err
}

// outcome reads the record that stands: ours as meant, also when our reply was
// lost, else what another delivery made of the intent.
func outcome(standing, ours intent.Record, meant intent.Kind) (intent.Outcome, error) {
	if standing.Owner == ours.Owner && standing.State == ours.State {
		return intent.Outcome{Kind: meant, Result: standing.Result, Attempt: standing.Attempt}, nil
	}
	if o, ok := standing.Answer(ours.Fingerprint); ok {
		return o, nil
	}
	if standing.State == intent.StateAbsent {
		return intent.Outcome{}, intent.ErrVanished
	}
	return intent.Outcome{}, fmt.Errorf("%w: state %s", intent.ErrOtherClass, standing.State)
}

func (w Writes) failed(reasons []types.CancellationReason) error {
	if w.Failed != nil {
		return w.Failed(reasons)
	}
	return fmt.Errorf("conditions of the effect's writes failed: %v", codes(reasons, 1))
}

// commit writes the record and the items in one transaction and returns the
// record that stands, or the reasons why the items were rejected while no
// record stood in the way.
func (s *Store) commit(ctx context.Context, next intent.Record, items []types.TransactWriteItem) (intent.Record, []types.CancellationReason, error) {
	if len(items) == 0 { // nothing beside the record: one put at half the price
		standing, err := s.Claim(ctx, next)
		return standing, nil, err
	}
	attribute, sibling := place(&next)
	var more []types.TransactWriteItem
	if sibling != nil { // unconditional and safe: see keep
		more = append(more, types.TransactWriteItem{Put: &types.Put{TableName: &s.table, Item: sibling}})
	}
	v, err := s.transact(ctx, types.TransactWriteItem{Put: &types.Put{
		TableName:                           &s.table,
		Item:                                encode(next, attribute),
		ConditionExpression:                 aws.String(conditionAbsent),
		ExpressionAttributeValues:           item{":now": number(next.ClaimedAt.Unix())},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}, items, more...)
	switch {
	case v.inTheWay != nil:
		standing, err := s.found(ctx, next.Intent, v.inTheWay.Item)
		return standing, nil, wrap("read record in the way", err)
	case v.rejected != nil:
		return intent.Record{}, v.rejected, nil
	case err != nil:
		return intent.Record{}, nil, wrap("commit intent", err) // also invalid, or an item collection too large
	}
	return next, nil, nil
}
