package measure

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func (b *bench) createTable(ctx context.Context, key string) (string, error) {
	return b.engine.CreateTable(ctx, "bench", key)
}

// count counts the items of a table.
func (b *bench) count(ctx context.Context, table string) (n int, err error) {
	pages := dynamodb.NewScanPaginator(b.engine.Client(), &dynamodb.ScanInput{TableName: &table, Select: types.SelectCount})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return 0, fmt.Errorf("count records: %w", err)
		}
		n += int(page.Count)
	}
	return n, nil
}

const (
	loaders = 8  // requests at once
	load    = 25 // items that one BatchWriteItem takes
)

// fill puts copies of a record into a table, each with a key of its own.
func (b *bench) fill(ctx context.Context, table string, record map[string]types.AttributeValue, n int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan []types.WriteRequest)
	var running sync.WaitGroup
	db := b.engine.Client()
	for range loaders {
		running.Go(func() {
			for batch := range batches {
				for left := map[string][]types.WriteRequest{table: batch}; len(left) > 0; {
					out, err := db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: left})
					if err != nil {
						cancel(fmt.Errorf("fill table: %w", err))
						break
					}
					left = out.UnprocessedItems
				}
			}
		})
	}
	var batch []types.WriteRequest
	for i := range n {
		item := maps.Clone(record)
		item["intent"] = &types.AttributeValueMemberS{Value: "bench#charge#filled-" + strconv.Itoa(i)}
		batch = append(batch, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		if len(batch) == load || i == n-1 {
			batches <- batch
			batch = nil
		}
	}
	close(batches)
	running.Wait()
	return context.Cause(ctx)
}
