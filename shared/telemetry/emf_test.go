package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/telemetry"
)

var at = time.UnixMilli(1_790_000_000_123)

// full has something of everything.
var full = telemetry.Batch{
	Outcomes: map[intent.Kind]int{
		intent.Executed: 3, intent.Replayed: 2, intent.Refused: 1, intent.InProgress: 4, intent.Conflict: 5, intent.InDoubt: 6,
	},
	Messages: 31, Failed: 7, Listed: 22, Quarantined: 3, UnknownFormat: 1, Takeovers: 2, Retrying: 4,
}

func observe(t *testing.T, reports ...telemetry.Batch) []string {
	t.Helper()
	var out bytes.Buffer
	e := telemetry.NewEmitter(&out, "shop", "charge", "7", func() time.Time { return at })
	for _, r := range reports {
		e.Observe(t.Context(), r)
	}
	return slices.Collect(strings.Lines(out.String()))
}

// line is what CloudWatch reads of a line, by its schema ("Embedded metric
// format specification", "Embedded metric format schema").
type line struct {
	AWS struct {
		Timestamp         *int64
		CloudWatchMetrics []struct {
			Namespace  string
			Dimensions [][]string
			Metrics    []struct {
				Name string
				Unit string
			}
		}
	} `json:"_aws"`
}

// What the line declares is there: CloudWatch drops a line without a word that
// names a metric or a dimension it does not carry.
func TestLineFollowsTheSpecification(t *testing.T) {
	lines := observe(t, full)
	if len(lines) != 1 || !strings.HasSuffix(lines[0], "}\n") {
		t.Fatalf("got %q, want one line", lines)
	}
	var meta line
	var members map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal([]byte(lines[0]), &meta), json.Unmarshal([]byte(lines[0]), &members)); err != nil {
		t.Fatal(err)
	}
	if meta.AWS.Timestamp == nil || *meta.AWS.Timestamp != at.UnixMilli() {
		t.Errorf("timestamp: got %v, want %d ms", meta.AWS.Timestamp, at.UnixMilli())
	}
	if len(meta.AWS.CloudWatchMetrics) != 2 {
		t.Fatalf("got %d directives, want one without the version and one with it", len(meta.AWS.CloudWatchMetrics))
	}
	declared := map[string]bool{"_aws": true}
	for _, directive := range meta.AWS.CloudWatchMetrics {
		if directive.Namespace != "Once" || len(directive.Namespace) > 1024 {
			t.Errorf("namespace: got %q", directive.Namespace)
		}
		if len(directive.Dimensions) != 1 || len(directive.Dimensions[0]) == 0 || len(directive.Dimensions[0]) > 30 {
			t.Fatalf("dimensions: got %v, want one set", directive.Dimensions)
		}
		for _, name := range directive.Dimensions[0] {
			declared[name] = true
			var value string
			if err := json.Unmarshal(members[name], &value); err != nil || value == "" || len(value) > 1024 || len(name) > 250 {
				t.Errorf("dimension %s: got %s, want a string", name, members[name])
			}
		}
		if len(directive.Metrics) == 0 || len(directive.Metrics) > 100 {
			t.Errorf("got %d metrics", len(directive.Metrics))
		}
		here := map[string]bool{}
		for _, m := range directive.Metrics {
			if here[m.Name] {
				t.Errorf("%s is declared twice", m.Name)
			}
			here[m.Name], declared[m.Name] = true, true
			var value float64
			if err := json.Unmarshal(members[m.Name], &value); err != nil || m.Unit != "Count" || len(m.Name) > 1024 {
				t.Errorf("metric %s in %s: got %s, want a number", m.Name, m.Unit, members[m.Name])
			}
		}
	}
	for name := range members {
		if !declared[name] {
			t.Errorf("%s is no metric and no dimension", name)
		}
	}
}

func TestObserve(t *testing.T) {
	for name, c := range map[string]struct {
		report telemetry.Batch
		want   map[string]any
	}{
		"everything": {full, map[string]any{
			"Executed": 3.0, "Replayed": 2.0, "Refused": 1.0, "InProgress": 4.0, "Conflict": 5.0, "InDoubt": 6.0,
			"Messages": 31.0, "Failed": 7.0, "Listed": 22.0, "Quarantined": 3.0, "UnknownFormat": 1.0, "Takeovers": 2.0, "Retrying": 4.0, "Version": "7",
		}},
		"one thing": {telemetry.Batch{Outcomes: map[intent.Kind]int{intent.Executed: 1}}, map[string]any{"Executed": 1.0}},
		"nothing":   {telemetry.Batch{Outcomes: map[intent.Kind]int{}}, nil},
		"zeros":     {telemetry.Batch{Outcomes: map[intent.Kind]int{intent.Executed: 0}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			lines := observe(t, c.report)
			if c.want == nil {
				if len(lines) != 0 {
					t.Errorf("got %q, want no line", lines)
				}
				return
			}
			var got map[string]any
			if len(lines) != 1 {
				t.Fatalf("got %q, want one line", lines)
			}
			if err := json.Unmarshal([]byte(lines[0]), &got); err != nil {
				t.Fatal(err)
			}
			if got["Scope"] != "shop" || got["Operation"] != "charge" {
				t.Errorf("dimensions: got %v", got)
			}
			for _, other := range []string{"_aws", "Scope", "Operation"} {
				delete(got, other)
			}
			for metric, n := range c.want {
				if got[metric] != n {
					t.Errorf("%s: got %v, want %v", metric, got[metric], n)
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// emitted are the sets of dimensions that each metric of a line has.
func emitted(t *testing.T, text string) map[string][][]string {
	t.Helper()
	var l line
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		t.Fatal(err)
	}
	sets := map[string][][]string{}
	for _, directive := range l.AWS.CloudWatchMetrics {
		for _, m := range directive.Metrics {
			sets[m.Name] = append(sets[m.Name], directive.Dimensions...)
		}
	}
	return sets
}

// What is said of a metric's dimensions is what is emitted, and each outcome and count of a batch is a metric.
func TestDimensionSets(t *testing.T) {
	lines := observe(t, full)
	if len(lines) != 1 {
		t.Fatalf("got %q, want one line", lines)
	}
	sets := emitted(t, lines[0])
	if want := len(full.Outcomes) + reflect.TypeFor[telemetry.Batch]().NumField() - 1; len(sets) != want {
		t.Errorf("got %d metrics, want %d: %v", len(sets), want, sets)
	}
	for metric, got := range sets {
		if want := telemetry.DimensionSets(metric); !reflect.DeepEqual(got, want) {
			t.Errorf("%s has the dimensions %v, want %v", metric, got, want)
		}
	}
	for metric, want := range map[string]int{
		telemetry.Messages: 1, telemetry.Failed: 2, telemetry.Quarantined: 2, telemetry.Refused: 2, telemetry.UnknownFormat: 2, telemetry.InDoubt: 1,
		"Executes": 0,
	} {
		if got := telemetry.DimensionSets(metric); len(got) != want {
			t.Errorf("%s: got %v, want %d sets", metric, got, want)
		}
	}
}

// Without a version there is no series of it: CloudWatch drops a line whose dimension is empty.
func TestNoVersion(t *testing.T) {
	var out bytes.Buffer
	e := telemetry.NewEmitter(&out, "shop", "charge", "", func() time.Time { return at })
	e.Observe(t.Context(), full)
	for metric, sets := range emitted(t, out.String()) {
		if !reflect.DeepEqual(sets, [][]string{{"Scope", "Operation"}}) {
			t.Errorf("%s has the dimensions %v", metric, sets)
		}
	}
	out.Reset()
	e.Observe(t.Context(), telemetry.Batch{Messages: 1})
	if out.Len() > 0 {
		t.Errorf("got %q, want no line of nothing", out.String())
	}
}

// Every count has a metric of its own name, Quarantined like the rest, and stands alone
// in its line where nothing else was counted.
func TestEveryCountIsAMetric(t *testing.T) {
	fields := reflect.TypeFor[telemetry.Batch]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		if name == "Outcomes" {
			continue // counted one by one in TestObserve
		}
		var report telemetry.Batch
		reflect.ValueOf(&report).Elem().Field(i).SetInt(int64(10 + i))
		lines := observe(t, report)
		var got map[string]any
		if len(lines) != 1 || json.Unmarshal([]byte(lines[0]), &got) != nil {
			t.Fatalf("%s: got %q, want one line", name, lines)
		}
		if sets := emitted(t, lines[0]); got[name] != float64(10+i) || len(sets) != 1 || sets[name] == nil {
			t.Errorf("%s: got %s", name, lines[0])
		}
	}
}

// Batches that end at once do not tear each other's lines: each is one write.
func TestLinesAreWhole(t *testing.T) {
	w := &writes{}
	e := telemetry.NewEmitter(w, "shop", "charge", "7", time.Now)
	var batches sync.WaitGroup
	for range 50 {
		batches.Go(func() { e.Observe(context.Background(), full) })
	}
	batches.Wait()
	if len(w.lines) != 50 {
		t.Fatalf("got %d writes, want 50", len(w.lines))
	}
	for _, l := range w.lines {
		if !json.Valid([]byte(l)) || strings.Count(l, "\n") != 1 {
			t.Errorf("got %q, want one line", l)
		}
	}
}

// writes keeps each write. It takes no lock: the emitter must.
type writes struct{ lines []string }

func (w *writes) Write(p []byte) (int, error) {
	w.lines = append(w.lines, string(p))
	return len(p), nil
}

// Metrics never fail a message.
func TestUnwritable(t *testing.T) {
	e := telemetry.NewEmitter(broken{}, "shop", "charge", "7", time.Now)
	e.Observe(t.Context(), full)
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
