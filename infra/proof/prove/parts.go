package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/singleeffect/once/infra/proof/mutants"
	"github.com/singleeffect/once/infra/proof/spin"
)

// root is where the functions are, seen from where the program runs: its own module.
const root = "../.."

// functions have a system test each.
var functions = []string{"charge", "adjust", "ship", "clearcart", "welcome"}

func explore(ctx context.Context, p *proof) error {
	var found struct {
		Histories    int `json:"histories"`
		SDKHistories int `json:"sdk_histories"`
		Violations   int `json:"violations"`
	}
	err := test(ctx, ".", "./explore", "^Test(Exhaustive|Random|SDK|OutsideTheAssumptions|NeedsNoAssumption)$",
		&found, "-deviations="+deviations, "-random="+byChance, "-sdk="+throughSDK)
	p.Histories += found.Histories + found.SDKHistories
	p.ThroughSDK += found.SDKHistories
	p.Violations += found.Violations
	return err
}

func systems(ctx context.Context, p *proof) error {
	var faults []error
	for _, function := range functions {
		var found struct {
			Histories  int `json:"histories"`
			Violations int `json:"violations"`
		}
		err := test(ctx, root, "./functions/"+function, "^TestSystem$", &found, "-schedules="+schedules)
		p.Histories += found.Histories
		p.Systems += found.Histories
		p.Violations += found.Violations
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// engine holds the DynamoDB in memory, on which the histories run, to DynamoDB Local.
func engine(ctx context.Context, p *proof) error {
	var found struct {
		Calls       int `json:"calls"`
		Differences int `json:"differences"`
	}
	err := test(ctx, root, "./shared/intenttest/memdb", "^TestRandomSequences$", &found, "-seeds="+sequences, "-steps="+calls)
	p.Calls, p.Violations = found.Calls, p.Violations+found.Differences
	return err
}

func processes(ctx context.Context, p *proof) error {
	return test(ctx, ".", "./linear", "^TestHistories$", &p.Porcupine, "-histories="+clients)
}

func survivors(ctx context.Context, p *proof) (err error) {
	p.Mutants, err = mutants.Run(ctx, nil, func(r mutants.Result) {
		fmt.Fprintf(os.Stderr, "%s: %s: %s\n", r.Where, r.Mutant, cmp.Or(r.Killer, "survives"))
	})
	return err
}

func model(ctx context.Context, tools spin.Tools, p *proof) (err error) {
	p.Spin, err = tools.Prove(ctx, spin.Everything(), func(r spin.Result) {
		fmt.Fprintf(os.Stderr, "%s %s: %d states, %d errors\n", r.Configuration, r.Mutant, r.States, r.Errors)
	})
	return err
}

// test runs one test, whose faults go to standard error, and reads what it reports, also where it failed.
func test(ctx context.Context, dir, pkg, name string, found any, flags ...string) error {
	tmp, err := os.MkdirTemp("", "prove-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	file := filepath.Join(tmp, "report.json")
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-count=1", "-timeout=0", "-run=" + name, pkg, "-args", "-report=" + file}, flags...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stderr, os.Stderr
	failed := cmd.Run()
	text, err := os.ReadFile(file)
	if err != nil {
		return errors.Join(failed, err)
	}
	if err := json.Unmarshal(text, found); err != nil {
		return fmt.Errorf("report of %s: %w", pkg, err)
	}
	return failed
}
