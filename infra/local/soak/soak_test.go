package soak

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/singleeffect/once/infra/local/stack"
)

// The whole run, small: real functions, real kills, a real network that fails.
func TestRun(t *testing.T) {
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	const intents, kills = 60, 10
	var progress bytes.Buffer
	report, err := Run(t.Context(), Config{Root: root, Intents: intents, Kills: kills, Seed: 1, Progress: &progress, Log: io.Discard})
	if err != nil {
		t.Fatalf("Run: %v\n%s", err, progress.String())
	}
	t.Logf("%+v", report)
	if err := report.Err(); err != nil {
		t.Errorf("report: %v\n%s", err, progress.String())
	}
	if report.Intents != intents || report.Deliveries <= intents || report.Refused+report.InDoubt == 0 {
		t.Errorf("got %+v, want %d intents, more deliveries, and one or another that the business says no to", report, intents)
	}
	if said := progress.String(); !strings.Contains(said, "exchanges went well") {
		t.Errorf("the story lacks what the exchanges met:\n%s", said)
	}
}

func TestRunWithoutIntents(t *testing.T) {
	for _, c := range []Config{{Intents: 0}, {Intents: 1, Kills: -1}} {
		if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "1 intent or more") {
			t.Errorf("%+v: got error %v, want one with the least", c, err)
		}
	}
}
