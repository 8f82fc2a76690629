package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/memdb"
	"github.com/singleeffect/once/shared/intenttest/sim"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// bank is a small system around the function: accounts, and those who adjust them.
type bank struct {
	*sim.World
	handler func(*sim.Process) sqsbatch.Handler
	opening map[string]int64
	lowest  map[string]int64 // that each balance ever was
	late    map[string]bool  // opened while messages were sent
	asked   map[intent.Key]map[intent.Fingerprint]adjustment
}

func banking(handler func(*sim.Process) sqsbatch.Handler) sim.Plan {
	return sim.Plan{
		Name: "adjust.fifo", Tables: []memdb.Table{{Name: "accounts", Keys: []string{"account_id"}}},
		Records: func(db *memdb.DB) intent.Store { return dynamo.New(db, sim.Records) },
		Reason:  sqsbatch.ReasonAttribute, OriginalID: sqsbatch.OriginalIDAttribute,
		Shows: []string{
			"executed", "replayed", "refused <nil>", "conflict <nil>", "SQS knows", "redriven", "is dead", "behind a failure", "deadline exceeded",
			"outside_window",
		},
		New: func(w *sim.World) sim.System {
			return &bank{World: w, handler: handler, opening: map[string]int64{}, lowest: map[string]int64{}, late: map[string]bool{},
				asked: map[intent.Key]map[intent.Fingerprint]adjustment{}}
		},
	}
}

func system(p *sim.Process) intent.Config {
	return intent.Config{
		Scope: sim.Scope, Operation: "adjust", LeaseMargin: 3 * time.Second, Retention: 90 * 24 * time.Hour,
		Store: dynamo.New(p.DB(), sim.Records), Now: p.Now,
	}
}

// own is the function's own handler.
func own(p *sim.Process) sqsbatch.Handler {
	return &dynamo.Ledger[adjustment]{Config: system(p), Effect: ledger("accounts").adjust}
}

// TestSystem: each account ends at its opening balance and the sum of the adjustments that took place, each once; it never is
// below zero, and what was refused was too much for it, or came so often before it was opened that nobody waited any longer.
func TestSystem(t *testing.T) { sim.Run(t, banking(own)) }

// Without a record beside it an adjustment takes place as often as it is delivered.
func TestSystemFindsADoubleAdjustment(t *testing.T) {
	sim.Finds(t, banking(func(p *sim.Process) sqsbatch.Handler {
		return &dynamo.Ledger[adjustment]{Config: system(p), Effect: func(ctx context.Context, a adjustment, at intent.Attempt) (dynamo.Writes, error) {
			w, err := ledger("accounts").adjust(ctx, a, at)
			if err != nil {
				return w, err
			}
			var cancelled *types.TransactionCanceledException
			_, err = p.DB().TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: w.Items})
			if errors.As(err, &cancelled) && aws.ToString(cancelled.CancellationReasons[0].Code) == "ConditionalCheckFailed" {
				err = w.Failed(cancelled.CancellationReasons)
			}
			return dynamo.Writes{Result: w.Result}, err // remembered afterwards
		}}
	}), 50, "balances: ")
}

// Wire is the function's, but for the clients.
func (b *bank) Wire(p *sim.Process) (sim.Handle, error) {
	batch, err := sqsbatch.New(sqsbatch.Config{
		Handler: p.Watch(b.handler(p)), Queue: p.SQS(), QueueURL: b.QueueURL(), DeadLetterURL: b.DeadLetterURL(), Log: p.Log(),
	})
	if err != nil {
		return nil, err
	}
	return batch.Handle, nil
}

// Outside has a few accounts and adjusts them; now and then under a key that was there before, without one, or of no account.
func (b *bank) Outside() {
	for n := range 1 + b.Rand.IntN(3) {
		account := fmt.Sprint("account-", n)
		b.opening[account] = int64(b.Rand.IntN(200))
		b.lowest[account] = b.opening[account]
		if b.Rand.IntN(5) == 0 {
			b.late[account] = true
			b.At(b.Soon(), account+" is opened", func() { b.open(account) })
		} else {
			b.open(account)
		}
	}
	for n := range 1 + b.Rand.IntN(12) {
		a := adjustment{AccountID: intent.ID(fmt.Sprint("account-", b.Rand.IntN(len(b.opening)))), DeltaCents: int64(1 + b.Rand.IntN(100))}
		if b.Rand.IntN(2) == 0 {
			a.DeltaCents = -a.DeltaCents
		}
		if b.Rand.IntN(15) == 0 {
			a.AccountID = "unheard-of"
		}
		id := fmt.Sprint("k", n)
		b.At(b.Soon(), "adjust "+id, func() { b.ask(id, a) })
		if b.Rand.IntN(8) == 0 {
			b.At(b.Soon(), "adjust "+id+" otherwise", func() { b.ask(id, adjustment{a.AccountID, a.DeltaCents + 1000}) })
		}
	}
	for n, m := range []struct{ body, want string }{
		{`{"account_id":"account-0","delta_cents":10}`, "no_key"},
		{`{"account_id":"account-0","delta_cents":10,"idempotency_key":null}`, "no_key"},
		{`{"account_id":"account-0","delta_cents":0,"idempotency_key":"zero"}`, "unreadable"},
		{`{`, "unreadable"},
	} {
		if b.Rand.IntN(6) == 0 {
			b.At(b.Soon(), "poison", func() {
				b.Send(sim.Sent{Want: m.want}, &sqs.SendMessageInput{MessageBody: &m.body, MessageGroupId: aws.String("account-0"), MessageDeduplicationId: aws.String(fmt.Sprint("poison-", n))})
			})
		}
	}
}

// open writes an account's row.
func (b *bank) open(account string) {
	_, err := b.DB.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("accounts"), Item: map[string]types.AttributeValue{
		"account_id": &types.AttributeValueMemberS{Value: account}, "balance": cents(b.opening[account]),
	}})
	if err != nil {
		b.Fail("open: %v", err)
	}
}

// ask sends an adjustment, once or more often. The key of an intent of long ago is outside of what records remember.
func (b *bank) ask(id string, a adjustment) {
	body, err := json.Marshal(map[string]any{"account_id": a.AccountID, "delta_cents": a.DeltaCents})
	if err != nil {
		b.Fail("marshal: %v", err)
	}
	m := sqsbatch.Message{Key: intent.Key{Scope: sim.Scope, Operation: "adjust", ID: id}, Time: b.Now(), Group: string(a.AccountID), Body: body}
	s := sim.Sent{Key: m.Key}
	if b.Rand.IntN(40) == 0 {
		s, m.Key.ID, m.Time = sim.Sent{Want: "outside_window"}, id+"-old", m.Time.AddDate(0, 0, -91)
	}
	in, err := m.Input(b.QueueURL())
	if err != nil {
		b.Fail("send: %v", err)
	}
	payload, err := intent.ParsePayload(body)
	if err != nil {
		b.Fail("payload: %v", err)
	}
	if b.asked[m.Key] == nil {
		b.asked[m.Key] = map[intent.Fingerprint]adjustment{}
	}
	b.asked[m.Key][payload.Fingerprint()] = a
	b.Produce(s, in)
}

// balances are those in the table.
func (b *bank) balances() map[string]int64 {
	balances := map[string]int64{}
	for _, row := range b.DB.Items("accounts") {
		n, err := strconv.ParseInt(row["balance"].(*types.AttributeValueMemberN).Value, 10, 64)
		if err != nil {
			b.Fail("balance: %v", err)
		}
		balances[row["account_id"].(*types.AttributeValueMemberS).Value] = n
	}
	return balances
}

// Changed looks at the balances after each write.
func (b *bank) Changed() {
	for account, n := range b.balances() {
		b.lowest[account] = min(b.lowest[account], n)
		if n < 0 {
			b.Fail("%s is at %d", account, n)
		}
	}
}

// Judge adds up.
func (b *bank) Judge() {
	want := map[string]int64{}
	for account, n := range b.opening {
		want[account] = n
	}
	b.Intents(func(k intent.Key, r intent.Record) {
		a := b.asked[k][r.Fingerprint]
		account := string(a.AccountID)
		_, known := b.opening[account]
		switch {
		case r.State == intent.StateCompleted:
			want[account] += a.DeltaCents
		case r.State == intent.StateRefused && known && !b.late[account] && b.lowest[account]+a.DeltaCents >= 0:
			b.Fail("%s is refused: %d, and the balance never was below %d", k, a.DeltaCents, b.lowest[account])
		}
	})
	got := b.balances()
	if fmt.Sprint(got) != fmt.Sprint(want) { // maps are printed in the order of their keys
		b.Fail("balances: got %v, want %v", got, want)
	}
}
