// Command probe is a Lambda function that does what its event asks for, for
// the tests of the worker.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

type event struct {
	Do   string `json:"do"`
	Mark string `json:"mark"` // a file to write before it is done
}

type answer struct {
	PID         int               `json:"pid"`
	Calls       int               `json:"calls"` // of this process, from 1
	RemainingMS int64             `json:"remaining_ms"`
	Environment map[string]string `json:"environment"`
}

func main() {
	if os.Getenv("PROBE_FAILS_INIT") != "" {
		fmt.Fprintln(os.Stderr, "missing TABLE")
		os.Exit(1)
	}
	var p probe
	lambda.Start(p.handle)
}

type probe struct{ calls int }

func (p *probe) handle(ctx context.Context, e event) (any, error) {
	p.calls++
	if e.Mark != "" {
		if err := os.WriteFile(e.Mark, fmt.Append(nil, os.Getpid()), 0o600); err != nil {
			return nil, err
		}
	}
	fmt.Fprintln(os.Stderr, "doing", e.Do)
	switch e.Do {
	case "hang": // until it is killed, whatever the deadline says
		select {}
	case "exit":
		os.Exit(3)
	case "panic":
		panic("as asked")
	case "error":
		return nil, errors.New("as asked")
	case "null":
		return nil, nil
	case "exit after": // a process that ends between two invocations
		time.AfterFunc(10*time.Millisecond, func() { os.Exit(0) })
	}
	deadline, _ := ctx.Deadline()
	environment := make(map[string]string)
	for _, name := range []string{"TABLE", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "HOME"} {
		if value, ok := os.LookupEnv(name); ok {
			environment[name] = value
		}
	}
	return answer{PID: os.Getpid(), Calls: p.calls, RemainingMS: time.Until(deadline).Milliseconds(), Environment: environment}, nil
}
