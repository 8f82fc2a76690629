package environment_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// natural is a handler that needs nothing.
func natural() *intent.Natural[struct{}] {
	return &intent.Natural[struct{}]{Effect: func(context.Context, struct{}, intent.Attempt) error { return nil }}
}

// What a batch reports is a line of metrics on standard output, where Lambda reads it.
func TestReportsAreMetrics(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	stdout := os.Stdout
	os.Stdout = out
	defer func() { os.Stdout = stdout }()
	values := complete()
	values["AWS_LAMBDA_FUNCTION_VERSION"] = "12"
	f, err := environment.NewFunction("ship", variables(values))
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.Batch(natural())
	if err != nil {
		t.Fatal(err)
	}
	b.Observe(t.Context(), sqsbatch.Report{
		Outcomes: map[intent.Kind]int{intent.Executed: 1}, Messages: 9, Failed: 2, Listed: 3, Quarantined: 4, UnknownFormat: 5, Takeovers: 6,
	})
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	written, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	var line map[string]any
	if err := json.Unmarshal(written, &line); err != nil {
		t.Fatalf("got %q: %v", written, err)
	}
	for name, want := range map[string]any{
		"Scope": "once", "Operation": "ship", "Version": "12", "Messages": 9.0, "Executed": 1.0, "Failed": 2.0, "Listed": 3.0, "Quarantined": 4.0, "UnknownFormat": 5.0, "Takeovers": 6.0,
	} {
		if line[name] != want {
			t.Errorf("%s: got %v, want %v", name, line[name], want)
		}
	}
}

// A function whose dead-letter queue is its own queue would go round for ever.
func TestErrDeadLetterQueueIsTheQueue(t *testing.T) {
	values := complete()
	values["DEAD_LETTER_QUEUE_URL"] = values["QUEUE_URL"]
	f, err := environment.NewFunction("ship", variables(values))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Batch(natural())
	var invalid *intent.ConfigError
	if !errors.As(err, &invalid) || invalid.Field != "DeadLetterURL" || strings.Count(err.Error(), values["QUEUE_URL"]) != 2 {
		t.Errorf("got %v, want a ConfigError that prints both URLs", err)
	}
}
