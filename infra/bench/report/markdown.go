package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/singleeffect/once/infra/bench/contender"
	"github.com/singleeffect/once/infra/proof/scoreboard/powertools"
	"github.com/singleeffect/once/infra/proof/scoreboard/readme"
)

// Marker stands on a line of its own before and after the table in a Markdown file.
const Marker = "<!-- bench -->\n"

// Into writes the table, and the plot above it, between the two markers of a file.
func (r Report) Into(path, plot string) error {
	return readme.Into(path, Marker, []byte("![CPU, growth and throughput]("+plot+")\n\n"+r.Markdown()))
}

// row is one line of the table: a figure of each contender.
type row struct {
	title string
	cell  func(Contender) string
}

var rows = []row{
	{"requests a message: new, half, duplicate", func(c Contender) string {
		return fmt.Sprintf("%.2g, %.2g, %.2g", c.Delayed[New].Requests, c.Delayed[Half].Requests, c.Delayed[Duplicate].Requests)
	}},
	{"write units a message: new, duplicate", func(c Contender) string {
		return fmt.Sprintf("%.3g, %.3g", c.Units[New].Write, c.Units[Duplicate].Write)
	}},
	{"CPU a message, µs: new, duplicate", func(c Contender) string {
		return fmt.Sprintf("%.0f, %.0f", c.Direct[New].CPUMicros, c.Direct[Duplicate].CPUMicros)
	}},
	{"messages a second: new, duplicate", func(c Contender) string {
		return fmt.Sprintf("%.0f, %.0f", c.Direct[New].PerSecond, c.Direct[Duplicate].PerSecond)
	}},
	{"batch, new: p50, p99 in ms", func(c Contender) string {
		return fmt.Sprintf("%.1f, %.1f", c.Direct[New].P50, c.Direct[New].P99)
	}},
	{"the same with 5 ms added to each reply", func(c Contender) string {
		return fmt.Sprintf("%.1f, %.1f", c.Delayed[New].P50, c.Delayed[New].P99)
	}},
	{"resident memory, MB", func(c Contender) string { return fmt.Sprintf("%.0f", c.ResidentMB) }},
	{"start to first poll, to first answer, ms", func(c Contender) string {
		return fmt.Sprintf("%.1f, %.1f", c.FirstPollMS, c.AnswerMS)
	}},
	{"zip, MB", func(c Contender) string { return fmt.Sprintf("%.1f", c.ZipMB) }},
}

// Markdown is the table and what is to be known about it.
func (r Report) Markdown() string {
	var b strings.Builder
	b.WriteString("| batches of ten |")
	for _, c := range r.Contenders {
		b.WriteString(" " + c.Title)
		if c.Name == contender.Powertools {
			b.WriteString(" " + powertools.Version)
		}
		b.WriteString(" |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(r.Contenders)) + "\n")
	for _, row := range rows {
		b.WriteString("| " + row.title + " |")
		for _, c := range r.Contenders {
			b.WriteString(" " + row.cell(c) + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n" + r.notes() + "\n")
	return b.String()
}

func (r Report) notes() string {
	var b strings.Builder
	f := r.Figures()
	fmt.Fprintf(&b, "In one run, by turns, medians of rounds; %s. Two requests of a batch sent bare, 5 ms added to each reply: %.1f ms; Once takes %.2f times as long, "+
		"Powertools %.2f times. Of Powertools' CPU Once takes %.3f for a new message and %.3f for a duplicate; plain Go in batches, which makes as many calls with "+
		"smaller records that have no owner, lease or fingerprint, takes %.3f and %.3f. DynamoDB Local takes longer for a call of several statements than for "+
		"as many single ones side by side: how fast one process of Once is there is how fast the engine is.", r.Runtimes, r.Floor.P50, f.Latency, f.PeerLatency,
		f.CPUNew, f.CPUDuplicate, f.BatchedNew, f.BatchedDuplicate)
	for _, e := range r.Effects {
		low, high, _ := strings.Cut(e.Takes, "-")
		fmt.Fprintf(&b, " With effects of %s to %s Once makes %.2g requests a message.", low, high, e.Requests)
	}
	if n := len(r.Growth); n > 1 {
		fmt.Fprintf(&b, " A batch takes %.2f times as long with %d records in the table as with %d.", f.Growth, r.Growth[n-1].Records, r.Growth[0].Records)
	}
	once := r.of(contender.Once)
	fmt.Fprintf(&b, " DynamoDB Local does not show a duplicate its record in a batch of statements, so Once reads them there with one request more a batch; "+
		"where they are shown, as AWS documents it, a duplicate makes %.2g requests.", once.Units[Duplicate].Requests)
	b.WriteString(" Zipped for arm64, in MB:")
	for i, z := range r.Zips {
		separator := ","
		if i == 0 {
			separator = ""
		}
		fmt.Fprintf(&b, "%s %s %.1f", separator, z.Name, z.MB)
	}
	b.WriteString(".")
	var missed []string
	for _, t := range r.missed() {
		missed = append(missed, fmt.Sprintf("%s (%.3f, target %.3f)", t.Name, t.Got, t.Limit))
	}
	if len(missed) > 0 {
		b.WriteString(" Missed targets: " + strings.Join(missed, "; ") + ".")
	}
	return b.String()
}

// Text writes all of it for people: the table, the classes, the workers, and which targets are missed.
func (r Report) Text(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.Markdown() + "\n")
	for _, c := range r.Classes {
		fmt.Fprintf(&b, "%-26s new %4.2g requests, %4.2g write units; duplicate %4.2g requests, %4.2g write units\n",
			c.Name, c.New.Requests, c.New.Write, c.Duplicate.Requests, c.Duplicate.Write)
	}
	for _, s := range r.Growth {
		fmt.Fprintf(&b, "%9d records: batch p50 %.2f ms\n", s.Records, s.P50)
	}
	for _, s := range r.Workers {
		fmt.Fprintf(&b, "%d workers: Once %.0f messages a second, Powertools %.0f\n", s.Workers, s.Once, s.Powertools)
	}
	b.WriteString("\n")
	for _, t := range r.Targets() {
		verdict := "met"
		if !t.Met() {
			verdict = "MISSED"
		}
		fmt.Fprintf(&b, "%-6s %-56s %.3f (target %.3f)\n", verdict, t.Name, t.Got, t.Limit)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
