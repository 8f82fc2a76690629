// Package demo runs the main job where everything goes wrong: messages come
// several times, workers are killed in the middle of a charge, answers are lost.
// The guarded functions and their naive twins get the same messages, and effects
// are counted where they happen, never by the handlers' own word.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/singleeffect/once/shared/intent"
)

// operations are the functions that take part, by their folder.
var operations = []string{"charge", "adjust"}

// parameters make the stack small and quick: a run must outlast several
// visibility timeouts, which are six times a function's timeout.
var parameters = map[string]string{
	"FunctionTimeoutSeconds":   "2",
	"VisibilityTimeoutSeconds": "12",
	"LeaseMarginSeconds":       "1",
	"MaximumConcurrency":       "2",
	// Enables the mapping of charge; the key itself comes from the environment.
	"StripeSecretArn": "arn:aws:secretsmanager:us-east-1:000000000000:secret:stripe-demo",
}

// patience ends a run whose queues do not empty.
const patience = 5 * time.Minute

// Config says how large a run is.
type Config struct {
	// Root is the project's folder. Required.
	Root string

	// Intents is the number of intents of each operation, 1 or more.
	Intents int

	// Seed makes the run's choices; the moments of the kills are its own.
	Seed uint64

	// Progress takes the story, Log the functions' own output.
	Progress, Log io.Writer
}

// Run tells the story and returns the account of it.
func Run(ctx context.Context, c Config) (Report, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if c.Intents < 1 {
		return Report{}, fmt.Errorf("a run needs 1 intent or more of each operation, not %d", c.Intents)
	}
	all, err := actions(operations, c.Intents)
	if err != nil {
		return Report{}, err
	}
	say := func(format string, args ...any) { fmt.Fprintf(c.Progress, format+"\n", args...) }
	say("Timeout %s s, visibility %s s, lease margin %s s, %s workers for each function (parameters of the stack).",
		parameters["FunctionTimeoutSeconds"], parameters["VisibilityTimeoutSeconds"], parameters["LeaseMarginSeconds"], parameters["MaximumConcurrency"])
	say("Starting DynamoDB Local, queues, provider and workers, for the guarded functions and for their naive twins ...")
	once, err := open(ctx, "once", "", c, all, c.Log)
	if err != nil {
		return Report{}, err
	}
	defer once.close()
	naive, err := open(ctx, "naive", "infra/naive", c, all, c.Log)
	if err != nil {
		return Report{}, err
	}
	defer naive.close()

	messages := sends(all, rand.New(rand.NewPCG(c.Seed, 1)))
	for _, s := range []*side{once, naive} {
		if err := s.send(messages); err != nil {
			return Report{}, err
		}
	}
	say("%d intents, sent as %d messages. Now they are delivered, and workers are killed while they work.", len(all), len(messages))
	sides := []*side{once, naive}
	var running errgroup.Group
	for _, s := range sides {
		running.Go(func() error { return s.stack.Run(ctx) })
	}
	if err := running.Wait(); err != nil {
		return Report{}, err
	}
	if err := drain(ctx, c.Progress, len(messages), sides); err != nil {
		return Report{}, err
	}
	for _, s := range sides {
		s.stack.Stop() // what is counted now is final
	}
	return account(ctx, c.Intents, once, naive)
}

// drain waits until all queues are empty, the dead-letter queues too.
func drain(ctx context.Context, out io.Writer, sent int, sides []*side) error {
	bar := bar{out: out, total: sent * len(sides)}
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		left := 0
		crashes := 0
		for _, s := range sides {
			n, err := s.left()
			if err != nil {
				return err
			}
			left += n
			crashes += s.killed()
		}
		bar.show(bar.total-left, fmt.Sprintf("%d workers killed", crashes))
		if left == 0 {
			bar.end()
			return nil
		}
		select {
		case <-ctx.Done():
			bar.end()
			return fmt.Errorf("%d messages are still in the queues: %w", left, ctx.Err())
		case <-tick.C:
		}
	}
}

// account counts the effects of both sides.
func account(ctx context.Context, intents int, once, naive *side) (Report, error) {
	var report Report
	for _, operation := range operations {
		row := Row{
			Operation:   operation,
			Intents:     intents,
			Deliveries:  once.deliveries[operation],
			Crashes:     once.crashes[operation],
			LostReplies: once.chaos.lost(operation),
		}
		onceCharges, naiveCharges := once.provider.Charges().ByCustomer(), naive.provider.Charges().ByCustomer()
		for _, a := range once.actions {
			if a.operation != operation {
				continue
			}
			o, err := once.outcome(ctx, a)
			if err != nil && !errors.Is(err, intent.ErrNoIntent) {
				return Report{}, err
			}
			switch o.Kind {
			case intent.Refused:
				row.Once.Refused++
			case intent.InDoubt:
				row.Once.InDoubt++
			}
			effects, err := once.effects(ctx, a, onceCharges)
			if err != nil {
				return Report{}, err
			}
			row.Once.count(effects, o.Kind == intent.Refused || o.Kind == intent.InDoubt)
			if effects, err = naive.effects(ctx, a, naiveCharges); err != nil {
				return Report{}, err
			}
			row.Naive.count(effects, false)
		}
		report.Rows = append(report.Rows, row)
	}
	return report, nil
}
