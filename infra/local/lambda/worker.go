package lambda

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Config says what a worker runs, and how.
type Config struct {
	// Bootstrap is the function's binary, from Build.
	Bootstrap string
	// Name is the function's name. Defaults to "function".
	Name string
	// Environment is the function's own; Lambda adds a Region and credentials,
	// and so does the worker. Nothing of this process's environment is passed.
	Environment map[string]string
	// Timeout ends an invocation, and with it the process. Whole seconds, from 1 to 900.
	Timeout time.Duration
	// MemoryMB is told to the function, not enforced. Defaults to 128.
	MemoryMB int
	// Log gets what the function and the emulator write. Several workers may
	// share one that is safe for use by several goroutines. Defaults to io.Discard.
	Log io.Writer
}

func (c Config) withDefaults() (Config, error) {
	if c.Timeout%time.Second != 0 || c.Timeout < time.Second || c.Timeout > 900*time.Second {
		return c, fmt.Errorf("lambda: Timeout %v is not a whole number of seconds from 1 to 900", c.Timeout)
	}
	if c.Name == "" {
		c.Name = "function"
	}
	if c.MemoryMB == 0 {
		c.MemoryMB = 128
	}
	if c.Log == nil {
		c.Log = io.Discard
	}
	return c, nil
}

// environment is the emulator's, which hands it on to the function.
func (c Config) environment() []string {
	all := []string{
		"AWS_REGION=eu-central-1",
		"AWS_ACCESS_KEY_ID=local",
		"AWS_SECRET_ACCESS_KEY=local",
	}
	for name, value := range c.Environment {
		all = append(all, name+"="+value) // of two with one name the last counts
	}
	return append(all,
		"AWS_LAMBDA_FUNCTION_NAME="+c.Name,
		fmt.Sprintf("AWS_LAMBDA_FUNCTION_TIMEOUT=%d", c.Timeout/time.Second),
		fmt.Sprintf("AWS_LAMBDA_FUNCTION_MEMORY_SIZE=%d", c.MemoryMB))
}

// Worker is one execution environment of a function. Its methods are safe for
// use by several goroutines; invocations wait for each other.
type Worker struct {
	path   string
	config Config

	invoking sync.Mutex // held during an invocation: two at once crash the emulator

	mu       sync.Mutex // guards what follows
	emulator *emulator
	closed   bool
}

// NewWorker starts a worker behind the emulator, whose path Emulator gives. The
// function's own process starts with the first invocation. ctx bounds the
// start alone.
func NewWorker(ctx context.Context, emulator string, c Config) (*Worker, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	e, err := startEmulator(ctx, emulator, c)
	if err != nil {
		return nil, err
	}
	return &Worker{path: emulator, config: c, emulator: e}, nil
}

// Invoke hands the payload to the function and gives its answer, after the
// invocations that came before. The error is a *FunctionError, a *CrashError,
// a *TimeoutError or ErrClosed, or says what is wrong with the emulator. If
// ctx ends first, the function is killed and the error is ctx's.
func (w *Worker) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	w.invoking.Lock()
	defer w.invoking.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e, err := w.ready(ctx)
	if err != nil {
		return nil, err
	}
	release := w.killWhenDone(ctx)
	answer, err := w.read(e.invoke(payload))
	if release() {
		err = ctx.Err()
	}
	if w.isClosed() {
		err = ErrClosed
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// killWhenDone kills the function once ctx is done, again and again until
// release is called: the process may be about to start. release tells whether
// ctx was done, and returns when nothing is being killed any more.
func (w *Worker) killWhenDone(ctx context.Context) (release func() bool) {
	answered, killed := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(killed)
		for {
			w.Kill() // if it fails, the function's timeout ends the wait
			select {
			case <-answered:
				return
			case <-time.After(poll):
			}
		}
	})
	return func() bool {
		close(answered)
		if stop() {
			return false
		}
		<-killed
		return true
	}
}

// read makes of the emulator's words what Lambda would have said.
func (w *Worker) read(status int, answer []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, fmt.Errorf("invoke the function: %w", err)
	}
	kind, message, failed := readFailure(answer)
	switch {
	case status == http.StatusBadGateway:
		return nil, &CrashError{Type: kind, Message: message}
	case status != http.StatusOK:
		return nil, fmt.Errorf("the runtime emulator answers %d: %s", status, answer)
	case strings.HasPrefix(string(answer), timedOut):
		return nil, &TimeoutError{After: w.config.Timeout}
	case failed:
		return nil, &FunctionError{Type: kind, Message: message}
	}
	return answer, nil
}

// ready gives an emulator that will run the next invocation. One whose function
// ended between two invocations is replaced: it would fail the next for it.
func (w *Worker) ready(ctx context.Context) (*emulator, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, ErrClosed
	}
	lost, err := w.emulator.lost()
	if err != nil {
		return nil, err
	}
	if !lost {
		return w.emulator, nil
	}
	w.emulator.stop()
	e, err := startEmulator(ctx, w.path, w.config)
	if err != nil {
		return nil, err
	}
	w.emulator = e
	return e, nil
}

// Kill sends SIGKILL to the function's process, as when Lambda's host fails, at
// whatever it is doing; an invocation under way ends with a *CrashError. It
// returns when the process is gone. Without a process it does nothing.
func (w *Worker) Kill() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	return w.emulator.kill()
}

// Close kills the function and ends the emulator. An invocation under way ends
// with ErrClosed.
func (w *Worker) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		w.emulator.stop()
	}
}

func (w *Worker) isClosed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}
