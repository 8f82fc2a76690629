package stack

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/singleeffect/once/infra/local/mapping"
)

// run is a running stack with account 7, seen from outside: by its queues and
// its tables.
type run struct {
	*Stack
	scratch string // where it keeps its files

	mu         sync.Mutex
	workers    map[string][]*Worker       // by function
	deliveries map[string][]mapping.Batch // by function
}

const openingCents = 10_000

func newRun(t *testing.T, o Options) *run {
	t.Helper()
	r := &run{scratch: t.TempDir(), workers: map[string][]*Worker{}, deliveries: map[string][]mapping.Batch{}}
	t.Setenv("TMPDIR", r.scratch)
	if o.Root == "" {
		o.Root = projectRoot(t)
	}
	var err error
	if o.Functions, err = filepath.Rel(o.Root, filepath.Join(projectRoot(t), "functions")); err != nil {
		t.Fatal(err)
	}
	o.Parameters = small
	o.Prepare = func(w *Worker, _ map[string]string) (func(), error) {
		r.workers[w.Function.Folder] = append(r.workers[w.Function.Folder], w)
		return func() {}, nil
	}
	o.Observe = func(function string, b mapping.Batch) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.deliveries[function] = append(r.deliveries[function], b)
	}
	r.Stack = opened(t, o)
	name := r.Table("AccountsTable")
	if _, err := r.DB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: map[string]types.AttributeValue{
		"account_id": &types.AttributeValueMemberS{Value: "7"},
		"balance":    &types.AttributeValueMemberN{Value: strconv.Itoa(openingCents)},
	}}); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// urls are those of a function's queue and its dead-letter queue.
func (r *run) urls(t *testing.T, function string) (queue, dead string) {
	t.Helper()
	queue, arn, err := r.QueueOf(function)
	if err != nil {
		t.Fatal(err)
	}
	return queue, queue[:strings.LastIndex(queue, "/")+1] + arn[strings.LastIndex(arn, ":")+1:]
}

// send sends a message as a producer does who sends the same intent again later
// than SQS remembers it, and returns its id. On a FIFO queue it is of account 7.
func (r *run) send(t *testing.T, function, body string) string {
	t.Helper()
	url, _ := r.urls(t, function)
	input := &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body}
	if strings.HasSuffix(url, ".fifo") {
		input.MessageGroupId, input.MessageDeduplicationId = aws.String("7"), aws.String(rand.Text())
	}
	out, err := r.Producer.SendMessage(t.Context(), input)
	if err != nil {
		t.Fatal(err)
	}
	return *out.MessageId
}

func adjustment(key string, cents int) string {
	return fmt.Sprintf(`{"idempotency_key":%q,"account_id":"7","delta_cents":%d}`, key, cents)
}

func (r *run) balance(t *testing.T) int {
	t.Helper()
	out, err := r.DB.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(r.Table("AccountsTable")), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"account_id": &types.AttributeValueMemberS{Value: "7"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	balance, ok := out.Item["balance"].(*types.AttributeValueMemberN)
	if !ok {
		t.Fatalf("account 7 is %v", out.Item)
	}
	cents, err := strconv.Atoi(balance.Value)
	if err != nil {
		t.Fatal(err)
	}
	return cents
}

// messages counts what is in a queue, visible or not.
func (r *run) messages(t *testing.T, url string) int {
	t.Helper()
	out, err := r.Producer.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameAll}})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, name := range []string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"} {
		n, err := strconv.Atoi(out.Attributes[name])
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	return total
}

// delivered counts how often a function was handed a message.
func (r *run) delivered(function, id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, b := range r.deliveries[function] {
		for _, message := range b.Messages {
			if message == id {
				n++
			}
		}
	}
	return n
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("still not: %s", what)
		case <-tick.C:
		}
	}
}

// running are the processes of the functions and their emulators.
func (r *run) running(t *testing.T) []string {
	t.Helper()
	return processes(t, func(_ int, arguments string) bool { return strings.Contains(arguments, r.scratch) })
}
