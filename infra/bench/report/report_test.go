package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/singleeffect/once/infra/bench/contender"
)

// sample meets every target, but for one zip.
func sample() Report {
	entrant := func(name string, cpu float64) Contender {
		batches := func(requests float64) map[string]Batch {
			all := map[string]Batch{}
			for _, s := range Scenarios {
				all[s] = Batch{CPUMicros: cpu, PerSecond: 1e6 / cpu, P50: cpu / 10, P99: cpu / 5, Requests: requests}
			}
			return all
		}
		return Contender{
			Name: name, Title: "the " + name, Direct: batches(0), Delayed: batches(cpu / 400),
			Units:      map[string]Units{New: {0.2, 2, 0}, Duplicate: {0.1, 1, 0}, Half: {0.2, 1.5, 0}},
			ResidentMB: cpu / 4, PeakMB: cpu / 3, FirstPollMS: cpu / 5, AnswerMS: cpu / 2,
		}
	}
	return Report{
		Contenders: []Contender{entrant(contender.Once, 80), entrant(contender.Single, 200), entrant(contender.Naive, 400), entrant(contender.Batched, 50), entrant(contender.Powertools, 1000)},
		Floor:      Batch{P50: 7.5, P99: 9},
		Effects:    []Effect{{"40ms-60ms", 0.3}, {"50ms-500ms", 0.9}},
		Classes:    []Class{{KeyedBatch, Units{0.2, 2, 0}, Units{0.1, 1, 0}}, {LedgerThree, Units{1, 8, 0}, Units{1, 8, 0}}},
		Zips:       []Zip{{"adjust", 4.321}, {"charge", 5.1}},
		Growth:     []Size{{1000, 8}, {1_000_000, 10}},
		Workers:    []Workers{{1, 2000, 900}, {8, 3000, 1200}},
	}
}

// Readers rely on these names and on their order.
func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := sample().JSON(&b); err != nil {
		t.Fatal(err)
	}
	const want = `{"bench":{"requests_per_message":{"new":0.2,"duplicate":0.2,"half":0.2},` +
		`"cpu_us":{"once":{"new":80,"duplicate":80},"once_single":{"new":200,"duplicate":200},"naive_go":{"new":400,"duplicate":400},"powertools_ts":{"new":1000,"duplicate":1000}},` +
		`"cpu_ratio":{"new":0.08,"duplicate":0.08},"latency_ratio_5ms":1.067,"rss_ratio":0.08,"cold_start_ratio":0.08,` +
		`"zip_mb":{"adjust":4.32,"charge":5.1},"growth_p50_ratio":1.25,"missed":["zip of charge in MB"],`
	if got := b.String(); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, "\n") {
		t.Errorf("got  %s\nwant %s… and one line", got, want)
	}
	if want := `"batched_cpu_ratio":{"new":0.05,"duplicate":0.05}`; !strings.Contains(b.String(), want) {
		t.Errorf("got %s, want %s in it", b.String(), want)
	}
	if !json.Valid(b.Bytes()) {
		t.Error("no JSON")
	}
}

// A run that was cut short still says what it measured.
func TestJSONOfLittle(t *testing.T) {
	little := Report{Contenders: sample().Contenders[:1]}
	var b bytes.Buffer
	if err := little.JSON(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"once":{"new":80,"duplicate":80}`, `"cpu_ratio":{"new":null,"duplicate":null}`, `"growth_p50_ratio":null`, `"CPU by the peer's, new"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got %s, want %s in it", b.String(), want)
		}
	}
}

func TestRounded(t *testing.T) {
	for f, want := range map[float64]float64{0: 0, 0.142857142: 0.1429, 123456: 123500, 1: 1, 9.99999: 10, -2.34567: -2.346} {
		if got := rounded(f); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: got %v, want %v", f, got, want)
		}
	}
}

func TestMissed(t *testing.T) {
	for name, spoil := range map[string]func(*Report){
		"zip of adjust in MB":                                    func(r *Report) { r.Zips[0].MB = 5.01 },
		"latency by the floor's, new, 5 ms added":                func(r *Report) { r.Floor.P50 = 6.9 },
		"resident memory by the peer's":                          func(r *Report) { r.Contenders[0].ResidentMB = 50.1 },
		"start to first poll by the peer's":                      func(r *Report) { r.Contenders[0].FirstPollMS = 17 },
		"CPU by the peer's, new":                                 func(r *Report) { r.Contenders[0].Direct[New] = Batch{CPUMicros: 143} },
		"CPU by the peer's, duplicate":                           func(r *Report) { r.Contenders[0].Direct[Duplicate] = Batch{CPUMicros: 201} },
		"requests a message, new":                                func(r *Report) { r.Contenders[0].Delayed[New] = Batch{P50: 8, Requests: 0.21} },
		"requests a message, effects of 40ms-60ms":               func(r *Report) { r.Effects[0].Requests = 0.41 },
		"write units a message, " + LedgerThree:                  func(r *Report) { r.Classes[1].New.Write = 6 },
		"write units a message, duplicate":                       func(r *Report) { r.Contenders[0].Units[Duplicate] = Units{} },
		"batch p50 on the largest table by that on the smallest": func(r *Report) { r.Growth[1].P50 = math.NaN() },
	} {
		r := sample()
		if slices.Contains(r.Missed(), name) {
			t.Errorf("%s: missed before", name)
		}
		spoil(&r)
		if got := r.Missed(); !slices.Contains(got, name) {
			t.Errorf("got %q, want %q among them", got, name)
		}
	}
}

func TestInto(t *testing.T) {
	path := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(path, []byte("before\n"+Marker+"older\n"+Marker+"after\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := sample().Into(path, "infra/bench/bench.svg"); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := string(content)
	for _, want := range []string{"before\n" + Marker + "![", "](infra/bench/bench.svg)\n\n| batches of ten |", "the powertools_ts 2.", "80, 80", "charge 5.1", "Missed targets: zip of charge in MB (5.100, target 5.000).", Marker + "after\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in %s", want, got)
		}
	}
	columns := regexp.MustCompile(`(?m)^\|.*\|$`).FindAllString(got, -1)
	for _, line := range columns {
		if strings.Count(line, "|") != len(sample().Contenders)+2 {
			t.Errorf("columns of %s", line)
		}
	}
	if len(columns) != len(rows)+2 || strings.Contains(got, "older") || strings.Contains(got, "NaN") {
		t.Errorf("got %s", got)
	}
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := sample().Text(&b); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), "MISSED"); got != 1 || !strings.Contains(b.String(), "MISSED zip of charge in MB") {
		t.Errorf("%d targets missed, want that of charge's zip alone:\n%s", got, b.String())
	}
}

func TestPlot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench.svg")
	if err := sample().Plot(path); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var texts []string
	for d := xml.NewDecoder(file); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("no XML: %v", err)
		}
		if text, ok := token.(xml.CharData); ok {
			texts = append(texts, strings.TrimSpace(string(text)))
		}
	}
	for _, want := range []string{"new", "duplicate", "Once", "Powertools", "plain Go", "Claim=put", "batched", "1 k", "1 M", "messages a second", "8"} {
		if !slices.Contains(texts, want) {
			t.Errorf("no %q in the plot, which says %q", want, texts)
		}
	}
}
