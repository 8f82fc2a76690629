package dynamo_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/memdb"
)

// One claim on the in-memory API, so that what is measured is our side of it and no
// engine: through the SDK as in a function, and without, which is what is ours alone.
func BenchmarkClaim(b *testing.B) {
	// A table of many items would measure the garbage collector.
	const most = 1000
	fresh := func() *memdb.DB {
		return memdb.New(memdb.Config{Tables: []memdb.Table{{Name: "records", Keys: []string{"intent"}}}})
	}
	for _, through := range []struct {
		name   string
		client func(*memdb.DB) dynamo.API
	}{
		{"alone", func(db *memdb.DB) dynamo.API { return db }},
		{"SDK", func(db *memdb.DB) dynamo.API { return db.Client() }},
	} {
		claim := func(n int) intent.Record {
			now := time.UnixMilli(time.Now().UnixMilli())
			return intent.Record{
				Intent: "shop#charge#order-" + strconv.Itoa(n), State: intent.StateClaimed, Owner: intent.NewOwner(), Attempt: 1,
				LeaseUntil: now.Add(time.Minute), ClaimedAt: now, MessageID: "6bd2a5d1-6a9c-4a1f-8a4c-000000000001",
			}
		}
		ctx := context.Background()
		b.Run(through.name+"/new", func(b *testing.B) {
			var store *dynamo.Store
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				if n%most == 0 {
					store = dynamo.New(through.client(fresh()), "records")
				}
				n++
				next := claim(n)
				if standing, err := store.Claim(ctx, next); err != nil || standing.Owner != next.Owner {
					b.Fatal(standing, err)
				}
			}
		})
		b.Run(through.name+"/duplicate", func(b *testing.B) {
			store := dynamo.New(through.client(fresh()), "records")
			first := claim(0)
			if _, err := store.Claim(ctx, first); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if standing, err := store.Claim(ctx, claim(0)); err != nil || standing.Owner != first.Owner {
					b.Fatal(standing, err)
				}
			}
		})
	}
}
