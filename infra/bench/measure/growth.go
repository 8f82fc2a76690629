package measure

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/bench/contender"
	"github.com/singleeffect/once/infra/bench/message"
	"github.com/singleeffect/once/infra/bench/report"
	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intenttest/memdb"
)

// smallest is the table that the largest is compared with; between them each has ten times as many records as the one before.
const smallest = 1000

// growthBatches are those of a turn on one table: few, since each makes it larger.
const growthBatches = 5

// growth measures new batches on tables of several sizes, by turns.
func (b *bench) growth(ctx context.Context, r *report.Report) error {
	record, err := sampleRecord(ctx)
	if err != nil {
		return err
	}
	var entrants []*entrant
	defer func() {
		for _, e := range entrants {
			e.leave()
		}
	}()
	for records := smallest; ; records = min(10*records, b.Records) {
		e, err := b.enter(ctx, b.all.Of(contender.Once), false, 0, b.Warm/3)
		if err != nil {
			return err
		}
		entrants = append(entrants, e)
		begin := time.Now()
		if err := b.fill(ctx, e.table, record, records-e.keys); err != nil {
			return err
		}
		b.Say("  %d records in %v", records, time.Since(begin).Round(time.Second))
		r.Growth = append(r.Growth, report.Size{Records: records})
		if records >= b.Records {
			break
		}
	}
	p50 := make([][]float64, len(entrants))
	for round := range b.Rounds {
		for turn := range entrants {
			i := (round + turn) % len(entrants)
			s, err := entrants[i].run(ctx, message.Keys(growthBatches))
			if err != nil {
				return err
			}
			p50[i] = append(p50[i], milliseconds(percentile(s.batches, 0.5)))
		}
	}
	for i := range r.Growth {
		r.Growth[i].P50 = median(p50[i])
	}
	return nil
}

// sampleRecord is a record as ours are once they are completed.
func sampleRecord(ctx context.Context) (map[string]types.AttributeValue, error) {
	db := memdb.New(memdb.Config{Tables: []memdb.Table{{Name: records, Keys: []string{"intent"}}}})
	batch, err := keyed(dynamo.New(db, records))
	if err != nil {
		return nil, err
	}
	if err := handle(ctx, batch, message.Keys(1)[0]); err != nil {
		return nil, err
	}
	items := db.Items(records)
	if len(items) != 1 {
		return nil, errors.New("no record of an intent")
	}
	return items[0], nil
}
