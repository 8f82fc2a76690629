package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/singleeffect/once/infra/local/lambda"
	"github.com/singleeffect/once/infra/local/stack"
	"github.com/singleeffect/once/infra/template"
)

type invokeCommand struct {
	Function string `arg:"" help:"The function, by its folder: charge, adjust, ship, clearcart, welcome."`
	Event    string `arg:"" type:"existingfile" help:"File with the event."`
	NoStore  bool   `help:"Let the function find none of its services."`
}

// Run prints the function's answer to standard output, and its log to standard
// error, as sam local invoke does.
func (c *invokeCommand) Run(ctx context.Context) error {
	root, err := stack.Root()
	if err != nil {
		return err
	}
	state, err := statePath(root)
	if err != nil {
		return err
	}
	return invoke(ctx, root, state, *c, os.Stdout, os.Stderr)
}

// invoke uses the services of the `up` that left its state at the path, else
// starts its own for the one invocation.
func invoke(ctx context.Context, root, statePath string, c invokeCommand, stdout, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "once-invoke-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	inContainer := hasSAM(ctx)
	functions, stop, err := surroundings(ctx, root, statePath, c.NoStore, inContainer)
	if err != nil {
		return err
	}
	defer stop()
	f, err := find(functions, c.Function)
	if err != nil {
		return err
	}
	if inContainer {
		return invokeInContainer(ctx, root, dir, f, c.Event, stdout, stderr)
	}
	return invokeHere(ctx, root, dir, f, c.Event, stdout, stderr)
}

// surroundings gives the functions with an environment in which they find their
// services, or none of them.
func surroundings(ctx context.Context, root, statePath string, noStore, inContainer bool) ([]template.Function, func(), error) {
	if noStore {
		const nowhere = "http://127.0.0.1:1"
		functions, err := stack.Unreachable(stack.Options{Root: root, Name: stackName, Environment: localEnvironment(nowhere, nowhere)})
		return functions, func() {}, err
	}
	functions, err := readState(statePath)
	if err != nil || functions != nil {
		return functions, func() {}, err
	}
	host := "127.0.0.1"
	if inContainer {
		host = "0.0.0.0"
	}
	s, err := startServices(ctx, root, host)
	if err != nil {
		return nil, nil, err
	}
	return s.Functions(), s.stop, nil
}

func find(functions []template.Function, folder string) (template.Function, error) {
	var known []string
	for _, f := range functions {
		if f.Folder == folder {
			return f, nil
		}
		known = append(known, f.Folder)
	}
	return template.Function{}, fmt.Errorf("no function %q in template.yaml: it declares %q", folder, known)
}

func invokeInContainer(ctx context.Context, root, dir string, f template.Function, event string, stdout, stderr io.Writer) error {
	calls, err := newSAM(root, dir, []template.Function{f})
	if err != nil {
		return err
	}
	if err := calls.run(ctx, calls.build(), stderr, stderr); err != nil {
		return err
	}
	if event, err = filepath.Abs(event); err != nil { // sam runs elsewhere
		return err
	}
	return calls.run(ctx, calls.invoke(f, event), stdout, stderr)
}

func invokeHere(ctx context.Context, root, dir string, f template.Function, event string, stdout, stderr io.Writer) error {
	payload, err := os.ReadFile(event)
	if err != nil {
		return err
	}
	emulator, err := lambda.Emulator(ctx)
	if err != nil {
		return err
	}
	bootstrap, err := lambda.Build(ctx, filepath.Join(root, "functions", f.Folder), dir)
	if err != nil {
		return err
	}
	worker, err := lambda.NewWorker(ctx, emulator, lambda.Config{
		Bootstrap: bootstrap, Name: f.LogicalID, Environment: f.Environment,
		Timeout: f.Timeout, MemoryMB: f.MemoryMB, Log: stderr,
	})
	if err != nil {
		return err
	}
	answer, err := worker.Invoke(ctx, payload)
	worker.Close() // completes the log
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s\n", answer)
	return err
}
