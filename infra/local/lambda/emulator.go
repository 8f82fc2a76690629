package lambda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/singleeffect/once/shared/intenttest"
)

// emulator is a running runtime interface emulator. It starts the function's
// process with the first invocation, and again with the next after a crash or
// a timeout, in a process group of its own, which it does not take with it
// when it ends.
type emulator struct {
	dir     string // holds the file pid
	url     string
	process *intenttest.Tethered
}

const (
	// launcher stands between the emulator and the function: the emulator
	// tells nobody which process it started. $1 is the function.
	launcher = "#!/bin/sh\necho $$ >\"${0%/*}/pid\"\nexec \"$1\"\n"
	// lastWords kill the function's process group.
	lastWords = `read -r function <'%[1]s/pid' && kill -KILL "-$function"; /bin/rm -rf '%[1]s'`
	// startLimit bounds the start of the emulator, which takes some 10 ms.
	startLimit = 30 * time.Second
	poll       = 2 * time.Millisecond
	// timedOut begins the emulator's answer, with status 200, for a function
	// that it killed at its timeout.
	timedOut = "Task timed out after "
)

var errPortTaken = errors.New("a port was taken")

func startEmulator(ctx context.Context, path string, c Config) (*emulator, error) {
	const tries = 5
	for try := 1; ; try++ {
		e, err := tryEmulator(ctx, path, c)
		if !errors.Is(err, errPortTaken) || try == tries {
			return e, err
		}
	}
}

func tryEmulator(ctx context.Context, path string, c Config) (*emulator, error) {
	dir, err := os.MkdirTemp("", "once-worker-")
	if err != nil {
		return nil, fmt.Errorf("make the worker's directory: %w", err)
	}
	launch := filepath.Join(dir, "launch")
	if err := os.WriteFile(launch, []byte(launcher), 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("write the launcher: %w", err), os.RemoveAll(dir))
	}
	addresses, err := freeAddresses(2)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	var said opening
	cmd := exec.Command(path, "--log-level", "error",
		"--runtime-interface-emulator-address", addresses[0], "--runtime-api-address", addresses[1],
		launch, c.Bootstrap)
	cmd.Env = c.environment()
	out := io.MultiWriter(c.Log, &said)
	cmd.Stdout, cmd.Stderr = out, out // being one writer, they are written to one at a time
	process, err := intenttest.Tether(cmd, fmt.Sprintf(lastWords, dir))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the runtime emulator: %w", err), os.RemoveAll(dir))
	}
	e := &emulator{dir: dir, process: process,
		url: "http://" + addresses[0] + "/2015-03-31/functions/function/invocations"}
	if err := e.listening(ctx, addresses); err != nil {
		e.stop()
		if strings.Contains(string(said.text), "address already in use") {
			err = errPortTaken
		}
		return nil, fmt.Errorf("start the runtime emulator: %w\n%s", err, said.text)
	}
	return e, nil
}

// listening waits until all the addresses are listened on.
func (e *emulator) listening(ctx context.Context, addresses []string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for _, address := range addresses {
		for !accepts(ctx, address) {
			select {
			case <-e.process.Done():
				return fmt.Errorf("it ended: %w", e.process.Err())
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(poll):
			}
		}
	}
	return nil
}

func accepts(ctx context.Context, address string) bool {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func freeAddresses(n int) ([]string, error) {
	var addresses []string
	for range n {
		// All are held until the last is found, so that they differ.
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer listener.Close()
		addresses = append(addresses, listener.Addr().String())
	}
	return addresses, nil
}

// invoke gives the emulator's answer. One that says that the process ended has
// its number forgotten: it may become another's.
func (e *emulator) invoke(payload []byte) (status int, answer []byte, err error) {
	resp, err := http.Post(e.url, "application/json", bytes.NewReader(payload))
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if resp.StatusCode == http.StatusBadGateway || strings.HasPrefix(string(answer), timedOut) {
		err = errors.Join(err, e.forget())
	}
	return resp.StatusCode, answer, err
}

// function is the process group of the function, 0 if none was started since
// the last forget.
func (e *emulator) function() (int, error) {
	text, err := os.ReadFile(filepath.Join(e.dir, "pid"))
	if errors.Is(err, os.ErrNotExist) || len(text) == 0 {
		return 0, nil // none, or its launcher is about to write it
	}
	if err != nil {
		return 0, fmt.Errorf("find the function's process: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("find the function's process: %w", err)
	}
	return pid, nil
}

func (e *emulator) forget() error {
	err := os.Remove(filepath.Join(e.dir, "pid"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forget the function's process: %w", err)
	}
	return nil
}

// lost tells whether the emulator is gone, or the function's process ended
// between two invocations, which the emulator would blame on the next one.
func (e *emulator) lost() (bool, error) {
	select {
	case <-e.process.Done():
		return true, nil
	default:
	}
	pid, err := e.function()
	return pid != 0 && !alive(pid), err
}

// kill sends SIGKILL to the function's process group and waits until the
// emulator has buried it.
func (e *emulator) kill() error {
	pid, err := e.function()
	if pid == 0 || err != nil {
		return err
	}
	err = syscall.Kill(-pid, syscall.SIGKILL)
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill the function: %w", err)
	}
	for alive(pid) {
		select {
		case <-e.process.Done():
			return nil
		case <-time.After(poll):
		}
	}
	return nil
}

func (e *emulator) stop() { e.process.Stop() }

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// opening keeps the first of what the emulator says: why it could not start.
type opening struct{ text []byte }

func (o *opening) Write(p []byte) (int, error) {
	const enough = 4 << 10
	o.text = append(o.text, p[:min(len(p), enough-len(o.text))]...)
	return len(p), nil
}
