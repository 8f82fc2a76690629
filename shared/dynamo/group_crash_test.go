package dynamo_test

import (
	"context"
	"sync"
	"testing"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// What a crash in the middle of a batch does to each of its intents: the same as it
// would alone.
func TestGroupCrash(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	call := func(number int, fault func(*worker) intenttest.Fault) func(*worker) func(intenttest.Call) intenttest.Fault {
		return func(w *worker) func(intenttest.Call) intenttest.Fault { return nth(grouped, number, fault(w)) }
	}
	const size = 3
	for _, c := range []struct {
		name  string
		plan  func(*worker) func(intenttest.Call) intenttest.Fault
		acted bool // when the crash comes during the effects
		halt  bool // there is such a crash

		early, late intent.Kind
		calls       int // of each effect, in all deliveries
	}{
		{"before the claims", call(1, crashBefore), false, false, intent.Executed, intent.Replayed, 1},
		{"after the claims, before the effects", call(1, crashAfter), false, false, intent.InProgress, intent.Executed, 1},
		{"during the effects, before the calls", nil, false, true, intent.InProgress, intent.Executed, 1},
		{"during the effects, after the calls", nil, true, true, intent.InProgress, intent.Executed, 2},
		{"after the effects, before the completions", call(2, crashBefore), false, false, intent.InProgress, intent.Executed, 2},
		{"the claims' reply is lost", call(1, loseReply), false, false, intent.Replayed, intent.Replayed, 1},
		{"the completions' reply is lost", call(2, loseReply), false, false, intent.Replayed, intent.Replayed, 1},
		{"the completions' reply is lost, crash before they are read back", call(2, crashAfter), false, false, intent.Replayed, intent.Replayed, 1},
		{"after the completions, before the acknowledgement", nil, false, false, intent.Replayed, intent.Replayed, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, batch := new(provider), messages(t, size)
			first := b.patient(t)
			if c.plan != nil {
				first.plan = c.plan(first)
			}
			h, begun, acted := first.keyed(p), meeting(size), meeting(size)
			h.Effect = func(ctx context.Context, _ charge, a intent.Attempt) (any, error) {
				if err := begun(ctx); err != nil {
					return nil, err
				}
				if c.halt && !c.acted {
					first.crash()
					return nil, errCrashed
				}
				result := p.charge(a.Downstream)
				if err := acted(ctx); err != nil {
					return nil, err
				}
				if c.halt {
					first.crash()
					return nil, errCrashed
				}
				return result, nil
			}
			outcomes, errs := first.batch(h, batch...)
			if !first.dead.Load() {
				wantAll(t, "first delivery", outcomes, errs, intent.Executed)
			}
			early, late := b.worker(t), b.later(t, lapse)
			outcomes, errs = early.batch(early.keyed(p), batch...)
			wantAll(t, "delivery before the lease is over", outcomes, errs, c.early)
			outcomes, errs = late.batch(late.keyed(p), batch...)
			wantAll(t, "delivery after it", outcomes, errs, c.late)
			outcomes, errs = late.batch(late.keyed(p), batch...)
			wantAll(t, "last delivery", outcomes, errs, intent.Replayed)
			p.wantTotal(t, c.calls*size, size)
		})
	}
}

// C36 in groups and without: 64 deliveries of one intent at once, in 32 invocations
// of 4 processes, each beside an intent of its own. Two of them are in each batch, as
// two message groups can bring it.
func TestC36_RaceInGroups(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const invocations, processes = 32, 4
	for name, alone := range map[string]bool{"group commit on": false, "group commit off": true} {
		t.Run(name, func(t *testing.T) {
			p, others, d := new(provider), new(provider), message(t, `{"cents":10}`)
			var workers []*worker
			for range processes {
				w := b.worker(t)
				w.plan = func(call intenttest.Call) intenttest.Fault {
					seen := map[string]bool{}
					for _, key := range keysIn(call.Body) {
						if seen[key] {
							t.Errorf("%s holds two statements for %s", call.Operation, key)
						}
						seen[key] = true
					}
					return intenttest.Fault{}
				}
				workers = append(workers, w)
			}
			start := make(chan struct{})
			var running sync.WaitGroup
			var mu sync.Mutex
			kinds := map[intent.Kind]int{}
			for i := range invocations {
				batch := append(messages(t, 2), d, repeated(t, d, "message-2", string(d.Payload.Canonical())))
				w := workers[i%processes]
				h := w.keyed(p)
				h.Effect = func(_ context.Context, _ charge, a intent.Attempt) (any, error) {
					if a.Key.ID == d.Key {
						return p.charge(a.Downstream), nil
					}
					return others.charge(a.Downstream), nil
				}
				if alone {
					h.Store = w.store.Alone()
				}
				running.Go(func() {
					<-start
					outcomes, errs := w.batch(h, batch...)
					wantAll(t, "of its own", outcomes[:2], errs[:2], intent.Executed)
					mu.Lock()
					defer mu.Unlock()
					for i, o := range outcomes[2:] {
						if errs[2+i] != nil {
							t.Errorf("raced: got %s", describe(o, errs[2+i]))
						}
						kinds[o.Kind]++
					}
				})
			}
			close(start)
			running.Wait()
			if kinds[intent.Executed] != 1 || kinds[intent.Executed]+kinds[intent.InProgress]+kinds[intent.Replayed] != 2*invocations {
				t.Errorf("outcomes: got %v, want 1 executed and all others in progress or replayed", kinds)
			}
			p.want(t, 1, 1) // the losers do not start their effect
			others.wantTotal(t, 2*invocations, 2*invocations)
			for _, w := range workers {
				if batches := w.faults.Counts()[grouped]; (batches == 0) != alone {
					t.Errorf("got %d calls of groups", batches)
				}
			}
		})
	}
}

// Two invocations of one process with the same ten messages, as a queue may deliver
// them: one effect each, and a record is never asked for by both in one call.
func TestGroupsOfTheSameMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, p, ten := b.worker(t), new(provider), messages(t, 10)
	var running sync.WaitGroup
	done := make([]map[intent.Kind]int, 2)
	for i := range done {
		done[i] = map[intent.Kind]int{}
		running.Go(func() {
			outcomes, errs := w.batch(w.keyed(p), ten...)
			for j, o := range outcomes {
				if errs[j] != nil {
					t.Errorf("got %s", describe(o, errs[j]))
				}
				done[i][o.Kind]++
			}
		})
	}
	running.Wait()
	if got := done[0][intent.Executed] + done[1][intent.Executed]; got != 10 {
		t.Errorf("outcomes: got %v, want 10 executed in all", done)
	}
	p.wantTotal(t, 10, 10)
	for _, d := range ten {
		if r := b.record(t, d); r.State != intent.StateCompleted || r.Attempt != 1 {
			t.Errorf("got record %+v", r)
		}
	}
}
