// Package telemetry turns what happened to a batch into CloudWatch metrics, by
// lines of CloudWatch's Embedded Metric Format on standard output (Amazon
// CloudWatch, "Specification: Embedded metric format"): no call, no agent, and
// nothing to lose when the process is killed.
package telemetry

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// Namespace is the CloudWatch namespace of every metric here.
const Namespace = "Once"

// outcomes are the metrics by outcome, each a count of messages.
var outcomes = map[intent.Kind]string{
	intent.Executed:   "Executed",
	intent.Replayed:   "Replayed",
	intent.Refused:    "Refused",
	intent.InProgress: "InProgress",
	intent.Conflict:   "Conflict",
	intent.InDoubt:    "InDoubt",
}

// Batch is what is told of one batch, each field a count of messages: an
// sqsbatch.Report, which converts to it.
type Batch struct {
	Outcomes      map[intent.Kind]int
	Failed        int
	Listed        int
	Quarantined   int
	UnknownFormat int
	Takeovers     int
}

// Emitter writes one line for each batch.
type Emitter struct {
	mu         sync.Mutex
	out        io.Writer
	dimensions map[string]string
	now        func() time.Time
}

// NewEmitter returns an emitter whose metrics carry the scope and the operation
// as their dimensions.
func NewEmitter(out io.Writer, scope, operation string, now func() time.Time) *Emitter {
	return &Emitter{out: out, dimensions: map[string]string{"Scope": scope, "Operation": operation}, now: now}
}

type metric struct {
	Name string
	Unit string
}

// Observe writes the counts of a batch that are not zero. A line that cannot be
// written is dropped: metrics never fail a message.
func (e *Emitter) Observe(_ context.Context, r Batch) {
	line := map[string]any{}
	var metrics []metric
	count := func(name string, n int) {
		if n > 0 {
			line[name] = n
			metrics = append(metrics, metric{name, "Count"})
		}
	}
	for kind, name := range outcomes {
		count(name, r.Outcomes[kind])
	}
	count("Failed", r.Failed)
	count("Listed", r.Listed)
	count("Quarantined", r.Quarantined)
	count("UnknownFormat", r.UnknownFormat)
	count("Takeovers", r.Takeovers)
	if len(metrics) == 0 {
		return
	}
	names := make([]string, 0, len(e.dimensions))
	for name, value := range e.dimensions {
		names = append(names, name)
		line[name] = value
	}
	line["_aws"] = map[string]any{
		"Timestamp": e.now().UnixMilli(),
		"CloudWatchMetrics": []any{map[string]any{
			"Namespace":  Namespace,
			"Dimensions": [][]string{names},
			"Metrics":    metrics,
		}},
	}
	b, err := json.Marshal(line)
	if err != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = e.out.Write(append(b, '\n'))
}
