package demo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/singleeffect/once/infra/local/stack"
)

// The whole run, on the real stack: real functions, real kills.
func TestRun(t *testing.T) {
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	const intents = 3
	var progress bytes.Buffer
	report, err := Run(t.Context(), Config{Root: root, Intents: intents, Seed: 1, Progress: &progress, Log: io.Discard})
	if err != nil {
		t.Fatalf("Run: %v\n%s", err, progress.String())
	}
	t.Logf("%+v", report)
	if err := report.Err(); err != nil {
		t.Errorf("report: %v", err)
	}
	if len(report.Rows) != len(operations) || len(report.Lessons) != len(operations) {
		t.Fatalf("got %d rows and %d lessons, want one for each operation", len(report.Rows), len(report.Lessons))
	}
	for i, row := range report.Rows {
		natural := operations[i].natural()
		if row.Once.Refused > 0 || row.Once.InDoubt > 0 && !operations[i].blind || row.Once.Effects.Effects+row.Once.InDoubt < intents {
			t.Errorf("%s once: got %+v, want every intent done, or of an e-mail in doubt", row.Operation, row.Once)
		}
		if row.Naive.Lost > 0 || natural && row.Naive != (Effects{Effects: intents, Duplicates: intents, Wrong: intents, undone: intents}) ||
			!natural && (row.Naive.Wrong == 0 || row.Naive.Effects != intents+row.Naive.Duplicates) {
			t.Errorf("%s naive: got %+v, want every intent, and a fault", row.Operation, row.Naive)
		}
		if row.Crashes == 0 || row.Deliveries <= row.Intents || row.Intents != intents {
			t.Errorf("%s: got %d crashes and %d deliveries of %d intents, want more", row.Operation, row.Crashes, row.Deliveries, row.Intents)
		}
	}
	for _, said := range []string{
		"Timeout 2 s, visibility 12 s, lease margin 1 s", "workers killed",
		// Three times, and once more where a machine is so slow that the queue takes the third run for dead, too.
		`change of account 7's balance, in cents +-[34]000 +-1000\n`, "Orders are delivered by now",
	} {
		if !regexp.MustCompile(said).MatchString(progress.String()) {
			t.Errorf("the story lacks %q:\n%s", said, progress.String())
		}
	}
}

func TestRunWithoutIntents(t *testing.T) {
	if _, err := Run(t.Context(), Config{}); err == nil || !strings.Contains(err.Error(), "not 0") {
		t.Errorf("got error %v, want one with the number", err)
	}
}

// interrupter is a user who has seen enough once the bar moves.
type interrupter struct{ interrupt func() }

func (i interrupter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("messages settled")) {
		i.interrupt()
	}
	return len(p), nil
}

func TestRunInterrupted(t *testing.T) {
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	report, err := Run(ctx, Config{Root: root, Intents: 1, Progress: interrupter{cancel}, Log: io.Discard})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "messages are still in the queues") {
		t.Errorf("got report %+v and error %v, want what is left and the interruption", report, err)
	}
	out, err := exec.Command("ps", "-A", "-ww", "-o", "ppid=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		parent, arguments, _ := strings.Cut(strings.TrimSpace(line), " ")
		if parent == strconv.Itoa(os.Getpid()) && !strings.HasPrefix(arguments, "ps ") {
			t.Errorf("left running: %s", arguments)
		}
	}
}
