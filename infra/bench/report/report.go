// Package report says what was measured: as a JSON line, as tables, as a plot.
package report

// Scenarios are those of every contender, in the order of the tables.
var Scenarios = []string{New, Duplicate, Half}

// The scenarios, by what becomes of a batch.
const (
	New       = "new"
	Duplicate = "duplicate" // all of it was completed before
	Half      = "half"      // half of it was
)

// Report is all that one run measured.
type Report struct {
	Contenders []Contender // ours first
	Floor      Batch       // the two requests of a new batch, sent bare, with the delay
	Effects    []Effect
	Classes    []Class
	Zips       []Zip // of the stack's functions
	Growth     []Size
	Workers    []Workers
	Runtimes   string // on what the contenders ran
}

// Contender is what was measured of one.
type Contender struct {
	Name, Title string
	Direct      map[string]Batch // by scenario
	Delayed     map[string]Batch // with 5 ms added to each reply
	Units       map[string]Units // by scenario, in the in-memory API
	ResidentMB  float64          // at the end of the rounds
	PeakMB      float64
	FirstPollMS float64 // from the start of the process
	ZipMB       float64 // 10^6 bytes; of what ran, and so of this machine's architecture
	AnswerMS    float64 // to the answer to a first new batch
}

// Batch is what batches of ten cost.
type Batch struct {
	CPUMicros float64 `json:"cpu_us_per_message,omitempty"` // of the process, as user and in the kernel
	PerSecond float64 `json:"messages_per_second"`          // of one process, batch after batch
	P50       float64 `json:"batch_p50_ms"`
	P99       float64 `json:"batch_p99_ms"`
	Requests  float64 `json:"requests_per_message,omitempty"` // counted where there is a proxy
}

// Units is what a message costs where the engine counts as AWS bills.
type Units struct {
	Requests float64 `json:"requests"`
	Write    float64 `json:"write_units"`
	Read     float64 `json:"read_units"`
}

// Effect is ours with an effect that takes time.
type Effect struct {
	Takes    string  `json:"takes"`
	Requests float64 `json:"requests_per_message"`
}

// Class is what a message of one class of effect costs.
type Class struct {
	Name      string `json:"class"`
	New       Units  `json:"new"`
	Duplicate Units  `json:"duplicate"`
}

// Zip is the size of what is deployed.
type Zip struct {
	Name string
	MB   float64 // 10^6 bytes
}

// Size is ours on a table of that many records.
type Size struct {
	Records int     `json:"records"`
	P50     float64 `json:"batch_p50_ms"`
}

// Workers is how fast several processes are side by side.
type Workers struct {
	Workers    int     `json:"workers"`
	Once       float64 `json:"once_messages_per_second"`
	Powertools float64 `json:"powertools_ts_messages_per_second"`
}

// of is the contender of that name.
func (r Report) of(name string) Contender {
	for _, c := range r.Contenders {
		if c.Name == name {
			return c
		}
	}
	return Contender{}
}
