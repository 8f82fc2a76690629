package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/singleeffect/once/infra/local/lambda"
)

// Report is what became of everything that was run.
type Report struct {
	Canaries []Canary `json:"canaries"`
}

// Config says what is run.
type Config struct {
	// Root is the project's folder.
	Root string
	// Progress takes the story, Log the functions' own output.
	Progress, Log io.Writer
}

// Run deploys each version in turn.
func Run(ctx context.Context, c Config) (Report, error) {
	return run(ctx, c, versions)
}

func run(ctx context.Context, c Config, versions []version) (r Report, err error) {
	dir, err := os.MkdirTemp("", "once-e2e-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	b := binaries{root: c.Root, of: map[string]string{}}
	if b.emulator, err = lambda.Emulator(ctx); err != nil {
		return r, err
	}
	for i, v := range append(versions[:len(versions):len(versions)], healthy) {
		if b.of[v.folder] == "" {
			if b.of[v.folder], err = lambda.Build(ctx, filepath.Join(c.Root, filepath.FromSlash(v.folder)), filepath.Join(dir, strconv.Itoa(i))); err != nil {
				return r, err
			}
		}
	}
	for _, v := range versions {
		canary, err := deploy(ctx, b, v, c.Log)
		if err != nil {
			return r, err
		}
		fmt.Fprintf(c.Progress, "%s: %s\n", v.name, canary.told())
		r.Canaries = append(r.Canaries, canary)
	}
	return r, nil
}

// JSON writes the report as one line.
func (r Report) JSON(w io.Writer) error {
	return json.NewEncoder(w).Encode(map[string]Report{"e2e": r})
}

// Err says what is not as it must be.
func (r Report) Err() error {
	var faults []error
	for _, c := range r.Canaries {
		for _, v := range versions {
			if v.name == c.Version {
				faults = append(faults, c.err(v))
			}
		}
	}
	return errors.Join(faults...)
}

func (c Canary) told() string {
	rings := "rings nothing"
	if c.Alarm != "" {
		rings = fmt.Sprintf("rings %s in minute %d", c.Alarm, c.Minute)
	}
	return fmt.Sprintf("%s; of %d messages %d took effect, %d were refused and %d quarantined", rings, c.Messages, c.Effects, c.Refused, c.Quarantined)
}

// err compares a canary with what its version must come to.
func (c Canary) err(v version) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(v.name+": "+format, args...)) }
	if c.Alarm != v.rings {
		fault("rings %q, want %q", c.Alarm, v.rings)
	}
	if c.Duplicates > 0 || c.Lost > 0 {
		fault("%d messages took effect more than once, and %d were lost", c.Duplicates, c.Lost)
	}
	// A tenth of the messages, and what was put away came to the new version at once.
	if c.Effects < c.Messages*8/10 || c.Refused+c.Quarantined > c.Messages*2/10 {
		fault("%d of %d messages took effect", c.Effects, c.Messages)
	}
	return errors.Join(faults...)
}
