package main

import (
	"context"
	"fmt"
	"strconv"
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

// store is a small system around the function: users put things into their carts and check out.
type store struct {
	*sim.World
	effect func(*sim.Process) func(context.Context, checkout, intent.Attempt) error
	added  map[string]map[string]int64 // by user and thing: when it was put in last
	out    map[string]int64            // by user: the last checkout
}

func selling(effect func(*sim.Process) func(context.Context, checkout, intent.Attempt) error) sim.Plan {
	return sim.Plan{
		Name: "clearcart", Tables: []memdb.Table{{Name: "carts", Keys: []string{"user_id", "item_id"}}},
		Reason: sqsbatch.ReasonAttribute, OriginalID: sqsbatch.OriginalIDAttribute,
		Shows: []string{"executed", "redriven", "is dead", "twice in the batch", "comes back", "deadline exceeded"},
		New: func(w *sim.World) sim.System {
			return &store{World: w, effect: effect, added: map[string]map[string]int64{}, out: map[string]int64{}}
		},
	}
}

// guarded is the function's own effect.
func guarded(p *sim.Process) func(context.Context, checkout, intent.Attempt) error {
	return cartsTable{client: p.DB(), name: "carts"}.clear
}

// TestSystem: what was in a cart at a checkout is gone, and what was put in since is there.
func TestSystem(t *testing.T) { sim.Run(t, selling(guarded)) }

// The tutorials' effect, which is called idempotent, takes what was put in since.
func TestSystemFindsALostThing(t *testing.T) {
	sim.Finds(t, selling(func(p *sim.Process) func(context.Context, checkout, intent.Attempt) error {
		return func(ctx context.Context, c checkout, _ intent.Attempt) error {
			all, err := p.DB().Query(ctx, &dynamodb.QueryInput{
				TableName: aws.String("carts"), KeyConditionExpression: aws.String(keyOfUser), ProjectionExpression: aws.String(projectionKeys),
				ExpressionAttributeValues: item{":user": &types.AttributeValueMemberS{Value: string(c.UserID)}},
			})
			if err != nil {
				return err
			}
			for _, key := range all.Items {
				if _, err := p.DB().DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("carts"), Key: key}); err != nil {
					return err
				}
			}
			return nil
		}
	}), 30, "though it was put in since")
}

// Wire is the function's, but for the clients.
func (s *store) Wire(p *sim.Process) (sim.Handle, error) {
	b, err := sqsbatch.New(sqsbatch.Config{
		Handler: p.Watch(&intent.Natural[checkout]{Effect: s.effect(p)}),
		Queue:   p.SQS(), QueueURL: s.QueueURL(), DeadLetterURL: s.DeadLetterURL(), Log: p.Log(),
	})
	if err != nil {
		return nil, err
	}
	return b.Handle, nil
}

// Outside has a few users who put things in, the same one more than once, too, and check out.
func (s *store) Outside() {
	for n := range 1 + s.Rand.IntN(4) {
		user := fmt.Sprint("user-", n)
		s.added[user] = map[string]int64{}
		things := 1 + s.Rand.IntN(8)
		for range s.Rand.IntN(16) {
			s.At(s.Soon(), "a thing more for "+user, func() { s.add(user, fmt.Sprint("thing-", s.Rand.IntN(things))) })
		}
		for range 1 + s.Rand.IntN(2) {
			s.At(s.Soon(), user+" checks out", func() { s.checkOut(user) })
		}
		for range s.Rand.IntN(4) {
			s.At(s.Within(24*time.Hour), "a thing more for "+user, func() { s.add(user, fmt.Sprint("thing-", s.Rand.IntN(things))) })
		}
	}
	for _, m := range []struct{ body, want string }{
		{`{"user_id":"user-0"}`, "unreadable"},
		{`{"user_id":"","checked_out_at":1767225600000}`, "unreadable"},
		{`not JSON`, "unreadable"},
	} {
		if s.Rand.IntN(6) == 0 {
			s.At(s.Soon(), "poison", func() { s.Send(sim.Sent{Want: m.want}, &sqs.SendMessageInput{MessageBody: &m.body}) })
		}
	}
}

// add puts a thing in, at the end of this millisecond: what was put in before a checkout is not younger than it.
func (s *store) add(user, thing string) {
	s.added[user][thing] = s.Now().UnixMilli() + 1
	_, err := s.DB.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("carts"), Item: item{
		"user_id": &types.AttributeValueMemberS{Value: user}, "item_id": &types.AttributeValueMemberS{Value: thing},
		"added_at": &types.AttributeValueMemberN{Value: strconv.FormatInt(s.added[user][thing], 10)},
	}})
	if err != nil {
		s.Fail("add: %v", err)
	}
}

// checkOut sends a checkout of now, once or more often.
func (s *store) checkOut(user string) {
	s.out[user] = s.Now().UnixMilli()
	body := fmt.Sprintf(`{"user_id":%q,"checked_out_at":%d}`, user, s.out[user])
	s.Produce(sim.Sent{}, &sqs.SendMessageInput{MessageBody: &body})
}

// Judge looks into every cart.
func (s *store) Judge() {
	got := map[string]bool{}
	for _, row := range s.DB.Items("carts") {
		got[row["user_id"].(*types.AttributeValueMemberS).Value+" "+row["item_id"].(*types.AttributeValueMemberS).Value] = true
	}
	for user, things := range s.added {
		for thing, at := range things {
			switch there := got[user+" "+thing]; {
			case there && at <= s.out[user]:
				s.Fail("%s of %s is there, though it was checked out", thing, user)
			case !there && at > s.out[user]:
				s.Fail("%s of %s is gone, though it was put in since", thing, user)
			}
			delete(got, user+" "+thing)
		}
	}
	if len(got) > 0 {
		s.Fail("things that nobody put in: %v", got)
	}
}
