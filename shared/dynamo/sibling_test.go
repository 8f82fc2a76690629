package dynamo_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// A large result is put before the record that names it: a worker that dies between
// the two leaves no record without its result, whoever's write it was.
func TestCrashAfterTheFirstRequest(t *testing.T) {
	db := intenttest.Engine(t)
	table := intenttest.Table(t, db, "intent")
	plain := dynamo.New(db, table)
	large := func(r intent.Record) intent.Record {
		return r.Finish(intent.StateCompleted, text(1000), time.Now(), time.Hour)
	}
	const ledgers = "-ledger" // the record of another intent
	for name, write := range map[string]func(context.Context, *dynamo.Store, intent.Record){
		"completion": func(ctx context.Context, s *dynamo.Store, r intent.Record) { _, _ = s.Amend(ctx, large(r)) },
		"completions in a group": func(ctx context.Context, s *dynamo.Store, r intent.Record) {
			g, leave := s.Patient().Group(2)
			var both sync.WaitGroup
			for _, r := range []intent.Record{r, intenttest.Draft()} {
				both.Go(func() {
					defer leave()
					_, _ = g.Amend(ctx, large(r))
				})
			}
			both.Wait()
		},
		"settlement": func(ctx context.Context, s *dynamo.Store, r intent.Record) {
			doubt := r
			doubt.State = intent.StateInDoubt
			if _, err := plain.Amend(ctx, doubt); err != nil {
				t.Error(err)
			}
			_, _ = s.Replace(ctx, doubt, large(doubt))
		},
		"a ledger's record": func(ctx context.Context, s *dynamo.Store, r intent.Record) {
			r.Intent += ledgers
			_, _ = s.Claim(ctx, large(r))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			s := dynamo.New(client(t, &intenttest.Faults{Plan: func(intenttest.Call) intenttest.Fault {
				if requests.Add(1) > 1 { // the worker is dead
					return intenttest.Fault{Reply: &intenttest.Reply{Status: 400, Body: `{"__type":"WorkerIsDead"}`}}
				}
				return intenttest.Fault{}
			}}), table)
			r := intenttest.Draft()
			if _, err := plain.Claim(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			write(t.Context(), s, r)
			for _, key := range []string{r.Intent, r.Intent + ledgers} {
				now, err := plain.Load(t.Context(), key)
				if err != nil || now.State.Final() && now.Result.JSON == nil {
					t.Errorf("got %s without its result, and error %v", now.State, err)
				}
			}
			if requests.Load() < 2 {
				t.Error("the worker did not get as far as the record")
			}
		})
	}
}

// Two verdicts on one claim, its owner's and an operator's, each with a large result
// and in two requests: the result and then the record. Whichever order these come in,
// one verdict lands, and every replay tells its result.
func TestRivalsWithLargeResults(t *testing.T) {
	db := intenttest.Engine(t)
	table := intenttest.Table(t, db, "intent")
	plain := dynamo.New(db, table).Patient()
	for order, winner := range map[string]string{
		"owner owner operator operator": "owner",
		"owner operator owner operator": "owner",
		"operator owner owner operator": "owner",
		"operator operator owner owner": "operator",
		"operator owner operator owner": "operator",
		"owner operator operator owner": "operator",
	} {
		t.Run(order, func(t *testing.T) {
			claim := intenttest.Draft()
			if _, err := plain.Claim(t.Context(), claim); err != nil {
				t.Fatal(err)
			}
			doubt := claim
			doubt.State, doubt.Reason = intent.StateInDoubt, "it hung"
			if _, err := plain.Amend(t.Context(), doubt); err != nil {
				t.Fatal(err)
			}
			results := map[string]string{"owner": text(1000), "operator": strings.ToUpper(text(1000))}
			verdict := func(from intent.Record, by string) intent.Record {
				return from.Finish(intent.StateCompleted, results[by], time.Now(), time.Hour)
			}
			write := map[string]func(*dynamo.Store) (intent.Record, error){
				"owner": func(s *dynamo.Store) (intent.Record, error) { return s.Amend(t.Context(), verdict(claim, "owner")) },
				"operator": func(s *dynamo.Store) (intent.Record, error) {
					return s.Replace(t.Context(), doubt, verdict(doubt, "operator"))
				},
			}
			turns := newTurns(strings.Fields(order)...)
			var both sync.WaitGroup
			for who, f := range write {
				s := dynamo.New(client(t, turns.faults(who)), table).Patient()
				both.Go(func() {
					defer turns.leave(who)
					standing, err := f(s)
					if err != nil {
						t.Error(err)
					}
					wantResult(t, who, standing.Result, results[winner], false)
				})
			}
			both.Wait()
			replay, err := plain.Load(t.Context(), claim.Intent)
			if err != nil || replay.State != intent.StateCompleted {
				t.Errorf("got %s and error %v", replay.State, err)
			}
			wantResult(t, "replay", replay.Result, results[winner], false)
		})
	}
}

// turns let several workers write one after the other, in an order.
type turns struct {
	mu   sync.Mutex
	next *sync.Cond
	left []string // whose turns are to come
}

func newTurns(order ...string) *turns {
	o := &turns{left: order}
	o.next = sync.NewCond(&o.mu)
	return o
}

// faults keep each write of the worker until it is its turn.
func (o *turns) faults(who string) *intenttest.Faults {
	return &intenttest.Faults{Plan: func(call intenttest.Call) intenttest.Fault {
		if call.Operation == "GetItem" {
			return intenttest.Fault{}
		}
		return intenttest.Fault{
			Before: func() {
				o.mu.Lock()
				defer o.mu.Unlock()
				for len(o.left) > 0 && o.left[0] != who {
					o.next.Wait()
				}
			},
			After: func() {
				o.mu.Lock()
				defer o.mu.Unlock()
				o.left = o.left[min(1, len(o.left)):]
				o.next.Broadcast()
			},
		}
	}}
}

// leave gives up the turns of a worker that has ended.
func (o *turns) leave(who string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.left = slices.DeleteFunc(o.left, func(w string) bool { return w == who })
	o.next.Broadcast()
}

// A sibling is its own attempt's: another intent's, or another attempt's, of the same content expires by its own time.
func TestSiblingIsOfOneAttempt(t *testing.T) {
	b := newBench(t)
	store := dynamo.New(b.db, b.records)
	d := message(t, `{"cents":10}`)
	names := map[string]bool{}
	for range 2 {
		r := claimOf(d)
		if _, err := store.Claim(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Amend(t.Context(), r.Finish(intent.StateCompleted, text(1000), time.Now(), time.Hour)); err != nil {
			t.Fatal(err)
		}
		result, ok := b.item(t, r.Intent)["result"].(*types.AttributeValueMemberM)
		if !ok {
			t.Fatal("the result has no sibling")
		}
		name := result.Value["sibling"].(*types.AttributeValueMemberS).Value
		if names[name] || !strings.HasPrefix(name, r.Intent+"##"+r.Owner+"#") {
			t.Errorf("got the sibling %q, want one of %s and %s", name, r.Intent, r.Owner)
		}
		names[name] = true
		if _, err := b.db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &b.records, Key: item{"intent": s(r.Intent)}}); err != nil {
			t.Fatal(err)
		}
	}
}
