package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/singleeffect/once/infra/local/lambda"
	"github.com/singleeffect/once/infra/local/mapping"
	"github.com/singleeffect/once/infra/local/queue"
	"github.com/singleeffect/once/infra/local/template"
	"github.com/singleeffect/once/shared/intenttest"
)

// Options say which stack to run and how.
type Options struct {
	// Root is the project's folder, with template.yaml in it. Required.
	Root string

	// Name is the stack's name, and so the functions' scope. Required.
	Name string

	// Parameters replace the template's defaults.
	Parameters map[string]string

	// Functions is the folder, under Root, with a package for each function.
	// Defaults to "functions".
	Functions string

	// Environment replaces variables that the template declares, for every
	// function that has them.
	Environment map[string]string

	// Prepare, if not nil, may change the environment of one worker before it
	// starts; what it returns is called after the worker has ended.
	Prepare func(w *Worker, environment map[string]string) (release func(), err error)

	// Observe, if not nil, is told of every batch, by the function's folder.
	Observe func(function string, batch mapping.Batch)

	// Log takes the functions' own output. Defaults to nowhere.
	Log io.Writer
}

// Stack is what runs.
type Stack struct {
	Template template.Template
	DB       *dynamodb.Client
	DynamoDB string // address of the engine
	SQS      string // address of the queues
	Queues   *queue.Service

	options Options
	account account
	closers []func() // in the order in which things began
}

// Worker is one instance of a function.
type Worker struct {
	Function template.Function
	Number   int // from 0, within the function
	instance *lambda.Worker
}

// Kill ends the worker's process with SIGKILL, in the middle of whatever it
// does.
func (w *Worker) Kill() error { return w.instance.Kill() }

// Open starts the engine, its tables and the queues, but no function.
func Open(ctx context.Context, o Options) (s *Stack, err error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	s = &Stack{options: o}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	var stop func()
	if s.DynamoDB, stop, err = intenttest.Start(ctx); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, stop)
	s.DB = newClient(s.DynamoDB)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the queues: %w", err)
	}
	s.SQS = "http://" + listener.Addr().String()
	s.Queues = queue.New(queue.Config{BaseURL: s.SQS})
	server := &http.Server{Handler: s.Queues.Handler()}
	go func() { _ = server.Serve(listener) }()
	s.closers = append(s.closers, func() { _ = server.Close() })

	s.account = account{queues: s.SQS}
	if s.Template, err = s.account.parse(o.Root, o.Name, o.Parameters); err != nil {
		return nil, err
	}
	if err := createTables(ctx, s.DB, s.Template.Tables); err != nil {
		return nil, err
	}
	return s, createQueues(s.Queues, s.Template.Queues)
}

// Run builds the functions and starts the workers and the event source
// mappings that feed them.
func (s *Stack) Run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "once-stack-")
	if err != nil {
		return err
	}
	s.closers = append(s.closers, func() { _ = os.RemoveAll(dir) })
	emulator, err := lambda.BuildEmulator(ctx, dir)
	if err != nil {
		return err
	}
	for _, f := range s.Template.Functions {
		bootstrap, err := lambda.Build(ctx, s.packageOf(f), filepath.Join(dir, f.LogicalID))
		if err != nil {
			return err
		}
		for _, e := range f.Events {
			if e.Enabled {
				if err := s.feed(ctx, f, e, emulator, bootstrap); err != nil {
					return fmt.Errorf("event %s of %s: %w", e.Name, f.LogicalID, err)
				}
			}
		}
	}
	return nil
}

func (s *Stack) packageOf(f template.Function) string {
	folder := s.options.Functions
	if folder == "" {
		folder = "functions"
	}
	return filepath.Join(s.options.Root, folder, f.Folder)
}

// feed starts one mapping, with as many workers as it may use at once.
func (s *Stack) feed(ctx context.Context, f template.Function, e template.Event, emulator, bootstrap string) error {
	var invokers []mapping.Invoker // as many as may run at once
	for n := range e.MaximumConcurrency {
		w, err := s.worker(ctx, f, n, emulator, bootstrap)
		if err != nil {
			return err
		}
		invokers = append(invokers, w.instance)
	}
	q := s.queue(e.Queue)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // until Close
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := mapping.Run(ctx, mapping.Config{
			Queue:                   s.Queues,
			QueueURL:                s.account.queueURL(queueName(q)),
			Invokers:                invokers,
			BatchSize:               e.BatchSize,
			BatchingWindow:          e.Window,
			ReportBatchItemFailures: len(e.FunctionResponseTypes) > 0,
			Observe: func(b mapping.Batch) {
				if s.options.Observe != nil {
					s.options.Observe(f.Folder, b)
				}
			},
		})
		if err != nil {
			fmt.Fprintf(s.options.Log, "mapping of %s ended: %v\n", f.LogicalID, err)
		}
	}()
	s.closers = append(s.closers, func() { cancel(); <-done })
	return nil
}

// worker starts one instance behind a runtime emulator of its own.
func (s *Stack) worker(ctx context.Context, f template.Function, n int, emulator, bootstrap string) (*Worker, error) {
	w := &Worker{Function: f, Number: n}
	environment := s.Environment(f)
	if s.options.Prepare != nil {
		release, err := s.options.Prepare(w, environment)
		if err != nil {
			return nil, err
		}
		s.closers = append(s.closers, release)
	}
	var err error
	w.instance, err = lambda.NewWorker(ctx, emulator, lambda.Config{
		Name:        f.LogicalID,
		Bootstrap:   bootstrap,
		Environment: environment,
		Timeout:     f.Timeout,
		MemoryMB:    f.MemoryMB,
		Log:         s.options.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("start worker %d: %w", n, err)
	}
	s.closers = append(s.closers, w.instance.Close)
	return w, nil
}

// Environment is what a function is told on this machine: the template's
// variables with the local endpoints in them.
func (s *Stack) Environment(f template.Function) map[string]string {
	environment := maps.Clone(f.Environment)
	local := map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": s.DynamoDB, "AWS_ENDPOINT_URL_SQS": s.SQS}
	maps.Copy(local, s.options.Environment)
	for name, value := range local {
		if _, declared := environment[name]; declared {
			environment[name] = value
		}
	}
	environment["AWS_REGION"] = Region
	return environment
}

func (s *Stack) queue(logicalID string) template.Queue {
	for _, q := range s.Template.Queues {
		if q.LogicalID == logicalID {
			return q
		}
	}
	return template.Queue{}
}

// QueueOf returns the URL of the queue that feeds a function, by its folder, and
// the ARN of its dead-letter queue.
func (s *Stack) QueueOf(function string) (url, deadLetterARN string, err error) {
	for _, f := range s.Template.Functions {
		if f.Folder != function || len(f.Events) == 0 {
			continue
		}
		q := s.queue(f.Events[0].Queue)
		if q.Redrive == nil {
			return "", "", fmt.Errorf("queue %s has no dead-letter queue", q.LogicalID)
		}
		return s.account.queueURL(queueName(q)), ARN(queueName(s.queue(q.Redrive.Target))), nil
	}
	return "", "", errors.New("no function " + function + " with a queue")
}

// Close ends everything, last begun first.
func (s *Stack) Close() {
	for _, end := range slices.Backward(s.closers) {
		end()
	}
	s.closers = nil
}
