package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/singleeffect/once/infra/bench/contender"
	"github.com/singleeffect/once/infra/bench/message"
	"github.com/singleeffect/once/infra/bench/process"
	"github.com/singleeffect/once/infra/bench/proxy"
)

// entrant is a contender that runs, on a table of its own.
type entrant struct {
	contender.Contender
	*contender.Process
	table string
	proxy *proxy.Proxy // in front of the engine, or nil
	keys  int          // that it was given so far
}

// enter starts a contender, behind a proxy of its own if proxied, and warms it up with that many batches of each kind.
func (b *bench) enter(ctx context.Context, c contender.Contender, proxied bool, delay time.Duration, warm int, environment ...string) (_ *entrant, err error) {
	e := &entrant{Contender: c}
	defer func() {
		if err != nil {
			e.leave()
		}
	}()
	if e.table, err = b.createTable(ctx, c.Key); err != nil {
		return nil, err
	}
	at := contender.Place{Endpoint: b.engine.Endpoint, Table: e.table}
	if proxied {
		if e.proxy, err = proxy.Start(b.engine.Endpoint, delay); err != nil {
			return nil, err
		}
		at.Endpoint = e.proxy.URL()
	}
	if e.Process, err = c.Start(ctx, at, b.Log, environment...); err != nil {
		return nil, err
	}
	keys := message.Keys(warm)
	for range 2 { // new, and then duplicates
		if _, err := e.run(ctx, keys); err != nil {
			return nil, fmt.Errorf("warm up: %w", err)
		}
	}
	e.keys = len(keys)
	return e, nil
}

func (e *entrant) leave() {
	if e.Process != nil {
		e.Stop()
	}
	if e.proxy != nil {
		e.proxy.Close()
	}
}

// sample is what some batches of one process cost.
type sample struct {
	messages  int
	cpu, wall time.Duration
	requests  int // counted by the proxy
	batches   []time.Duration
}

// run hands the process a batch for each ten keys, one after the other.
func (e *entrant) run(ctx context.Context, keys []string) (s sample, err error) {
	events, err := message.Events(keys) // before the time runs
	if err != nil {
		return s, err
	}
	s.messages = len(keys)
	if e.proxy != nil {
		s.requests = -e.proxy.Requests()
	}
	before, err := process.CPU(e.PID())
	if err != nil {
		return s, err
	}
	begin := time.Now()
	for _, event := range events {
		took, err := e.Deliver(ctx, event)
		if err != nil {
			return s, fmt.Errorf("%s: %w", e.Name, err)
		}
		s.batches = append(s.batches, took)
	}
	s.wall = time.Since(begin)
	after, err := process.CPU(e.PID())
	if err != nil {
		return s, err
	}
	s.cpu = after - before
	if e.proxy != nil {
		s.requests += e.proxy.Requests()
	}
	return s, nil
}

// errRecords is returned when a contender kept another number of records than it was given intents: what was measured is not the work.
var errRecords = errors.New("not a record for each intent")

// check counts the records.
func (b *bench) check(ctx context.Context, e *entrant) error {
	got, err := b.count(ctx, e.table)
	if err == nil && got != e.keys {
		err = fmt.Errorf("%s: %w: %d records, %d intents", e.Name, errRecords, got, e.keys)
	}
	return err
}
