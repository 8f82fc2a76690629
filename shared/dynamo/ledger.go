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
// that the message is to be delivered again. A Ledger that Validate refuses delivers
// nothing: the error is the *intent.ConfigError.
func (l *Ledger[P]) Deliver(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
	if err := l.Validate(); err != nil {
		return intent.Outcome{}, err
	}
	payload, err := intent.Decode[P](d.Payload)
	if err != nil {
		return intent.Outcome{}, err
	}
	key, err := l.Key(d.Key)
	if err != nil {
		return intent.Outcome{}, err
	}
	t := ledgerTask[P]{Delivery: d, Config: l.WithDefaults(), key: key, payload: payload}
	for range maxVanished {
		standing, c, err := l.try(ctx, t)
		if err != nil {
			return intent.Outcome{Intent: key.ShortHash()}, err
		}
		if standing.State == intent.StateAbsent {
			continue // what refused the write is gone
		}
		o, err := c.outcome(standing)
		o.Intent = key.ShortHash()
		return o, err
	}
	return intent.Outcome{Intent: key.ShortHash()}, intent.ErrVanished
}

// ledgerTask is one delivery on its way through a Ledger.
type ledgerTask[P any] struct {
	intent.Delivery
	intent.Config // with its defaults
	key           intent.Key
	payload       P
}

// commitment is the record that a try asked for, in a final state.
type commitment struct {
	intent.Record
	meant intent.Kind
}

// try plans the writes and commits them under an owner of its own. It returns the
// record that stands, the zero Record if what refused the write is gone.
func (l *Ledger[P]) try(ctx context.Context, t ledgerTask[P]) (intent.Record, commitment, error) {
	if err := intent.TimeToStart(ctx); err != nil {
		return intent.Record{}, commitment{}, err
	}
	effectCtx, stop := intent.EffectContext(ctx)
	defer stop()
	storeCtx, cancel := intent.StoreContext(ctx)
	defer cancel()
	store := l.Store.(*Store)
	now := t.Now()
	c := commitment{meant: intent.Executed, Record: intent.Record{
		Intent:      t.key.String(),
		Owner:       intent.NewOwner(),
		Attempt:     1,
		ClaimedAt:   now,
		Fingerprint: t.Fingerprint,
		MessageID:   t.MessageID,
	}}
	if t.TooOld(t.SentAt) {
		standing, err := t.LoadExisting(storeCtx, t.key)
		return standing, c, err
	}
	w, err := l.plan(effectCtx, t)
	if err == nil && !w.refused {
		c.Record = c.Finish(intent.StateCompleted, w.Result, now, t.Retention)
		var standing intent.Record
		var rejected []types.CancellationReason
		if standing, rejected, err = store.commit(storeCtx, c.Record, w.Items); err == nil && rejected == nil {
			return standing, c, nil
		}
		if rejected != nil {
			w, err = w.failed(rejected)
		} else if rejection(err) == "" {
			return intent.Record{}, c, err // what stands is not known
		}
	}
	if err != nil {
		// A duplicate's plan may fail, for what it reads has changed since. Only an
		// intent without a record fails by its plan.
		standing, loadErr := store.Load(storeCtx, c.Intent)
		switch {
		case loadErr != nil:
			// Not joined: what a plan says counts only where no record stands.
			return intent.Record{}, c, fmt.Errorf("%w, after the plan failed: %v", loadErr, err)
		case standing.State == intent.StateAbsent, standing.Expired(now):
			return intent.Record{}, c, t.Failed(err)
		}
		return standing, c, nil
	}
	// A refusal is said only once its own conditional put has won: while we were
	// told no, another delivery of this intent may have been told yes.
	c.Record, c.meant = c.Finish(intent.StateRefused, w.refusal, now, t.Retention), intent.Refused
	standing, err := store.Claim(storeCtx, c.Record)
	return standing, c, err
}

// plan is what an effect wants done, or its refusal.
type plan struct {
	Writes
	refused bool
	refusal any
}

// ask makes a plan of what an effect, or its Failed, returns.
func ask(effect func() (Writes, error)) (plan, error) {
	var p plan
	err := intent.RunUnrecorded(func() error {
		w, err := effect()
		if result, ok := intent.Refusal(err); ok {
			p = plan{refused: true, refusal: result}
			return nil
		}
		p.Writes = w
		return err
	})
	return p, err
}

func (l *Ledger[P]) plan(ctx context.Context, t ledgerTask[P]) (plan, error) {
	return ask(func() (Writes, error) {
		w, err := l.Effect(ctx, t.payload, intent.Attempt{Key: t.key, Downstream: t.key.Downstream(), Number: 1, MessageID: t.MessageID, Receives: t.Receives})
		switch _, nested := w.Result.(intent.Completion); {
		case err != nil:
		case len(w.Items) > MaxWrites:
			err = fmt.Errorf("ledger effect asks for %d writes, the limit is %d", len(w.Items), MaxWrites)
		case nested:
			err = errors.New("ledger effect's result is a Completion: its writes belong into Items")
		}
		return w, err
	})
}

// failed asks the effect what it means that its own conditions failed.
func (p plan) failed(reasons []types.CancellationReason) (plan, error) {
	return ask(func() (Writes, error) {
		err := errors.New("conditions of the effect's writes failed: " + fmt.Sprint(codes(reasons, 1)))
		if p.Failed != nil {
			err = p.Failed(reasons)
		}
		if err == nil {
			err = errors.New("the effect's Failed returned no error for writes that were not made")
		}
		return Writes{}, err
	})
}

// outcome reads the record that stands: ours as meant, also when our reply was
// lost, else what another delivery made of the intent.
func (c commitment) outcome(standing intent.Record) (intent.Outcome, error) {
	if standing.Owner == c.Owner && standing.State == c.State {
		return intent.Outcome{Kind: c.meant, Result: standing.Result, Attempt: standing.Attempt}, nil
	}
	if o, ok := standing.Answer(c.Fingerprint); ok {
		return o, nil
	}
	return intent.Outcome{}, fmt.Errorf("%w: state %s", intent.ErrOtherClass, standing.State)
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
	usedNames, usedValues := bind(absentValues(next.ClaimedAt), conditionAbsent)
	v, err := s.transact(ctx, types.TransactWriteItem{Put: &types.Put{
		TableName:                           &s.table,
		Item:                                encode(next, attribute),
		ConditionExpression:                 aws.String(conditionAbsent),
		ExpressionAttributeNames:            usedNames,
		ExpressionAttributeValues:           usedValues,
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
