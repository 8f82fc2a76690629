package intenttest

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
)

// leash runs a command as the leader of its process group, beside a watcher
// that reads a pipe which nobody ever writes to. The pipe ends when its
// holder closes it or dies, however it dies; then the watcher runs the given
// last words and kills the group, itself included. Linux's parent death
// signal would do for one system only, and follows the thread that forked,
// not the process.
const leash = `last_words=$1; shift
exec 3<&0
(cat <&3; eval "$last_words"; kill -KILL 0) >/dev/null 2>&1 &
exec "$@" </dev/null 3<&-`

// tethered is a running command that does not outlive this process.
type tethered struct {
	end  func() error
	done chan struct{} // closed when the command is gone
	err  error         // why it went, once done
}

// startTethered starts a command that ends with this process. Its output goes
// to out. lastWords, if not empty, is shell text run before the kill, for a
// command whose work does not end with its process.
func startTethered(out io.Writer, lastWords, dir string, command ...string) (*tethered, error) {
	args := append([]string{"-c", leash, "sh", lastWords}, command...)
	// Without the caller's context: that one bounds the start, not the run.
	cmd := exec.CommandContext(context.Background(), "/bin/sh", args...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make the pipe of %s: %w", command[0], err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", command[0], err)
	}
	t := &tethered{end: sync.OnceValue(pipe.Close), done: make(chan struct{})}
	go func() {
		t.err = cmd.Wait() // closes the pipe too: no watcher outlives its command
		close(t.done)
	}()
	return t, nil
}

// stop ends the command and waits until it is gone.
func (t *tethered) stop() {
	t.end() // fails only if the command is gone already
	<-t.done
}

// tail keeps the end of what is written to it, for an error's text. It is
// safe for use by several goroutines.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// tailSize is enough for a Java stack trace or npm's complaint.
const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - tailSize; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
