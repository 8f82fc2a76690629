// Command scoreboard runs the same schedules of faults against Once, against Powertools for AWS Lambda (TypeScript) and against a
// conditional put, and counts their effects.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/singleeffect/once/infra/proof/scoreboard/board"
	"github.com/singleeffect/once/infra/proof/scoreboard/worker"
	"github.com/singleeffect/once/shared/intenttest"
)

func main() {
	worker.Run()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c command
	parsed := kong.Parse(&c, kong.Name("scoreboard"), kong.Description("The same faults against Once and its peers."), kong.UsageOnError(),
		kong.BindTo(ctx, (*context.Context)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}

type command struct {
	Readme string `help:"File whose table, between two markers, is written anew."`
	Log    string `help:"File for the functions' own output."`
}

// Run prints the table to standard error and the JSON line to standard output.
func (c *command) Run(ctx context.Context) error {
	log := io.Discard
	if c.Log != "" {
		file, err := os.Create(c.Log)
		if err != nil {
			return err
		}
		defer file.Close()
		log = file
	}
	report, err := measure(ctx, log)
	if err != nil {
		return err
	}
	if err := report.Markdown(os.Stderr); err != nil {
		return err
	}
	if err := report.JSON(os.Stdout); err != nil {
		return err
	}
	if c.Readme != "" {
		if err := report.Into(c.Readme); err != nil {
			return err
		}
	}
	return report.Err()
}

func measure(ctx context.Context, log io.Writer) (report board.Report, err error) {
	peer, err := board.Powertools(ctx)
	if err != nil {
		return report, err
	}
	once, err := board.Once()
	if err != nil {
		return report, err
	}
	naive, err := board.Naive()
	if err != nil {
		return report, err
	}
	endpoint, stop, err := intenttest.Start(ctx)
	if err != nil {
		return report, err
	}
	defer stop()
	engine := board.Engine{Endpoint: endpoint}
	if err := intenttest.Fitness(ctx, engine.Client()); err != nil {
		return report, err
	}
	for _, c := range board.Cases {
		scores, err := board.Run(ctx, engine, c, []board.Side{once, peer, naive}, log)
		if err != nil {
			return report, err
		}
		fmt.Fprintf(os.Stderr, "%-24s once %s, Powertools %s, conditional put %s\n", c.Name, scores[0], scores[1], scores[2])
		report.Rows = append(report.Rows, board.Row{Case: c, Once: scores[0], Powertools: scores[1], Naive: scores[2]})
	}
	for _, other := range board.Others {
		scores, err := board.Run(ctx, engine, board.Named(other.Case), []board.Side{other.Of(peer)}, log)
		if err != nil {
			return report, err
		}
		report.Others = append(report.Others, scores...)
	}
	fmt.Fprintln(os.Stderr)
	return report, nil
}
