package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/singleeffect/once/infra/template"
	"github.com/singleeffect/once/shared/telemetry"
)

// visibleMessages is SQS's count of what could be received (Amazon SQS developer guide, "Available CloudWatch metrics for Amazon SQS").
// NumberOfMessagesSent, which looks like the one to watch, does not count what SQS itself moves to a dead-letter queue.
const visibleMessages = "ApproximateNumberOfMessagesVisible"

func deadLetterAlarm(s Stack, found report) {
	seen := map[string]bool{}
	for _, f := range s.feeds() {
		if f.dead == nil || seen[f.dead.LogicalID] {
			continue
		}
		seen[f.dead.LogicalID] = true
		rings, all := false, "none"
		var there []string
		for _, a := range s.Alarms {
			if a.Expression == nil && a.Metrics[0].Queue == f.dead.LogicalID {
				rings = rings || ringsAtOne(a)
				m := a.Metrics[0]
				there = append(there, fmt.Sprintf("%s on %s %s %s %s %v in %d periods of %v, with %d dimensions and %d actions", a.LogicalID, m.Namespace,
					m.Statistic, m.Name, a.Comparison, a.Threshold, a.EvaluationPeriods, a.Period, len(m.Dimensions), len(a.Actions)))
			}
		}
		if len(there) > 0 {
			all = strings.Join(there, ", ")
		}
		if !rings {
			found(f.dead.LogicalID, "needs an alarm on AWS/SQS %s that rings at 1 message within %v, with an action, and of alarms it has %s",
				visibleMessages, soonest, all)
		}
	}
}

// soonest is how long the first message may lie unheard: the metric comes every five minutes at the least.
const soonest = 5 * time.Minute

// ringsAtOne tells whether an alarm tells somebody of the first visible message. Of more dimensions than the queue's name there is no
// metric, and of another statistic one message among zeros makes less than 1.
func ringsAtOne(a template.Alarm) bool {
	m := a.Metrics[0]
	return m.Namespace == "AWS/SQS" && m.Name == visibleMessages && a.Breaches(1) && !a.Breaches(0) && len(a.Actions) > 0 &&
		len(m.Dimensions) == 1 && (m.Statistic == "Maximum" || m.Statistic == "Sum") && a.EvaluationPeriods == 1 && a.Period <= soonest
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
