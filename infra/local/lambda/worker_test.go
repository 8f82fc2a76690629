package lambda

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// binaries are built once: the probe and the emulator.
var binaries struct{ probe, emulator string }

// holdWorker makes this test binary a process that has a worker hang in an
// invocation until it is killed; the variable names the file to mark.
const holdWorker = "LAMBDA_HOLD_WORKER"

func TestMain(m *testing.M) {
	if mark := os.Getenv(holdWorker); mark != "" {
		hold(mark)
	}
	dir, err := os.MkdirTemp("", "once-lambda-")
	if err == nil {
		binaries.probe, err = Build(context.Background(), "testdata/probe", dir)
	}
	if err == nil {
		binaries.emulator, err = Emulator(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

func newWorker(t *testing.T, change func(*Config)) *Worker {
	t.Helper()
	c := Config{Bootstrap: binaries.probe, Timeout: 20 * time.Second}
	if change != nil {
		change(&c)
	}
	w, err := NewWorker(t.Context(), binaries.emulator, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

type answer struct {
	PID         int               `json:"pid"`
	Calls       int               `json:"calls"`
	RemainingMS int64             `json:"remaining_ms"`
	Environment map[string]string `json:"environment"`
}

func invoke(t *testing.T, w *Worker, event string) answer {
	t.Helper()
	text, err := w.Invoke(t.Context(), []byte(event))
	if err != nil {
		t.Fatalf("Invoke(%s): %v", event, err)
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatalf("answer %q: %v", text, err)
	}
	return a
}

func TestInvoke(t *testing.T) {
	var log bytes.Buffer
	w := newWorker(t, func(c *Config) {
		c.Name, c.MemoryMB, c.Log = "ChargeFunction", 256, &log
		c.Environment = map[string]string{"TABLE": "a=b c", "AWS_REGION": "us-east-1"}
	})
	first := invoke(t, w, `{"do":"answer"}`)
	want := map[string]string{
		"TABLE": "a=b c", "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "local",
		"AWS_LAMBDA_FUNCTION_NAME": "ChargeFunction", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256",
	}
	if !maps.Equal(first.Environment, want) {
		t.Errorf("environment %v, want %v", first.Environment, want)
	}
	if first.RemainingMS < 15_000 || first.RemainingMS > 20_000 {
		t.Errorf("%d ms remain of 20 s", first.RemainingMS)
	}
	if second := invoke(t, w, `{"do":"answer"}`); second.PID != first.PID || second.Calls != 2 {
		t.Errorf("second call is %+v, want the same process", second)
	}
	text, err := w.Invoke(t.Context(), []byte(`{"do":"null"}`))
	if err != nil || string(text) != "null" {
		t.Errorf(`answer %q, %v, want "null"`, text, err)
	}
	w.Close() // completes the log
	if !strings.Contains(log.String(), "doing answer") || !strings.Contains(log.String(), "REPORT RequestId") {
		t.Errorf("log %q lacks the function's and the emulator's lines", log.String())
	}
}

func TestInvokeErrors(t *testing.T) {
	tests := []struct {
		event         string
		check         func(error) bool
		processLives  bool
		timeout       time.Duration
		answersWithin time.Duration
	}{
		{event: `{"do":"error"}`, processLives: true, check: func(err error) bool {
			e := new(FunctionError)
			return errors.As(err, &e) && *e == FunctionError{Type: "errorString", Message: "as asked"}
		}},
		{event: `{"do":"exit"}`, check: func(err error) bool {
			e := new(CrashError)
			return errors.As(err, &e) && e.Type == "Runtime.ExitError" && strings.Contains(e.Message, "exit status 3")
		}},
		{event: `{"do":"panic"}`, check: func(err error) bool {
			e := new(CrashError)
			return errors.As(err, &e) && e.Message == "as asked"
		}},
		{event: `{"do":"hang"}`, timeout: time.Second, check: func(err error) bool {
			e := new(TimeoutError)
			return errors.As(err, &e) && e.After == time.Second
		}},
	}
	for _, test := range tests {
		t.Run(test.event, func(t *testing.T) {
			w := newWorker(t, func(c *Config) {
				if test.timeout > 0 {
					c.Timeout = test.timeout
				}
			})
			before := invoke(t, w, `{}`)
			if _, err := w.Invoke(t.Context(), []byte(test.event)); !test.check(err) {
				t.Fatalf("Invoke error = %#v", err)
			}
			if !test.processLives && alive(before.PID) {
				t.Error("the process lives when the error is seen")
			}
			after := invoke(t, w, `{}`)
			if lives := after.PID == before.PID; lives != test.processLives {
				t.Errorf("same process %t, want %t", lives, test.processLives)
			}
		})
	}
}

func TestInitFails(t *testing.T) {
	var log bytes.Buffer
	w := newWorker(t, func(c *Config) {
		c.Environment, c.Log = map[string]string{"PROBE_FAILS_INIT": "1"}, &log
	})
	for range 2 {
		crash := new(CrashError)
		if _, err := w.Invoke(t.Context(), []byte(`{}`)); !errors.As(err, &crash) {
			t.Fatalf("Invoke error = %v, want a crash", err)
		}
	}
	w.Close()
	if !strings.Contains(log.String(), "missing TABLE") {
		t.Errorf("log %q does not say why", log.String())
	}
}

// marked waits until the function has written the file, and gives its process.
func marked(t *testing.T, mark string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		text, err := os.ReadFile(mark)
		if pid, parse := strconv.Atoi(string(text)); err == nil && parse == nil {
			return pid
		}
		pause(t, ctx)
	}
}

func eventuallyGone(t *testing.T, pid int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for running(pid) {
		pause(t, ctx)
	}
}

// running tells whether the process can still do anything: unlike alive, not
// if it only waits to be buried by a parent that adopted it.
func running(pid int) bool {
	state, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}

func pause(t *testing.T, ctx context.Context) {
	t.Helper()
	select {
	case <-ctx.Done():
		t.Fatal("waited in vain")
	case <-time.After(poll):
	}
}

func TestKill(t *testing.T) {
	w := newWorker(t, nil)
	if err := w.Kill(); err != nil { // no process yet
		t.Fatal(err)
	}
	t.Run("in the middle of an invocation", func(t *testing.T) {
		for range 3 {
			mark := filepath.Join(t.TempDir(), "mark")
			errs := make(chan error)
			go func() {
				_, err := w.Invoke(t.Context(), fmt.Appendf(nil, `{"do":"hang","mark":%q}`, mark))
				errs <- err
			}()
			pid := marked(t, mark)
			if err := w.Kill(); err != nil {
				t.Fatal(err)
			}
			if alive(pid) {
				t.Error("the process lives after Kill")
			}
			crash := new(CrashError)
			if err := <-errs; !errors.As(err, &crash) || !strings.Contains(crash.Message, "killed") {
				t.Fatalf("Invoke error = %v, want a crash", err)
			}
			if after := invoke(t, w, `{}`); after.PID == pid || after.Calls != 1 {
				t.Errorf("after the kill: %+v, want a new process", after)
			}
		}
	})
	t.Run("between two invocations", func(t *testing.T) {
		before := invoke(t, w, `{}`)
		if err := w.Kill(); err != nil {
			t.Fatal(err)
		}
		if after := invoke(t, w, `{}`); after.PID == before.PID {
			t.Error("the process was not killed")
		}
	})
}

func TestProcessEndsBetweenInvocations(t *testing.T) {
	w := newWorker(t, nil)
	first := invoke(t, w, `{"do":"exit after"}`)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for alive(first.PID) {
		pause(t, ctx)
	}
	if second := invoke(t, w, `{}`); second.PID == first.PID {
		t.Error("the process did not end")
	}
}

func TestInvocationsWaitForEachOther(t *testing.T) {
	w := newWorker(t, nil)
	const n = 8
	var mu sync.Mutex
	seen := make(map[int]bool)
	var done sync.WaitGroup
	for range n {
		done.Go(func() {
			text, err := w.Invoke(t.Context(), []byte(`{}`))
			var a answer
			if err = errors.Join(err, json.Unmarshal(text, &a)); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[a.Calls] = true
		})
	}
	done.Wait()
	if len(seen) != n {
		t.Errorf("call numbers %v, want %d in one process", seen, n)
	}
}

func TestInvokeEndsWithContext(t *testing.T) {
	w := newWorker(t, nil)
	mark := filepath.Join(t.TempDir(), "mark")
	ctx, cancel := context.WithCancelCause(t.Context())
	errs := make(chan error)
	go func() {
		_, err := w.Invoke(ctx, fmt.Appendf(nil, `{"do":"hang","mark":%q}`, mark))
		errs <- err
	}()
	pid := marked(t, mark)
	cancel(nil)
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("Invoke error = %v, want the context's", err)
	}
	if alive(pid) {
		t.Error("the function runs on")
	}
	invoke(t, w, `{}`)
}

func TestClose(t *testing.T) {
	w := newWorker(t, nil)
	mark := filepath.Join(t.TempDir(), "mark")
	errs := make(chan error)
	go func() {
		_, err := w.Invoke(t.Context(), fmt.Appendf(nil, `{"do":"hang","mark":%q}`, mark))
		errs <- err
	}()
	pid := marked(t, mark)
	dir := w.emulator.dir
	w.Close()
	if running(pid) {
		t.Error("the function outlives its worker")
	}
	if err := <-errs; !errors.Is(err, ErrClosed) {
		t.Errorf("Invoke error = %v, want ErrClosed", err)
	}
	if _, err := w.Invoke(t.Context(), []byte(`{}`)); !errors.Is(err, ErrClosed) {
		t.Errorf("Invoke error = %v, want ErrClosed", err)
	}
	if err := w.Kill(); err != nil {
		t.Errorf("Kill() = %v after Close", err)
	}
	w.Close()
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left", dir)
	}
}

func BenchmarkKillToAnswer(b *testing.B) {
	w, err := NewWorker(b.Context(), binaries.emulator, Config{Bootstrap: binaries.probe, Timeout: 20 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for b.Loop() {
		if err := w.Kill(); err != nil {
			b.Fatal(err)
		}
		if _, err := w.Invoke(b.Context(), []byte(`{}`)); err != nil {
			b.Fatal(err)
		}
	}
}
