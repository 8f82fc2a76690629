// Package measure measures the contenders: in one run, on one engine, by turns.
package measure

import (
	"context"
	"fmt"
	"io"

	"github.com/singleeffect/once/infra/bench/contender"
	"github.com/singleeffect/once/infra/bench/report"
	"github.com/singleeffect/once/infra/proof/scoreboard/board"
	"github.com/singleeffect/once/shared/intenttest"
)

// Plan says how much is measured.
type Plan struct {
	Rounds  int // of all contenders and scenarios, by turns
	Batches int // in a round, of each contender and scenario
	Warm    int // batches of each kind that a process is given before it is measured: enough for Node's compiler to have settled
	Starts  int // of each contender
	Records int // in the largest table
	Into    string
	Log     io.Writer // takes what the processes write
	Say     func(format string, a ...any)
}

// bench is one run on one engine.
type bench struct {
	Plan
	engine board.Engine
	all    contender.All
}

// Run measures all there is to measure.
func Run(ctx context.Context, p Plan) (r report.Report, err error) {
	p.Say("building")
	all, err := contender.Build(ctx, p.Into)
	if err != nil {
		return r, err
	}
	if r.Zips, err = zips(ctx, p.Into); err != nil {
		return r, err
	}
	endpoint, stop, err := intenttest.Start(ctx)
	if err != nil {
		return r, err
	}
	defer stop()
	b := bench{Plan: p, engine: board.Engine{Endpoint: endpoint}, all: all}
	if r.Runtimes, err = contender.Runtimes(ctx); err != nil {
		return r, err
	}
	for _, c := range all {
		size, err := c.Zipped()
		if err != nil {
			return r, err
		}
		r.Contenders = append(r.Contenders, report.Contender{Name: c.Name, Title: c.Title, ZipMB: float64(size) / 1e6})
	}
	for _, part := range []struct {
		says string
		run  func(context.Context, *report.Report) error
	}{
		{"write units, in the in-memory API", b.units},
		{"rounds", b.contest},
		{"effects that take time", b.effects},
		{"cold starts", b.starts},
		{"workers side by side", b.workers},
		{"growth", b.growth},
	} {
		p.Say("%s", part.says)
		if err := part.run(ctx, &r); err != nil {
			return r, fmt.Errorf("%s: %w", part.says, err)
		}
	}
	return r, nil
}
