package measure

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/bench/charge"
	"github.com/singleeffect/once/infra/bench/message"
	"github.com/singleeffect/once/infra/bench/report"
	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/memdb"
	"github.com/singleeffect/once/shared/sqsbatch"
)

const (
	records  = "records"
	business = "business" // what a ledger writes to
)

// classes are our classes of effect that keep a record, and what a message of each costs.
func classes(ctx context.Context) ([]report.Class, error) {
	var all []report.Class
	for _, c := range []struct {
		name    string
		batch   int
		handler func(intent.Config) sqsbatch.Handler
	}{
		{report.KeyedBatch, message.Batch, keyedHandler},
		{report.KeyedAlone, 1, keyedHandler},
		{report.Blind, message.Batch, blindHandler},
		{report.LoneRecord, message.Batch, ledgerHandler(0)},
		{report.LedgerOne, message.Batch, ledgerHandler(1)},
		{report.LedgerThree, message.Batch, ledgerHandler(3)},
	} {
		db := memdb.New(memdb.Config{Tables: []memdb.Table{{Name: records, Keys: []string{"intent"}}, {Name: business, Keys: []string{"id"}}}})
		batch, err := sqsbatch.New(sqsbatch.Config{Handler: c.handler(intent.Config{Scope: "bench", Operation: "charge", Store: dynamo.New(db, records)})})
		if err != nil {
			return nil, err
		}
		class := report.Class{Name: c.name}
		keys := message.Keys(1)[:c.batch]
		for _, u := range []*report.Units{&class.New, &class.Duplicate} {
			if *u, err = spent(db, len(keys), func() error { return handle(ctx, batch, keys...) }); err != nil {
				return nil, err
			}
		}
		all = append(all, class)
	}
	return all, nil
}

// spent is what a message costs of those that do handles.
func spent(db *memdb.DB, messages int, do func() error) (report.Units, error) {
	before := total(db)
	if err := do(); err != nil {
		return report.Units{}, err
	}
	after, n := total(db), float64(messages)
	return report.Units{
		Requests: (after.Requests - before.Requests) / n,
		Write:    (after.Write - before.Write) / n,
		Read:     (after.Read - before.Read) / n,
	}, nil
}

func total(db *memdb.DB) (u report.Units) {
	for _, usage := range db.Usage() {
		u.Requests += float64(usage.Calls)
		u.Write += usage.WriteUnits
		u.Read += usage.ReadUnits
	}
	return u
}

func effect(_ context.Context, o charge.Order, _ intent.Attempt) (any, error) {
	return o.Receipt(), nil
}

func keyedHandler(c intent.Config) sqsbatch.Handler {
	return &intent.Keyed[charge.Order]{Config: c, Window: 24 * time.Hour, Effect: effect}
}

func blindHandler(c intent.Config) sqsbatch.Handler {
	return &intent.Blind[charge.Order]{Config: c, Effect: effect}
}

// ledgerHandler is a ledger whose effect writes so many items.
func ledgerHandler(writes int) func(intent.Config) sqsbatch.Handler {
	return func(c intent.Config) sqsbatch.Handler {
		return &dynamo.Ledger[charge.Order]{Config: c, Effect: func(_ context.Context, o charge.Order, _ intent.Attempt) (dynamo.Writes, error) {
			w := dynamo.Writes{Result: o.Receipt()}
			table := business
			for i := range writes {
				w.Items = append(w.Items, types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: map[string]types.AttributeValue{
					"id":     &types.AttributeValueMemberS{Value: o.Key + "-" + strconv.Itoa(i)},
					"amount": &types.AttributeValueMemberN{Value: strconv.FormatInt(o.AmountCents, 10)},
				}}})
			}
			return w, nil
		}}
	}
}
