package memdb

import (
	"context"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// record is an item as the library's claims are.
func record(id string) item {
	return item{
		"intent": s(id), "v": n(1), "state": s("claimed"), "owner": s("GQ4TINJTHA4DKNBZ"), "attempt": n(1), "lease_until": n(1_767_225_630_000),
		"claimed_at": n(1_767_225_600_000), "fingerprint": s("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
		"message_id": s("6bd2a5d1-6a9c-4a1f-8a4c-000000000001"),
	}
}

func BenchmarkDB(b *testing.B) {
	ctx := context.Background()
	table := "records"
	put := func(id string) *dynamodb.PutItemInput {
		return &dynamodb.PutItemInput{
			TableName: &table, Item: record(id), ConditionExpression: aws.String("attribute_not_exists(intent) OR expires_at < :now"),
			ExpressionAttributeValues: item{":now": n(1_767_225_600)}, ReturnValuesOnConditionCheckFailure: allOld,
		}
	}
	complete := &dynamodb.UpdateItemInput{
		TableName: &table, Key: item{"intent": s("held")},
		UpdateExpression:         aws.String("SET #state = :state, #result = :result, completed_at = :completed_at, expires_at = :expires_at REMOVE #reason"),
		ConditionExpression:      aws.String("#owner = :owner AND (#state = :claimed OR #state = :in_doubt)"),
		ExpressionAttributeNames: map[string]string{"#state": "state", "#owner": "owner", "#result": "result", "#reason": "reason"},
		ExpressionAttributeValues: item{
			":state": s("claimed"), ":result": s(`{"charge":"ch_1"}`), ":completed_at": n(1), ":expires_at": n(1),
			":owner": s("GQ4TINJTHA4DKNBZ"), ":claimed": s("claimed"), ":in_doubt": s("in_doubt"),
		},
	}
	// A history leaves few items; a table of many would measure the garbage collector.
	const histories = 100
	fresh := func() *DB { return New(Config{Tables: []Table{{Name: table, Keys: []string{"intent"}}}}) }
	start := func(b *testing.B) *DB {
		db := fresh()
		if _, err := db.PutItem(ctx, put("held")); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		b.ResetTimer()
		return db
	}
	b.Run("Put", func(b *testing.B) {
		db := start(b)
		in := put("")
		for i := range b.N {
			if i%histories == 0 {
				db = fresh()
			}
			in.Item["intent"] = s(fmt.Sprint("intent-", i))
			if _, err := db.PutItem(ctx, in); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("PutRefused", func(b *testing.B) {
		db := start(b)
		in := put("held")
		for range b.N {
			if _, err := db.PutItem(ctx, in); err == nil {
				b.Fatal("put over an item")
			}
		}
	})
	b.Run("Update", func(b *testing.B) {
		db := start(b)
		for range b.N {
			if _, err := db.UpdateItem(ctx, complete); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Transaction", func(b *testing.B) {
		db := start(b)
		in := put("")
		actions := []types.TransactWriteItem{
			{Put: &types.Put{TableName: &table, Item: in.Item, ConditionExpression: in.ConditionExpression,
				ExpressionAttributeValues: in.ExpressionAttributeValues}},
			{Update: &types.Update{TableName: &table, Key: item{"intent": s("balance")}, UpdateExpression: aws.String("ADD balance :delta"),
				ExpressionAttributeValues: item{":delta": n(1)}}},
		}
		for i := range b.N {
			if i%histories == 0 {
				db = fresh()
			}
			in.Item["intent"] = s(fmt.Sprint("intent-", i))
			if _, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: actions}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("BatchOfTen", func(b *testing.B) {
		db := start(b)
		const insert = `INSERT INTO "records" VALUE {'intent':?, 'v':?, 'state':?, 'owner':?, 'attempt':?, 'lease_until':?, 'claimed_at':?, 'fingerprint':?, 'message_id':?}`
		in := &dynamodb.BatchExecuteStatementInput{Statements: make([]types.BatchStatementRequest, 10)}
		for i := range b.N {
			if i%histories == 0 {
				db = fresh()
			}
			for j := range in.Statements {
				it := record(fmt.Sprint("intent-", i, "-", j))
				in.Statements[j] = types.BatchStatementRequest{Statement: aws.String(insert), ReturnValuesOnConditionCheckFailure: allOld,
					Parameters: []types.AttributeValue{
						it["intent"], it["v"], it["state"], it["owner"], it["attempt"], it["lease_until"], it["claimed_at"], it["fingerprint"],
						it["message_id"],
					}}
			}
			if out, err := db.BatchExecuteStatement(ctx, in); err != nil || out.Responses[9].Error != nil {
				b.Fatal(err, out)
			}
		}
	})
	b.Run("PutThroughSDK", func(b *testing.B) {
		client := start(b).Client()
		in := put("")
		for i := range b.N {
			in.Item["intent"] = s(fmt.Sprint("intent-", i))
			if _, err := client.PutItem(ctx, in); err != nil {
				b.Fatal(err)
			}
		}
	})
}
