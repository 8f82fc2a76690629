package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Effects are counted where they happen: charges at the provider, e-mails at the
// mail service, balances, orders and carts in their tables. The effect of a natural
// operation is that its end state was reached.
type Effects struct {
	Effects    int `json:"effects"`
	Duplicates int `json:"duplicates"` // effects beyond the first, summed over intents; late states that were undone
	Lost       int `json:"lost"`       // intents without an effect, neither refused nor in doubt; stray ones
	Wrong      int `json:"-"`          // intents with a duplicate or a loss
	undone     int
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
	LostReplies int // answers of DynamoDB and SES that the worker never heard
	Naive       Effects
	Once        Guarded
	Strays      []string // guarded: what is in quarantine and should not be, or the other way round
}

// Report is the account of a run. The lesson's own intents are in no row.
type Report struct {
	Lessons []Lesson
	Rows    []Row
	Leaks   []string // guarded: what output or a reason tells of messages, rows or secrets
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
	Operations map[string]operationSummary `json:"operations"`
}

type operationSummary struct {
	Intents    int `json:"intents"`
	Deliveries int `json:"deliveries"`
	NaiveWrong int `json:"naive_wrong"` // intents
	OnceWrong  int `json:"once_wrong"`  // intents
}

func (r Report) summary() summary {
	s := summary{Operations: map[string]operationSummary{}}
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
		s.Operations[row.Operation] = operationSummary{row.Intents, row.Deliveries, row.Naive.Wrong, row.Once.Wrong}
	}
	return s
}

func (e *Effects) add(more Effects) {
	e.Effects += more.Effects
	e.Duplicates += more.Duplicates
	e.Lost += more.Lost
}

// count adds one intent.
func (e *Effects) count(i end) {
	duplicates, lost := max(i.effects-1, 0), 0
	if i.undone {
		duplicates++
		e.undone++
	}
	if i.effects == 0 && !i.settled || i.stray {
		lost = 1
	}
	e.Effects += i.effects
	e.Duplicates += duplicates
	e.Lost += lost
	if duplicates+lost > 0 {
		e.Wrong++
	}
}

// Err says what a run failed to show: a duplicate, a loss or a leak of the guarded
// functions, or that the faults did no harm to a twin, which proves nothing.
func (r Report) Err() error {
	if len(r.Leaks) > 0 {
		return fmt.Errorf("told of messages, rows or secrets: %q", r.Leaks)
	}
	for _, lesson := range r.Lessons {
		if err := lesson.Err(); err != nil {
			return err
		}
	}
	for _, row := range r.Rows {
		switch {
		case row.Once.Duplicates > 0 || row.Once.Lost > 0 || row.Once.Wrong > 0:
			return fmt.Errorf("%s: %d duplicates and %d losses, %d intents wrong%s",
				row.Operation, row.Once.Duplicates, row.Once.Lost, row.Once.Wrong, row.strays())
		case row.Crashes == 0:
			return fmt.Errorf("%s: no worker of the guarded function was killed, so the run proves nothing", row.Operation)
		case row.Once.Refused > 0:
			return fmt.Errorf("%s: %d intents are refused, of which none can be", row.Operation, row.Once.Refused)
		case 2*row.Once.InDoubt > row.Intents && row.Intents > 9: // one that is doubted everywhere does nothing either
			return fmt.Errorf("%s: %d of %d intents are in doubt", row.Operation, row.Once.InDoubt, row.Intents)
		case row.Naive.Wrong == 0:
			return fmt.Errorf("%s: the naive twin did nothing wrong, so the run proves nothing", row.Operation)
		}
	}
	return nil
}

func (row Row) strays() string {
	if len(row.Strays) == 0 {
		return ""
	}
	return "; " + strings.Join(row.Strays, "; ")
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
	for _, remark := range []struct {
		n    int
		what string
	}{{e.Duplicates - e.undone, "too many"}, {e.undone, "undone later"}, {e.Lost, "lost"}} {
		if remark.n > 0 {
			text += fmt.Sprintf(" (%d %s)", remark.n, remark.what)
		}
	}
	return text
}

func (g Guarded) cell() string {
	text := g.Effects.cell()
	if g.Refused > 0 {
		text += fmt.Sprintf(" (%d refused)", g.Refused)
	}
	if g.InDoubt > 0 {
		text += fmt.Sprintf(" (%d in doubt)", g.InDoubt)
	}
	return text
}

// JSON writes the account for machines, on one line.
func (r Report) JSON(out io.Writer) error {
	return json.NewEncoder(out).Encode(map[string]any{"demo": r.summary()})
}
