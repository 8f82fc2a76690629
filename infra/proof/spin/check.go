package spin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// check is one run of the model.
type check struct {
	configuration
	mutant string // none if empty
}

func (c check) String() string {
	if c.mutant == "" {
		return c.name
	}
	return c.mutant + " in " + c.name
}

// Result is what one check found.
type Result struct {
	Configuration string
	Mutant        string // empty: the model as it is
	Breaks        string // the mutant's rule, after the number of the public case that it stands for
	States        int64  // stored, each a different one
	Errors        int    // 1 at the most: the search ends at the first
	Fault         string // what the first error is, in the model's words
	Trace         string // the steps to it, of a configuration that should have none
	Took          time.Duration
}

// What the generated program is told. The depth bounds the stack of the search, not
// the states: what is deeper would be an incomplete search, which is an error here.
const (
	maxDepth  = "-m4000000"
	hashTable = "-w24" // 2^24 slots, 128 MB; a fuller one is slower, not less exact
)

// defines are the model's parameters as spin's options.
func (c check) defines() []string {
	var options []string
	for _, d := range c.configuration.defines {
		if !strings.Contains(d, "=") {
			d += "=1"
		}
		options = append(options, "-D"+d)
	}
	if c.mutant != "" {
		options = append(options, "-DMUTANT="+c.mutant)
	}
	return options
}

// check generates the program that explores the model, compiles and runs it.
func (t Tools) check(ctx context.Context, dir string, c check) (Result, error) {
	started := time.Now()
	dir, err := os.MkdirTemp(dir, "")
	if err != nil {
		return Result{}, err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, model()); err != nil {
		return Result{}, err
	}
	if _, err := run(ctx, dir, t.spin, append(append([]string{"-a"}, c.defines()...), mainFile)...); err != nil {
		return Result{}, err
	}
	// Nothing that drops states: no bit state hashing, no hash compaction. A search
	// for cycles follows every order of steps; for bad states alone it may leave out
	// orders that cannot matter, which is sound.
	options := []string{"-O1", "-w", "-DNOFAIR", "-DVECTORSZ=512", "-o", "pan", "pan.c"}
	search := []string{maxDepth, hashTable}
	if c.live {
		options = append(options, "-DNOREDUCE")
		search = append(search, "-a")
	} else {
		options = append(options, "-DSAFETY")
	}
	if _, err := run(ctx, dir, t.compiler, options...); err != nil {
		return Result{}, err
	}
	output, err := run(ctx, dir, filepath.Join(dir, "pan"), search...)
	if err != nil {
		return Result{}, err
	}
	result, err := parse(output)
	if err != nil {
		return Result{}, err
	}
	result.Configuration, result.Mutant = c.name, c.mutant
	for _, m := range declared() {
		if m.name == c.mutant {
			result.Breaks = m.breaks
		}
	}
	if result.Errors > 0 && c.mutant == "" {
		if result.Trace, err = t.trace(ctx, dir, c); err != nil {
			return Result{}, err
		}
	}
	result.Took = time.Since(started)
	return result, nil
}

func run(ctx context.Context, dir, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	output, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", filepath.Base(program), err, bytes.TrimSpace(output))
	}
	return output, err
}

var (
	statesLine = regexp.MustCompile(`(?m)^\s*(\S+) states, stored`)
	errorsLine = regexp.MustCompile(`(?m)^State-vector .*, errors: (\d+)$`)
	faultLine  = regexp.MustCompile(`(?m)^pan:1: (.*)$`)
)

// errIncomplete is returned for a search that left states out.
var errIncomplete = errors.New("the search was not completed")

// parse reads what the search says of itself.
func parse(output []byte) (Result, error) {
	var r Result
	text := string(output)
	states, found := statesLine.FindStringSubmatch(text), errorsLine.FindStringSubmatch(text)
	if states == nil || found == nil || !strings.Contains(text, "Full statespace search for:") {
		return r, fmt.Errorf("output of the search is not understood: %s", strings.TrimSpace(text))
	}
	stored, err := strconv.ParseFloat(states[1], 64) // large ones are printed as 1.2e+08
	if err != nil {
		return r, fmt.Errorf("states stored: %w", err)
	}
	if r.Errors, err = strconv.Atoi(found[1]); err != nil {
		return r, fmt.Errorf("errors: %w", err)
	}
	r.States = int64(stored)
	if fault := faultLine.FindStringSubmatch(text); fault != nil {
		r.Fault = fault[1]
	}
	for _, sign := range []string{"search depth too small", "Search not completed", "out of memory", "aborting search"} {
		if r.Errors == 0 && strings.Contains(text, sign) {
			return r, fmt.Errorf("%w: %s", errIncomplete, strings.TrimSpace(text))
		}
	}
	return r, nil
}

var traceLine = regexp.MustCompile(`^\s*(\d+):\s+proc\s+(\d+) \((\w+):\d+\) (\w+\.pml:\d+) \(state \d+\)\s+\[(.* = .*)\]$`)

// trace is the way to the error: a line a step, with what it assigned.
func (t Tools) trace(ctx context.Context, dir string, c check) (string, error) {
	output, err := run(ctx, dir, t.spin, append(append([]string{"-t", "-p"}, c.defines()...), mainFile)...)
	if err != nil {
		return "", err
	}
	var trace strings.Builder
	last := ""
	lines := bufio.NewScanner(bytes.NewReader(output))
	for lines.Scan() {
		m := traceLine.FindStringSubmatch(lines.Text())
		if m == nil || strings.HasPrefix(m[4], "memory.pml") {
			continue
		}
		if m[1] != last {
			fmt.Fprintf(&trace, "\n%s %s %s %s", m[1], m[3], m[2], m[4])
			last = m[1]
		}
		trace.WriteString(" | " + m[5])
	}
	return strings.TrimSpace(trace.String()), lines.Err()
}
