// Package spin checks a formal model of the protocol: model/once.pml, in Promela,
// for the model checker Spin (https://spinroot.com; Debian has it as spin).
//
// Every configuration of the model is explored over all its states, with no
// hashing that could leave one out, and must be without an error. And the model has
// mutants, each with one rule of the protocol broken: in every one of them Spin must
// find an error, or the rule is not what keeps the protocol right, or the model does
// not see it.
//
// What the model leaves out, and why nothing is lost by it, is said in
// model/once.pml. Its table of transitions is the one of intent.Transitions, row for
// row, which Differences compares.
package spin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
)

// Report is what a run found.
type Report struct {
	States  int64   `json:"states"` // of all configurations, mutants not counted
	Errors  int     `json:"errors"` // in configurations
	Mutants Mutants `json:"mutants"`
}

// Mutants counts those that ran, and those in which an error was found, as it must
// be.
type Mutants struct {
	Total  int `json:"total"`
	Failed int `json:"failed"`
}

// OK reports whether the model is right and every mutant of it wrong.
func (r Report) OK() bool { return r.Errors == 0 && r.Mutants.Failed == r.Mutants.Total }

// MissingError is returned by Find when a program is not there.
type MissingError struct{ Program string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is missing: the formal model is checked by spin, which needs gcc (Debian: apt-get install spin gcc; macOS: brew install spin)", e.Program)
}

// Tools are the programs that check the model.
type Tools struct{ spin, compiler string }

// Find returns the tools of this machine, or a *MissingError.
func Find() (Tools, error) {
	var t Tools
	for _, tool := range []struct {
		name string
		path *string
	}{{"spin", &t.spin}, {"gcc", &t.compiler}} {
		found, err := exec.LookPath(tool.name)
		if err != nil {
			return Tools{}, &MissingError{tool.name}
		}
		*tool.path = found
	}
	return t, nil
}

// Prove checks the plan, two checks at a time, and tells observe of each as it ends;
// it may be nil. The largest takes a few minutes and 3 GB. An error means that
// something could not be checked, as when the search was not completed; what the
// search found is in the report.
func (t Tools) Prove(ctx context.Context, p Plan, observe func(Result)) (Report, error) {
	dir, err := os.MkdirTemp("", "spin-")
	if err != nil {
		return Report{}, err
	}
	defer os.RemoveAll(dir)

	var (
		report  Report
		failed  []error
		mu      sync.Mutex
		running sync.WaitGroup
		slots   = make(chan struct{}, min(2, runtime.NumCPU()))
	)
	for _, c := range p.checks() {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			result, err := t.check(ctx, dir, c)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, fmt.Errorf("check %s: %w", c, err))
				return
			}
			report.add(result)
			if observe != nil {
				observe(result)
			}
		})
	}
	running.Wait()
	return report, errors.Join(failed...)
}

func (r *Report) add(result Result) {
	if result.Mutant == "" {
		r.States += result.States
		r.Errors += result.Errors
		return
	}
	r.Mutants.Total++
	if result.Errors > 0 {
		r.Mutants.Failed++
	}
}
