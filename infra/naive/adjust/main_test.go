package main

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/naive/naivetest"
	"github.com/singleeffect/once/shared/intenttest"
)

func TestDeliveries(t *testing.T) {
	db := intenttest.Engine(t)
	accounts := intenttest.Table(t, db, "account_id")
	t.Setenv("ACCOUNTS_TABLE", accounts)
	const delta = -1000
	account := map[string]types.AttributeValue{"account_id": &types.AttributeValueMemberS{Value: "7"}}
	item := map[string]types.AttributeValue{"account_id": account["account_id"], "balance": &types.AttributeValueMemberN{Value: "0"}}
	if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &accounts, Item: item}); err != nil {
		t.Fatal(err)
	}
	naivetest.Deliveries(t, naivetest.Twin{
		DB:     db,
		Effect: adjust(db),
		Message: func(key string) string {
			return fmt.Sprintf(`{"idempotency_key":%q,"account_id":"7","delta_cents":%d}`, key, delta)
		},
		Effects: func() int {
			out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &accounts, Key: account, ConsistentRead: aws.Bool(true)})
			if err != nil {
				t.Fatal(err)
			}
			balance, _ := out.Item["balance"].(*types.AttributeValueMemberN)
			cents, err := strconv.Atoi(balance.Value)
			if err != nil {
				t.Fatal(err)
			}
			return cents / delta
		},
	})
}
