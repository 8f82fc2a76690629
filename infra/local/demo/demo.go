// Package demo runs the main job where everything goes wrong: messages come
// several times, workers are killed right after an effect, answers are lost, and
// redeliveries come after the world has moved on. The guarded functions and their
// naive twins get the same messages, and effects are counted where they happen,
// never by the handlers' own word. Whoever makes other trouble has the crowd and the
// counting by Trouble.
package demo

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"
)

// visibility is six times a function's timeout, and the most for which a message
// that fails is hidden: a run must outlast several.
const visibility = 12 * time.Second

// parameters make the stack small and quick.
var parameters = map[string]string{
	"FunctionTimeoutSeconds":   "2",
	"VisibilityTimeoutSeconds": fmt.Sprint(visibility.Seconds()),
	"LeaseMarginSeconds":       "1",
	"MaximumConcurrency":       "2",
	"Scope":                    scope,
	// These enable the mappings of charge and of welcome; Stripe's key itself comes from the environment.
	"StripeSecretArn": "arn:aws:secretsmanager:us-east-1:000000000000:secret:stripe-aDemo1",
	"EmailFrom":       "shop@example.com",
}

// patience ends a run in which no message is settled any more. One that fails each
// time is a minute on its way to a dead-letter queue.
const patience = 3 * time.Minute

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
	if c.Intents < 1 {
		return Report{}, fmt.Errorf("a run needs 1 intent or more of each operation, not %d", c.Intents)
	}
	now := time.Now()
	taught, err := lessons(now)
	if err != nil {
		return Report{}, err
	}
	all, err := crowd(c.Intents, now)
	if err != nil {
		return Report{}, err
	}
	say := func(format string, args ...any) { fmt.Fprintf(c.Progress, format+"\n", args...) }
	say("Timeout %s s, visibility %s s, lease margin %s s, %s workers for each function (parameters of the stack).",
		parameters["FunctionTimeoutSeconds"], parameters["VisibilityTimeoutSeconds"], parameters["LeaseMarginSeconds"], parameters["MaximumConcurrency"])
	say("Starting DynamoDB Local, queues, provider, mail service and workers, for the guarded functions and for their naive twins ...")
	once, err := open(ctx, "", c, nil)
	if err != nil {
		return Report{}, err
	}
	defer once.close()
	naive, err := open(ctx, "infra/naive", c, nil)
	if err != nil {
		return Report{}, err
	}
	defer naive.close()
	sides := []*side{once, naive}
	var starting errgroup.Group
	for _, s := range sides {
		starting.Go(func() error { return s.stack.Run(ctx) })
	}
	if err := starting.Wait(); err != nil {
		return Report{}, err
	}

	say("The lesson first: one intent of each operation, whose worker is killed right after its effect in the first two deliveries.")
	var report Report
	if report.Lessons, err = teach(ctx, c.Progress, taught, once, naive); err != nil {
		return Report{}, err
	}
	say("")
	if err := showLesson(c.Progress, report.Lessons); err != nil {
		return Report{}, err
	}
	say("")

	messages := sends(all, rand.New(rand.NewPCG(c.Seed, 1)))
	sent := 0
	for _, s := range sides {
		if err := s.seed(ctx, all); err != nil {
			return Report{}, err
		}
		s.forget()
		s.chaos.crowd(c.Intents)
		n, err := s.send(ctx, messages)
		if err != nil {
			return Report{}, err
		}
		sent += n
	}
	say("Now %d intents, sent as %d messages. They are delivered, and workers are killed while they work.", len(all), sent/len(sides))
	if err := drain(ctx, c.Progress, sent, sides); err != nil {
		return Report{}, err
	}

	say("Orders are delivered by now, and users fill their carts again. The messages of ship and clearcart come once more.")
	reached, err := redeliverLate(ctx, c.Progress, all, sides)
	if err != nil {
		return Report{}, err
	}
	for _, s := range sides {
		s.stack.Stop() // what is counted now is final
	}
	if report.Rows, err = account(ctx, taught, all, once, naive, reached); err != nil {
		return Report{}, err
	}
	report.Leaks = once.log.told()
	return report, nil
}

// drain waits until everything is settled.
func drain(ctx context.Context, out io.Writer, sent int, sides []*side) error {
	bar := bar{out: out, total: sent}
	defer bar.end()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	stuck := time.NewTimer(patience)
	defer stuck.Stop()
	for least := sent; ; {
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
			return nil
		}
		if left < least {
			least = left
			stuck.Reset(patience)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d messages are still in the queues: %w", left, ctx.Err())
		case <-stuck.C:
			return fmt.Errorf("%d messages are still in the queues, and none was settled for %v", left, patience)
		case <-tick.C:
		}
	}
}
