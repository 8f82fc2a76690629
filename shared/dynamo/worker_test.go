package dynamo_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

const (
	// budget is the time of an invocation: a lease is this and its margin of 3 s.
	budget = 30 * time.Second

	// lapse moves a clock past any lease that was taken before, and its skew margin.
	lapse = budget + 6*time.Second
)

// bench is where workers meet: a table of records and one of accounts. Its
// client meets no faults.
type bench struct {
	db                *dynamodb.Client
	records, accounts string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	db := intenttest.Engine(t)
	return &bench{db, intenttest.Table(t, db, "intent"), intenttest.Table(t, db, "account_id")}
}

// worker is one process with its own client, faults and wall clock. A crash ends
// it: its context is over and nothing that it sends arrives any more.
type worker struct {
	*bench
	// plan is asked about each request while the worker lives. Nil lets all pass.
	plan      func(intenttest.Call) intenttest.Fault
	retention time.Duration // zero: the default
	faults    *intenttest.Faults
	client    *dynamodb.Client
	store     *dynamo.Store
	ahead     atomic.Int64 // of the machine's clock, ns
	dead      atomic.Bool
	ctx       context.Context
	cancel    context.CancelFunc
}

func (b *bench) worker(t *testing.T) *worker {
	t.Helper()
	w := &worker{bench: b}
	w.ctx, w.cancel = context.WithCancel(t.Context())
	t.Cleanup(w.cancel)
	w.faults = &intenttest.Faults{Plan: func(call intenttest.Call) intenttest.Fault {
		switch {
		case w.dead.Load():
			// Not a broken connection, which a living worker's store would go on trying.
			return intenttest.Fault{Reply: &intenttest.Reply{Status: 400, Body: `{"__type":"WorkerIsDead"}`}}
		case w.plan == nil:
			return intenttest.Fault{}
		}
		return w.plan(call)
	}}
	w.client = client(t, w.faults)
	w.store = dynamo.New(w.client, b.records)
	return w
}

// later is a worker whose clock says that much later.
func (b *bench) later(t *testing.T, d time.Duration) *worker {
	t.Helper()
	w := b.worker(t)
	w.advance(d)
	return w
}

func (w *worker) crash() {
	w.dead.Store(true)
	w.cancel()
}

func (w *worker) now() time.Time          { return time.Now().Add(time.Duration(w.ahead.Load())) }
func (w *worker) advance(d time.Duration) { w.ahead.Add(int64(d)) }

func (w *worker) config() intent.Config {
	return intent.Config{Scope: "test", Operation: "charge", Store: w.store, Now: w.now, Retention: w.retention}
}

type handler interface {
	Deliver(context.Context, intent.Delivery) (intent.Outcome, error)
}

// deliver is one invocation of the worker with one message.
func (w *worker) deliver(h handler, d intent.Delivery) (intent.Outcome, error) {
	ctx, cancel := context.WithTimeout(w.ctx, budget)
	defer cancel()
	return h.Deliver(ctx, d)
}

// writes are the worker's requests so far that may have changed something.
func (w *worker) writes() (n int) {
	for operation, count := range w.faults.Counts() {
		if operation != "GetItem" {
			n += count
		}
	}
	return n
}

// message is the first delivery of an intent that nobody else knows.
func message(t *testing.T, body string) intent.Delivery {
	t.Helper()
	return repeated(t, intent.Delivery{Key: rand.Text()}, "message-1", body)
}

// repeated is another message of the same intent.
func repeated(t *testing.T, d intent.Delivery, id, body string) intent.Delivery {
	t.Helper()
	again := intenttest.Delivery(t, d.Key, body)
	again.MessageID = id
	return again
}

func intentOf(d intent.Delivery) string {
	return intent.Key{Scope: "test", Operation: "charge", ID: d.Key}.String()
}

// claimOf is a first claim of the intent, at a time that a record can hold.
func claimOf(d intent.Delivery) intent.Record {
	now := time.UnixMilli(time.Now().UnixMilli())
	return intent.Record{
		Intent: intentOf(d), State: intent.StateClaimed, Owner: intent.NewOwner(), Attempt: 1,
		LeaseUntil: now.Add(budget), ClaimedAt: now, Fingerprint: d.Fingerprint, MessageID: d.MessageID,
	}
}

type item = map[string]types.AttributeValue

// item is the record as the table holds it.
func (b *bench) item(t *testing.T, key string) item {
	t.Helper()
	out, err := b.db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &b.records, Key: item{"intent": s(key)}, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

// record is the record as a store reads it.
func (b *bench) record(t *testing.T, d intent.Delivery) intent.Record {
	t.Helper()
	r, err := dynamo.New(b.db, b.records).Load(t.Context(), intentOf(d))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (b *bench) put(t *testing.T, table string, it item) {
	t.Helper()
	if _, err := b.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it}); err != nil {
		t.Fatal(err)
	}
}

func s(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

func n(number int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(number, 10)}
}

// want is what a delivery is expected to come to.
func want(t *testing.T, what string, o intent.Outcome, err error, kind intent.Kind) {
	t.Helper()
	if err != nil || o.Kind != kind {
		t.Errorf("%s: got %s, want %s", what, describe(o, err), kind)
	}
}

func describe(o intent.Outcome, err error) string {
	if err != nil {
		return fmt.Sprintf("error %q", err)
	}
	return fmt.Sprintf("%s (attempt %d, result %s, reason %q)", o.Kind, o.Attempt, o.Result.JSON, o.Reason)
}

// remove is what TTL does, or an operator's mistake.
func (b *bench) remove(t *testing.T, key string) {
	t.Helper()
	if _, err := b.db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &b.records, Key: item{"intent": s(key)}}); err != nil {
		t.Error(err)
	}
}
