package template

import (
	"slices"
	"time"
)

// Alarm is one CloudWatch alarm, on one metric or on an expression of several.
type Alarm struct {
	LogicalID string
	// Description is what people are told when it rings.
	Description string
	// Metrics are what it reads, in the order of the file: one where Expression is nil.
	Metrics []Metric
	// Expression makes one value of the metrics' values in a Period; nil where the value is that of the only metric.
	Expression *Expression
	// Period, in whole seconds, is that of every metric.
	Period time.Duration
	// Of EvaluationPeriods on end, DatapointsToAlarm must breach. The latter is the former where the template does not say.
	EvaluationPeriods, DatapointsToAlarm int
	// Threshold, in the value's unit, is what the value is compared with.
	Threshold float64
	// Comparison is CloudWatch's ComparisonOperator, such as GreaterThanThreshold.
	Comparison string
	// MissingData is CloudWatch's TreatMissingData: missing (its default), notBreaching, breaching or ignore.
	MissingData string
	// Actions are told when the alarm rings.
	Actions []string
}

// Metric is one series that an alarm reads.
type Metric struct {
	// ID is the metric's name in the alarm's expression; empty where there is none.
	ID string
	// Name is CloudWatch's MetricName.
	Namespace, Name string
	Dimensions      map[string]string
	// Queue is the logical id of the queue that the dimension QueueName names; empty where there is no such dimension.
	Queue string
	// Statistic is what is made of the metric's values in one period, such as Sum.
	Statistic string
}

// Breaches tells whether a value breaches the threshold.
func (a Alarm) Breaches(value float64) bool {
	switch a.Comparison {
	case "GreaterThanThreshold":
		return value > a.Threshold
	case "GreaterThanOrEqualToThreshold":
		return value >= a.Threshold
	case "LessThanThreshold":
		return value < a.Threshold
	default:
		return value <= a.Threshold
	}
}

// comparisons are the operators for a fixed threshold, from CloudWatch's API reference (PutMetricAlarm).
var comparisons = []string{"GreaterThanOrEqualToThreshold", "GreaterThanThreshold", "LessThanThreshold", "LessThanOrEqualToThreshold"}

// missingData are the values of TreatMissingData, from the same page.
var missingData = []string{"breaching", "notBreaching", "ignore", "missing"}

// maxPeriod is CloudWatch's longest time, from the same page: a week, in seconds, for periods of an hour and more.
const maxPeriod = 604800

func alarm(p *properties, r *resource, ids ids) Alarm {
	a := Alarm{
		LogicalID:         r.logicalID,
		Description:       p.text("AlarmDescription", ""),
		EvaluationPeriods: p.requiredNumber("EvaluationPeriods", 1, maxPeriod),
		Threshold:         p.decimal("Threshold"),
		Comparison:        p.oneOf("ComparisonOperator", p.required("ComparisonOperator"), comparisons),
		MissingData:       p.oneOf("TreatMissingData", p.text("TreatMissingData", "missing"), missingData),
		Actions:           p.texts("AlarmActions"),
	}
	a.DatapointsToAlarm = p.number("DatapointsToAlarm", a.EvaluationPeriods, 1, max(1, a.EvaluationPeriods))
	if p.left["Metrics"] == nil {
		a.Metrics = []Metric{metric(p, ids)}
		a.Metrics[0].Statistic, a.Period = p.required("Statistic"), p.seconds("Period")
	} else {
		queries(p, &a, ids)
	}
	return a
}

// metric reads what names one series; its statistic and period stand elsewhere where an expression reads it.
func metric(p *properties, ids ids) Metric {
	m := Metric{Namespace: p.required("Namespace"), Name: p.required("MetricName"), Dimensions: map[string]string{}}
	for _, d := range p.all("Dimensions") {
		name, value := d.required("Name"), d.required("Value")
		m.Dimensions[name] = value
		if name != "QueueName" {
			continue
		}
		if m.Queue = ids.queueNames[value]; m.Queue == "" {
			d.fail("Value", d.line, "%q is none of the template's queues", value)
		}
	}
	return m
}

// queries reads Metrics: the series that the alarm reads, and the one expression of them, which it watches.
func queries(p *properties, a *Alarm, ids ids) {
	line := p.left["Metrics"].Line
	for _, q := range p.all("Metrics") {
		id, stat := q.required("Id"), q.within("MetricStat")
		if stat == nil {
			a.Expression = expression(q, a.Expression)
			continue
		}
		if q.flag("ReturnData", true) {
			q.fail("ReturnData", q.line, "is true, its default: an alarm watches its expression")
		}
		series := stat.within("Metric")
		if series == nil {
			stat.fail("Metric", stat.line, "is missing")
			continue
		}
		m := metric(series, ids)
		m.ID, m.Statistic = id, stat.required("Stat")
		a.Metrics = append(a.Metrics, m)
		period := stat.seconds("Period")
		if len(a.Metrics) > 1 && period != a.Period {
			stat.fail("Period", stat.line, "is %v, and another metric's is %v: one is known", period, a.Period)
		}
		a.Period = period
	}
	if a.Expression == nil {
		p.fail("Metrics", line, "has no expression")
		return
	}
	for _, id := range a.Expression.IDs() {
		if !slices.ContainsFunc(a.Metrics, func(m Metric) bool { return m.ID == id }) {
			p.fail("Metrics", line, "the expression reads %s, which is no metric's Id", id)
		}
	}
}

// expression reads the query that is no metric. An expression of another one is not known.
func expression(q *properties, other *Expression) *Expression {
	text := q.required("Expression")
	if !q.flag("ReturnData", true) || other != nil {
		q.fail("Expression", q.line, "is one of several, or returns no data: one that does is known")
	}
	e, err := ParseExpression(text)
	if err != nil {
		q.fail("Expression", q.line, "%w", err)
	}
	return e
}
