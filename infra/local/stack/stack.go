package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/infra/local/mapping"
	"github.com/singleeffect/once/infra/local/queue"
	"github.com/singleeffect/once/infra/template"
	"github.com/singleeffect/once/shared/intenttest"
)

// Options say which stack to run and how.
type Options struct {
	// Root is the project's folder, with template.yaml in it. Required.
	Root string

	// Name is the stack's name, and part of the functions' scope unless a parameter sets that. Required.
	Name string

	// Parameters replace the template's defaults.
	Parameters map[string]string

	// Functions is the folder, under Root, with a package for each function.
	// Defaults to "functions".
	Functions string

	// Environment replaces variables that the template declares, for every
	// function that has them.
	Environment map[string]string

	// Listen is the host that the queues listen on. Defaults to 127.0.0.1; a
	// function in a container reaches them on 0.0.0.0 only.
	Listen string

	// TablePrefix begins the names of the tables, which then go with Close.
	// Defaults to nothing: tables are named by their logical ids, and stay.
	// Matters on an engine that is not the stack's own (DYNAMODB_ENDPOINT).
	TablePrefix string

	// Visibility is the visibility timeout of the queues that have a dead-letter
	// queue, for a run in a hurry: no parameter makes it that short. No message is
	// hidden for longer, either. Defaults to the template's, and to what the
	// functions ask for.
	Visibility time.Duration

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
	Producer *sqs.Client // of the queues, for who sends

	options Options
	account account
	closers []func() // in the order in which things began
	opened  int      // of them, those of Open
}

// Open starts the engine, its tables and the queues, but no function.
func Open(ctx context.Context, o Options) (_ *Stack, err error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	s := &Stack{options: o}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	listener, address, err := Listen(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen for the queues: %w", err)
	}
	s.SQS = address
	s.Queues = queue.New(queue.Config{BaseURL: s.SQS, MostHidden: o.Visibility})
	s.Producer = sqs.New(sqs.Options{Region: Region, BaseEndpoint: &s.SQS, Credentials: local})
	server := &http.Server{Handler: s.Queues.Handler()}
	go func() { _ = server.Serve(listener) }()
	s.closers = append(s.closers, func() { _ = server.Close() })

	s.account = account{queues: s.SQS, tablePrefix: o.TablePrefix}
	if s.Template, err = s.account.parse(o.Root, o.Name, o.Parameters); err != nil {
		return nil, err
	}
	var stop func()
	if s.DynamoDB, stop, err = intenttest.Start(ctx); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, stop)
	s.DB = newClient(s.DynamoDB)
	if o.TablePrefix != "" {
		s.closers = append(s.closers, s.deleteTables)
	}
	if err := s.createTables(ctx); err != nil {
		return nil, err
	}
	if err := createQueues(s.Queues, s.Template.Queues, o.Visibility); err != nil {
		return nil, err
	}
	s.opened = len(s.closers)
	return s, nil
}

// Listen listens on a free port of the host, 127.0.0.1 if it is empty, and
// gives its address for this machine, as a URL.
func Listen(host string) (net.Listener, string, error) {
	if host == "" {
		host = "127.0.0.1"
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, "", err
	}
	return listener, fmt.Sprintf("http://127.0.0.1:%d", listener.Addr().(*net.TCPAddr).Port), nil
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

// Stop ends what Run began: when it returns, no function does anything any
// more. Tables and queues stay.
func (s *Stack) Stop() { s.end(s.opened) }

// Close ends everything, last begun first.
func (s *Stack) Close() { s.end(0) }

// end ends all but what began first.
func (s *Stack) end(first int) {
	for _, end := range slices.Backward(s.closers[first:]) {
		end()
	}
	s.closers = s.closers[:first]
}
