package demo

import (
	"bytes"
	"io"
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
	if len(report.Rows) != len(operations) {
		t.Fatalf("rows: got %d, want one for each of %v", len(report.Rows), operations)
	}
	for _, row := range report.Rows {
		if want := (Guarded{Effects: Effects{Effects: intents}}); row.Once != want {
			t.Errorf("%s once: got %+v, want %+v", row.Operation, row.Once, want)
		}
		if row.Naive.Duplicates == 0 || row.Naive.Lost > 0 || row.Naive.Effects != intents+row.Naive.Duplicates {
			t.Errorf("%s naive: got %+v, want every intent and a duplicate", row.Operation, row.Naive)
		}
		if row.Crashes == 0 || row.Deliveries <= row.Intents {
			t.Errorf("%s: got %d crashes and %d deliveries of %d intents, want more", row.Operation, row.Crashes, row.Deliveries, row.Intents)
		}
	}
	for _, said := range []string{"Timeout 2 s, visibility 12 s, lease margin 1 s", "workers killed"} {
		if !strings.Contains(progress.String(), said) {
			t.Errorf("the story lacks %q:\n%s", said, progress.String())
		}
	}
}
