package doctor

import (
	"slices"
	"strings"
	"time"

	"github.com/singleeffect/once/infra/template"
	"github.com/singleeffect/once/shared/telemetry"
)

// mostAlarms is how many alarms a deployment group may have (AWS CodeDeploy user guide, "Monitoring deployments with CloudWatch alarms").
const mostAlarms = 10

// guards are the alarms that stop a function's deployment; none where it has all messages at once.
func (s Stack) guards(f template.Function) []template.Alarm {
	var alarms []template.Alarm
	for _, a := range s.Alarms {
		if f.Deployment != nil && slices.Contains(f.Deployment.Alarms, a.LogicalID) {
			alarms = append(alarms, a)
		}
	}
	return alarms
}

// ofNewVersion tells whether a metric is of the version that a deployment publishes, and of nothing else. The series of an alias has the
// old version's errors, and that of an operation its backlog.
func ofNewVersion(f template.Function, m template.Metric) bool {
	switch m.Namespace {
	case ofLambda:
		return m.Dimensions["FunctionName"] == f.Name && m.Dimensions["Resource"] == f.Name+":"+f.Alias && m.Dimensions["ExecutedVersion"] == f.Version
	case telemetry.Namespace:
		return m.Dimensions[telemetry.Operation] == f.Folder && m.Dimensions[telemetry.Version] == f.Version
	}
	return false
}

func newVersion(s Stack, found report) {
	for _, f := range s.Functions {
		for _, a := range s.guards(f) {
			for _, m := range a.Metrics {
				if !ofNewVersion(f, m) {
					found(f.LogicalID, "is taken back by %s on %s %s of %v, which is not of its new version %s alone", a.LogicalID, m.Namespace, m.Name,
						m.Dimensions, f.Version)
				}
			}
		}
	}
}

// quietVersion looks at a version that gets no message: it has no data, which says nothing against it.
func quietVersion(s Stack, found report) {
	for _, f := range s.Functions {
		for _, a := range s.guards(f) {
			if a.MissingData != "notBreaching" {
				found(f.LogicalID, "is taken back by %s, which treats missing data as %s, not as notBreaching", a.LogicalID, a.MissingData)
			}
		}
	}
}

func deploymentAlarms(s Stack, found report) {
	for _, f := range s.Functions {
		if f.Deployment != nil && len(f.Deployment.Alarms) > mostAlarms {
			found(f.LogicalID, "has %d alarms that take a version back, more than %d", len(f.Deployment.Alarms), mostAlarms)
		}
	}
}

// alarmInTime compares how long an alarm takes with how long it is asked.
func alarmInTime(s Stack, found report) {
	for _, f := range s.Functions {
		if f.Deployment == nil {
			continue
		}
		pace, known := f.Deployment.Pace()
		if !known {
			found(f.LogicalID, "has the deployment type %q: how long a new version is watched is not known here", f.Deployment.Type)
			continue
		}
		for _, a := range s.guards(f) {
			if need := takes(a); need > pace.Length() {
				found(f.LogicalID, "is watched for %v (%s), and %s rings after %v: up to a period of %v until one begins, %d more, and %v until the data is there",
					pace.Length(), f.Deployment.Type, a.LogicalID, need, a.Period, a.DatapointsToAlarm, dataDelay)
			}
		}
	}
}

// failingVersion asks for an alarm for each way to fail, of which messages come one at a time or in full batches. Alarms that read
// something else, or not in time, are other rules' to find.
func failingVersion(s Stack, found report) {
	for _, f := range s.Functions {
		guards := s.guards(f)
		if f.Deployment == nil || slices.ContainsFunc(guards, func(a template.Alarm) bool { return !isSound(f, a) }) {
			continue
		}
		for _, r := range s.reckon(f) {
			if !r.Silent && (r.Single == 0 || r.Batched == 0) {
				found(f.LogicalID, "is not taken back when %s: with any traffic none of its alarms rings within %s: %s", r.Way, f.Deployment.Type,
					strings.Join(f.Deployment.Alarms, ", "))
			}
		}
	}
}

// isSound tells whether an alarm reads series that exist, of the new version, and is in time.
func isSound(f template.Function, a template.Alarm) bool {
	pace, known := f.Deployment.Pace()
	return known && takes(a) <= pace.Length() &&
		!slices.ContainsFunc(a.Metrics, func(m template.Metric) bool { return !ofNewVersion(f, m) || !exists(m) })
}

func allProperties(s Stack, found report) {
	for _, f := range s.Functions {
		if f.Alias != "" && !f.PublishesAll {
			found(f.LogicalID, "has the alias %s and AutoPublishAliasAllProperties %t: a change of Timeout, Tracing, VpcConfig, Layers or LoggingConfig "+
				"publishes no version", f.Alias, f.PublishesAll)
		}
	}
}

// dataDelay is how long after a period its data is taken to be there and the alarm evaluated. Lambda sends its metrics every minute (AWS
// Lambda developer guide, "Using CloudWatch metrics with Lambda"); those of logs come sooner.
const dataDelay = time.Minute

// takes is how long an alarm needs to ring, at most, where every period breaches: a deployment begins somewhere in a period.
func takes(a template.Alarm) time.Duration {
	return a.Period + time.Duration(a.DatapointsToAlarm)*a.Period + dataDelay
}
