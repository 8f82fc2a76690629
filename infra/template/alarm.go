package template

import (
	"math"
	"time"
)

// Alarm is one CloudWatch alarm on one metric.
type Alarm struct {
	LogicalID         string
	Namespace, Metric string
	Dimensions        map[string]string
	// Queue is the logical id of the queue that the dimension QueueName names; empty where there is no such dimension.
	Queue string
	// Statistic is what is made of the metric's values in one Period, such as Sum.
	Statistic string
	// Period is in whole seconds.
	Period time.Duration
	// EvaluationPeriods is for how many Periods on end the comparison must hold.
	EvaluationPeriods int
	// Threshold, in the metric's unit, is what the statistic is compared with.
	Threshold int
	// Comparison is CloudWatch's ComparisonOperator, such as GreaterThanThreshold.
	Comparison string
	// MissingData is CloudWatch's TreatMissingData: missing (its default), notBreaching, breaching or ignore.
	MissingData string
	// Actions are told when the alarm rings.
	Actions []string
}

// CloudWatch's own longest time, from its API reference (PutMetricAlarm): a week, in seconds, for periods of an hour and more.
const maxPeriod = 604800

func alarm(p *properties, r *resource, ids ids) Alarm {
	count := func(name string, least, most int) int {
		if p.left[name] == nil {
			p.fail(name, r.line, "is missing")
		}
		return p.number(name, 0, least, most)
	}
	a := Alarm{
		LogicalID:         r.logicalID,
		Namespace:         p.required("Namespace"),
		Metric:            p.required("MetricName"),
		Dimensions:        map[string]string{},
		Statistic:         p.required("Statistic"),
		Period:            time.Duration(count("Period", 10, maxPeriod)) * time.Second,
		EvaluationPeriods: count("EvaluationPeriods", 1, maxPeriod),
		Threshold:         count("Threshold", 0, math.MaxInt32),
		Comparison:        p.required("ComparisonOperator"),
		MissingData:       p.text("TreatMissingData", "missing"),
		Actions:           p.texts("AlarmActions"),
	}
	for _, d := range p.all("Dimensions") {
		name, value := d.required("Name"), d.required("Value")
		a.Dimensions[name] = value
		if name != "QueueName" {
			continue
		}
		if a.Queue = ids.queueNames[value]; a.Queue == "" {
			d.fail("Value", d.line, "%q is none of the template's queues", value)
		}
	}
	return a
}
