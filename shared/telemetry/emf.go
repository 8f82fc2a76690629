// Package telemetry turns what happened to a batch into CloudWatch metrics, by
// lines of CloudWatch's Embedded Metric Format on standard output (Amazon
// CloudWatch, "Specification: Embedded metric format"): no call, no agent, and
// nothing to lose when the process is killed.
package telemetry

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// Namespace is the CloudWatch namespace of every metric here.
const Namespace = "Once"

// The dimensions. Version is the function's, as Lambda numbers it.
const (
	Scope     = "Scope"
	Operation = "Operation"
	Version   = "Version"
)

// The metrics, each a count of messages.
const (
	Executed      = "Executed"
	Replayed      = "Replayed"
	Refused       = "Refused"
	InProgress    = "InProgress"
	Conflict      = "Conflict"
	InDoubt       = "InDoubt"
	Failed        = "Failed"
	Listed        = "Listed"
	Quarantined   = "Quarantined"
	UnknownFormat = "UnknownFormat"
	Takeovers     = "Takeovers"
	Messages      = "Messages"

	// Retrying are those that failed and were received three times or more: SQS leaves them out of the age of its oldest message.
	Retrying = "Retrying"
)

// outcomes are the metrics by outcome.
var outcomes = map[intent.Kind]string{
	intent.Executed:   Executed,
	intent.Replayed:   Replayed,
	intent.Refused:    Refused,
	intent.InProgress: InProgress,
	intent.Conflict:   Conflict,
	intent.InDoubt:    InDoubt,
}

// emitted are the metrics by the dimensions that they are counted with. Those of the version tell a bad version from a good one while
// both run. CloudWatch charges for each metric with each value of its dimensions, and a version is another value with every deployment, so
// the others are not. Messages, the denominator of a version's shares, is of the version alone.
var emitted = []struct{ dimensions, metrics []string }{
	{[]string{Scope, Operation}, []string{
		Executed, Replayed, Refused, InProgress, Conflict, InDoubt, Failed, Listed, Quarantined, UnknownFormat, Takeovers, Retrying,
	}},
	{[]string{Scope, Operation, Version}, []string{Messages, Failed, Quarantined, Refused, UnknownFormat}},
}

// DimensionSets returns the sets of dimensions that a metric is emitted with, none if there is no such metric.
func DimensionSets(metric string) (sets [][]string) {
	for _, e := range emitted {
		if slices.Contains(e.metrics, metric) {
			sets = append(sets, e.dimensions)
		}
	}
	return sets
}

// Batch is what is told of one batch, each field a count of messages: an
// sqsbatch.Report, which converts to it.
type Batch struct {
	Outcomes      map[intent.Kind]int
	Messages      int
	Failed        int
	Listed        int
	Quarantined   int
	UnknownFormat int
	Takeovers     int
	Retrying      int
}

// Emitter writes one line for each batch.
type Emitter struct {
	mu         sync.Mutex
	out        io.Writer
	dimensions map[string]string
	now        func() time.Time
}

// NewEmitter returns an emitter whose metrics carry the scope and the operation
// as their dimensions, and those of DimensionSets the version. Without a version, which
// Lambda always gives, nothing is counted by it.
func NewEmitter(out io.Writer, scope, operation, version string, now func() time.Time) *Emitter {
	return &Emitter{out: out, dimensions: map[string]string{Scope: scope, Operation: operation, Version: version}, now: now}
}

// directive is the part of a line that says which of its members are metrics, of which dimensions. A metric may be in several.
type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []metric
}

type metric struct {
	Name string
	Unit string
}

// Observe writes the counts of a batch that are not zero. A line that cannot be
// written is dropped: metrics never fail a message.
func (e *Emitter) Observe(_ context.Context, r Batch) {
	counts := map[string]int{
		Messages: r.Messages, Failed: r.Failed, Listed: r.Listed, Quarantined: r.Quarantined, UnknownFormat: r.UnknownFormat, Takeovers: r.Takeovers,
		Retrying: r.Retrying,
	}
	for kind, name := range outcomes {
		counts[name] = r.Outcomes[kind]
	}
	line := map[string]any{}
	var directives []directive
	for _, of := range emitted {
		var metrics []metric
		for _, name := range of.metrics {
			if n := counts[name]; n > 0 {
				line[name] = n
				metrics = append(metrics, metric{name, "Count"})
			}
		}
		if len(metrics) == 0 || slices.ContainsFunc(of.dimensions, func(name string) bool { return e.dimensions[name] == "" }) {
			continue
		}
		for _, name := range of.dimensions {
			line[name] = e.dimensions[name]
		}
		directives = append(directives, directive{Namespace, [][]string{of.dimensions}, metrics})
	}
	if len(directives) == 0 {
		return
	}
	line["_aws"] = map[string]any{"Timestamp": e.now().UnixMilli(), "CloudWatchMetrics": directives}
	b, err := json.Marshal(line)
	if err != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = e.out.Write(append(b, '\n'))
}
