package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
)

// charge is the payload of the tests.
type charge struct {
	Cents int64 `json:"cents"`
}

// provider takes an idempotency key and gives a call under a known one its first
// answer. It counts what really happened.
type provider struct {
	mu      sync.Mutex
	calls   []string // the keys they came under
	answers map[string]string
	effects int
}

func (p *provider) charge(key string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, key)
	answer, known := p.answers[key]
	if !known {
		p.effects++
		answer = fmt.Sprintf("ch_%d", p.effects)
		if p.answers == nil {
			p.answers = map[string]string{}
		}
		p.answers[key] = answer
	}
	return answer
}

// send is the call to a provider that knows no keys.
func (p *provider) send() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, "")
	p.effects++
	return fmt.Sprintf("mail_%d", p.effects)
}

// forget is the end of the window.
func (p *provider) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers = nil
}

// want: so many calls, all under one key, and so many effects.
func (p *provider) want(t *testing.T, calls, effects int) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.calls) != calls || p.effects != effects {
		t.Errorf("got %d calls and %d effects, want %d and %d", len(p.calls), p.effects, calls, effects)
	}
	if len(slices.Compact(slices.Clone(p.calls))) > 1 {
		t.Errorf("calls came under the keys %q, want one", p.calls)
	}
}

// keyed is the worker's handler that charges at the provider.
func (w *worker) keyed(p *provider) *intent.Keyed[charge] {
	return &intent.Keyed[charge]{
		Config: w.config(),
		Window: 24 * time.Hour,
		Effect: func(_ context.Context, _ charge, a intent.Attempt) (any, error) { return p.charge(a.Downstream), nil },
	}
}

// blind is the worker's handler that sends at the provider.
func (w *worker) blind(p *provider) *intent.Blind[charge] {
	return &intent.Blind[charge]{
		Config: w.config(),
		Effect: func(context.Context, charge, intent.Attempt) (any, error) { return p.send(), nil },
	}
}

var errInsufficient = errors.New("insufficient funds")

// ledger is the worker's handler that takes the cents from the account.
func (w *worker) ledger(account string) *dynamo.Ledger[charge] {
	return &dynamo.Ledger[charge]{
		Config: w.config(),
		Effect: func(_ context.Context, c charge, _ intent.Attempt) (dynamo.Writes, error) {
			return dynamo.Writes{
				Items: []types.TransactWriteItem{{Update: &types.Update{
					TableName:                 &w.accounts,
					Key:                       item{"account_id": s(account)},
					UpdateExpression:          aws.String("SET balance = balance - :cents"),
					ConditionExpression:       aws.String("balance >= :cents"),
					ExpressionAttributeValues: item{":cents": n(c.Cents)},
				}}},
				Result: fmt.Sprintf("took %d", c.Cents),
				Failed: func([]types.CancellationReason) error { return intent.Refuse(errInsufficient.Error()) },
			}, nil
		},
	}
}

// open makes an account. Its balance counts the effects of the ledger.
func (b *bench) open(t *testing.T, account string, balance int64) {
	t.Helper()
	b.put(t, b.accounts, item{"account_id": s(account), "balance": n(balance)})
}

func (b *bench) wantBalance(t *testing.T, account string, want int64) {
	t.Helper()
	out, err := b.db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &b.accounts, Key: item{"account_id": s(account)}, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := out.Item["balance"].(*types.AttributeValueMemberN); !ok || got.Value != strconv.FormatInt(want, 10) {
		t.Errorf("balance: got %+v, want %d", out.Item["balance"], want)
	}
}
