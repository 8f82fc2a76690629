package demo

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	amountCents  = 4999
	openingCents = 10_000
	deltaCents   = -1000
)

var charge = operation{
	name: "charge",
	key:  func(a action) string { return "order-" + a.order + "-charge" },
	body: func(a action) map[string]any {
		return map[string]any{"user_id": a.user, "amount_cents": amountCents, "currency": "usd"}
	},
	rows:   user,
	effect: func(r *http.Request, _ bool) bool { return posts(r, "/v1/payment_intents") },
	count: func(_ context.Context, s *side, a action) (int, error) {
		return s.provider.Charges().ByCustomer()[customer(a)], nil
	},
	lesson: lesson{what: "charges of user 7's card", show: number},
}

var adjust = operation{
	name:  "adjust",
	key:   func(a action) string { return "order-" + a.order + "-adjust" },
	group: func(a action) string { return a.user },
	body: func(a action) map[string]any {
		return map[string]any{"account_id": a.user, "delta_cents": deltaCents}
	},
	rows: func(a action) []row {
		return []row{{"AccountsTable", a.user, item{
			"account_id": text(a.user),
			"balance":    &types.AttributeValueMemberN{Value: strconv.Itoa(opening(a))},
		}}}
	},
	effect: func(r *http.Request, naive bool) bool {
		if naive {
			return toDynamoDB(r, "UpdateItem")
		}
		return toDynamoDB(r, "TransactWriteItems")
	},
	count: changes,
	lesson: lesson{
		what: "change of account 7's balance, in cents",
		show: func(effects int) string { return strconv.Itoa(effects * deltaCents) },
	},
}

var welcome = operation{
	name: "welcome",
	key:  func(a action) string { return "user-" + a.user + "-welcome" },
	body: func(a action) map[string]any {
		return map[string]any{"user_id": a.user, "kind": "signup"}
	},
	rows:   user,
	effect: func(r *http.Request, _ bool) bool { return posts(r, "/v2/email/outbound-emails") },
	count: func(_ context.Context, s *side, a action) (int, error) {
		return s.mail.Sent().ByRecipient()[address(a)], nil
	},
	blind:  true,
	lesson: lesson{what: "welcome e-mails to user 7", show: number},
}

// opening is what is in the account before.
func opening(a action) int {
	if a.refusable {
		return 0
	}
	return openingCents
}

// user is one with a card and an address, or with neither of use.
func user(a action) []row {
	card, email := "pm_card_visa", address(a)
	if a.refusable {
		card, email = "pm_card_visa_chargeDeclined", "no address" // an empty one may still come
	}
	return []row{{"UsersTable", a.user, item{
		"user_id":               text(a.user),
		"stripe_customer":       text(customer(a)),
		"stripe_payment_method": text(card),
		"email":                 text(email),
		"name":                  text("Ada " + a.user),
	}}}
}

// customer is the user's name at the provider.
func customer(a action) string { return "cus_" + a.user }

func address(a action) string { return "user-" + a.user + "@example.com" }

// changes counts by how much the balance has changed.
func changes(ctx context.Context, s *side, a action) (int, error) {
	account, err := s.get(ctx, "AccountsTable", item{"account_id": text(a.user)})
	if err != nil {
		return 0, err
	}
	balance, ok := account["balance"].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("account %s has no balance", a.user)
	}
	cents, err := strconv.Atoi(balance.Value)
	if err != nil {
		return 0, fmt.Errorf("balance of account %s: %w", a.user, err)
	}
	if (cents-opening(a))%deltaCents != 0 {
		return 0, fmt.Errorf("account %s has %d cents: not %d and a number of changes by %d", a.user, cents, opening(a), deltaCents)
	}
	return (cents - opening(a)) / deltaCents, nil
}
