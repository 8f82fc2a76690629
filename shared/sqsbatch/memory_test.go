package sqsbatch_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// memory is an intent.Store on a map, without faults.
type memory struct {
	mu      sync.Mutex
	records map[string]intent.Record
}

var _ intent.Store = (*memory)(nil)

func (m *memory) Claim(_ context.Context, next intent.Record) (intent.Record, error) {
	return m.write(next, func(standing intent.Record) bool { return standing.State == intent.StateAbsent })
}

func (m *memory) Amend(_ context.Context, next intent.Record) (intent.Record, error) {
	return m.write(next, func(standing intent.Record) bool {
		return standing.Owner == next.Owner && slices.Contains(intent.Sources(next.State, intent.ByOwner), standing.State)
	})
}

func (m *memory) Replace(_ context.Context, shown, next intent.Record) (intent.Record, error) {
	return m.write(next, func(standing intent.Record) bool {
		return slices.Contains(intent.Sources(next.State, intent.ByShown), standing.State) &&
			standing.State == shown.State && standing.Owner == shown.Owner && standing.LeaseUntil.Equal(shown.LeaseUntil)
	})
}

func (m *memory) Load(_ context.Context, key string) (intent.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[key], nil
}

func (m *memory) write(next intent.Record, allowed func(standing intent.Record) bool) (intent.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if standing := m.records[next.Intent]; !allowed(standing) {
		return standing, nil
	}
	if m.records == nil {
		m.records = map[string]intent.Record{}
	}
	m.records[next.Intent] = next
	return next, nil
}

// all is every record that stands.
func (m *memory) all() map[string]intent.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.records)
}

// till counts what it is charged for, by the provider's key.
type till struct {
	mu      sync.Mutex
	charges map[string]int
}

func (c *till) charge(a intent.Attempt) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.charges == nil {
		c.charges = map[string]int{}
	}
	c.charges[a.Downstream]++
	return c.charges[a.Downstream]
}

// total is all charges, first ones and second ones.
func (c *till) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, charges := range c.charges {
		n += charges
	}
	return n
}

// shop is a configuration of intents on the store.
func shop(m *memory) intent.Config {
	return intent.Config{Scope: "shop", Operation: "charge", Store: m}
}

// cashier is a Keyed handler whose effect charges the till.
func cashier(m *memory, c *till) *intent.Keyed[order] {
	return &intent.Keyed[order]{Config: shop(m), Window: 24 * time.Hour, Effect: func(_ context.Context, _ order, a intent.Attempt) (any, error) {
		return c.charge(a), nil
	}}
}
