package function

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

// TestMain makes this binary a function, too: it echoes a number, fails for a negative one and ends for 0.
func TestMain(m *testing.M) {
	if os.Getenv("ECHO") != "" {
		lambda.Start(func(ctx context.Context, n int) (int, error) {
			switch deadline, ok := ctx.Deadline(); {
			case n == 0:
				os.Exit(1)
			case n < 0:
				return 0, errors.New("negative")
			case !ok || time.Until(deadline) > time.Minute:
				return 0, errors.New("no deadline, or not this one")
			}
			return n, nil
		})
	}
	os.Exit(m.Run())
}

func start(t *testing.T) *Process { return startAs(t, false) }

func startAs(t *testing.T, bare bool) *Process {
	t.Helper()
	p, err := Start(t.Context(), Config{Command: []string{os.Args[0]}, Environment: []string{"ECHO=1", "PATH=" + os.Getenv("PATH")}, Log: t.Output(), Bare: bare})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

func TestInvoke(t *testing.T) {
	p := start(t)
	if got, err := p.Invoke(t.Context(), []byte("7"), time.Minute); err != nil || string(got) != "7" {
		t.Errorf("got %s, %v", got, err)
	}
	var failed *Error
	if _, err := p.Invoke(t.Context(), []byte("-1"), time.Minute); !errors.As(err, &failed) || failed.Message != "negative" {
		t.Errorf("function that fails: got %v", err)
	}
	if got, err := p.Invoke(t.Context(), []byte("8"), time.Minute); err != nil || string(got) != "8" {
		t.Errorf("after a failure: got %s, %v", got, err)
	}
	for range 2 {
		if _, err := p.Invoke(t.Context(), []byte("0"), time.Minute); !errors.Is(err, ErrGone) {
			t.Errorf("function that ends: got %v, want ErrGone", err)
		}
	}
}

func TestFreeze(t *testing.T) {
	p := start(t)
	if err := p.Freeze(); err != nil {
		t.Fatal(err)
	}
	const frozen = 100 * time.Millisecond // an answer takes below a tenth of it
	ctx, cancel := context.WithTimeout(t.Context(), frozen)
	defer cancel()
	if got, err := p.Invoke(ctx, []byte("7"), time.Minute); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("frozen: got %s, %v", got, err)
	}
	if err := p.Thaw(); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Invoke(t.Context(), []byte("8"), time.Minute); err != nil || string(got) != "8" {
		t.Errorf("thawed: got %s, %v", got, err)
	}
}

func TestKill(t *testing.T) {
	p := start(t)
	if err := p.Freeze(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := p.Invoke(t.Context(), []byte("7"), time.Minute)
		ended <- err
	}()
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, ErrGone) {
		t.Errorf("got %v, want ErrGone", err)
	}
}

func TestBare(t *testing.T) {
	p := startAs(t, true)
	if got, err := p.Invoke(t.Context(), []byte("7"), time.Minute); err != nil || string(got) != "7" {
		t.Errorf("got %s, %v", got, err)
	}
	if p.Startup() <= 0 {
		t.Errorf("startup %v", p.Startup())
	}
	if err := syscall.Kill(p.PID(), 0); err != nil {
		t.Errorf("process %d: %v", p.PID(), err)
	}
	p.Stop()
	if _, err := p.Invoke(t.Context(), []byte("7"), time.Minute); !errors.Is(err, ErrGone) {
		t.Errorf("stopped: got %v, want ErrGone", err)
	}
}

// Nothing kills it with the program that started it: it must end by itself.
func TestBareWithoutRuntimeAPI(t *testing.T) {
	p := startAs(t, true)
	p.server.Close()
	select {
	case <-p.command.Done():
	case <-t.Context().Done():
		t.Error("goes on without its Runtime API")
	}
}

func TestStartErrors(t *testing.T) {
	if _, err := Start(t.Context(), Config{Command: []string{"/bin/sh", "-c", "exit 3"}, Log: t.Output()}); !errors.Is(err, ErrGone) {
		t.Errorf("ends at once: got %v, want ErrGone", err)
	}
}
