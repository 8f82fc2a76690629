package intent_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// memory is an intent.Store on a map. Its plan says what goes wrong with a call.
type memory struct {
	t    *testing.T
	plan func(call) fault

	mu      sync.Mutex
	records map[string]intent.Record
	calls   []call
}

func newMemory(t *testing.T) *memory {
	return &memory{t: t, records: map[string]intent.Record{}}
}

// call is one write to the store.
type call struct {
	method string
	next   intent.Record
}

func (c call) String() string { return c.method + " " + string(c.next.State) }

// fault is what goes wrong with a write. The zero fault lets it through.
type fault struct {
	before   func() // happens before the write arrives
	after    func() // happens before its answer, and before a lost one's repetition
	lost     bool   // the reply is lost; as a Store does, the write is repeated
	err      error  // the caller is told this in place of what stands
	dropped  bool   // with err: the write never arrives
	vanished bool   // the record that refuses the write cannot be read
	hangs    bool   // it never arrives, and there is no answer until the caller gives up
}

var _ intent.Store = (*memory)(nil)

func (m *memory) Claim(ctx context.Context, next intent.Record) (intent.Record, error) {
	return m.write(ctx, call{method: "claim", next: next}, func(standing intent.Record) bool {
		return standing.State == intent.StateAbsent || !standing.ExpiresAt.IsZero() && standing.ExpiresAt.Before(time.Now())
	})
}

func (m *memory) Amend(ctx context.Context, next intent.Record) (intent.Record, error) {
	return m.write(ctx, call{method: "amend", next: next}, func(standing intent.Record) bool {
		return standing.Owner == next.Owner && slices.Contains(intent.Sources(next.State, intent.ByOwner), standing.State)
	})
}

func (m *memory) Replace(ctx context.Context, shown, next intent.Record) (intent.Record, error) {
	return m.write(ctx, call{method: "replace", next: next}, func(standing intent.Record) bool {
		return slices.Contains(intent.Sources(next.State, intent.ByShown), standing.State) &&
			standing.State == shown.State && standing.Owner == shown.Owner && standing.LeaseUntil.Equal(shown.LeaseUntil)
	})
}

func (m *memory) Load(_ context.Context, key string) (intent.Record, error) {
	return m.record(key), nil
}

func (m *memory) write(ctx context.Context, c call, allowed func(standing intent.Record) bool) (intent.Record, error) {
	m.mu.Lock()
	m.calls = append(m.calls, c)
	m.mu.Unlock()
	if ctx.Err() != nil {
		return intent.Record{}, ctx.Err()
	}
	var f fault
	if m.plan != nil {
		f = m.plan(c)
	}
	if f.hangs {
		<-ctx.Done()
		return intent.Record{}, ctx.Err()
	}
	if f.before != nil {
		f.before()
	}
	var standing intent.Record
	if !f.dropped && !f.vanished {
		standing = m.land(c, allowed)
	}
	if f.after != nil {
		f.after()
	}
	if f.lost {
		standing = m.land(c, allowed)
	}
	return standing, f.err
}

// land is one conditional write. No claim without a lease is ever to arrive
// (C12), whatever the test is about.
func (m *memory) land(c call, allowed func(standing intent.Record) bool) intent.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	standing := m.records[c.next.Intent]
	if !allowed(standing) {
		return standing
	}
	if c.next.State == intent.StateClaimed && (!c.next.LeaseUntil.After(c.next.ClaimedAt) || c.next.Owner == "" || c.next.ClaimedAt.IsZero()) {
		m.t.Errorf("%v: a claim without a lease, an owner or its time: %+v", c, c.next)
	}
	if standing.State.Final() && c.method != "claim" {
		m.t.Errorf("%v: leaves the final state %s", c, standing.State)
	}
	m.records[c.next.Intent] = c.next
	return c.next
}

// put makes a record stand, however it came to.
func (m *memory) put(r intent.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[r.Intent] = r
}

func (m *memory) record(key string) intent.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[key]
}

// log is the writes asked for so far.
func (m *memory) log() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var log []string
	for _, c := range m.calls {
		log = append(log, fmt.Sprint(c))
	}
	return log
}

// on makes a plan of one fault, for the n-th write of its kind.
func on(what string, n int, f fault) func(call) fault {
	var mu sync.Mutex
	return func(c call) fault {
		mu.Lock()
		defer mu.Unlock()
		if c.String() == what {
			if n--; n == 0 {
				return f
			}
		}
		return fault{}
	}
}
