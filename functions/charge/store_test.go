package main

import (
	"context"
	"slices"
	"sync"

	"github.com/singleeffect/once/shared/intent"
)

// memory is an intent.Store that keeps its records in a map. What a charge does to its record is
// read from it.
type memory struct {
	mu      sync.Mutex
	records map[string]intent.Record
}

func newMemory() *memory { return &memory{records: map[string]intent.Record{}} }

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
		return standing.Owner == shown.Owner && standing.State == shown.State && standing.LeaseUntil.Equal(shown.LeaseUntil)
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
	if allowed(m.records[next.Intent]) {
		m.records[next.Intent] = next
	}
	return m.records[next.Intent], nil
}
