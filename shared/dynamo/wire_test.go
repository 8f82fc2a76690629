package dynamo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

// wire takes every write and says when it came, for tests on a clock of their own.
// An intent named "stands" is there already, and nothing but a read brings its item.
type wire struct {
	API // nil: nothing else is to be called

	// takes is what a call does before it is answered. Nil: nothing.
	takes func(ctx context.Context, number int) error

	mu    sync.Mutex
	began time.Time
	calls []string
}

func (w *wire) take(ctx context.Context, what string) error {
	w.mu.Lock()
	w.calls = append(w.calls, fmt.Sprint(time.Since(w.began), " ", what))
	number := len(w.calls)
	w.mu.Unlock()
	if w.takes == nil {
		return nil
	}
	return w.takes(ctx, number)
}

func (w *wire) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return &dynamodb.PutItemOutput{}, w.take(ctx, "put "+named(in.Item[attrIntent]))
}

func (w *wire) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return &dynamodb.UpdateItemOutput{}, w.take(ctx, "update "+named(in.Key[attrIntent]))
}

func (w *wire) TransactWriteItems(ctx context.Context, _ *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return &dynamodb.TransactWriteItemsOutput{}, w.take(ctx, "transact")
}

// BatchExecuteStatement is told as its intents: +a is inserted, =a updated.
func (w *wire) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	var statements []string
	responses := make([]types.BatchStatementResponse, len(in.Statements))
	for i, s := range in.Statements {
		sign := map[string]string{"INSERT": "+", "UPDATE": "="}[(*s.Statement)[:6]]
		for _, p := range s.Parameters {
			if name := named(p); name != "" {
				statements = append(statements, sign+name)
				if name == "stands" {
					responses[i].Error = &types.BatchStatementError{Code: types.BatchStatementErrorCodeEnumDuplicateItem}
				}
			}
		}
	}
	slices.Sort(statements)
	return &dynamodb.BatchExecuteStatementOutput{Responses: responses}, w.take(ctx, "batch "+strings.Join(statements, " "))
}

func (w *wire) BatchGetItem(ctx context.Context, _ *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return &dynamodb.BatchGetItemOutput{}, w.take(ctx, "read")
}

// named is the ID in an intent's key; empty if it is none.
func named(v types.AttributeValue) string {
	s, ok := v.(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	_, id, _ := strings.Cut(s.Value, "scope#operation#")
	return id
}

// crew is a group and its deliveries.
type crew struct {
	t     *testing.T
	wire  *wire
	store intent.Store
	leave func()
	all   sync.WaitGroup
}

// newCrew is of that many. The wire's clock starts now.
func newCrew(t *testing.T, w *wire, members int) *crew {
	w.began = time.Now()
	c := &crew{t: t, wire: w}
	c.store, c.leave = New(w, "records").Group(members)
	return c
}

// member is a delivery that ends with f.
func (c *crew) member(f func(s intent.Store)) {
	c.all.Go(func() {
		defer c.leave()
		f(c.store)
	})
}

// claims is a delivery that claims after a while and ends then.
func (c *crew) claims(id string, after time.Duration) {
	c.member(func(s intent.Store) {
		time.Sleep(after)
		c.wrote(s.Claim(context.Background(), running(id)))
	})
}

// completes is one that completes a claim after a while, and ends then.
func (c *crew) completes(id string, after time.Duration) {
	c.member(func(s intent.Store) {
		time.Sleep(after)
		c.wrote(s.Amend(context.Background(), running(id).Finish(intent.StateCompleted, nil, time.Now(), time.Hour)))
	})
}

func (c *crew) wrote(_ intent.Record, err error) {
	if err != nil {
		c.t.Error(err)
	}
}

// want: when all have ended, these calls were made.
func (c *crew) want(calls ...string) {
	c.t.Helper()
	c.all.Wait()
	if got := c.wire.calls; !slices.Equal(got, calls) {
		c.t.Errorf("calls:\ngot  %q\nwant %q", got, calls)
	}
}

// running is a claim of the intent.
func running(id string) intent.Record {
	return intent.Record{
		Intent: intent.Key{Scope: "scope", Operation: "operation", ID: id}.String(), State: intent.StateClaimed,
		Owner: intent.NewOwner(), Attempt: 1, LeaseUntil: time.Now().Add(time.Minute), ClaimedAt: time.Now(),
	}
}
