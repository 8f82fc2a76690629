package measure

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/singleeffect/once/infra/bench/message"
	"github.com/singleeffect/once/infra/bench/process"
	"github.com/singleeffect/once/infra/bench/proxy"
	"github.com/singleeffect/once/infra/bench/report"
)

// delay is added to each reply where the network is to count.
const delay = 5 * time.Millisecond

// field are the processes of all contenders, and what they did by scenario.
type field struct {
	entrants []*entrant
	samples  []map[string][]sample
}

// contest runs all contenders by turns: directly at the engine, and with the delay between, where the bare requests have their turn, too.
func (b *bench) contest(ctx context.Context, r *report.Report) error {
	direct, err := b.line(ctx, false)
	defer direct.leave()
	if err != nil {
		return err
	}
	delayed, err := b.line(ctx, true)
	defer delayed.leave()
	if err != nil {
		return err
	}
	behind, err := proxy.Start(b.engine.Endpoint, delay)
	if err != nil {
		return err
	}
	defer behind.Close()
	floor, err := b.bare(ctx, behind.URL())
	if err != nil {
		return err
	}
	var bare []sample
	for round := range b.Rounds {
		b.Say("  round %d of %d", round+1, b.Rounds)
		if err := direct.round(ctx, b.Batches); err != nil {
			return err
		}
		if err := delayed.round(ctx, b.Batches); err != nil {
			return err
		}
		s, err := floor.run(ctx, b.Batches)
		if err != nil {
			return fmt.Errorf("bare requests: %w", err)
		}
		bare = append(bare, s)
	}
	r.Floor = summary(bare)
	for i := range r.Contenders {
		c := &r.Contenders[i]
		c.Direct, c.Delayed = summaries(direct.samples[i]), summaries(delayed.samples[i])
		held, err := process.MemoryOf(direct.entrants[i].PID())
		if err != nil {
			return err
		}
		c.ResidentMB, c.PeakMB = float64(held.Resident)/1e6, float64(held.Peak)/1e6
		for _, f := range []*field{direct, delayed} {
			if err := b.check(ctx, f.entrants[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// line starts all contenders.
func (b *bench) line(ctx context.Context, delayed bool) (*field, error) {
	f := new(field)
	for _, c := range b.all {
		batches := b.Warm
		if delayed {
			batches /= 3 // their processor time is not looked at
		}
		e, err := b.enter(ctx, c, delayed, delay, batches)
		if err != nil {
			return f, err
		}
		f.entrants = append(f.entrants, e)
		f.samples = append(f.samples, map[string][]sample{})
	}
	return f, nil
}

func (f *field) leave() {
	for _, e := range f.entrants {
		e.leave()
	}
}

// round gives each contender its turn in each scenario, each time in another order.
func (f *field) round(ctx context.Context, batches int) error {
	keys := map[string][]string{New: message.Keys(batches)}
	keys[Duplicate] = keys[New]
	keys[Half] = message.Half(keys[New], message.Keys(batches))
	for _, scenario := range report.Scenarios {
		for _, i := range rand.Perm(len(f.entrants)) {
			s, err := f.entrants[i].run(ctx, keys[scenario])
			if err != nil {
				return fmt.Errorf("%s: %w", scenario, err)
			}
			f.samples[i][scenario] = append(f.samples[i][scenario], s)
		}
	}
	for _, e := range f.entrants {
		e.keys += len(keys[New]) + len(keys[Half])/2
	}
	return nil
}

// Short names.
const (
	New       = report.New
	Duplicate = report.Duplicate
	Half      = report.Half
)

func summaries(samples map[string][]sample) map[string]report.Batch {
	all := map[string]report.Batch{}
	for scenario, s := range samples {
		all[scenario] = summary(s)
	}
	return all
}

// summary is the median of several rounds; the 99th percentile is that of all batches, of which one round has too few.
func summary(samples []sample) report.Batch {
	var cpu, rate, p50, requests []float64
	var all []time.Duration
	for _, s := range samples {
		n := float64(s.messages)
		cpu = append(cpu, float64(s.cpu.Microseconds())/n)
		rate = append(rate, n/s.wall.Seconds())
		p50 = append(p50, milliseconds(percentile(s.batches, 0.5)))
		requests = append(requests, float64(s.requests)/n)
		all = append(all, s.batches...)
	}
	return report.Batch{
		CPUMicros: median(cpu), PerSecond: median(rate), P50: median(p50), P99: milliseconds(percentile(all, 0.99)), Requests: median(requests),
	}
}
