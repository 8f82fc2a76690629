package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/local/lambda"
	"github.com/singleeffect/once/infra/local/mapping"
	"github.com/singleeffect/once/infra/local/queue"
	"github.com/singleeffect/once/infra/local/stack"
	"github.com/singleeffect/once/infra/local/stripe"
	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
)

// stackName is the scope of the functions, too.
const stackName = "once-demo"

// side is one of the two systems that get the same messages: the guarded
// functions, or their naive twins. Each has tables, queues, workers and a
// provider of its own.
type side struct {
	name     string
	stack    *stack.Stack
	provider *stripe.Server
	chaos    *chaos
	actions  []action
	stop     func() // the provider's server
	log      io.Writer

	mu         sync.Mutex
	deliveries map[string]int // by operation: messages handed to a worker
	crashes    map[string]int // by operation: batches whose worker died
}

// open starts a side with everything but its workers.
func open(ctx context.Context, name, functions string, c Config, actions []action, log io.Writer) (*side, error) {
	s := &side{
		name:       name,
		provider:   stripe.New(stripe.Config{}),
		chaos:      newChaos(functions != "", c.Seed, operations, c.Intents),
		actions:    actions,
		deliveries: map[string]int{},
		crashes:    map[string]int{},
		log:        log,
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: s.provider}
	go func() { _ = server.Serve(listener) }()
	s.stop = func() { _ = server.Close() }
	s.stack, err = stack.Open(ctx, stack.Options{
		Root:        c.Root,
		Name:        stackName,
		Functions:   functions,
		Parameters:  parameters,
		TablePrefix: stackName + "-" + rand.Text() + "-", // the sides may meet on one engine
		Environment: map[string]string{
			"STRIPE_API_KEY":  "sk_test_demo",
			"STRIPE_API_BASE": "http://" + listener.Addr().String(),
		},
		Prepare: s.prepare,
		Observe: s.observe,
		Log:     log,
	})
	if err != nil {
		s.stop()
		return nil, err
	}
	if err := s.seed(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *side) close() {
	s.stack.Close()
	s.stop()
}

// prepare gives a worker its own lines to the store and to the provider.
func (s *side) prepare(w *stack.Worker, environment map[string]string) (func(), error) {
	operation := w.Function.Folder
	kill := func() {
		if err := w.Kill(); err != nil {
			fmt.Fprintf(s.log, "kill worker %d of %s: %v\n", w.Number, operation, err)
		}
	}
	var lines []*line
	release := func() {
		for _, l := range lines {
			l.close()
		}
	}
	for _, name := range []string{"AWS_ENDPOINT_URL_DYNAMODB", "STRIPE_API_BASE"} {
		target, ok := environment[name]
		if !ok {
			continue
		}
		l, err := newLine(target, s.chaos.decide(operation, kill), kill)
		if err != nil {
			release()
			return nil, err
		}
		lines = append(lines, l)
		environment[name] = l.url
	}
	return release, nil
}

func (s *side) observe(function string, b mapping.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deliveries[function] += len(b.Messages)
	if crash := new(lambda.CrashError); errors.As(b.Err, &crash) {
		s.crashes[function]++
	}
}

// killed is how many batches have lost their worker so far.
func (s *side) killed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := 0
	for _, n := range s.crashes {
		total += n
	}
	return total
}

// seed gives each action its user or account.
func (s *side) seed(ctx context.Context) error {
	for _, a := range s.actions {
		table, row := "UsersTable", map[string]types.AttributeValue{
			"user_id":               &types.AttributeValueMemberS{Value: a.subject},
			"stripe_customer":       &types.AttributeValueMemberS{Value: a.customer()},
			"stripe_payment_method": &types.AttributeValueMemberS{Value: "pm_card_visa"},
		}
		if a.operation == "adjust" {
			table, row = "AccountsTable", map[string]types.AttributeValue{
				"account_id": &types.AttributeValueMemberS{Value: a.subject},
				"balance":    &types.AttributeValueMemberN{Value: strconv.Itoa(openingCents)},
			}
		}
		name := s.stack.Table(table)
		if _, err := s.stack.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: &name, Item: row}); err != nil {
			return fmt.Errorf("seed %s: %w", table, err)
		}
	}
	return nil
}

// send enqueues a message for each of the actions, in their order.
func (s *side) send(all []action) error {
	for _, a := range all {
		url, _, err := s.stack.QueueOf(a.operation)
		if err != nil {
			return err
		}
		message := queue.SendMessageInput{QueueURL: url, Outgoing: queue.Outgoing{MessageBody: a.body}}
		if _, err := s.stack.Queues.SendMessage(message); err != nil {
			return err
		}
	}
	return nil
}

// left counts the messages that are still in the queues; what lies in a
// dead-letter queue is redriven once its source is empty.
func (s *side) left() (int, error) {
	total := 0
	for _, operation := range operations {
		url, deadARN, err := s.stack.QueueOf(operation)
		if err != nil {
			return 0, err
		}
		live, err := s.count(url)
		if err != nil {
			return 0, err
		}
		deadURL, err := s.stack.Queues.GetQueueURL(queue.GetQueueURLInput{QueueName: deadARN[len(stack.ARN("")):]})
		if err != nil {
			return 0, err
		}
		dead, err := s.count(deadURL.QueueURL)
		if err != nil {
			return 0, err
		}
		if live == 0 && dead > 0 {
			if _, err := s.stack.Queues.StartMessageMoveTask(queue.StartMessageMoveTaskInput{SourceARN: deadARN}); err != nil {
				return 0, err
			}
		}
		total += live + dead
	}
	return total, nil
}

func (s *side) count(url string) (int, error) {
	out, err := s.stack.Queues.GetQueueAttributes(queue.GetQueueAttributesInput{QueueURL: url, AttributeNames: []string{"All"}})
	if err != nil {
		return 0, err
	}
	total := 0
	for _, name := range []string{"", "NotVisible", "Delayed"} {
		n, err := strconv.Atoi(out.Attributes["ApproximateNumberOfMessages"+name])
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// effects counts how often an action took effect, where it did.
func (s *side) effects(ctx context.Context, a action, byCustomer map[string]int) (int, error) {
	if a.operation == "charge" {
		return byCustomer[a.customer()], nil
	}
	out, err := s.stack.DB.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(s.stack.Table("AccountsTable")),
		Key:            map[string]types.AttributeValue{"account_id": &types.AttributeValueMemberS{Value: a.subject}},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return 0, err
	}
	balance, ok := out.Item["balance"].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("account %s has no balance", a.subject)
	}
	cents, err := strconv.Atoi(balance.Value)
	if err != nil {
		return 0, err
	}
	if (cents-openingCents)%deltaCents != 0 {
		return 0, fmt.Errorf("account %s has %d cents: not %d and a number of changes by %d", a.subject, cents, openingCents, deltaCents)
	}
	return (cents - openingCents) / deltaCents, nil
}

// outcome is what the record says of an action; no Kind where there is none.
func (s *side) outcome(ctx context.Context, a action) (intent.Outcome, error) {
	key := intent.Key{Scope: stackName, Operation: a.operation, ID: a.key}
	return intent.Lookup(ctx, dynamo.New(s.stack.DB, s.stack.Table("IntentTable")), key)
}
