package intent_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	// unreadable is what reading ends with.
	unreadable error

	mu      sync.Mutex
	records map[string]intent.Record
	rows    map[string]int // how often each was committed
	calls   []call
}

func newMemory(t *testing.T) *memory {
	return &memory{t: t, records: map[string]intent.Record{}, rows: map[string]int{}}
}

// rows are what this store takes for Writes: names of rows that are not there yet.
type rows []string

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
		// The time that decides whether a record is forgotten is the claim's own.
		return standing.State == intent.StateAbsent || !standing.ExpiresAt.IsZero() && standing.ExpiresAt.Unix() < next.ClaimedAt.Unix()
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
	if m.unreadable != nil {
		return intent.Record{}, m.unreadable
	}
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
	var rejected error
	if !f.dropped && !f.vanished {
		standing, rejected = m.land(c, allowed)
	}
	if f.after != nil {
		f.after()
	}
	if f.lost {
		standing, rejected = m.land(c, allowed)
	}
	return standing, errors.Join(f.err, rejected)
}

// land is one conditional write. No claim without a lease is ever to arrive
// (C12), whatever the test is about.
func (m *memory) land(c call, allowed func(standing intent.Record) bool) (intent.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	standing := m.records[c.next.Intent]
	if !allowed(standing) {
		return standing, nil
	}
	if err := m.commit(c); err != nil {
		return intent.Record{}, err
	}
	if c.next.State == intent.StateClaimed && (!c.next.LeaseUntil.After(c.next.ClaimedAt) || c.next.Owner == "" || c.next.ClaimedAt.IsZero()) {
		m.t.Errorf("%v: a claim without a lease, an owner or its time: %+v", c, c.next)
	}
	if standing.State.Final() && c.method != "claim" {
		m.t.Errorf("%v: leaves the final state %s", c, standing.State)
	}
	c.next.Writes = nil // never read back
	m.records[c.next.Intent] = c.next
	return c.next, nil
}

// commit applies the Writes of a completion, all or none.
func (m *memory) commit(c call) error {
	if c.next.Writes == nil {
		return nil
	}
	writes, ok := c.next.Writes.(rows)
	if !ok || !c.next.State.Final() || c.method == "claim" {
		return fmt.Errorf("%w: a %T with %v", intent.ErrWritesRejected, c.next.Writes, c)
	}
	for _, row := range writes {
		if m.rows[row] != 0 {
			return fmt.Errorf("%w: row %s is there", intent.ErrWritesRejected, row)
		}
	}
	for _, row := range writes {
		m.rows[row]++
	}
	return nil
}

// put makes a record stand, however it came to.
func (m *memory) put(r intent.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[r.Intent] = r
}

// remove is what an operator does by mistake.
func (m *memory) remove(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, key)
}

// expire is what TTL does, by its own clock.
func (m *memory) expire(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.records, func(_ string, r intent.Record) bool { return !r.ExpiresAt.IsZero() && r.ExpiresAt.Before(now) })
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
