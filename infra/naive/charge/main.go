// Command charge is the naive twin of functions/charge.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stripe/stripe-go/v83"

	"github.com/singleeffect/once/infra/naive"
)

func main() { naive.Start(charge) }

// charge names no idempotency key: Stripe's library draws a new one for every
// request, and every request is a new charge.
func charge(db *dynamodb.Client) naive.Effect {
	backends := stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		URL:               aws.String(os.Getenv("STRIPE_API_BASE")),
		MaxNetworkRetries: aws.Int64(0),
		EnableTelemetry:   aws.Bool(false),
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull},
	})
	client := stripe.NewClient(os.Getenv("STRIPE_API_KEY"), stripe.WithBackends(backends))
	return func(ctx context.Context, body []byte) error {
		var o struct {
			UserID      string `json:"user_id"`
			AmountCents int64  `json:"amount_cents"`
			Currency    string `json:"currency"`
		}
		if err := json.Unmarshal(body, &o); err != nil {
			return err
		}
		user, err := db.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: aws.String(os.Getenv("USERS_TABLE")),
			Key:       map[string]types.AttributeValue{"user_id": &types.AttributeValueMemberS{Value: o.UserID}},
		})
		if err != nil {
			return fmt.Errorf("read user: %w", err)
		}
		customer, _ := user.Item["stripe_customer"].(*types.AttributeValueMemberS)
		method, _ := user.Item["stripe_payment_method"].(*types.AttributeValueMemberS)
		if customer == nil || method == nil {
			return fmt.Errorf("unknown user")
		}
		_, err = client.V1PaymentIntents.Create(ctx, &stripe.PaymentIntentCreateParams{
			Amount:             &o.AmountCents,
			Currency:           &o.Currency,
			Customer:           &customer.Value,
			PaymentMethod:      &method.Value,
			PaymentMethodTypes: []*string{aws.String("card")},
			Confirm:            aws.Bool(true),
			OffSession:         aws.Bool(true),
		})
		return err
	}
}
