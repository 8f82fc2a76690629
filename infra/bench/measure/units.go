package measure

import (
	"context"

	"github.com/singleeffect/once/infra/bench/contender"
	"github.com/singleeffect/once/infra/bench/message"
	"github.com/singleeffect/once/infra/bench/report"
	"github.com/singleeffect/once/infra/proof/scoreboard/loopback"
	"github.com/singleeffect/once/shared/intenttest/memdb"
)

// unitBatches say it all: the in-memory API counts the same every time.
const unitBatches = 5

// units runs the contenders and our classes of effect on the in-memory API, which counts units as AWS bills them and, as AWS documents it,
// hands a duplicate its item.
func (b *bench) units(ctx context.Context, r *report.Report) error {
	for i, c := range b.all {
		units, err := b.unitsOf(ctx, c)
		if err != nil {
			return err
		}
		r.Contenders[i].Units = units
	}
	var err error
	r.Classes, err = classes(ctx)
	return err
}

func (b *bench) unitsOf(ctx context.Context, c contender.Contender) (map[string]report.Units, error) {
	db := memdb.New(memdb.Config{Tables: []memdb.Table{{Name: records, Keys: []string{c.Key}}}})
	server, err := loopback.Serve(db)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	p, err := c.Start(ctx, contender.Place{Endpoint: server.URL(), Table: records}, b.Log)
	if err != nil {
		return nil, err
	}
	defer p.Stop()
	seen := message.Keys(unitBatches)
	units := map[string]report.Units{}
	for _, part := range []struct {
		scenario string
		keys     []string
	}{{New, seen}, {Duplicate, seen}, {Half, message.Half(seen, message.Keys(unitBatches))}} {
		units[part.scenario], err = spent(db, len(part.keys), func() error { return deliver(ctx, p, part.keys) })
		if err != nil {
			return nil, err
		}
	}
	return units, nil
}
