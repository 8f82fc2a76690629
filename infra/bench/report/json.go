package report

import (
	"encoding/json"
	"io"
	"math"

	"github.com/singleeffect/once/infra/bench/contender"
)

// line is the JSON line. Readers rely on its names and on the order of the first ones.
type line struct {
	Requests    requests        `json:"requests_per_message"`
	CPU         cpu             `json:"cpu_us"`
	CPURatio    pair            `json:"cpu_ratio"`
	Latency     number          `json:"latency_ratio_5ms"`
	Resident    number          `json:"rss_ratio"`
	ColdStart   number          `json:"cold_start_ratio"`
	Zips        map[string]size `json:"zip_mb"`
	Growth      number          `json:"growth_p50_ratio"`
	Missed      []string        `json:"missed"`
	Effects     []Effect        `json:"effects"`
	Classes     []Class         `json:"classes"`
	FloorMS     number          `json:"floor_p50_ms_5ms"`
	BatchedCPU  pair            `json:"batched_cpu_ratio"`
	PeerLatency number          `json:"peer_latency_ratio_5ms"`
	Sizes       []Size          `json:"growth"`
	Workers     []Workers       `json:"workers"`
	Contenders  map[string]part `json:"contenders"`
}

type requests struct {
	New       number `json:"new"`
	Duplicate number `json:"duplicate"`
	Half      number `json:"half"`
}

type pair struct {
	New       number `json:"new"`
	Duplicate number `json:"duplicate"`
}

type cpu struct {
	Once       pair `json:"once"`
	Single     pair `json:"once_single"`
	Naive      pair `json:"naive_go"`
	Powertools pair `json:"powertools_ts"`
}

// part is all that was measured of one contender.
type part struct {
	Direct      map[string]Batch `json:"direct"`
	Delayed     map[string]Batch `json:"delayed_5ms"`
	Units       map[string]Units `json:"units"`
	ResidentMB  number           `json:"rss_mb"`
	PeakMB      number           `json:"rss_peak_mb"`
	FirstPollMS number           `json:"start_to_first_poll_ms"`
	AnswerMS    number           `json:"start_to_first_answer_ms"`
	ZipMB       size             `json:"zip_mb"`
}

// number is written with four digits that count, and as null if it was not measured.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(rounded(float64(n)))
}

// size is written with two decimals.
type size float64

func (s size) MarshalJSON() ([]byte, error) { return json.Marshal(math.Round(float64(s)*100) / 100) }

func rounded(f float64) float64 {
	if f == 0 {
		return f
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(f))))
	return math.Round(f*scale) / scale
}

// JSON writes one line.
func (r Report) JSON(w io.Writer) error {
	f := r.Figures()
	once := r.of(contender.Once)
	l := line{
		Requests:    requests{number(once.Delayed[New].Requests), number(once.Delayed[Duplicate].Requests), number(once.Delayed[Half].Requests)},
		CPU:         cpu{Once: r.cpu(contender.Once), Single: r.cpu(contender.Single), Naive: r.cpu(contender.Naive), Powertools: r.cpu(contender.Powertools)},
		CPURatio:    pair{number(f.CPUNew), number(f.CPUDuplicate)},
		Latency:     number(f.Latency),
		Resident:    number(f.Resident),
		ColdStart:   number(f.ColdStart),
		Zips:        map[string]size{},
		Growth:      number(f.Growth),
		Missed:      r.Missed(),
		Effects:     r.Effects,
		Classes:     r.Classes,
		FloorMS:     number(r.Floor.P50),
		BatchedCPU:  pair{number(f.BatchedNew), number(f.BatchedDuplicate)},
		PeerLatency: number(f.PeerLatency),
		Sizes:       r.Growth,
		Workers:     r.Workers,
		Contenders:  map[string]part{},
	}
	for _, z := range r.Zips {
		l.Zips[z.Name] = size(z.MB)
	}
	for _, c := range r.Contenders {
		l.Contenders[c.Name] = part{c.Direct, c.Delayed, c.Units, number(c.ResidentMB), number(c.PeakMB), number(c.FirstPollMS), number(c.AnswerMS), size(c.ZipMB)}
	}
	return json.NewEncoder(w).Encode(map[string]line{"bench": l})
}

func (r Report) cpu(name string) pair {
	c := r.of(name)
	return pair{number(c.Direct[New].CPUMicros), number(c.Direct[Duplicate].CPUMicros)}
}
