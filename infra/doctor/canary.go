package doctor

import (
	"math"
	"math/bits"
	"slices"
	"sort"
	"time"

	"github.com/singleeffect/once/infra/template"
	"github.com/singleeffect/once/shared/telemetry"
)

// Ringing is what becomes of a new version that fails in one way.
type Ringing struct {
	// Function is the logical id.
	Function string
	// Way is how the version fails, as the rest of "a version is taken back when …".
	Way string
	// Silent ways ring nothing, whatever the alarms are.
	Silent bool
	// Alarm is the logical id of the alarm that needs the least traffic to ring; empty if none does.
	Alarm string
	// Minute is the one of the deployment, from 1, by whose end the alarm rings if there is traffic enough.
	Minute int
	// Single and Batched are how many messages a minute all versions must be delivered together for the alarm to ring with a probability of
	// 99 % before the new version gets all of them: where an invocation gets one message, and where it gets a full batch. 0 if it never does.
	Single, Batched int
	// BatchSize is how many messages a full batch has.
	BatchSize int
}

// Reckon says for each function that is deployed gradually, and for each way in which its new version may fail everything, what takes it
// back. It reads nothing but the template.
//
// Deliveries are taken to come at random, each invocation to go to the new version with the deployment's weight, and CloudWatch's periods to
// begin at the worst moment: only whole ones count. A period without a message of the new version breaches nothing. Redeliveries,
// which would add to the traffic, are left out, since a queue hides a message for longer than most deployments take.
func Reckon(s Stack) []Ringing {
	var all []Ringing
	for _, f := range s.Functions {
		if f.Deployment != nil {
			all = append(all, s.reckon(f)...)
		}
	}
	return all
}

// certain is the probability with which an alarm must ring.
const certain = 0.99

// mostDeliveries is the traffic, in messages a minute, beyond which an alarm is taken never to ring.
const mostDeliveries = 1_000_000

// way is one way to fail.
type way struct {
	name string
	// classes are those that can fail so; all if nil.
	classes []string
	// counts returns a period's metrics by name when the new version had so many invocations, of so many messages each.
	counts func(invocations, messages float64) map[string]float64
	// silent ways leave no metric that would tell the version from a healthy one. The rule on roles is all that stands against them.
	silent bool
}

func all(metric string) func(invocations, messages float64) map[string]float64 {
	return func(invocations, messages float64) map[string]float64 {
		return map[string]float64{telemetry.Messages: invocations * messages, metric: invocations * messages}
	}
}

func none(_, _ float64) map[string]float64 { return nil }

var recorded = []string{keyed, ledger, blind}

var ways = []way{
	{name: "it cannot start", counts: func(invocations, _ float64) map[string]float64 { return map[string]float64{"Errors": invocations} }},
	{name: "it lost a permission", counts: all(telemetry.Failed)},
	{name: "it lists every message", counts: all(telemetry.Failed)},
	{name: "it quarantines every message", counts: all(telemetry.Quarantined)},
	{name: "it refuses every message", classes: recorded, counts: all(telemetry.Refused)},
	{name: "it cannot read one record of each batch", classes: recorded, counts: func(invocations, messages float64) map[string]float64 {
		return map[string]float64{telemetry.Messages: invocations * messages, telemetry.Failed: invocations, telemetry.UnknownFormat: invocations}
	}},
	{name: "its role may not write the log, where its metrics are read", counts: none, silent: true},
	{name: "its role may not receive, so that Lambda invokes no version", counts: none, silent: true},
}

func (s Stack) reckon(f template.Function) []Ringing {
	pace, _ := f.Deployment.Pace() // where it is not known, nothing rings
	batch := 1
	if len(f.Events) > 0 {
		batch = f.Events[0].BatchSize
	}
	var found []Ringing
	for _, w := range ways {
		if w.classes != nil && !slices.Contains(w.classes, f.Tags[classTag]) {
			continue
		}
		best := Ringing{Function: f.LogicalID, Way: w.name, Silent: w.silent, BatchSize: batch}
		for _, a := range s.guards(f) {
			single, batched := deliveries(a, pace, w, 1), deliveries(a, pace, w, batch)
			if single == 0 || batched == 0 || best.Alarm != "" && best.Batched <= batched {
				continue
			}
			best.Alarm, best.Single, best.Batched = a.LogicalID, single, batched
			best.Minute = int(math.Ceil(takes(a).Minutes()))
		}
		found = append(found, best)
	}
	return found
}

// deliveries returns the least number of messages a minute with which an alarm rings in time with certainty; 0 if there is none.
func deliveries(a template.Alarm, pace template.Pace, w way, batch int) int {
	least := leastInvocations(a, w, batch)
	shares := weights(pace, a.Period)
	if least == 0 || len(shares) < a.DatapointsToAlarm {
		return 0
	}
	n := sort.Search(mostDeliveries, func(n int) bool {
		invocations := float64(n) / float64(batch) * a.Period.Minutes()
		var breach []float64
		for _, share := range shares {
			breach = append(breach, atLeast(least, invocations*share))
		}
		return rings(breach, a.DatapointsToAlarm, a.EvaluationPeriods) >= certain
	})
	if n == mostDeliveries {
		return 0
	}
	return n
}

// weights are the new version's shares in those whole periods of a deployment whose data is there before the deployment ends. The first
// of them begins up to a period late.
func weights(pace template.Pace, period time.Duration) []float64 {
	var shares []float64
	for begin := time.Duration(0); begin+2*period+dataDelay <= pace.Length(); begin += period {
		shares = append(shares, pace.Weight(begin))
	}
	return shares
}

// mostInvocations of a new version in a period are looked at: an alarm that needs more says nothing of a version that few messages reach.
const mostInvocations = 1000

// leastInvocations of the new version in a period breach; 0 if none do. More breach, too, since all of them fail.
func leastInvocations(a template.Alarm, w way, batch int) int {
	k := 1 + sort.Search(mostInvocations, func(k int) bool {
		return a.Breaches(value(a, w.counts(float64(k+1), float64(batch))))
	})
	if k > mostInvocations {
		return 0
	}
	return k
}

// value is what an alarm compares of a period's metrics; NaN where it has no data.
func value(a template.Alarm, counts map[string]float64) float64 {
	metrics := map[string][]float64{}
	for _, m := range a.Metrics {
		if n, counted := counts[m.Name]; counted {
			metrics[m.ID] = []float64{n}
		}
	}
	if a.Expression != nil {
		return a.Expression.Series(1, metrics)[0]
	}
	if series := metrics[a.Metrics[0].ID]; series != nil {
		return series[0]
	}
	return math.NaN()
}

// atLeast is the probability that there are k invocations or more, of so many on average that come at random.
func atLeast(k int, average float64) float64 {
	fewer, term := 0.0, math.Exp(-average)
	for i := range k {
		fewer += term
		term *= average / float64(i+1)
	}
	return 1 - fewer
}

// rings is the probability that of some periods on end, each of which breaches with its own probability, m of n breach.
func rings(breach []float64, m, n int) float64 {
	n = min(n, len(breach))
	if m > n {
		return 0
	}
	rung := 0.0
	silent := map[uint64]float64{0: 1} // by which of the last n-1 periods breached
	for _, p := range breach {
		next := map[uint64]float64{}
		for last, probability := range silent {
			next[last<<1&(1<<(n-1)-1)] += probability * (1 - p)
			if window := last<<1 | 1; bits.OnesCount64(window) >= m {
				rung += probability * p
			} else {
				next[window&(1<<(n-1)-1)] += probability * p
			}
		}
		silent = next
	}
	return rung
}
