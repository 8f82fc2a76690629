// Package function runs Lambda functions as processes of their own, each behind a Runtime API that it cannot tell from Lambda's. Unlike
// Lambda it leaves a process alone when its time is over: who is late, frozen or killed is the caller's to say.
//
// Limits: Linux and macOS.
package function

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/singleeffect/once/infra/proof/scoreboard/loopback"
)

// startLimit bounds the start of a process, which takes below a second on a quiet machine.
const startLimit = time.Minute

// ErrGone is returned for an invocation whose process ended without an answer.
var ErrGone = errors.New("the function's process ended")

// Config says what to run.
type Config struct {
	Command     []string
	Environment []string  // NAME=value, all of it but AWS_LAMBDA_RUNTIME_API
	Log         io.Writer // takes what the process writes

	// Bare starts the command by itself, so that nothing else is in its start. It does not end with this process then, but when it
	// misses its Runtime API.
	Bare bool
}

// Process is a running function.
type Process struct {
	cmd     *exec.Cmd
	api     *api
	server  *loopback.Server
	command command
	startup time.Duration
}

// command is a command that runs.
type command interface {
	Done() <-chan struct{}
	Err() error // after Done
	Stop()
}

// Start starts the function and comes back when it asks for its first invocation. ctx bounds the start alone; the process ends with
// Stop, or with this one.
func Start(ctx context.Context, c Config) (*Process, error) {
	a, ready := newAPI()
	server, err := loopback.Serve(a.handler())
	if err != nil {
		return nil, fmt.Errorf("runtime API: %w", err)
	}
	cmd := exec.Command(c.Command[0], c.Command[1:]...) // no context: it bounds the start alone
	cmd.Env = append(c.Environment[:len(c.Environment):len(c.Environment)], "AWS_LAMBDA_RUNTIME_API="+server.Address)
	cmd.Stdout, cmd.Stderr = c.Log, c.Log
	begin := time.Now()
	running, err := launch(cmd, c.Bare)
	if err != nil {
		server.Close()
		return nil, fmt.Errorf("start %s: %w", c.Command[0], err)
	}
	p := &Process{cmd: cmd, api: a, server: server, command: running}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	select {
	case <-ready:
		p.startup = time.Since(begin)
		return p, nil
	case <-running.Done():
		err = fmt.Errorf("%w before its first invocation: %w", ErrGone, running.Err())
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.Stop()
	return nil, fmt.Errorf("start %v: %w", c.Command, err)
}

// PID is the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Startup is how long it took from its start to its asking for its first invocation.
func (p *Process) Startup() time.Duration { return p.startup }

// Invoke hands an event to the function, which is told that it has that much time, and gives its answer: an *Error if the function
// failed, ErrGone if it ended.
func (p *Process) Invoke(ctx context.Context, event []byte, timeout time.Duration) ([]byte, error) {
	i := &invocation{event: event, timeout: timeout, answer: make(chan answer, 1)}
	select {
	case p.api.next <- i:
	case <-p.command.Done():
		return nil, ErrGone
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case a := <-i.answer:
		return a.body, a.err
	case <-p.command.Done():
		return nil, ErrGone
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Freeze stops the process where it stands, as Lambda freezes a sandbox. Thaw lets it go on.
func (p *Process) Freeze() error { return p.signal(syscall.SIGSTOP) }

// Thaw lets a frozen process go on.
func (p *Process) Thaw() error { return p.signal(syscall.SIGCONT) }

// Kill kills the process and waits until it is gone.
func (p *Process) Kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.command.Done()
	return nil
}

func (p *Process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("send %v to the function: %w", s, err)
	}
	return nil
}

// Stop ends the process, frozen or not, and waits until it is gone.
func (p *Process) Stop() {
	p.command.Stop()
	p.server.Close()
}
