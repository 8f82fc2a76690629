// Command prove runs the whole proof, some of it for minutes, and prints its figures as one JSON line. It ends with 1 if a
// history went wrong, a mutant survived, the formal model has an error, or porcupine rejected a history.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/singleeffect/once/infra/proof/linear"
	"github.com/singleeffect/once/infra/proof/mutants"
	"github.com/singleeffect/once/infra/proof/spin"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p, err := prove(ctx)
	if err := errors.Join(err, p.err(), json.NewEncoder(os.Stdout).Encode(map[string]proof{"proof": p})); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// proof is what was found. Histories are all that ran with effects counted: of the explorer, through the SDK too, and of the
// functions.
type proof struct {
	Histories  int            `json:"histories"`
	Violations int            `json:"violations"`
	Mutants    mutants.Report `json:"mutants"`
	Spin       spin.Report    `json:"spin"`
	Porcupine  linear.Report  `json:"porcupine"`

	ThroughSDK int `json:"-"` // of Histories
	Systems    int `json:"-"` // of Histories
	Calls      int `json:"-"` // that both engines answered alike
}

// What is less than this proves too little, whatever went well.
const leastHistories, leastThroughSDK, leastOfProcesses = 1_000_000, 10_000, 500

func (p proof) err() error {
	var faults []error
	if p.Violations > 0 {
		faults = append(faults, fmt.Errorf("%d of %d histories went wrong", p.Violations, p.Histories))
	}
	if explored := p.Histories - p.Systems; explored < leastHistories || p.ThroughSDK < leastThroughSDK || p.Porcupine.Histories < leastOfProcesses {
		faults = append(faults, fmt.Errorf("too little: %d histories explored, %d of them through the SDK, %d of processes; wanted %d, %d, %d",
			explored, p.ThroughSDK, p.Porcupine.Histories, leastHistories, leastThroughSDK, leastOfProcesses))
	}
	if p.Mutants.Killed < p.Mutants.Total {
		faults = append(faults, fmt.Errorf("mutants survive: %q", p.Mutants.Survivors))
	}
	if !p.Spin.OK() {
		faults = append(faults, fmt.Errorf("formal model: %+v", p.Spin))
	}
	if !p.Porcupine.OK {
		faults = append(faults, errors.New("porcupine rejects a history"))
	}
	return errors.Join(faults...)
}

// How much of each: more than 10^6 histories, and minutes on two cores.
const (
	deviations = "3"
	byChance   = "20000" // histories of each class
	throughSDK = "1250"  // of each class
	schedules  = "3000"  // of each function
	clients    = "800"   // histories of worker processes
	sequences  = "8"     // of random calls to the engines
	calls      = "5000"  // in each
)

// prove runs one part after the other, each of which uses all cores. What one finds ends no other.
func prove(ctx context.Context) (p proof, err error) {
	tools, err := spin.Find() // at once, and not after minutes
	if err != nil {
		return p, err
	}
	var faults []error
	for _, part := range []struct {
		name string
		run  func(context.Context, *proof) error
	}{
		{"the engine beside DynamoDB Local", engine},
		{"the code through every history of few deviations", explore},
		{"the functions in a small system", systems},
		{"worker processes, by porcupine", processes},
		{"mutants of the code", survivors},
		{"the formal model and its mutants", func(ctx context.Context, p *proof) error { return model(ctx, tools, p) }},
	} {
		fmt.Fprintf(os.Stderr, "== %s\n", part.name)
		began := time.Now()
		if err := part.run(ctx, &p); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", part.name, err))
		}
		fmt.Fprintf(os.Stderr, "== %v\n", time.Since(began).Round(time.Second))
	}
	fmt.Fprintf(os.Stderr, "%d histories: %d through the SDK, %d of the functions' systems; %d calls to both engines\n",
		p.Histories, p.ThroughSDK, p.Systems, p.Calls)
	return p, errors.Join(faults...)
}
