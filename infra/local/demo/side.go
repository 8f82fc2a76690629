package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/local/lambda"
	"github.com/singleeffect/once/infra/local/mapping"
	"github.com/singleeffect/once/infra/local/ses"
	"github.com/singleeffect/once/infra/local/stack"
	"github.com/singleeffect/once/infra/local/stripe"
)

const (
	stackName = "once-demo"

	// scope is set on purpose: the intents are planned before there is a stack to have a default.
	scope = "demo"
)

// side is one of the two systems that get the same messages: the guarded
// functions, or their naive twins. Each has tables, queues, workers, a provider
// and a mail service of its own.
type side struct {
	stack    *stack.Stack
	provider *stripe.Server
	mail     *ses.Server
	chaos    *chaos
	closers  []func()
	log      *leaks
	redriven int // messages that were moved from a dead-letter queue to its queue

	mu         sync.Mutex
	deliveries map[string]int // by operation: messages handed to a worker
	crashes    map[string]int // by operation: batches whose worker died
}

// open starts a side with everything but its workers. What befalls these is up to
// its own chaos, or else to the trouble.
func open(ctx context.Context, functions string, c Config, t *Trouble) (_ *side, err error) {
	s := &side{
		provider:   stripe.New(stripe.Config{}),
		mail:       ses.New(ses.Config{}),
		chaos:      newChaos(functions != "", c.Seed),
		deliveries: map[string]int{},
		crashes:    map[string]int{},
		log:        &leaks{out: c.Log},
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	environment := map[string]string{"STRIPE_API_KEY": "sk_test_" + canary}
	for name, service := range map[string]http.Handler{"STRIPE_API_BASE": s.provider, "AWS_ENDPOINT_URL_SESV2": s.mail} {
		if environment[name], err = s.serve(service); err != nil {
			return nil, err
		}
	}
	options := stack.Options{
		Root:        c.Root,
		Name:        stackName,
		Functions:   functions,
		Parameters:  parameters,
		Visibility:  visibility,
		TablePrefix: stackName + "-" + rand.Text() + "-", // the sides may meet on one engine
		Environment: environment,
		Prepare:     s.prepare,
		Observe:     s.observe,
		Log:         s.log,
	}
	if t != nil {
		t.replace(&options)
	}
	if s.stack, err = stack.Open(ctx, options); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.stack.Close)
	return s, nil
}

// serve gives the address of a service that runs until close.
func (s *side) serve(service http.Handler) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: service}
	go func() { _ = server.Serve(listener) }()
	s.closers = append(s.closers, func() { _ = server.Close() })
	return "http://" + listener.Addr().String(), nil
}

// close ends everything, last begun first.
func (s *side) close() {
	for _, end := range slices.Backward(s.closers) {
		end()
	}
}

// prepare gives a worker its own lines to the services by which it takes effect.
func (s *side) prepare(w *stack.Worker, environment map[string]string) (func(), error) {
	i := slices.IndexFunc(operations, func(o *operation) bool { return o.name == w.Function.Folder })
	if i < 0 {
		return nil, fmt.Errorf("the demo has no intents for function %q", w.Function.Folder)
	}
	kill := func() {
		if err := w.Kill(); err != nil {
			fmt.Fprintf(s.log, "kill worker %d of %s: %v\n", w.Number, w.Function.Folder, err)
		}
	}
	var lines []*line
	release := func() {
		for _, l := range lines {
			l.close()
		}
	}
	for _, name := range []string{"AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SESV2", "STRIPE_API_BASE"} {
		target, ok := environment[name]
		if !ok {
			continue
		}
		l, err := newLine(target, s.chaos.decide(operations[i], w.Number, kill), kill)
		if err != nil {
			release()
			return nil, err
		}
		lines = append(lines, l)
		environment[name] = l.url
	}
	return release, nil
}

// observe hears of every batch. A mapping's poller has the worker of its number.
func (s *side) observe(function string, b mapping.Batch) {
	if b.Err != nil {
		s.chaos.failed(function, b.Poller)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deliveries[function] += len(b.Messages)
	if crash := new(lambda.CrashError); errors.As(b.Err, &crash) {
		s.crashes[function]++
	}
}

// delivered is how many messages an operation's workers were handed since the
// last forget.
func (s *side) delivered(o *operation) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deliveries[o.name]
}

// crashed is how many of an operation's batches lost their worker since then.
func (s *side) crashed(o *operation) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crashes[o.name]
}

// killed is how many batches lost their worker since the last forget.
func (s *side) killed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := 0
	for _, n := range s.crashes {
		total += n
	}
	return total
}

// forget begins the counts of deliveries and crashes anew.
func (s *side) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.deliveries)
	clear(s.crashes)
}

// seed makes the rows that the actions need. The writes are unconditional: the
// tables are new and this side's alone.
func (s *side) seed(ctx context.Context, all []action) error {
	rows := map[string]map[string]types.WriteRequest{} // by table and key: an order's actions share their user
	for _, a := range all {
		for _, r := range a.operation.rows(a) {
			if rows[r.table] == nil {
				rows[r.table] = map[string]types.WriteRequest{}
			}
			rows[r.table][r.key] = types.WriteRequest{PutRequest: &types.PutRequest{Item: r.item}}
		}
	}
	const most = 25 // of one BatchWriteItem
	for table, byKey := range rows {
		for requests := range slices.Chunk(slices.Collect(maps.Values(byKey)), most) {
			for left := map[string][]types.WriteRequest{s.stack.Table(table): requests}; len(left) > 0; {
				out, err := s.stack.DB.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: left})
				if err != nil {
					return fmt.Errorf("seed %s: %w", table, err)
				}
				left = out.UnprocessedItems
			}
		}
	}
	return nil
}

// get reads an item.
func (s *side) get(ctx context.Context, table string, key item) (item, error) {
	out, err := s.stack.DB.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(s.stack.Table(table)), Key: key, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", table, err)
	}
	return out.Item, nil
}
