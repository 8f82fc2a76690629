package dynamo_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
