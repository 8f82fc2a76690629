package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/local/ses"
	"github.com/singleeffect/once/infra/local/stack"
	"github.com/singleeffect/once/infra/local/stripe"
)

// stackName is the one that samconfig.toml deploys under.
const stackName = "once"

// services are what the functions need around them, without the functions: the
// template's tables and queues, the stand-ins for Stripe and for SES, and the rows
// that the sample events speak of.
type services struct {
	*stack.Stack
	stripe, ses string // addresses of the stand-ins
	standIns    []*http.Server
}

// rows are what the events in events/ speak of: user 7 with a card, an e-mail
// address and a cart, account 7, and order 8821.
func rows() map[string][]map[string]types.AttributeValue {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	number := func(n int64) types.AttributeValue {
		return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
	}
	seven := text("7")
	return map[string][]map[string]types.AttributeValue{
		"UsersTable": {{
			"user_id": seven, "stripe_customer": text("cus_local_7"), "stripe_payment_method": text("pm_card_visa"),
			"email": text("ada@example.com"), "name": text("Ada"),
		}},
		"AccountsTable": {{"account_id": seven, "balance": number(100_000)}},
		"OrdersTable":   {{"order_id": text("8821"), "status": text("paid")}},
		"CartsTable": {
			{"user_id": seven, "item_id": text("book"), "added_at": number(checkout.Add(-time.Hour).UnixMilli())},
			{"user_id": seven, "item_id": text("lamp"), "added_at": number(checkout.Add(-time.Minute).UnixMilli())},
			{"user_id": seven, "item_id": text("mug"), "added_at": number(checkout.Add(time.Minute).UnixMilli())}, // stays
		},
	}
}

// checkout is when, in the events, the cart was checked out and the order shipped.
var checkout = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// emailFrom is whom welcome writes as; the stand-in for SES has verified everybody.
const emailFrom = "shop@example.com"

// startServices listens on the host: 127.0.0.1, or 0.0.0.0 for functions in
// containers.
func startServices(ctx context.Context, root, host string) (_ *services, err error) {
	s := &services{}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	if s.stripe, err = s.standIn(host, stripe.New(stripe.Config{})); err != nil {
		return nil, fmt.Errorf("listen for the stand-in for Stripe: %w", err)
	}
	if s.ses, err = s.standIn(host, ses.New(ses.Config{})); err != nil {
		return nil, fmt.Errorf("listen for the stand-in for SES: %w", err)
	}
	s.Stack, err = stack.Open(ctx, stack.Options{
		Root: root, Name: stackName, Listen: host,
		Environment: localEnvironment(s.stripe, s.ses),
	})
	if err == nil {
		err = s.seed(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// standIn serves one and gives its address.
func (s *services) standIn(host string, handler http.Handler) (string, error) {
	listener, address, err := stack.Listen(host)
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(listener) }()
	s.standIns = append(s.standIns, server)
	return address, nil
}

// localEnvironment says where Stripe and SES are, and a key and a sender that the
// stand-ins take.
func localEnvironment(stripe, ses string) map[string]string {
	return map[string]string{
		"STRIPE_API_BASE": stripe, "STRIPE_API_KEY": "sk_test_local",
		"AWS_ENDPOINT_URL_SESV2": ses, "EMAIL_FROM": emailFrom,
	}
}

// seed is unconditional: the rows are samples, and each start has them as they were.
func (s *services) seed(ctx context.Context) error {
	for table, items := range rows() {
		for _, item := range items {
			if _, err := s.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(s.Table(table)), Item: item}); err != nil {
				return fmt.Errorf("seed %s: %w", table, err)
			}
		}
	}
	return nil
}

func (s *services) stop() {
	if s.Stack != nil {
		s.Close()
	}
	for _, server := range s.standIns {
		_ = server.Close()
	}
}

// forContainers gives a function's environment for a container on this machine,
// to which the machine's own addresses have another name.
func forContainers(environment map[string]string) map[string]string {
	inside := map[string]string{}
	for name, value := range environment {
		if strings.HasPrefix(name, "AWS_ENDPOINT_URL_") || name == "STRIPE_API_BASE" {
			for _, local := range []string{"http://127.0.0.1:", "http://localhost:"} {
				if port, ok := strings.CutPrefix(value, local); ok {
					value = "http://" + hostInContainers + ":" + port
				}
			}
		}
		inside[name] = value
	}
	return inside
}

const hostInContainers = "host.docker.internal"
