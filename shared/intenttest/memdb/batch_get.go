package memdb

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// BatchGetItem is a *dynamodb.Client's. The items come in the order of the keys, which DynamoDB does not promise.
func (db *DB) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return serve(ctx, db, "BatchGetItem", in, batchGetItem)
}

// keyRead is one key of a batch.
type keyRead struct {
	table      *table
	key        key
	named      item // the caller's
	projection projection
	consistent bool
}

func batchGetItem(r *request, in *dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
	if err := checkReports(in.ReturnConsumedCapacity, ""); err != nil {
		return nil, err
	}
	reads, err := r.keyReads(in.RequestItems)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.BatchGetItemOutput{
		Responses:       map[string][]map[string]types.AttributeValue{},
		UnprocessedKeys: map[string]types.KeysAndAttributes{},
	}
	for name := range in.RequestItems {
		out.Responses[name] = []map[string]types.AttributeValue{}
	}
	size := 0
	for i, k := range reads {
		name := k.table.name
		leave := func() {
			left, ok := out.UnprocessedKeys[name]
			if !ok {
				left = in.RequestItems[name]
				left.Keys = nil
			}
			left.Keys = append(left.Keys, giveItem(k.named))
			out.UnprocessedKeys[name] = left
		}
		if r.part(i) != nil || size > maxAnswer {
			leave()
			continue
		}
		found := r.read(k.table, k.key, k.consistent)
		if found == nil {
			continue
		}
		if size += found.size; size > maxAnswer {
			leave()
			continue
		}
		out.Responses[name] = append(out.Responses[name], k.projection.of(found.item))
	}
	out.ConsumedCapacity = r.meter.answer(in.ReturnConsumedCapacity, false)
	return out, nil
}

// keyReads are the keys of a batch, table by table in the order of their names.
func (r *request) keyReads(requests map[string]types.KeysAndAttributes) ([]keyRead, error) {
	if len(requests) == 0 {
		return nil, invalid("1 validation error detected: Value '{}' at 'requestItems' failed to satisfy constraint: Member must have length greater than or equal to 1")
	}
	var reads []keyRead
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		of, err := r.tableReads(name, requests[name])
		if err != nil {
			return nil, err
		}
		if reads = append(reads, of...); len(reads) > maxKeys {
			return nil, invalid("Too many items requested for the BatchGetItem call")
		}
	}
	return reads, nil
}

func (r *request) tableReads(name string, in types.KeysAndAttributes) ([]keyRead, error) {
	if err := unsupported(feature{"AttributesToGet", in.AttributesToGet != nil}); err != nil {
		return nil, err
	}
	if len(in.Keys) == 0 {
		return nil, invalid("1 validation error detected: Value '[]' at 'requestItems.%s.member.keys' failed to satisfy constraint: Member must have length greater than or equal to 1", name)
	}
	s, err := newScope(in.ExpressionAttributeNames, nil, expression{"ProjectionExpression", in.ProjectionExpression})
	if err != nil {
		return nil, err
	}
	p, err := parseProjection(in.ProjectionExpression, s)
	if err != nil {
		return nil, err
	}
	if err := s.unused(); err != nil {
		return nil, err
	}
	t, err := r.table(&name)
	if err != nil {
		return nil, err
	}
	if err := t.scalarKeys(nil, nil, p); err != nil {
		return nil, err
	}
	seen := make(map[key]bool, len(in.Keys))
	var reads []keyRead
	for _, named := range in.Keys {
		k, _, err := t.keyed(named)
		if err != nil {
			return nil, err
		}
		if seen[k] {
			return nil, invalid("Provided list of item keys contains duplicates")
		}
		seen[k] = true
		reads = append(reads, keyRead{t, k, named, p, aws.ToBool(in.ConsistentRead)})
	}
	return reads, nil
}
