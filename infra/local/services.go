package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/local/stack"
	"github.com/singleeffect/once/infra/local/stripe"
)

// stackName is the one that samconfig.toml deploys under.
const stackName = "once"

// services are what the functions need around them, without the functions: the
// template's tables and queues, the stand-in for Stripe, and the rows that the
// sample events speak of.
type services struct {
	*stack.Stack
	stripe   string // address of the stand-in
	provider *http.Server
}

// rows are the user and the account of the events in events/.
var rows = map[string]map[string]types.AttributeValue{
	"UsersTable": {
		"user_id":               &types.AttributeValueMemberS{Value: "7"},
		"stripe_customer":       &types.AttributeValueMemberS{Value: "cus_local_7"},
		"stripe_payment_method": &types.AttributeValueMemberS{Value: "pm_card_visa"},
	},
	"AccountsTable": {
		"account_id": &types.AttributeValueMemberS{Value: "7"},
		"balance":    &types.AttributeValueMemberN{Value: "100000"},
	},
}

// startServices listens on the host: 127.0.0.1, or 0.0.0.0 for functions in
// containers.
func startServices(ctx context.Context, root, host string) (s *services, err error) {
	listener, address, err := stack.Listen(host)
	if err != nil {
		return nil, fmt.Errorf("listen for the stand-in for Stripe: %w", err)
	}
	s = &services{stripe: address, provider: &http.Server{Handler: stripe.New(stripe.Config{})}}
	go func() { _ = s.provider.Serve(listener) }()
	s.Stack, err = stack.Open(ctx, stack.Options{
		Root: root, Name: stackName, Listen: host,
		Environment: localEnvironment(address),
	})
	if err == nil {
		err = s.seed(ctx)
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// localEnvironment says where Stripe is, and a key that the stand-in takes.
func localEnvironment(stripe string) map[string]string {
	return map[string]string{"STRIPE_API_BASE": stripe, "STRIPE_API_KEY": "sk_test_local"}
}

func (s *services) seed(ctx context.Context) error {
	for table, row := range rows {
		if _, err := s.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: row}); err != nil {
			return fmt.Errorf("seed %s: %w", table, err)
		}
	}
	return nil
}

func (s *services) stop() {
	if s.Stack != nil {
		s.Close()
	}
	_ = s.provider.Close()
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
