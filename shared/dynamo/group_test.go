package dynamo_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

// batch is one invocation of the worker with several messages, all side by side.
func (w *worker) batch(h *intent.Keyed[charge], messages ...intent.Delivery) ([]intent.Outcome, []error) {
	ctx, cancel := context.WithTimeout(w.ctx, budget)
	defer cancel()
	deliver, leave := h.Group(len(messages))
	outcomes, errs := make([]intent.Outcome, len(messages)), make([]error, len(messages))
	var running sync.WaitGroup
	for i, d := range messages {
		running.Go(func() {
			defer leave()
			outcomes[i], errs[i] = deliver(ctx, d)
		})
	}
	running.Wait()
	return outcomes, errs
}

// patient is a worker whose groups wait for all, however busy the machine is.
func (b *bench) patient(t *testing.T) *worker {
	t.Helper()
	w := b.worker(t)
	w.store = w.store.Patient()
	return w
}

// messages are first deliveries of so many intents.
func messages(t *testing.T, n int) []intent.Delivery {
	t.Helper()
	var all []intent.Delivery
	for range n {
		all = append(all, message(t, fmt.Sprintf(`{"cents":10,"order":%q}`, rand.Text())))
	}
	return all
}

// wantAll is what each delivery of a batch is expected to come to.
func wantAll(t *testing.T, what string, outcomes []intent.Outcome, errs []error, kind intent.Kind) {
	t.Helper()
	for i := range outcomes {
		want(t, fmt.Sprintf("%s, message %d", what, i), outcomes[i], errs[i], kind)
	}
}

// wantTotal: so many calls and effects of all intents together.
func (p *provider) wantTotal(t *testing.T, calls, effects int) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.calls) != calls || p.effects != effects {
		t.Errorf("got %d calls and %d effects, want %d and %d", len(p.calls), p.effects, calls, effects)
	}
}

func (w *worker) wantRequests(t *testing.T, what string, requests map[string]int) {
	t.Helper()
	if got := w.faults.Counts(); !maps.Equal(got, requests) {
		t.Errorf("%s: requests: got %v, want %v", what, got, requests)
	}
}

// keysIn are the intents of a request, in the order of its statements.
func keysIn(body []byte) (keys []string) {
	var request struct {
		Statements []struct{ Parameters []struct{ S string } }
		Item, Key  map[string]struct{ S string } // of a put or an update
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return nil
	}
	for _, statement := range request.Statements {
		for _, p := range statement.Parameters {
			if strings.HasPrefix(p.S, "test#charge#") {
				keys = append(keys, p.S)
			}
		}
	}
	for _, it := range []map[string]struct{ S string }{request.Item, request.Key} {
		if key := it["intent"].S; key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// A batch of ten costs two requests, and one that is delivered again costs one: what
// stands comes with the error, for which this engine needs one more.
func TestGroupRequests(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := new(provider)
	ten, five := messages(t, 10), messages(t, 5)
	for _, step := range []struct {
		name     string
		messages []intent.Delivery
		executed int
		requests map[string]int
	}{
		{"new", ten, 10, map[string]int{"BatchExecuteStatement": 2}},
		{"again", ten, 0, map[string]int{"BatchExecuteStatement": 1, "BatchGetItem": 1}},
		{"half of them again", append(five, ten[:5]...), 5, map[string]int{"BatchExecuteStatement": 2, "BatchGetItem": 1}},
		{"one new", messages(t, 1), 1, map[string]int{"PutItem": 1, "UpdateItem": 1}},
		{"one again", ten[:1], 0, map[string]int{"PutItem": 1}},
	} {
		w := b.patient(t)
		outcomes, errs := w.batch(w.keyed(p), step.messages...)
		for i := range outcomes {
			kind := intent.Replayed
			if i < step.executed {
				kind = intent.Executed
			}
			want(t, step.name, outcomes[i], errs[i], kind)
		}
		w.wantRequests(t, step.name, step.requests)
	}
	p.wantTotal(t, 16, 16)
	for _, d := range append(ten, five...) {
		if r := b.record(t, d); r.State != intent.StateCompleted || r.Attempt != 1 || r.ExpiresAt.IsZero() || r.Fingerprint != d.Fingerprint || r.ClaimedAt.IsZero() {
			t.Errorf("got record %+v", r)
		}
	}
}

// A record that was claimed and completed in a group is the one that a put and an
// update would have made.
func TestGroupWritesTheSameItem(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	two := messages(t, 2)
	w, alone := b.patient(t), b.worker(t)
	outcomes, errs := w.batch(w.keyed(new(provider)), two...)
	wantAll(t, "in a group", outcomes, errs, intent.Executed)
	d := message(t, `{"cents":10}`)
	o, err := alone.deliver(alone.keyed(new(provider)), d)
	want(t, "alone", o, err, intent.Executed)
	shape := func(it item) map[string]string {
		kinds := map[string]string{}
		for name, v := range it {
			kinds[name] = fmt.Sprintf("%T", v)
		}
		return kinds
	}
	if got, want := shape(b.item(t, intentOf(two[0]))), shape(b.item(t, intentOf(d))); !maps.Equal(got, want) {
		t.Errorf("item:\ngot  %v\nwant %v", got, want)
	}
}

// A store can be told not to group, and a class that runs one at a time cannot.
func TestGroupTurnedOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, p := b.worker(t), new(provider)
	h := w.keyed(p)
	h.Store = w.store.Alone()
	ten := messages(t, 10)
	outcomes, errs := w.batch(h, ten...)
	wantAll(t, "alone", outcomes, errs, intent.Executed)
	w.wantRequests(t, "alone", map[string]int{"PutItem": 10, "UpdateItem": 10})
	if _, ok := any(w.blind(p)).(interface {
		Group(int) (func(context.Context, intent.Delivery) (intent.Outcome, error), func())
	}); ok {
		t.Error("Blind can be grouped: a crash would put several intents in doubt")
	}
}

// The table's name stands in the statements, and may hold what PartiQL would read
// otherwise.
func TestGroupOnTableWithDotsAndDashes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.records = "test.records-" + rand.Text() + ".v1_a"
	if _, err := b.db.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &b.records, BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("intent"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("intent"), AttributeType: types.ScalarAttributeTypeS}},
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := b.db.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &b.records}); err != nil {
			t.Error(err)
		}
	})
	w, three := b.patient(t), messages(t, 3)
	outcomes, errs := w.batch(w.keyed(new(provider)), three...)
	wantAll(t, "delivery", outcomes, errs, intent.Executed)
	w.wantRequests(t, "delivery", map[string]int{"BatchExecuteStatement": 2})
	outcomes, errs = w.batch(w.keyed(new(provider)), three...)
	wantAll(t, "redelivery", outcomes, errs, intent.Replayed)
	w.wantRequests(t, "redelivery", map[string]int{"BatchExecuteStatement": 3, "BatchGetItem": 1})
}
