package measure

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/singleeffect/once/infra/bench/contender"
	"github.com/singleeffect/once/infra/bench/message"
	"github.com/singleeffect/once/infra/bench/report"
)

const mostWorkers = 8

// workers lets one to eight processes share the work.
func (b *bench) workers(ctx context.Context, r *report.Report) error {
	once, err := b.crew(ctx, b.all.Of(contender.Once))
	defer once.leave()
	if err != nil {
		return err
	}
	peer, err := b.crew(ctx, b.all.Of(contender.Powertools))
	defer peer.leave()
	if err != nil {
		return err
	}
	for n := 1; n <= mostWorkers; n *= 2 {
		w := report.Workers{Workers: n}
		if w.Once, err = once.rate(ctx, n, b.Plan); err != nil {
			return err
		}
		if w.Powertools, err = peer.rate(ctx, n, b.Plan); err != nil {
			return err
		}
		r.Workers = append(r.Workers, w)
	}
	return nil
}

// crew are processes of one contender, with one table.
type crew []*contender.Process

func (b *bench) crew(ctx context.Context, c contender.Contender) (all crew, err error) {
	table, err := b.createTable(ctx, c.Key)
	if err != nil {
		return nil, err
	}
	for range mostWorkers {
		p, err := c.Start(ctx, contender.Place{Endpoint: b.engine.Endpoint, Table: table}, b.Log)
		if err != nil {
			return all, err
		}
		all = append(all, p)
		if err := deliver(ctx, p, message.Keys(b.Warm/3)); err != nil {
			return all, err
		}
	}
	return all, nil
}

func (c crew) leave() {
	for _, p := range c {
		p.Stop()
	}
}

// rate is how many new messages a second so many of the crew do: the median of several rounds.
func (c crew) rate(ctx context.Context, workers int, p Plan) (float64, error) {
	batches := max(1, p.Batches/2) * mostWorkers // of all workers together
	var rates []float64
	for range p.Rounds {
		var shares [][]string
		for range workers {
			shares = append(shares, message.Keys(batches/workers))
		}
		begin := time.Now()
		running, ctx := errgroup.WithContext(ctx)
		for i, keys := range shares {
			running.Go(func() error { return deliver(ctx, c[i], keys) })
		}
		if err := running.Wait(); err != nil {
			return 0, err
		}
		rates = append(rates, float64(batches*message.Batch)/time.Since(begin).Seconds())
	}
	return median(rates), nil
}

// deliver hands a process a batch for each ten keys.
func deliver(ctx context.Context, p *contender.Process, keys []string) error {
	events, err := message.Events(keys)
	if err != nil {
		return err
	}
	for _, event := range events {
		if _, err := p.Deliver(ctx, event); err != nil {
			return err
		}
	}
	return nil
}
