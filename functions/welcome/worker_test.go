package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"

	"github.com/singleeffect/once/shared/arrival"
	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
	"github.com/singleeffect/once/shared/intenttest/calls"
	"github.com/singleeffect/once/shared/sqsbatch"
)

const (
	// budget is the time of an invocation: a lease is this and its margin of 3 s.
	budget = 30 * time.Second

	// lapse moves a clock past any lease that was taken before, and its skew margin.
	lapse = budget + 6*time.Second
)

type item = map[string]types.AttributeValue

// fixture is where workers meet: the tables and SES. Its client meets no faults. Users 7 and 8 live here;
// user 9 has no address.
type fixture struct {
	db                     *dynamodb.Client
	records, users, emails string
	ses                    *fakeSES

	// way is between the workers and SES, if it is not nil.
	way func(sesv2.HTTPClient) sesv2.HTTPClient
}

func newFixture(t *testing.T, script ...reply) *fixture {
	t.Helper()
	db := intenttest.Engine(t)
	w := &fixture{db: db, ses: newFakeSES(t, script...),
		records: calls.Name("INTENT_TABLE", intenttest.Table(t, db, "intent")),
		users:   calls.Name("USERS_TABLE", intenttest.Table(t, db, userIDAttribute)),
		emails:  calls.Name("EMAILS_TABLE", intenttest.Table(t, db, emailIDAttribute))}
	w.live(t, "7", "ada@example.com", "Ada")
	w.live(t, "8", "bob@example.com", "")
	w.live(t, "9", "", "Eve")
	return w
}

// live puts a user's row.
func (w *fixture) live(t *testing.T, id, address, name string) {
	t.Helper()
	row := item{userIDAttribute: str(id)}
	if address != "" {
		row[addressAttribute] = str(address)
	}
	if name != "" {
		row[nameAttribute] = str(name)
	}
	if _, err := w.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &w.users, Item: row}); err != nil {
		t.Fatal(err)
	}
}

// leave deletes a user's row.
func (w *fixture) leave(t *testing.T, id string) {
	t.Helper()
	if _, err := w.db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &w.users, Key: item{userIDAttribute: str(id)}}); err != nil {
		t.Fatal(err)
	}
}

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// worker is one process with its own client, faults and wall clock. A crash ends it: its context is
// over and nothing that it sends to the store arrives any more.
type worker struct {
	*fixture
	// plan is asked about each request to the store while the worker lives. Nil lets all pass.
	plan   func(intenttest.Call) intenttest.Fault
	batch  *sqsbatch.Batch
	log    bytes.Buffer
	report sqsbatch.Report
	ahead  time.Duration // of the machine's clock
	dead   atomic.Bool
	ctx    context.Context
	cancel context.CancelFunc
}

// worker makes one whose clock is that much ahead.
func (w *fixture) worker(t *testing.T, ahead time.Duration) *worker {
	t.Helper()
	me := &worker{fixture: w, ahead: ahead}
	me.ctx, me.cancel = context.WithCancel(t.Context())
	t.Cleanup(me.cancel)
	faults := &intenttest.Faults{Plan: func(call intenttest.Call) intenttest.Fault {
		switch {
		case me.dead.Load():
			// Not a broken connection, which a living worker's store would go on trying.
			return intenttest.Fault{Reply: &intenttest.Reply{Status: 400, Body: `{"__type":"WorkerIsDead"}`}}
		case me.plan == nil:
			return intenttest.Fault{}
		}
		return me.plan(call)
	}}
	db := intenttest.Engine(t, dynamo.Tune, func(o *dynamodb.Options) { o.HTTPClient = faults.Client() })
	api := newSES(sesConfig(w.ses.url), "once@example.com")
	if way := w.way; way != nil {
		api.client = sesv2.New(api.client.Options(), func(o *sesv2.Options) { o.HTTPClient = arrival.Client(way(o.HTTPClient).Do) })
	}
	m := mailer{
		user:   usersTable{client: db, name: w.users}.user,
		send:   api.send,
		emails: emailsTable(w.emails),
		now:    me.now,
	}
	config := intent.Config{Scope: "test", Operation: operation, Store: dynamo.New(db, w.records), Now: me.now}
	batch, err := sqsbatch.New(sqsbatch.Config{
		Handler: &intent.Blind[greeting]{Config: config, Effect: m.welcome},
		Observe: func(_ context.Context, r sqsbatch.Report) { me.report = r },
		Log:     slog.New(slog.NewTextHandler(&me.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	me.batch = batch
	return me
}

func (w *worker) now() time.Time { return time.Now().Add(w.ahead) }

func (w *worker) crash() {
	w.dead.Store(true)
	w.cancel()
}

// deliver is one invocation. It returns the ids that are listed.
func (w *worker) deliver(t *testing.T, messages ...events.SQSMessage) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, budget)
	defer cancel()
	response, err := w.batch.Handle(ctx, events.SQSEvent{Records: messages})
	if err != nil {
		t.Error(err)
	}
	var listed []string
	for _, failure := range response.BatchItemFailures {
		listed = append(listed, failure.ItemIdentifier)
	}
	t.Log(w.log.String())
	for _, private := range []string{"example.com", "cher", "Ada", "Bob", "Hello"} {
		if strings.Contains(w.log.String(), private) {
			t.Errorf("the log tells %q: %s", private, w.log.String())
		}
	}
	return listed
}

// wantOne is what a delivery of one message comes to: an outcome with its record's state.
func (w *worker) wantOne(t *testing.T, what string, m events.SQSMessage, kind intent.Kind, state intent.State) {
	t.Helper()
	listed := w.deliver(t, m)
	done := kind == intent.Executed || kind == intent.Replayed || kind == intent.Refused
	if w.report.Outcomes[kind] != 1 || (len(listed) == 0) != done {
		t.Errorf("%s: got outcomes %v, failed %d, listed %v, want one %s", what, w.report.Outcomes, w.report.Failed, listed, kind)
	}
	w.wantState(t, what, state)
}

// lesson is the message of the lesson: user 7 signed up.
var lesson = message("user-7-welcome", "7", "signup")

func message(key, user, kind string) events.SQSMessage {
	return events.SQSMessage{
		MessageId: "message-of-" + key,
		Body:      fmt.Sprintf(`{"idempotency_key":%q,"user_id":%q,"kind":%q}`, key, user, kind),
	}
}

// received is the message at its nth receive.
func received(m events.SQSMessage, n int) events.SQSMessage {
	m.Attributes = map[string]string{"ApproximateReceiveCount": strconv.Itoa(n)}
	return m
}

func keyOf(id string) intent.Key { return intent.Key{Scope: "test", Operation: operation, ID: id} }

// record is the lesson's, as it stands.
func (w *fixture) record(t *testing.T) intent.Record {
	t.Helper()
	r, err := dynamo.New(w.db, w.records).Load(t.Context(), keyOf("user-7-welcome").String())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantState checks the lesson's record, and that its row is there exactly when it is completed.
func (w *fixture) wantState(t *testing.T, what string, state intent.State) {
	t.Helper()
	r := w.record(t)
	if r.State != state {
		t.Errorf("%s: record: got %q, want %q (reason %q)", what, r.State, state, r.Reason)
	}
	if row := w.row(t); (row != nil) != (r.State == intent.StateCompleted) {
		t.Errorf("%s: record is %q, row %v", what, r.State, row)
	}
	for _, private := range []string{"example.com", "Ada"} {
		if strings.Contains(r.Reason+string(r.Result.JSON), private) {
			t.Errorf("%s: the record tells %q: %+v", what, private, r)
		}
	}
}

// row is the lesson's in the e-mails table, or nil.
func (w *fixture) row(t *testing.T) item {
	t.Helper()
	out, err := w.db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &w.emails, Key: item{emailIDAttribute: str(keyOf("user-7-welcome").Downstream())}, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}
