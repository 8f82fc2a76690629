package sqsbatch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// What runs is cancelled, what has not started is listed and not started, and
// the answer leaves before the kill.
func TestDeadline(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 2, 10} {
		bubble(t, fmt.Sprintf("%d side by side", concurrency), func(t *testing.T) {
			m, c := &memory{}, &till{}
			handler := cashier(m, c)
			handler.Effect = func(ctx context.Context, _ order, a intent.Attempt) (any, error) {
				if a.Key.ID == "quick" {
					return c.charge(a), nil
				}
				<-ctx.Done()
				return nil, ctx.Err()
			}
			r := newRig(t, func(c *sqsbatch.Config) { c.Handler = handler; c.Concurrency = concurrency })
			messages := []events.SQSMessage{asking("0", "quick")}
			var stuck []string
			for _, id := range strings.Split("123456789", "") {
				messages = append(messages, asking(id, id))
				stuck = append(stuck, id)
			}
			start := time.Now()
			wantIDs(t, "listed", r.handle(messages...), stuck...)
			if left := timeout - time.Since(start); left < 200*time.Millisecond {
				t.Errorf("answered %v before the kill", left)
			}
			if started := len(m.all()); started >= len(messages) && concurrency < 9 {
				t.Errorf("%d of %d were started with no time left", started, len(messages))
			}
			time.Sleep(timeout)
			if len(r.exits) != 0 {
				t.Errorf("the process was ended at %v", r.exits)
			}
		})
	}
}

// Whatever the handler does about deadlines, nothing starts too late, and where
// nothing starts there is no process to end.
func TestTooLateToStart(t *testing.T) {
	t.Parallel()
	for _, left := range []time.Duration{-time.Second, 0, 100 * time.Millisecond, 999 * time.Millisecond} {
		bubble(t, left.String(), func(t *testing.T) {
			r := newRig(t)
			ctx, cancel := context.WithTimeout(context.Background(), left)
			defer cancel()
			wantIDs(t, "listed", r.handleBy(ctx, asking("1", "a"), asking("2", "b"), asking("3", "b")), "1", "2", "3")
			wantIDs(t, "run", r.hand.keys())
			r.log.about(t, "1")
			time.Sleep(timeout)
			if len(r.exits) != 0 {
				t.Errorf("the process was ended %d times", len(r.exits))
			}
		})
	}
	bubble(t, "cancelled", func(t *testing.T) {
		r := newRig(t)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		wantIDs(t, "listed", r.handleBy(ctx, asking("1", "a")), "1")
		wantIDs(t, "run", r.hand.keys())
		if line := r.log.about(t, "1"); line["error"] != context.Canceled.Error() {
			t.Errorf("got log line %v, want why it was not run", line)
		}
	})
}

func TestIgnoredCancellation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		stuck := make(chan struct{})
		r.hand.do = func(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
			if d.Key == "stuck" {
				<-stuck
			}
			return executed, nil
		}
		var codes []int
		var at time.Time
		r.SetExit(func(code int) {
			codes, at = append(codes, code), time.Now()
			close(stuck) // a process that ended runs nothing
		})
		start := time.Now()
		r.handle(asking("1", "heeds"), asking("2", "stuck"))
		if len(codes) != 1 || codes[0] != 1 {
			t.Fatalf("got exit codes %v, want 1 once", codes)
		}
		if took := at.Sub(start); took >= timeout || took < timeout-200*time.Millisecond {
			t.Errorf("ended after %v of %v, want shortly before the deadline", took, timeout)
		}
		if lines := r.log.lines(t); len(lines) != 1 || lines[0]["level"] != "ERROR" {
			t.Errorf("got log %v, want why the process ended", lines)
		}
	})
}

// The same in a process of its own: it gives no answer and ends with 1.
func TestIgnoredCancellationEndsProcess(t *testing.T) {
	t.Parallel()
	const variable = "SQSBATCH_TEST_STUCK"
	if os.Getenv(variable) != "" {
		batch, err := sqsbatch.New(sqsbatch.Config{Handler: &hand{do: func(context.Context, intent.Delivery) (intent.Outcome, error) {
			select {}
		}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		answer, err := batch.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{asking("1", "k")}})
		t.Logf("answered %v and error %v", answer, err)
		os.Exit(0)
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestIgnoredCancellationEndsProcess$", "-test.v")
	child.Env = append(os.Environ(), variable+"=1")
	out, err := child.CombinedOutput()
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.ExitCode() != 1 || strings.Contains(string(out), "answered") || !strings.Contains(string(out), "ignores its cancellation") {
		t.Errorf("got %v, want exit status 1 and the reason:\n%s", err, out)
	}
}

// One effect that hangs until its time is over puts one intent in doubt, not the
// next one too: what could not begin before the cut-off is not begun after it.
func TestOneHangIsOneDoubt(t *testing.T) {
	t.Parallel()
	for _, class := range []string{"blind", "keyed"} {
		bubble(t, class, func(t *testing.T) {
			started := 0
			effect := func(ctx context.Context, _ order, a intent.Attempt) (any, error) {
				started++
				<-ctx.Done()
				return nil, ctx.Err()
			}
			m := &memory{}
			var handler sqsbatch.Handler = &intent.Blind[order]{Config: shop(m), Effect: effect}
			if class == "keyed" {
				handler = &intent.Keyed[order]{Config: shop(m), Window: 24 * time.Hour, Effect: effect}
			}
			r := newRig(t, func(c *sqsbatch.Config) { c.Handler, c.Concurrency = handler, 1 })
			var messages []events.SQSMessage
			for i := range 10 {
				messages = append(messages, asking(fmt.Sprint(i), fmt.Sprint(i)))
			}
			if got := r.handle(messages...); len(got) != 10 {
				t.Errorf("listed: got %v, want all", got)
			}
			if started != 1 || len(m.all()) != 1 {
				t.Errorf("%d effects began and %d records stand, want 1 of each", started, len(m.all()))
			}
		})
	}
}
