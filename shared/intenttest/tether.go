package intenttest

import (
	"fmt"
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

// Tethered is a running command that does not outlive this process.
type Tethered struct {
	end  func() error
	done chan struct{}
	err  error
}

// Tether starts cmd so that it ends with this process, however this process
// ends. cmd leads a process group of its own and has no standard input; Tether
// sets these fields, the caller all others. lastWords, if not empty, is shell
// text that runs when the command is to end, for work that does not end with
// its process group. Its PATH is that of cmd.
func Tether(cmd *exec.Cmd, lastWords string) (*Tethered, error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	cmd.Args = append([]string{"sh", "-c", leash, "sh", lastWords, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make the tether: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := &Tethered{end: sync.OnceValue(pipe.Close), done: make(chan struct{})}
	go func() {
		t.err = cmd.Wait() // closes the pipe too: no watcher outlives its command
		close(t.done)
	}()
	return t, nil
}

// Done is closed when the command is gone and its output is complete.
func (t *Tethered) Done() <-chan struct{} { return t.done }

// Err tells why the command is gone, as exec.Cmd.Wait does. It is for use
// after Done.
func (t *Tethered) Err() error { return t.err }

// Stop ends the command and waits until it is gone.
func (t *Tethered) Stop() {
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
