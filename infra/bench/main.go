// Command bench measures what Once costs, beside its peer and plain Go handlers: requests, write units, processor time, latency, memory,
// cold start and size, in one run on one engine.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/singleeffect/once/infra/bench/measure"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c command
	parsed := kong.Parse(&c, kong.Name("bench"), kong.Description("What Once costs, beside its peers. Run it in infra/bench."), kong.UsageOnError(),
		kong.BindTo(ctx, (*context.Context)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}

type command struct {
	Rounds  int    `help:"Rounds, of which the medians are taken." default:"9"`
	Batches int    `help:"Batches of ten in a round, of each contender and scenario." default:"40"`
	Warm    int    `help:"Batches of new messages, and of duplicates, before a process is measured." default:"150"`
	Starts  int    `help:"Cold starts of each contender." default:"15"`
	Records int    `help:"Records in the largest table." default:"1000000"`
	Readme  string `help:"File whose table, between two markers, is written anew. The plot goes into the working directory, bench.svg."`
	Log     string `help:"File for the functions' own output."`
}

// Run prints the tables to standard error and the JSON line to standard output. A target that is missed is said, and no failure; what
// could not be measured is one, after all that was.
func (c *command) Run(ctx context.Context) error {
	scratch, err := os.MkdirTemp("", "once-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	var log io.Writer // nobody, but for a file
	if c.Log != "" {
		file, err := os.Create(c.Log)
		if err != nil {
			return err
		}
		defer file.Close()
		log = file
	}
	begin := time.Now()
	report, failed := measure.Run(ctx, measure.Plan{
		Rounds: c.Rounds, Batches: c.Batches, Warm: c.Warm, Starts: c.Starts, Records: c.Records, Into: scratch, Log: log,
		Say: func(format string, a ...any) {
			fmt.Fprintf(os.Stderr, "%4.0f s  %s\n", time.Since(begin).Seconds(), fmt.Sprintf(format, a...))
		},
	})
	fmt.Fprintln(os.Stderr)
	if err := report.Text(os.Stderr); err != nil {
		return err
	}
	if c.Readme != "" && failed == nil {
		if err := report.Plot(plot); err != nil {
			return err
		}
		path, err := beside(c.Readme, plot)
		if err != nil {
			return err
		}
		if err := report.Into(c.Readme, path); err != nil {
			return err
		}
	}
	return errors.Join(report.JSON(os.Stdout), failed)
}

// plot is the file of the plot, which the README shows.
const plot = "bench.svg"

// beside is the path of a file as another one links to it.
func beside(from, to string) (string, error) {
	from, err := filepath.Abs(filepath.Dir(from))
	if err != nil {
		return "", err
	}
	if to, err = filepath.Abs(to); err != nil {
		return "", err
	}
	path, err := filepath.Rel(from, to)
	return filepath.ToSlash(path), err
}
