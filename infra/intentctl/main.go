// Command intentctl is for those who run intents. Its verb doctor checks a template's windows and wiring before it is deployed.
//
// It ends with 0 if all is well, with 2 if somebody must act, and with 1 on an error.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
)

// What a command line ends with.
const (
	exitOK    = 0
	exitError = 1
	exitAct   = 2
)

// errAct is returned by a verb that did its work and whose answer needs somebody to act.
var errAct = errors.New("somebody must act")

// output is what every verb prints as.
type output struct {
	Output string `enum:"table,json" default:"table" help:"What to print: ${enum}."`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs one command line, and returns what the process ends with.
func run(arguments []string, stdout, stderr io.Writer) int {
	var verbs struct {
		Doctor doctorVerb `cmd:"" help:"Check how the windows and the wiring of a CloudFormation or SAM template fit together."`
	}
	exited := -1 // by --help
	parser, err := kong.New(&verbs, kong.Name("intentctl"), kong.Description("Look after intents. Exit status: 0, 2 if somebody must act, 1 on an error."),
		kong.Writers(stdout, stderr), kong.BindTo(stdout, (*io.Writer)(nil)), kong.Exit(func(code int) { exited = code }))
	if err != nil {
		fmt.Fprintln(stderr, "intentctl:", err)
		return exitError
	}
	parsed, err := parser.Parse(arguments)
	if exited >= 0 {
		return exited
	}
	if err == nil {
		err = parsed.Run()
	}
	switch {
	case errors.Is(err, errAct):
		return exitAct
	case err != nil:
		fmt.Fprintln(stderr, "intentctl:", err)
		return exitError
	}
	return exitOK
}
