package report

import (
	"math"

	"github.com/singleeffect/once/infra/bench/contender"
)

// Figures are the ratios: ours divided by the peer's, or by the floor, in one run.
type Figures struct {
	CPUNew, CPUDuplicate float64
	// Processor time of the plain Go handler that makes as many calls with smaller records, by the peer's.
	BatchedNew, BatchedDuplicate float64
	Latency                      float64 // batch p50 with the delay, by the floor's
	PeerLatency                  float64 // the same of the peer
	Resident                     float64
	ColdStart                    float64 // process start to first poll
	Growth                       float64 // batch p50 on the largest table, by that on the smallest
}

// Figures divides.
func (r Report) Figures() (f Figures) {
	once, peer := r.of(contender.Once), r.of(contender.Powertools)
	cpu := func(c Contender) (fresh, duplicate float64) {
		return c.Direct[New].CPUMicros / peer.Direct[New].CPUMicros, c.Direct[Duplicate].CPUMicros / peer.Direct[Duplicate].CPUMicros
	}
	f.CPUNew, f.CPUDuplicate = cpu(once)
	f.BatchedNew, f.BatchedDuplicate = cpu(r.of(contender.Batched))
	f.Latency = once.Delayed[New].P50 / r.Floor.P50
	f.PeerLatency = peer.Delayed[New].P50 / r.Floor.P50
	f.Resident = once.ResidentMB / peer.ResidentMB
	f.ColdStart = once.FirstPollMS / peer.FirstPollMS
	f.Growth = math.NaN()
	if n := len(r.Growth); n > 0 {
		f.Growth = r.Growth[n-1].P50 / r.Growth[0].P50
	}
	return f
}

// Target is something that a run should come to.
type Target struct {
	Name  string
	Got   float64
	Limit float64
	// Exact: it is to be the limit, not at the most that.
	Exact bool
}

// Met reports whether the run came to it. What could not be measured is not met.
func (t Target) Met() bool {
	const rounding = 1e-9
	if t.Exact {
		return t.Got > t.Limit-rounding && t.Got < t.Limit+rounding
	}
	return t.Got > 0 && t.Got <= t.Limit+rounding
}

// Targets are all of them, with what the run came to.
func (r Report) Targets() []Target {
	f, once := r.Figures(), r.of(contender.Once)
	targets := []Target{
		{Name: "requests a message, new", Got: once.Delayed[New].Requests, Limit: 0.2},
		{Name: "requests a message, duplicate", Got: once.Delayed[Duplicate].Requests, Limit: 0.2},
		{Name: "CPU by the peer's, new", Got: f.CPUNew, Limit: 1. / 7},
		{Name: "CPU by the peer's, duplicate", Got: f.CPUDuplicate, Limit: 1. / 5},
		{Name: "latency by the floor's, new, 5 ms added", Got: f.Latency, Limit: 1.15},
		{Name: "resident memory by the peer's", Got: f.Resident, Limit: 1. / 5},
		{Name: "start to first poll by the peer's", Got: f.ColdStart, Limit: 1. / 12},
		{Name: "batch p50 on the largest table by that on the smallest", Got: f.Growth, Limit: 1.3},
	}
	if len(r.Effects) > 0 {
		targets = append(targets, Target{Name: "requests a message, effects of " + r.Effects[0].Takes, Got: r.Effects[0].Requests, Limit: 0.4})
	}
	for _, z := range r.Zips {
		targets = append(targets, Target{Name: "zip of " + z.Name + " in MB", Got: z.MB, Limit: 5})
	}
	for _, c := range r.Classes {
		if want, ok := units[c.Name]; ok {
			targets = append(targets, Target{Name: "write units a message, " + c.Name, Got: c.New.Write, Limit: want, Exact: true})
		}
	}
	return append(targets, Target{Name: "write units a message, duplicate", Got: once.Units[Duplicate].Write, Limit: 1, Exact: true})
}

// Names of the classes of effect.
const (
	KeyedBatch  = "keyed, in a batch of ten"
	KeyedAlone  = "keyed, alone"
	Blind       = "blind"
	LoneRecord  = "ledger, record alone"
	LedgerOne   = "ledger, 1 write"
	LedgerThree = "ledger, 3 writes"
)

// units are the write units that a new message of a class is to cost: a ledger's are 2 × (1 + writes).
var units = map[string]float64{KeyedBatch: 2, KeyedAlone: 2, Blind: 2, LoneRecord: 1, LedgerOne: 4, LedgerThree: 8}

// missed are the targets that the run did not come to.
func (r Report) missed() (all []Target) {
	for _, t := range r.Targets() {
		if !t.Met() {
			all = append(all, t)
		}
	}
	return all
}

// Missed names them.
func (r Report) Missed() []string {
	names := []string{}
	for _, t := range r.missed() {
		names = append(names, t.Name)
	}
	return names
}
