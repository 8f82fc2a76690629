package memdb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Scan is a *dynamodb.Client's, on a table and without segments. Items come in the order of their keys, which DynamoDB does not
// promise.
func (db *DB) Scan(ctx context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	return serve(ctx, db, "Scan", in, scan)
}

func scan(r *request, in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
	err := unsupported(feature{"IndexName", in.IndexName != nil}, feature{"ScanFilter", in.ScanFilter != nil},
		feature{"AttributesToGet", in.AttributesToGet != nil}, feature{"ConditionalOperator", in.ConditionalOperator != ""},
		feature{"TotalSegments", in.TotalSegments != nil}, feature{"Segment", in.Segment != nil})
	if err != nil {
		return nil, err
	}
	if err := checkReports(in.ReturnConsumedCapacity, ""); err != nil {
		return nil, err
	}
	s, err := newScope(in.ExpressionAttributeNames, in.ExpressionAttributeValues,
		expression{"FilterExpression", in.FilterExpression}, expression{"ProjectionExpression", in.ProjectionExpression})
	if err != nil {
		return nil, err
	}
	p, err := r.newPage(in.TableName, in.FilterExpression, in.ProjectionExpression, s, in.Select, in.Limit)
	if err != nil {
		return nil, err
	}
	p.consistent = aws.ToBool(in.ConsistentRead)
	after, _, err := p.table.startingKey(in.ExclusiveStartKey)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	read := r.page(p, p.table.behind(p.table.all(), after, false))
	return &dynamodb.ScanOutput{
		Items: read.items, Count: read.count, ScannedCount: read.scanned, LastEvaluatedKey: read.last,
		ConsumedCapacity: r.meter.one(in.ReturnConsumedCapacity),
	}, nil
}
