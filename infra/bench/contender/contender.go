// Package contender holds those that are compared: each is a Lambda function in a process of its own, behind the same Runtime API, on the
// same events and the same engine.
package contender

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/infra/proof/scoreboard/function"
)

// timeout is what an invocation is told that it has.
const timeout = 30 * time.Second

// Contender is one of those that are compared.
type Contender struct {
	Name  string // in the JSON line
	Title string // in the table
	Key   string // the partition key of its table

	command     []string
	environment []string
	deployed    string // the file of what would be deployed
}

// Zipped is the size in bytes of the archive that would be deployed, built for this machine.
func (c Contender) Zipped() (int64, error) { return Zipped(c.deployed) }

// Place is where a contender keeps its records.
type Place struct{ Endpoint, Table string }

// Process is a contender that runs.
type Process struct{ *function.Process }

// Start starts a process of the contender. log takes what it writes.
func (c Contender) Start(ctx context.Context, at Place, log io.Writer, environment ...string) (*Process, error) {
	all := append([]string{
		"PATH=" + os.Getenv("PATH"),
		"AWS_REGION=eu-central-1",
		"AWS_ACCESS_KEY_ID=local",
		"AWS_SECRET_ACCESS_KEY=local",
		"AWS_LAMBDA_FUNCTION_NAME=charge",
		"AWS_ENDPOINT_URL_DYNAMODB=" + at.Endpoint,
		"INTENT_TABLE=" + at.Table,
		"QUEUE_URL=https://sqs.eu-central-1.amazonaws.com/000000000000/charges", // nothing is hidden or quarantined
		"DEAD_LETTER_QUEUE_URL=https://sqs.eu-central-1.amazonaws.com/000000000000/charges-dead",
		"SCOPE=bench",
		"LEASE_MARGIN_SECONDS=3",
		"RETENTION_DAYS=90",
	}, c.environment...)
	p, err := function.Start(ctx, function.Config{Command: c.command, Environment: append(all, environment...), Log: log, Bare: true})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	return &Process{p}, nil
}

// Deliver hands an event to the process and tells how long it took to answer. A message that is listed is an error: what is measured then
// is not the work.
func (p *Process) Deliver(ctx context.Context, event []byte) (time.Duration, error) {
	begin := time.Now()
	answered, err := p.Invoke(ctx, event, timeout)
	took := time.Since(begin)
	if err != nil {
		return 0, err
	}
	var response events.SQSEventResponse
	if err := json.Unmarshal(answered, &response); err != nil {
		return 0, fmt.Errorf("read the function's answer %q: %w", answered, err)
	}
	if n := len(response.BatchItemFailures); n > 0 {
		return 0, fmt.Errorf("%d messages listed", n)
	}
	return took, nil
}
