// Command local runs on this machine what template.yaml declares.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/singleeffect/once/infra/local/demo"
	"github.com/singleeffect/once/infra/local/e2e"
	"github.com/singleeffect/once/infra/local/soak"
	"github.com/singleeffect/once/infra/local/stack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var commands struct {
		Up     upCommand     `cmd:"" help:"Start the tables, the queues and stand-ins for Stripe and SES, and say how to invoke the functions on them."`
		Invoke invokeCommand `cmd:"" help:"Invoke one function with one event: by SAM where SAM and Docker are there, else by the runtime emulator."`
		Demo   demoCommand   `cmd:"" help:"Run the functions and their naive twins while workers are killed, and count the effects."`
		E2e    e2eCommand    `cmd:"" name:"e2e" help:"Deploy broken versions of a function, and see that the alarms of template.yaml take each back."`
		Soak   soakCommand   `cmd:"" help:"Run the functions through many intents while workers are killed and the network fails, and count the effects."`
	}
	parsed := kong.Parse(&commands, kong.Name("local"), kong.Description("Once on this machine."), kong.UsageOnError(),
		kong.BindTo(ctx, (*context.Context)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}

type demoCommand struct {
	Intents int    `default:"100" help:"Intents of each operation."`
	Seed    uint64 `default:"1" help:"Makes the run's choices."`
	Log     string `help:"File for the functions' own output."`
}

// Run prints the table to standard error and the JSON line to standard output.
func (c *demoCommand) Run(ctx context.Context) error {
	root, log, err := rootAndLog(c.Log)
	if err != nil {
		return err
	}
	defer log.Close()
	report, err := demo.Run(ctx, demo.Config{Root: root, Intents: c.Intents, Seed: c.Seed, Progress: os.Stderr, Log: log})
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr)
	if err := report.Table(os.Stderr); err != nil {
		return err
	}
	if err := report.JSON(os.Stdout); err != nil {
		return err
	}
	return report.Err()
}

type soakCommand struct {
	Intents int    `default:"5000" help:"Intents, of all operations together."`
	Kills   int    `default:"500" help:"Processes to kill at the least, while they run a batch."`
	Seed    uint64 `default:"1" help:"Makes the run's choices."`
	Log     string `help:"File for the functions' own output."`
}

// Run prints the story to standard error and the JSON line to standard output.
func (c *soakCommand) Run(ctx context.Context) error {
	root, log, err := rootAndLog(c.Log)
	if err != nil {
		return err
	}
	defer log.Close()
	report, err := soak.Run(ctx, soak.Config{
		Root: root, Intents: c.Intents, Kills: c.Kills, Seed: c.Seed, Progress: os.Stderr, Log: log,
	})
	if err != nil {
		return err
	}
	if err := report.JSON(os.Stdout); err != nil {
		return err
	}
	return report.Err()
}

type e2eCommand struct {
	Log string `help:"File for the functions' own output."`
}

// Run prints the story to standard error and the JSON line to standard output.
func (c *e2eCommand) Run(ctx context.Context) error {
	root, log, err := rootAndLog(c.Log)
	if err != nil {
		return err
	}
	defer log.Close()
	report, err := e2e.Run(ctx, e2e.Config{Root: root, Progress: os.Stderr, Log: log})
	if err != nil {
		return err
	}
	if err := report.JSON(os.Stdout); err != nil {
		return err
	}
	return report.Err()
}

// rootAndLog are the project's folder and the log of the functions: the file, or
// nowhere if none is named.
func rootAndLog(logPath string) (root string, log io.WriteCloser, err error) {
	if root, err = stack.Root(); err != nil {
		return "", nil, err
	}
	if logPath == "" {
		logPath = os.DevNull
	}
	log, err = os.Create(logPath)
	return root, log, err
}
