package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/memdb"
	"github.com/singleeffect/once/shared/intenttest/sim"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// shop is a small system around the function: orders are shipped, and delivered, returned or cancelled by others.
type shop struct {
	*sim.World
	effect func(*sim.Process) func(context.Context, shipment, intent.Attempt) error
	latest map[string]int64  // by order: the time of the last shipment that was sent
	moved  map[string]string // by order: what others made of it
}

func shipping(effect func(*sim.Process) func(context.Context, shipment, intent.Attempt) error) sim.Plan {
	return sim.Plan{
		Name: "ship", Tables: []memdb.Table{{Name: "orders", Keys: []string{orderIDAttribute}}},
		Reason: sqsbatch.ReasonAttribute, OriginalID: sqsbatch.OriginalIDAttribute,
		Shows: []string{"executed", "redriven", "is dead", "twice in the batch", "comes back", "deadline exceeded"},
		New: func(w *sim.World) sim.System {
			return &shop{World: w, effect: effect, latest: map[string]int64{}, moved: map[string]string{}}
		},
	}
}

// guarded is the function's own effect.
func guarded(p *sim.Process) func(context.Context, shipment, intent.Attempt) error {
	return ordersTable{client: p.DB(), name: "orders"}.ship
}

// TestSystem: whatever the order of deliveries, an order ends shipped at the latest time that any shipment named, or as far past
// shipped as others brought it; what is no order of ours is in quarantine.
func TestSystem(t *testing.T) { sim.Run(t, shipping(guarded)) }

// The tutorials' effect, which is called idempotent, undoes what others did since.
func TestSystemFindsAnUndoneDelivery(t *testing.T) {
	sim.Finds(t, shipping(func(p *sim.Process) func(context.Context, shipment, intent.Attempt) error {
		return func(ctx context.Context, s shipment, _ intent.Attempt) error {
			_, err := p.DB().UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: aws.String("orders"), Key: item{orderIDAttribute: text(string(s.OrderID))},
				UpdateExpression: aws.String(updateShipped), ConditionExpression: aws.String("attribute_exists(order_id)"),
				ExpressionAttributeNames:  map[string]string{"#status": statusAttribute},
				ExpressionAttributeValues: item{":shipped": text(shipped), ":at": &types.AttributeValueMemberN{Value: fmt.Sprint(s.ShippedAt)}},
			})
			var failed *types.ConditionalCheckFailedException
			if errors.As(err, &failed) {
				return intent.Quarantine(err)
			}
			return err
		}
	}), 30, "and others had made it")
}

// Wire is the function's, but for the clients.
func (s *shop) Wire(p *sim.Process) (sim.Handle, error) {
	b, err := sqsbatch.New(sqsbatch.Config{
		Handler: p.Watch(&intent.Natural[shipment]{Effect: s.effect(p)}),
		Queue:   p.SQS(), QueueURL: s.QueueURL(), DeadLetterURL: s.DeadLetterURL(), Log: p.Log(),
	})
	if err != nil {
		return nil, err
	}
	return b.Handle, nil
}

// Outside has a few orders with some shipments each, of which some are told again, up to a day later.
func (s *shop) Outside() {
	for n := range 1 + s.Rand.IntN(8) {
		order := fmt.Sprint("order-", n)
		s.write(order, before[s.Rand.IntN(len(before))])
		for range 1 + s.Rand.IntN(3) {
			s.At(s.Soon(), "a shipment of "+order, func() { s.ship(order) })
		}
		if s.Rand.IntN(3) == 0 {
			s.At(s.Within(20*time.Minute), order+" moves on", func() {
				s.moved[order] = past[s.Rand.IntN(len(past))]
				s.write(order, s.moved[order])
			})
		}
	}
	for _, m := range []struct{ body, want string }{
		{`{"order_id":"unheard-of","shipped_at":1767225600000}`, "unprocessable"},
		{`{"order_id":"order-0"}`, "unreadable"},
		{`not JSON`, "unreadable"},
	} {
		if s.Rand.IntN(4) == 0 {
			s.At(s.Soon(), "poison", func() {
				s.Send(sim.Sent{Want: m.want}, &sqs.SendMessageInput{MessageBody: &m.body})
			})
		}
	}
}

// ship sends a shipment of now, once or more often.
func (s *shop) ship(order string) {
	at := s.Now().UnixMilli()
	s.latest[order] = max(s.latest[order], at)
	body := fmt.Sprintf(`{"order_id":%q,"shipped_at":%d}`, order, at)
	s.Produce(sim.Sent{}, &sqs.SendMessageInput{MessageBody: &body})
}

// write is what others do to an order.
func (s *shop) write(order, status string) {
	_, err := s.DB.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: aws.String("orders"), Key: item{orderIDAttribute: text(order)}, UpdateExpression: aws.String("SET #status = :status"),
		ExpressionAttributeNames: map[string]string{"#status": statusAttribute}, ExpressionAttributeValues: item{":status": text(status)},
	})
	if err != nil {
		s.Fail("write: %v", err)
	}
}

// Judge looks at every order.
func (s *shop) Judge() {
	for _, row := range s.DB.Items("orders") {
		order := row[orderIDAttribute].(*types.AttributeValueMemberS).Value
		got := row[statusAttribute].(*types.AttributeValueMemberS).Value
		at, _ := row[shippedAtAttribute].(*types.AttributeValueMemberN)
		switch moved := s.moved[order]; {
		case s.latest[order] == 0:
			s.Fail("%s was created: %v", order, row)
		case moved != "" && got != moved:
			s.Fail("%s is %s, and others had made it %s", order, got, moved)
		case moved == "" && (got != shipped || at == nil || at.Value != fmt.Sprint(s.latest[order])):
			s.Fail("%s is %s, want it shipped at %d", order, got, s.latest[order])
		}
	}
}
