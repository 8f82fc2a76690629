package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/singleeffect/once/infra/template"
	"github.com/singleeffect/once/shared/telemetry"
)

// The namespaces of AWS's own metrics.
const (
	ofSQS    = "AWS/SQS"
	ofLambda = "AWS/Lambda"
)

const (
	// visibleMessages is SQS's count of what could be received (Amazon SQS developer guide, "Available CloudWatch metrics for Amazon SQS").
	// NumberOfMessagesSent, which looks like the one to watch, does not count what SQS itself moves to a dead-letter queue.
	visibleMessages = "ApproximateNumberOfMessagesVisible"

	// inFlightMessages is SQS's count of what was received and neither deleted nor shown again (in the same place).
	inFlightMessages = "ApproximateNumberOfMessagesNotVisible"

	// mostInFlight is how many messages of a queue may be in flight; beyond it a receive returns nothing (Amazon SQS developer guide, "Amazon
	// SQS message quotas").
	mostInFlight = 120000

	// soonest is how long the first message may lie unheard: the metric comes every five minutes at the least.
	soonest = 5 * time.Minute
)

// deadLetterQueues are those of the functions' queues, each once.
func (s Stack) deadLetterQueues() []string {
	var queues []string
	for _, f := range s.feeds() {
		if f.dead != nil && !slices.Contains(queues, f.dead.LogicalID) {
			queues = append(queues, f.dead.LogicalID)
		}
	}
	return queues
}

// describe says what an alarm watches.
func describe(a template.Alarm) string {
	watched := ""
	for _, m := range a.Metrics {
		watched += fmt.Sprintf(" %s %s %s", m.Namespace, m.Statistic, m.Name)
	}
	if a.Expression != nil {
		watched += " by " + a.Expression.String()
	}
	return fmt.Sprintf("%s on%s %s %v in %d of %d periods of %v", a.LogicalID, watched, a.Comparison, a.Threshold, a.DatapointsToAlarm,
		a.EvaluationPeriods, a.Period)
}

// watching are the alarms that read a queue, and what they watch.
func (s Stack) watching(queue string) (alarms []template.Alarm, all string) {
	var there []string
	for _, a := range s.Alarms {
		if slices.ContainsFunc(a.Metrics, func(m template.Metric) bool { return m.Queue == queue }) {
			alarms = append(alarms, a)
			there = append(there, describe(a))
		}
	}
	if len(there) == 0 {
		return nil, "none"
	}
	return alarms, strings.Join(there, ", ")
}

func deadLetterAlarm(s Stack, found report) {
	for _, queue := range s.deadLetterQueues() {
		if alarms, all := s.watching(queue); !slices.ContainsFunc(alarms, ringsAtOne) {
			found(queue, "needs an alarm on AWS/SQS %s that rings at 1 message within %v, and of alarms it has %s", visibleMessages, soonest, all)
		}
	}
}

// onQueue tells whether an alarm is on one metric of a queue, its highest value, and rings within the time that the first one may take.
func onQueue(a template.Alarm, metric string) bool {
	m := a.Metrics[0]
	return len(a.Metrics) == 1 && m.Namespace == ofSQS && m.Name == metric && (m.Statistic == "Maximum" || m.Statistic == "Sum") &&
		a.EvaluationPeriods == 1 && a.Period <= soonest
}

// ringsAtOne tells whether an alarm rings at the first visible message. Of another statistic one message among zeros makes less than 1.
func ringsAtOne(a template.Alarm) bool {
	return a.Expression == nil && onQueue(a, visibleMessages) && a.Breaches(1) && !a.Breaches(0)
}

func deadLetterArrival(s Stack, found report) {
	for _, queue := range s.deadLetterQueues() {
		if alarms, all := s.watching(queue); !slices.ContainsFunc(alarms, ringsAtRise) {
			found(queue, "needs an alarm that rings when its %s rises from 1 to 2: one on the depth rings already; and of alarms it has %s",
				visibleMessages, all)
		}
	}
}

// ringsAtRise tells whether an alarm rings at one more message, and only then.
func ringsAtRise(a template.Alarm) bool {
	if a.Expression == nil || !onQueue(a, visibleMessages) {
		return false
	}
	id := a.Metrics[0].ID
	rings := func(before, after float64) bool {
		return a.Breaches(a.Expression.Series(2, map[string][]float64{id: {before, after}})[1])
	}
	return rings(1, 2) && rings(99, 100) && !rings(2, 2) && !rings(2, 1)
}

func inFlightAlarm(s Stack, found report) {
	const high = mostInFlight * 9 / 10
	for _, f := range s.feeds() {
		alarms, all := s.watching(f.queue.LogicalID)
		if !slices.ContainsFunc(alarms, func(a template.Alarm) bool {
			return a.Expression == nil && onQueue(a, inFlightMessages) && a.Breaches(high) && !a.Breaches(0)
		}) {
			found(f.queue.LogicalID, "needs an alarm on AWS/SQS %s that rings at %d messages, of the %d that SQS allows, and of alarms it has %s",
				inFlightMessages, high, mostInFlight, all)
		}
	}
}

// alarmTells looks at what everybody is told: an alarm that only stops a deployment would not say why.
func alarmTells(s Stack, found report) {
	for _, a := range s.Alarms {
		if len(a.Actions) == 0 || a.Description == "" {
			found(a.LogicalID, "has %d actions and the description %q: it must tell somebody what happened and what to do first", len(a.Actions),
				a.Description)
		}
	}
}

// series are AWS's metrics that alarms here may read, by namespace: their names, and the sets of their dimensions (Amazon SQS developer
// guide, "Available CloudWatch metrics for Amazon SQS"; AWS Lambda developer guide, "Types of metrics for Lambda functions").
var series = map[string]struct {
	names string
	sets  [][]string
}{
	ofSQS: {
		visibleMessages + " " + inFlightMessages + " ApproximateNumberOfMessagesDelayed ApproximateAgeOfOldestMessage NumberOfEmptyReceives " +
			"NumberOfMessagesDeleted NumberOfMessagesReceived NumberOfMessagesSent SentMessageSize",
		[][]string{{"QueueName"}},
	},
	ofLambda: {
		"Invocations Errors Throttles Duration ConcurrentExecutions",
		[][]string{{"FunctionName"}, {"FunctionName", "Resource"}, {"FunctionName", "Resource", "ExecutedVersion"}},
	},
}

// dimensionSets are those with which a metric is emitted, none if there is no such metric; false where that is not known here.
func dimensionSets(m template.Metric) ([][]string, bool) {
	if m.Namespace == telemetry.Namespace {
		return telemetry.DimensionSets(m.Name), true
	}
	known, ok := series[m.Namespace]
	if ok && !slices.Contains(strings.Fields(known.names), m.Name) {
		return nil, true
	}
	return known.sets, ok
}

// exists tells whether somebody emits a metric with these dimensions. Of more dimensions, or of fewer, there is no such series.
func exists(m template.Metric) bool {
	sets, known := dimensionSets(m)
	return !known || slices.ContainsFunc(sets, func(set []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(set)), slices.Sorted(maps.Keys(m.Dimensions)))
	})
}

// alarmMetrics looks for series that do not exist: missing data rings nothing.
func alarmMetrics(s Stack, found report) {
	for _, a := range s.Alarms {
		for _, m := range a.Metrics {
			if !exists(m) {
				sets, _ := dimensionSets(m)
				found(a.LogicalID, "watches %s %s with the dimensions %q, and that is emitted with %q", m.Namespace, m.Name,
					slices.Sorted(maps.Keys(m.Dimensions)), sets)
			}
		}
	}
}

// alarmScope looks at the alarms on what the functions count: of another scope there is no such metric, and missing data rings nothing.
func alarmScope(s Stack, found report) {
	for _, a := range s.Alarms {
		for _, m := range a.Metrics {
			if m.Namespace == telemetry.Namespace {
				metricScope(s, a, m, found)
			}
		}
	}
}

func metricScope(s Stack, a template.Alarm, m template.Metric, found report) {
	operation := m.Dimensions[telemetry.Operation]
	i := slices.IndexFunc(s.Functions, func(f template.Function) bool { return f.Folder == operation })
	if i < 0 {
		found(a.LogicalID, "watches operation %q, of which there is no function", operation)
		return
	}
	f := s.Functions[i]
	scope, declared := f.Environment["SCOPE"] // where it is not, another rule says so
	if declared && m.Dimensions[telemetry.Scope] != scope {
		found(a.LogicalID, "watches scope %q, and %s has SCOPE %q", m.Dimensions[telemetry.Scope], f.LogicalID, scope)
	}
}
