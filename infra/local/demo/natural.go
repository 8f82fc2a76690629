package demo

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var ship = operation{
	name: "ship",
	body: func(a action) map[string]any {
		return map[string]any{"order_id": a.order, "shipped_at": a.happened.Format(time.RFC3339)}
	},
	rows: func(a action) []row {
		return []row{{"OrdersTable", a.order, item{"order_id": text(a.order), "status": text("paid")}}}
	},
	effect: func(r *http.Request, _ bool) bool { return toDynamoDB(r, "UpdateItem") },
	count: func(ctx context.Context, s *side, a action) (int, error) {
		return s.hasStatus(ctx, a, "shipped")
	},
	later: func(ctx context.Context, s *side, a action) error { return s.deliver(ctx, a) },
	stands: func(ctx context.Context, s *side, a action) (bool, error) {
		n, err := s.hasStatus(ctx, a, "delivered")
		return n == 1, err
	},
	lesson: lesson{what: "status of order 8821", show: ifThere("shipped", "not shipped")},
}

var clearcart = operation{
	name: "clearcart",
	body: func(a action) map[string]any {
		return map[string]any{"user_id": a.user, "checked_out_at": a.happened.Format(time.RFC3339)}
	},
	rows: func(a action) []row {
		var rows []row
		for n := range a.items {
			rows = append(rows, row{"CartsTable", a.user + " " + itemID(n), cartItem(a, n, a.happened.Add(-time.Minute))})
		}
		return rows
	},
	effect: func(r *http.Request, _ bool) bool { return toDynamoDB(r, "DeleteItem") },
	count: func(ctx context.Context, s *side, a action) (int, error) {
		left, err := s.cart(ctx, a)
		if err != nil || len(left) > 0 {
			return 0, err
		}
		return 1, nil
	},
	later:  func(ctx context.Context, s *side, a action) error { return s.shop(ctx, a) },
	stands: func(ctx context.Context, s *side, a action) (bool, error) { return s.shopped(ctx, a) },
	lesson: lesson{what: "cart of user 7", show: ifThere("empty", "not empty")},
}

// hasStatus is 1 if the order has the status, else 0.
func (s *side) hasStatus(ctx context.Context, a action, status string) (int, error) {
	order, err := s.get(ctx, "OrdersTable", item{"order_id": text(a.order)})
	if err != nil {
		return 0, err
	}
	has, ok := order["status"].(*types.AttributeValueMemberS)
	if !ok {
		return 0, fmt.Errorf("order %s has no status", a.order)
	}
	if has.Value == status {
		return 1, nil
	}
	return 0, nil
}

// deliver is the carrier's word that the order has arrived.
func (s *side) deliver(ctx context.Context, a action) error {
	_, err := s.stack.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 aws.String(s.stack.Table("OrdersTable")),
		Key:                       item{"order_id": text(a.order)},
		UpdateExpression:          aws.String("SET #status = :delivered"),
		ConditionExpression:       aws.String("#status = :shipped"),
		ExpressionAttributeNames:  map[string]string{"#status": "status"},
		ExpressionAttributeValues: item{":delivered": text("delivered"), ":shipped": text("shipped")},
	})
	if err != nil {
		return fmt.Errorf("deliver order %s: %w", a.order, err)
	}
	return nil
}

// laterItems are the numbers of the things that a user puts into the cart after
// the checkout: one that was in it before, and a new one.
func laterItems(a action) []int { return []int{a.items - 1, a.items} }

func (s *side) shop(ctx context.Context, a action) error {
	for _, n := range laterItems(a) {
		_, err := s.stack.DB.PutItem(ctx, &dynamodb.PutItemInput{
			TableName:           aws.String(s.stack.Table("CartsTable")),
			Item:                cartItem(a, n, time.Now()),
			ConditionExpression: aws.String("attribute_not_exists(item_id)"), // the cart is empty
		})
		if err != nil {
			return fmt.Errorf("put into the cart of user %s: %w", a.user, err)
		}
	}
	return nil
}

// shopped tells whether the cart has what was put in later, and nothing else.
func (s *side) shopped(ctx context.Context, a action) (bool, error) {
	left, err := s.cart(ctx, a)
	if err != nil {
		return false, err
	}
	later := map[string]bool{}
	for _, n := range laterItems(a) {
		later[itemID(n)] = true
	}
	for _, id := range left {
		if !later[id] {
			return false, nil
		}
	}
	return len(left) == len(later), nil
}

// cart gives the ids of the items in a user's cart.
func (s *side) cart(ctx context.Context, a action) ([]string, error) {
	var ids []string
	pages := dynamodb.NewQueryPaginator(s.stack.DB, &dynamodb.QueryInput{
		TableName:                 aws.String(s.stack.Table("CartsTable")),
		KeyConditionExpression:    aws.String("user_id = :user"),
		ExpressionAttributeValues: item{":user": text(a.user)},
		ConsistentRead:            aws.Bool(true),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the cart of user %s: %w", a.user, err)
		}
		for _, there := range page.Items {
			id, ok := there["item_id"].(*types.AttributeValueMemberS)
			if !ok {
				return nil, fmt.Errorf("an item in the cart of user %s has no id", a.user)
			}
			ids = append(ids, id.Value)
		}
	}
	return ids, nil
}

func cartItem(a action, n int, added time.Time) item {
	return item{
		"user_id": text(a.user), "item_id": text(itemID(n)),
		"added_at": &types.AttributeValueMemberN{Value: strconv.FormatInt(added.UnixMilli(), 10)},
	}
}

func itemID(n int) string { return fmt.Sprintf("item-%02d", n) }
