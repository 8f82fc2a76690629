package board

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Engine is the DynamoDB engine that all sides share.
type Engine struct{ Endpoint string }

// Client is a client of the engine that meets no faults.
func (e Engine) Client() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "eu-central-1",
		BaseEndpoint: &e.Endpoint,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
}

// CreateTable creates a table with a partition key and a name of its own, and waits until it is there.
func (e Engine) CreateTable(ctx context.Context, prefix, key string) (name string, err error) {
	db := e.Client()
	name = prefix + "-" + rand.Text()
	_, err = db.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: &key, KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &key, AttributeType: types.ScalarAttributeTypeS}},
	})
	if err != nil {
		return "", fmt.Errorf("create table: %w", err)
	}
	return name, dynamodb.NewTableExistsWaiter(db).Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, time.Minute)
}

// lapse waits until no lease in the table runs any more.
func (a *arena) lapse(ctx context.Context) error {
	if a.side.lease == "" {
		return nil
	}
	items, err := a.items(ctx)
	if err != nil {
		return err
	}
	var last int64
	for _, it := range items {
		until, err := number(it, a.side.lease)
		if err != nil {
			return err
		}
		last = max(last, until)
	}
	return sleepUntil(ctx, time.UnixMilli(last+1).Add(a.side.slack))
}

// expire waits until all records have expired and deletes them, as TTL does in its own time. The condition is TTL's own: a record that
// was given more time stays.
func (a *arena) expire(ctx context.Context, m *message) error {
	passes := a.side.shortest > a.c.retention
	if passes {
		m.Attributes["SentTimestamp"] = strconv.FormatInt(time.Now().Add(-a.side.shortest-time.Second).UnixMilli(), 10)
	}
	items, err := a.items(ctx)
	if err != nil {
		return err
	}
	for _, it := range items {
		until, err := number(it, a.side.expiry)
		if err != nil {
			return err
		}
		now := time.Unix(until+1, 0)
		if !passes {
			if err := sleepUntil(ctx, now); err != nil {
				return err
			}
		}
		_, err = a.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName:                 &a.table,
			Key:                       map[string]types.AttributeValue{a.side.key: it[a.side.key]},
			ConditionExpression:       aws.String("#expiry < :now"),
			ExpressionAttributeNames:  map[string]string{"#expiry": a.side.expiry},
			ExpressionAttributeValues: map[string]types.AttributeValue{":now": &types.AttributeValueMemberN{Value: strconv.FormatInt(now.Unix(), 10)}},
		})
		if err != nil {
			return fmt.Errorf("delete what expired: %w", err)
		}
	}
	return nil
}

// items are the few records of a case.
func (a *arena) items(ctx context.Context) ([]map[string]types.AttributeValue, error) {
	out, err := a.db.Scan(ctx, &dynamodb.ScanInput{TableName: &a.table, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, fmt.Errorf("read the records: %w", err)
	}
	return out.Items, nil
}

// number reads a whole number; an item without it has 0.
func number(it map[string]types.AttributeValue, name string) (int64, error) {
	n, ok := it[name].(*types.AttributeValueMemberN)
	if !ok {
		return 0, nil
	}
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("attribute %s: %w", name, err)
	}
	return v, nil
}

// sleepUntil waits for a moment of the wall clock, by which leases and expiries go.
func sleepUntil(ctx context.Context, moment time.Time) error {
	timer := time.NewTimer(time.Until(moment))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
