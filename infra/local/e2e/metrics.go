package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/singleeffect/once/infra/template"
)

// metrics are the sums of what was counted, by series and minute. It is the log of the functions, whose lines it reads.
type metrics struct {
	mu     sync.Mutex
	minute func(timestamp int64) int // of a time in ms, from 1
	rest   []byte                    // of a line that is not whole yet
	sums   map[string]map[int]float64
}

func newMetrics(minute func(int64) int) *metrics {
	return &metrics{minute: minute, sums: map[string]map[int]float64{}}
}

// series names one: the namespace, the metric and its dimensions.
func series(namespace, name string, dimensions map[string]string) string {
	text := namespace + " " + name
	for _, d := range slices.Sorted(maps.Keys(dimensions)) {
		text += " " + d + "=" + dimensions[d]
	}
	return text
}

// add counts something that happened at a time in ms.
func (m *metrics) add(namespace, name string, dimensions map[string]string, timestamp int64, value float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count(series(namespace, name, dimensions), timestamp, value)
}

func (m *metrics) count(series string, timestamp int64, value float64) {
	if m.sums[series] == nil {
		m.sums[series] = map[int]float64{}
	}
	m.sums[series][m.minute(timestamp)] += value
}

// Write takes what the functions print.
func (m *metrics) Write(text []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rest = append(m.rest, text...)
	for {
		line, rest, whole := bytes.Cut(m.rest, []byte("\n"))
		if !whole {
			return len(text), nil
		}
		m.read(line)
		m.rest = rest
	}
}

// read counts what a line of the Embedded Metric Format says (Amazon CloudWatch, "Specification: Embedded metric format"): in each set of
// dimensions each metric of which the line has a value.
func (m *metrics) read(line []byte) {
	var head struct {
		AWS *struct {
			Timestamp         int64
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct{ Name string }
			}
		} `json:"_aws"`
	}
	var members map[string]any
	if json.Unmarshal(line, &head) != nil || head.AWS == nil || json.Unmarshal(line, &members) != nil {
		return // another line of the log
	}
	for _, directive := range head.AWS.CloudWatchMetrics {
		for _, set := range directive.Dimensions {
			dimensions := map[string]string{}
			for _, name := range set {
				dimensions[name], _ = members[name].(string)
			}
			for _, metric := range directive.Metrics {
				if value, ok := members[metric.Name].(float64); ok {
					m.count(series(directive.Namespace, metric.Name, dimensions), head.AWS.Timestamp, value)
				}
			}
		}
	}
}

// rings is the first minute by whose end an alarm rings; 0: it does not in that many minutes. Of the minutes before the first nothing is
// known. Missing data must not breach, as it does for no alarm of a deployment: an alarm that says otherwise is an error.
func (m *metrics) rings(a template.Alarm, minutes int) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a.MissingData != "notBreaching" {
		return 0, fmt.Errorf("%s: TreatMissingData is %s: only notBreaching is known here", a.LogicalID, a.MissingData)
	}
	read := map[string][]float64{}
	for _, metric := range a.Metrics {
		if metric.Statistic != "Sum" {
			return 0, fmt.Errorf("%s: statistic %s: only Sum is known here", a.LogicalID, metric.Statistic)
		}
		sums := m.sums[series(metric.Namespace, metric.Name, metric.Dimensions)]
		values := make([]float64, minutes)
		for i := range values {
			var there bool
			if values[i], there = sums[i+1]; !there {
				values[i] = math.NaN()
			}
		}
		read[metric.ID] = values
	}
	values := read[a.Metrics[0].ID]
	if a.Expression != nil {
		values = a.Expression.Series(minutes, read)
	}
	for end := 1; end <= minutes; end++ {
		breaching := 0
		for _, value := range values[max(0, end-a.EvaluationPeriods):end] {
			if !math.IsNaN(value) && a.Breaches(value) {
				breaching++
			}
		}
		if breaching >= a.DatapointsToAlarm {
			return end, nil
		}
	}
	return 0, nil
}

// known are the series of a namespace, for who wonders why an alarm does not ring.
func (m *metrics) known() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.sums)) {
		fmt.Fprintf(&text, "  %s: %v\n", name, m.sums[name])
	}
	return text.String()
}
