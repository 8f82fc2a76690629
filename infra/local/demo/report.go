package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// Effects are counted where they happen: charges at the provider, balance
// changes in the accounts table.
type Effects struct {
	Effects    int `json:"effects"`
	Duplicates int `json:"duplicates"` // effects beyond the first, summed over intents
	Lost       int `json:"lost"`       // intents without an effect, neither refused nor in doubt
}

// Guarded are the effects of the functions, with what their records say.
type Guarded struct {
	Effects
	Refused int
	InDoubt int
}

// Row is the account of one operation. Deliveries, crashes and lost replies are
// those of the guarded function.
type Row struct {
	Operation   string
	Intents     int
	Deliveries  int // messages handed to a worker, redeliveries included
	Crashes     int // workers killed while they ran a batch
	LostReplies int // answers of DynamoDB that the worker never heard
	Naive       Effects
	Once        Guarded
}

// Report is the account of a run.
type Report struct {
	Rows []Row
}

// summary is the last line of standard output. Readers rely on its names.
type summary struct {
	Intents     int     `json:"intents"`
	Deliveries  int     `json:"deliveries"`
	Crashes     int     `json:"crashes"`
	LostReplies int     `json:"lost_replies"`
	Naive       Effects `json:"naive"`
	Once        struct {
		Effects    int `json:"effects"`
		Refused    int `json:"refused"`
		InDoubt    int `json:"in_doubt"`
		Duplicates int `json:"duplicates"`
		Lost       int `json:"lost"`
	} `json:"once"`
}

func (r Report) summary() summary {
	var s summary
	for _, row := range r.Rows {
		s.Intents += row.Intents
		s.Deliveries += row.Deliveries
		s.Crashes += row.Crashes
		s.LostReplies += row.LostReplies
		s.Naive.add(row.Naive)
		s.Once.Effects += row.Once.Effects.Effects
		s.Once.Duplicates += row.Once.Duplicates
		s.Once.Lost += row.Once.Lost
		s.Once.Refused += row.Once.Refused
		s.Once.InDoubt += row.Once.InDoubt
	}
	return s
}

func (e *Effects) add(more Effects) {
	e.Effects += more.Effects
	e.Duplicates += more.Duplicates
	e.Lost += more.Lost
}

// count adds one intent with that many effects. settled: without an effect it
// is refused or in doubt, not lost.
func (e *Effects) count(effects int, settled bool) {
	e.Effects += effects
	e.Duplicates += max(effects-1, 0)
	if effects == 0 && !settled {
		e.Lost++
	}
}

// Err says what a run failed to show: a duplicate or a loss of the guarded
// functions, or that the faults did no harm to a twin, which proves nothing.
func (r Report) Err() error {
	for _, row := range r.Rows {
		switch {
		case row.Once.Duplicates > 0 || row.Once.Lost > 0:
			return fmt.Errorf("%s: %d duplicates and %d losses", row.Operation, row.Once.Duplicates, row.Once.Lost)
		case row.Naive.Duplicates == 0:
			return fmt.Errorf("%s: the naive twin made no duplicate, so the run proves nothing", row.Operation)
		}
	}
	return nil
}

// Table writes the account for people.
func (r Report) Table(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "operation\tintents\tdeliveries\tcrashes\tlost replies\tnaive effects\tonce effects")
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%s\t%s\n", row.Operation, row.Intents, row.Deliveries, row.Crashes, row.LostReplies,
			row.Naive.cell(), row.Once.cell())
	}
	return w.Flush()
}

func (e Effects) cell() string {
	text := fmt.Sprint(e.Effects)
	if e.Duplicates > 0 {
		text += fmt.Sprintf(" (%d too many)", e.Duplicates)
	}
	if e.Lost > 0 {
		text += fmt.Sprintf(" (%d lost)", e.Lost)
	}
	return text
}

// JSON writes the account for machines, on one line.
func (r Report) JSON(out io.Writer) error {
	return json.NewEncoder(out).Encode(map[string]any{"demo": r.summary()})
}
