package memdb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

var _ dynamo.API = (*DB)(nil)

// The contract of intent.Store, which dynamo.Store keeps on DynamoDB Local, it keeps on the database. The SDK repeats without a
// pause: how the store waits is not the question here.
func TestStoreContract(t *testing.T) {
	t.Parallel()
	db := New(Config{Tables: []Table{{Name: "records", Keys: []string{"intent"}, TTL: "expires_at"}}})
	intenttest.Contract(t, func(t testing.TB, faults *intenttest.Faults) intent.Store {
		faults.Base = db
		return dynamo.New(db.Client(dynamo.Tune, func(o *dynamodb.Options) {
			o.HTTPClient = faults.Client()
			o.Retryer = retry.NewStandard(func(so *retry.StandardOptions) {
				so.MaxAttempts, so.RateLimiter = 8, ratelimit.None
				so.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		}), "records")
	})
}

// newStores are the engines with a table of records and one of accounts.
func newStores(t *testing.T) *engines {
	t.Helper()
	t.Parallel()
	local := intenttest.Engine(t) // without the functions' timeouts: a busy machine is no difference
	e := &engines{local: local, items: intenttest.Table(t, local, "intent"), sorted: intenttest.Table(t, local, "account_id")}
	e.memory = New(Config{Tables: []Table{{Name: e.items, Keys: []string{"intent"}}, {Name: e.sorted, Keys: []string{"account_id"}}}})
	return e
}

// The same random transitions of the same records, on both engines: every expression of package dynamo, with all that records may
// hold.
func TestStoreOnBothEngines(t *testing.T) {
	e := newStores(t)
	d := &draw{rand.New(rand.NewPCG(*seed, 1))}
	stores := []intent.Store{dynamo.New(e.local, e.items), dynamo.New(e.memory, e.items)}
	var last []intent.Record // that any of the calls has named
	for step := range *steps / 2 {
		what, call := d.change(last)
		var answers [2]string
		for i, s := range stores {
			r, err := call(t.Context(), s)
			answers[i] = fmt.Sprintf("%+v, error %v", r, err)
			if i == 1 && err == nil && r.Intent != "" {
				last = append(last, r)
			}
		}
		if answers[0] != answers[1] {
			t.Fatalf("seed %d, step %d, %s:\nDynamoDB Local: %.700s\nmemdb:          %.700s", *seed, step, what, answers[0], answers[1])
		}
	}
	e.sameItems(t)
}

type draw struct{ *rand.Rand }

var began = time.UnixMilli(1_700_000_000_000)

// record draws what a worker may want to write of one of few intents.
func (d *draw) record(state intent.State) intent.Record {
	now := began.Add(time.Duration(d.IntN(5)) * time.Hour)
	r := intent.Record{
		Intent: fmt.Sprint("scope#charge#", d.IntN(4)), State: state, Owner: fmt.Sprint("owner-", d.IntN(3)), Attempt: 1 + d.IntN(3),
		LeaseUntil: now.Add(time.Duration(d.IntN(3)) * time.Minute), ClaimedAt: now, Fingerprint: intent.Fingerprint{byte(d.IntN(2))},
		MessageID: fmt.Sprint("message-", d.IntN(3)),
	}
	switch {
	case state.Final():
		// Longer ones have an item of their own, if that is put in time: which a busy machine decides.
		return r.Finish(state, strings.Repeat("r", []int{0, 10, 510}[d.IntN(3)]), now, time.Duration(d.IntN(3))*time.Hour)
	case state != intent.StateClaimed:
		r.Reason = fmt.Sprint("because ", d.IntN(3))
	}
	if state == intent.StateReleased && d.IntN(2) == 0 {
		r.ClaimedAt = time.Time{}
	}
	return r
}

// change draws a call of a store.
func (d *draw) change(last []intent.Record) (string, func(context.Context, intent.Store) (intent.Record, error)) {
	states := []intent.State{intent.StateClaimed, intent.StateReleased, intent.StateCompleted, intent.StateRefused, intent.StateInDoubt}
	next := d.record(states[d.IntN(len(states))])
	shown := next
	if len(last) > 0 {
		shown = last[max(0, len(last)-1-d.IntN(6))]
	}
	switch d.IntN(5) {
	case 0:
		next = d.record([]intent.State{intent.StateClaimed, intent.StateCompleted, intent.StateRefused}[d.IntN(3)])
		return fmt.Sprintf("claim %+v", next), func(ctx context.Context, s intent.Store) (intent.Record, error) { return s.Claim(ctx, next) }
	case 1, 2:
		next.Intent, next.Owner = shown.Intent, shown.Owner
		return fmt.Sprintf("amend %+v", next), func(ctx context.Context, s intent.Store) (intent.Record, error) { return s.Amend(ctx, next) }
	case 3:
		next.Intent = shown.Intent
		return fmt.Sprintf("replace %+v by %+v", shown, next),
			func(ctx context.Context, s intent.Store) (intent.Record, error) { return s.Replace(ctx, shown, next) }
	}
	return "load " + next.Intent, func(ctx context.Context, s intent.Store) (intent.Record, error) { return s.Load(ctx, next.Intent) }
}

// transfer is a payload of the Ledger below.
type transfer struct {
	Account string `json:"account"`
	Delta   int    `json:"delta"`
}

// The same adjustments, on both engines: who is refused, who replays and what the balances are.
func TestLedgerOnBothEngines(t *testing.T) {
	e := newStores(t)
	ledger := func(store *dynamo.Store) *dynamo.Ledger[transfer] {
		return &dynamo.Ledger[transfer]{
			Config: intent.Config{Scope: "test", Operation: "adjust", Store: store, Now: func() time.Time { return began }},
			Effect: func(_ context.Context, p transfer, _ intent.Attempt) (dynamo.Writes, error) {
				return dynamo.Writes{
					Items: []types.TransactWriteItem{{Update: &types.Update{
						TableName: &e.sorted, Key: item{"account_id": s(p.Account)}, UpdateExpression: aws.String("SET balance = balance + :delta"),
						ConditionExpression:                 aws.String("attribute_exists(balance) AND balance >= :needed"),
						ExpressionAttributeValues:           item{":delta": n(p.Delta), ":needed": n(-p.Delta)},
						ReturnValuesOnConditionCheckFailure: allOld,
					}}},
					Result: p,
					Failed: func(reasons []types.CancellationReason) error { return intent.Refuse(written(reasons[0].Item, nil)) },
				}, nil
			},
		}
	}
	ledgers := []*dynamo.Ledger[transfer]{ledger(dynamo.New(e.local, e.items)), ledger(dynamo.New(e.memory, e.items))}
	for _, account := range []string{"a", "b"} {
		e.same(t, "open", putting(dynamodb.PutItemInput{TableName: &e.sorted, Item: item{"account_id": s(account), "balance": n(10)}}))
	}
	d := &draw{rand.New(rand.NewPCG(*seed, 2))}
	for step := range *steps / 4 {
		payload := fmt.Sprintf(`{"account":"%s","delta":%d}`, []string{"a", "b", "nobody's"}[d.IntN(3)], d.IntN(15)-9)
		delivery := intent.Delivery{Key: fmt.Sprint("order-", d.IntN(20)), Payload: intenttest.Payload(t, payload),
			Fingerprint: intent.Fingerprint{byte(d.IntN(2))}, MessageID: "m"}
		var answers [2]string
		for i, l := range ledgers {
			o, err := l.Deliver(t.Context(), delivery)
			answers[i] = fmt.Sprintf("%+v, error %v", o, err)
		}
		if answers[0] != answers[1] {
			t.Fatalf("seed %d, step %d, %+v:\nDynamoDB Local: %.700s\nmemdb:          %.700s", *seed, step, delivery, answers[0], answers[1])
		}
	}
	for i, a := range []api{e.local, e.memory} { // each ledger has drawn owners of its own
		for _, record := range e.memory.Items(e.items) {
			in := &dynamodb.UpdateItemInput{TableName: &e.items, Key: item{"intent": record["intent"]},
				UpdateExpression: aws.String("REMOVE #o"), ExpressionAttributeNames: map[string]string{"#o": "owner"},
				ConditionExpression: aws.String("attribute_exists(intent)")}
			if _, err := a.UpdateItem(t.Context(), in); err != nil {
				t.Errorf("engine %d has no record %v: %v", i, record["intent"], err)
			}
		}
	}
	e.sameItems(t)
}

// What package dynamo does of its own accord costs what the design says, counted here since DynamoDB Local counts otherwise: a
// keyed intent 2 units, a duplicate 1, a Ledger's 2 × (1 + writes), with no writes 1.
func TestUnitsOfIntents(t *testing.T) {
	db := New(Config{Tables: []Table{{Name: "records", Keys: []string{"intent"}}, {Name: "rows", Keys: []string{"row"}}}})
	store := dynamo.New(db, "records")
	config := intent.Config{Scope: "test", Operation: "charge", Store: store}
	keyed := &intent.Keyed[transfer]{Config: config, Window: 24 * time.Hour,
		Effect: func(context.Context, transfer, intent.Attempt) (any, error) { return "ch_1", nil }}
	writing := func(count int) *dynamo.Ledger[transfer] {
		return &dynamo.Ledger[transfer]{Config: config, Effect: func(_ context.Context, _ transfer, a intent.Attempt) (dynamo.Writes, error) {
			var w dynamo.Writes
			for i := range count {
				w.Items = append(w.Items, types.TransactWriteItem{Put: &types.Put{TableName: aws.String("rows"),
					Item: item{"row": s(fmt.Sprint(a.Downstream, i))}}})
			}
			return w, nil
		}}
	}
	for _, c := range []struct {
		name         string
		handler      deliverer
		first, again float64
	}{{"keyed", keyed, 2, 1}, {"ledger without writes", writing(0), 1, 1}, {"ledger, 1 write", writing(1), 4, 4},
		{"ledger, 3 writes", writing(3), 8, 8}} {
		for i, want := range []float64{c.first, c.again} {
			before := writeUnitsOf(db)
			if _, err := c.handler.Deliver(t.Context(), intenttest.Delivery(t, c.name, `{}`)); err != nil {
				t.Fatal(err)
			}
			if got := writeUnitsOf(db) - before; got != want {
				t.Errorf("%s, delivery %d: %v write units, want %v", c.name, i+1, got, want)
			}
		}
	}
}

type deliverer interface {
	Deliver(context.Context, intent.Delivery) (intent.Outcome, error)
}

func writeUnitsOf(db *DB) (units float64) {
	for _, u := range db.Usage() {
		units += u.WriteUnits
	}
	return units
}
