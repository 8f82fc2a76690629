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
	back   map[string]string // by order: the time at which it was shipped when others put it back
}

func shipping(effect func(*sim.Process) func(context.Context, shipment, intent.Attempt) error) sim.Plan {
	return sim.Plan{
		Name: "ship", Tables: []memdb.Table{{Name: "orders", Keys: []string{orderIDAttribute}}},
		Reason: sqsbatch.ReasonAttribute, OriginalID: sqsbatch.OriginalIDAttribute,
		Shows: []string{"executed", "redriven", "is dead", "twice in the batch", "comes back", "deadline exceeded"},
		New: func(w *sim.World) sim.System {
			return &shop{World: w, effect: effect, latest: map[string]int64{}, moved: map[string]string{}, back: map[string]string{}}
		},
	}
}

// guarded is the function's own effect.
func guarded(p *sim.Process) func(context.Context, shipment, intent.Attempt) error {
	return ordersTable{client: p.DB(), name: "orders"}.ship
}

// TestSystem: whatever the order of deliveries, an order ends shipped at the latest time that any shipment named, as far past
// shipped as others brought it, or where others put it back after that shipment; what is no order of ours is in quarantine.
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
		if s.Rand.IntN(5) == 0 { // shipments may overtake it
			s.At(s.Soon(), order+" is placed", func() {
				if s.row(order) == nil {
					s.write(order, "placed")
				}
			})
		} else {
			s.write(order, before[s.Rand.IntN(len(before))])
		}
		for range 1 + s.Rand.IntN(3) {
			s.At(s.Soon(), "a shipment of "+order, func() { s.ship(order) })
		}
		if s.Rand.IntN(3) == 0 {
			s.At(s.Within(20*time.Minute), order+" moves on", func() {
				s.moved[order] = past[s.Rand.IntN(len(past))]
				s.write(order, s.moved[order])
			})
		} else if s.Rand.IntN(3) == 0 {
			s.At(s.Within(20*time.Minute), order+" is put back", func() {
				s.back[order] = shippedAt(s.row(order))
				s.write(order, "packed")
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

// row is an order as it is.
func (s *shop) row(order string) item {
	for _, row := range s.DB.Items("orders") {
		if row[orderIDAttribute].(*types.AttributeValueMemberS).Value == order {
			return row
		}
	}
	return nil
}

// shippedAt is the time at which an order was shipped, or "" if it never was.
func shippedAt(row item) string {
	if at, ok := row[shippedAtAttribute].(*types.AttributeValueMemberN); ok {
		return at.Value
	}
	return ""
}

// Judge looks at every order.
func (s *shop) Judge() {
	for _, row := range s.DB.Items("orders") {
		order := row[orderIDAttribute].(*types.AttributeValueMemberS).Value
		got := row[statusAttribute].(*types.AttributeValueMemberS).Value
		at, latest, want := shippedAt(row), fmt.Sprint(s.latest[order]), shipped
		if s.back[order] == latest { // and no copy ships it again (C78)
			want = "packed"
		}
		switch moved := s.moved[order]; {
		case s.latest[order] == 0:
			s.Fail("%s was created: %v", order, row)
		case moved != "" && got != moved:
			s.Fail("%s is %s, and others had made it %s", order, got, moved)
		case moved == "" && (got != want || at != latest):
			s.Fail("%s is %s, shipped at %s, want it %s, shipped at %s", order, got, at, want, latest)
		}
	}
}
