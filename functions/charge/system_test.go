package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// market is a small system around the function: users with cards, those who charge them, and Stripe.
type market struct {
	*sim.World
	handler func(*market, *sim.Process) sqsbatch.Handler
	stripe  *till
	users   int
	asked   map[intent.Key]map[intent.Fingerprint]order
}

func marketing(handler func(*market, *sim.Process) sqsbatch.Handler) sim.Plan {
	return sim.Plan{
		Name: "charge", Tables: []memdb.Table{{Name: "users", Keys: []string{userIDAttribute}}},
		Records: func(db *memdb.DB) intent.Store { return dynamo.New(db, sim.Records) },
		Reason:  sqsbatch.ReasonAttribute, OriginalID: sqsbatch.OriginalIDAttribute,
		Shows: []string{
			"executed", "replayed", "refused <nil>", "in_progress", "conflict <nil>", "in_doubt <nil>", "is hidden", "redriven", "is dead",
			"claimed -> claimed", "claimed -> released", "released -> claimed", "claimed -> in_doubt", "deadline exceeded", "stripe answers 500",
		},
		New: func(w *sim.World) sim.System {
			return &market{World: w, handler: handler, stripe: newTill(w), asked: map[intent.Key]map[intent.Fingerprint]order{}}
		},
	}
}

// charging is the function's own handler on a store, as wire makes it.
func (m *market) charging(p *sim.Process, store *dynamo.Store) *intent.Keyed[order] {
	c := charger{user: usersTable{client: p.DB(), name: "users"}.user, pay: m.stripe.client(p).pay}
	return &intent.Keyed[order]{
		Config: intent.Config{Scope: sim.Scope, Operation: operation, LeaseMargin: 3 * time.Second, Retention: 90 * 24 * time.Hour, Store: store, Now: p.Now},
		Window: stripeWindow, Effect: c.charge,
	}
}

func batched(m *market, p *sim.Process) sqsbatch.Handler {
	return m.charging(p, dynamo.New(p.DB(), sim.Records))
}

func put(m *market, p *sim.Process) sqsbatch.Handler {
	return m.charging(p, dynamo.New(p.DB(), sim.Records).Alone())
}

// TestSystem: at Stripe there is one charge for each intent that is completed, none for one that is refused, at most one for one in
// doubt; and what the record tells every duplicate is what Stripe said of that charge.
func TestSystem(t *testing.T) {
	t.Run("batch", func(t *testing.T) { sim.Run(t, marketing(batched)) })
	t.Run("put", func(t *testing.T) { sim.Run(t, marketing(put)) })
}

// What a handler may get wrong, and what it then comes to.
func TestSystemFinds(t *testing.T) {
	t.Run("a key of the attempt", func(t *testing.T) {
		sim.Finds(t, marketing(func(m *market, p *sim.Process) sqsbatch.Handler {
			k := m.charging(p, dynamo.New(p.DB(), sim.Records))
			charge := k.Effect
			k.Effect = func(ctx context.Context, o order, a intent.Attempt) (any, error) {
				a.Downstream += fmt.Sprint(a.Number)
				return charge(ctx, o, a)
			}
			return k
		}), 100, "took effect 2 times")
	})
	t.Run("a window longer than the provider's", func(t *testing.T) {
		sim.Finds(t, marketing(func(m *market, p *sim.Process) sqsbatch.Handler {
			k := m.charging(p, dynamo.New(p.DB(), sim.Records))
			k.Window *= 100
			return k
		}), 300, "took effect 2 times")
	})
	t.Run("an error that is swallowed", func(t *testing.T) {
		sim.Finds(t, marketing(func(m *market, p *sim.Process) sqsbatch.Handler {
			return swallowing{m.charging(p, dynamo.New(p.DB(), sim.Records))}
		}), 100, "neither has its intent an end nor is it in quarantine")
	})
}

// swallowing acknowledges what it does not know to be done.
type swallowing struct{ *intent.Keyed[order] }

func (s swallowing) Deliver(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
	o, err := s.Keyed.Deliver(ctx, d)
	if errors.Is(err, intent.ErrUnknown) {
		return intent.Outcome{Kind: intent.Executed}, nil
	}
	return o, err
}

func (s swallowing) Group(int) (func(context.Context, intent.Delivery) (intent.Outcome, error), func()) {
	return s.Deliver, func() {}
}

// Wire is the function's, but for the clients.
func (m *market) Wire(p *sim.Process) (sim.Handle, error) {
	batch, err := sqsbatch.New(sqsbatch.Config{
		Handler: p.Watch(m.handler(m, p)), Queue: p.SQS(), QueueURL: m.QueueURL(), DeadLetterURL: m.DeadLetterURL(), Log: p.Log(),
	})
	if err != nil {
		return nil, err
	}
	return batch.Handle, nil
}

// Outside has a few users, whose cards change now and then, and charges them; sometimes under a key that was there before.
func (m *market) Outside() {
	m.users = 1 + m.Rand.IntN(4)
	for n := range m.users {
		if m.Rand.IntN(5) == 0 { // charges may overtake the user's row
			m.At(m.Soon(), "a new user", func() { m.card(n) })
		} else {
			m.card(n)
		}
		if m.Rand.IntN(6) == 0 {
			m.At(m.Soon(), "another card", func() { m.card(n) })
		}
	}
	for n := range 1 + m.Rand.IntN(12) {
		id := fmt.Sprint("k", n)
		o := order{UserID: intent.ID(fmt.Sprint("user-", m.Rand.IntN(m.users+1))), AmountCents: int64(100 + m.Rand.IntN(100)), Currency: "eur"}
		m.At(m.Soon(), "charge "+id, func() { m.ask(id, o) })
		if m.Rand.IntN(8) == 0 {
			m.At(m.Soon(), "charge "+id+" otherwise", func() { m.ask(id, order{o.UserID, o.AmountCents + 1000, o.Currency}) })
		}
	}
	for _, p := range []struct{ body, want string }{
		{`{"user_id":"user-0","amount_cents":10,"currency":"eur"}`, "no_key"},
		{`{"user_id":"user-0","amount_cents":10,"currency":"eur","idempotency_key":""}`, "no_key"},
		{`{"user_id":"user-0","amount_cents":0,"currency":"eur","idempotency_key":"zero"}`, "unreadable"},
		{`[]`, "unreadable"},
	} {
		if m.Rand.IntN(6) == 0 {
			m.At(m.Soon(), "poison", func() { m.Send(sim.Sent{Want: p.want}, &sqs.SendMessageInput{MessageBody: &p.body}) })
		}
	}
}

// card gives a user a card: mostly one that pays, or none.
func (m *market) card(user int) {
	card := []string{"pm_pays", "pm_pays", "pm_pays", "pm_pays_too", declines, ""}[m.Rand.IntN(6)]
	row := map[string]types.AttributeValue{
		userIDAttribute: &types.AttributeValueMemberS{Value: fmt.Sprint("user-", user)}, customerAttribute: &types.AttributeValueMemberS{Value: "cus_1"},
	}
	if card != "" {
		row[paymentMethodAttribute] = &types.AttributeValueMemberS{Value: card}
	}
	if _, err := m.DB.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("users"), Item: row}); err != nil {
		m.Fail("card: %v", err)
	}
}

// ask sends a charge, once or more often.
func (m *market) ask(id string, o order) {
	body := fmt.Appendf(nil, `{"user_id":%q,"amount_cents":%d,"currency":%q}`, o.UserID, o.AmountCents, o.Currency)
	message := sqsbatch.Message{Key: intent.Key{Scope: sim.Scope, Operation: operation, ID: id}, Time: m.Now(), Body: body}
	payload, err := intent.ParsePayload(body)
	if err != nil {
		m.Fail("payload: %v", err)
	}
	if m.asked[message.Key] == nil {
		m.asked[message.Key] = map[intent.Fingerprint]order{}
	}
	m.asked[message.Key][payload.Fingerprint()] = o
	in, err := message.Input(m.QueueURL())
	if err != nil {
		m.Fail("send: %v", err)
	}
	m.Produce(sim.Sent{Key: message.Key}, in)
}

// Judge compares the records with Stripe's books.
func (m *market) Judge() {
	m.JudgeEffects(func(k intent.Key) int { return len(m.stripe.charges[k.String()]) })
	m.Intents(func(k intent.Key, r intent.Record) {
		for _, c := range m.stripe.charges[k.String()] {
			var got receipt
			if r.State != intent.StateCompleted {
				continue
			}
			if err := json.Unmarshal(r.Result.JSON, &got); err != nil || got != c.receipt || m.asked[k][r.Fingerprint].AmountCents != c.cents {
				m.Fail("%s: the record tells %s, and Stripe charged %+v", k, r.Result.JSON, c)
			}
		}
		delete(m.stripe.charges, k.String())
	})
	if len(m.stripe.charges) > 0 {
		m.Fail("charges that nobody asked for: %v", m.stripe.charges)
	}
}
