package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Outage is what two hours without the provider came to, on virtual time: on a standard and on a FIFO queue.
type Outage struct {
	Seconds      int `json:"seconds"` // from its beginning until the last message was done
	DeadLettered int `json:"dead_lettered"`
	Duplicates   int `json:"duplicates"`
}

// outage runs it. Virtual time is a test's, so it is one.
func outage(ctx context.Context, c Config) (o Outage, err error) {
	fmt.Fprintln(c.Progress, "An outage of two hours, on virtual time ...")
	folder, err := os.MkdirTemp("", "outage-")
	if err != nil {
		return o, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "report.json")
	test := exec.CommandContext(ctx, "go", "test", "-count=1", "-run=^TestOutageDeadLettersNothing$", "./shared/sqsbatch", "-args", "-report="+file)
	test.Dir = c.Root
	if said, err := test.CombinedOutput(); err != nil {
		return o, fmt.Errorf("outage: %w\n%s", err, said)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(text, &o)
}
