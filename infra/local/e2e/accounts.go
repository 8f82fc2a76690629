package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/local/mapping"
	"github.com/singleeffect/once/infra/local/stack"
	"github.com/singleeffect/once/infra/template"
	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// opening is every account's balance, of which its one message takes 1.
const opening = "1000"

// accounts are the far side: one for each message.
type accounts struct {
	stack    *stack.Stack
	function template.Function
	keys     []string

	mu   sync.Mutex
	seen map[string]bool // message ids that were delivered
	ids  []string        // of what was sent
}

func newAccounts(s *stack.Stack, f template.Function) *accounts {
	return &accounts{stack: s, function: f, seen: map[string]bool{}}
}

func (a *accounts) queueURL() string { return a.function.Environment["QUEUE_URL"] }

func (a *accounts) intent(key string) intent.Key {
	return intent.Key{Scope: a.function.Environment["SCOPE"], Operation: folder, ID: key}
}

// delivered is told of each batch.
func (a *accounts) delivered(b mapping.Batch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range b.Messages {
		a.seen[id] = true
	}
}

// send sends that many messages, each to an account of its own.
func (a *accounts) send(ctx context.Context, n int) error {
	for range n {
		key := fmt.Sprintf("%s-%d", folder, len(a.keys))
		a.keys = append(a.keys, key)
		if _, err := a.stack.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(a.stack.Table("AccountsTable")), Item: map[string]types.AttributeValue{
			"account_id": &types.AttributeValueMemberS{Value: key}, "balance": &types.AttributeValueMemberN{Value: opening},
		}}); err != nil {
			return err
		}
		in, err := sqsbatch.Message{
			Key: a.intent(key), Time: time.Now(), Group: key, Body: fmt.Appendf(nil, `{"account_id":%q,"delta_cents":-1}`, key),
		}.Input(a.queueURL())
		if err != nil {
			return err
		}
		sent, err := a.stack.Producer.SendMessage(ctx, in)
		if err != nil {
			return err
		}
		a.mu.Lock()
		a.ids = append(a.ids, *sent.MessageId)
		a.mu.Unlock()
	}
	return nil
}

// allDelivered tells whether all that was sent was delivered once or more.
func (a *accounts) allDelivered() (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range a.ids {
		if !a.seen[id] {
			return false, nil
		}
	}
	return true, nil
}

// allGone tells whether nothing is left in the queue.
func (a *accounts) allGone() (bool, error) {
	left, err := a.stack.Queues.Peek(a.queueURL())
	return len(left) == 0, err
}

func (a *accounts) wait(ctx context.Context, until func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if done, err := until(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.New("messages stay in the queue")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// judge counts what became of each message: at its account, in its record, and in the dead-letter queue.
func (a *accounts) judge(ctx context.Context, c *Canary) error {
	dead, err := a.stack.Queues.Peek(a.function.Environment["DEAD_LETTER_QUEUE_URL"])
	if err != nil {
		return err
	}
	quarantined := map[string]bool{}
	for _, m := range dead {
		quarantined[m.Attributes["MessageGroupId"]] = true
	}
	store := dynamo.New(a.stack.DB, a.function.Environment["INTENT_TABLE"])
	c.Messages = len(a.keys)
	for _, key := range a.keys {
		row, err := a.stack.DB.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: aws.String(a.stack.Table("AccountsTable")), ConsistentRead: aws.Bool(true),
			Key: map[string]types.AttributeValue{"account_id": &types.AttributeValueMemberS{Value: key}},
		})
		if err != nil {
			return err
		}
		o, err := intent.Lookup(ctx, store, a.intent(key))
		if err != nil && !errors.Is(err, intent.ErrNoIntent) {
			return err
		}
		switch balance := row.Item["balance"].(*types.AttributeValueMemberN).Value; {
		case balance == "999":
			c.Effects++
		case balance != opening:
			c.Duplicates++
		case o.Kind == intent.Refused:
			c.Refused++
		case quarantined[key]:
			c.Quarantined++
		default:
			c.Lost++
		}
	}
	return nil
}
