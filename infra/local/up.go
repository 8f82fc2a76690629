package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/singleeffect/once/infra/local/stack"
	"github.com/singleeffect/once/infra/template"
)

type upCommand struct{}

// Run starts the services and prints how to invoke the functions on them, until
// it is interrupted.
func (upCommand) Run(ctx context.Context) error {
	root, err := stack.Root()
	if err != nil {
		return err
	}
	state, err := statePath(root)
	if err != nil {
		return err
	}
	return up(ctx, root, state, os.Stdout)
}

// up leaves its state at the given path.
func up(ctx context.Context, root, statePath string, out io.Writer) error {
	s, err := startServices(ctx, root, "0.0.0.0")
	if err != nil {
		return err
	}
	defer s.stop()
	dir, err := os.MkdirTemp("", "once-up-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	functions := s.Functions()
	calls, err := newSAM(root, dir, functions)
	if err != nil {
		return err
	}
	state, err := writeState(statePath, functions)
	if err != nil {
		return err
	}
	defer state.Close()
	if _, err := io.WriteString(out, guide(s, calls, functions)); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// guide says what runs where, and how to invoke the functions.
func guide(s *services, calls sam, functions []template.Function) string {
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	var tables, queues []string
	for _, t := range s.Template.Tables {
		tables = append(tables, t.LogicalID)
	}
	for _, q := range s.Template.Queues {
		queues = append(queues, q.LogicalID)
	}
	line("DynamoDB  %s  %s", s.DynamoDB, strings.Join(tables, ", "))
	line("SQS       %s  %s", s.SQS, strings.Join(queues, ", "))
	line("Stripe    %s  a stand-in", s.stripe)
	line("SES       %s  a stand-in", s.ses)
	line("User 7 has a card, an e-mail address and a cart, of which the mug was put in after the checkout. Account 7 has 100000 cents, and")
	line("order 8821 is paid. All four services answer on every network interface of this machine.")
	line("")
	line("With SAM and Docker, in %s:", calls.root)
	line("  %s", strings.Join(calls.build(), " "))
	for _, f := range functions {
		line("  %s", strings.Join(calls.invoke(f, firstEvent(f)), " "))
	}
	line("With or without them:")
	for _, f := range functions {
		line("  make invoke FUNCTION=%s EVENT=%s", f.Folder, firstEvent(f))
	}
	line("")
	line("Ctrl-C ends it all, data included.")
	return text.String()
}

func firstEvent(f template.Function) string { return "events/" + f.Folder + "-first-delivery.json" }
