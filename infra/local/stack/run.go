package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/singleeffect/once/infra/local/lambda"
	"github.com/singleeffect/once/infra/local/mapping"
	"github.com/singleeffect/once/infra/template"
)

// Worker is one instance of a function.
type Worker struct {
	Function template.Function
	Number   int // from 0, within the function
	instance *lambda.Worker
}

// Kill ends the worker's process with SIGKILL, in the middle of whatever it
// does.
func (w *Worker) Kill() error { return w.instance.Kill() }

// Run builds the functions and starts the workers and the event source
// mappings that feed them.
func (s *Stack) Run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "once-stack-")
	if err != nil {
		return err
	}
	s.closers = append(s.closers, func() { _ = os.RemoveAll(dir) })
	emulator, err := lambda.Emulator(ctx)
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
	if e.MaximumConcurrency == 0 {
		return errors.New("MaximumConcurrency is not set: it is the number of workers to start")
	}
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
	environment := s.environment(f)
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
