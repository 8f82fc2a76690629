package e2e

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/singleeffect/once/infra/doctor"
	"github.com/singleeffect/once/infra/local/stack"
	"github.com/singleeffect/once/infra/template"
)

// One broken version and a healthy one, as they are deployed by the command.
func TestCanary(t *testing.T) {
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	tried := slices.DeleteFunc(slices.Clone(versions), func(v version) bool { return v.name != "healthy" && v.name != "refuses every message" })
	r, err := run(t.Context(), Config{Root: root, Progress: t.Output(), Log: io.Discard}, tried)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil || len(r.Canaries) != 2 {
		t.Errorf("got %d canaries and error %v", len(r.Canaries), err)
	}
}

// Each broken version is of one of the ways to fail that the doctor reckons with, and must ring the alarm that it names: one of the
// deployment's, so that one which is off the list is missed.
func TestAlarmsAreTheReckoned(t *testing.T) {
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(root, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parsed, err := template.Parse(file, template.Options{StackName: "once", Region: "eu-central-1", AccountID: "123456789012",
		Resolve: func(r template.Reference) (string, error) { return r.LogicalID + r.Attribute, nil }})
	if err != nil {
		t.Fatal(err)
	}
	reckoned := map[string]string{}
	for _, r := range doctor.Reckon(doctor.Stack{Template: parsed}) {
		if r.Function == function {
			reckoned[r.Way] = r.Alarm
		}
	}
	broken := 0
	for _, v := range versions {
		if v.rings == "" {
			continue
		}
		broken++
		if got := reckoned["it "+v.name]; got != v.rings {
			t.Errorf("%s must ring %s, and the doctor reckons with %q", v.name, v.rings, got)
		}
	}
	if broken != 5 {
		t.Errorf("got %d broken versions, want five", broken)
	}
}

func TestErr(t *testing.T) {
	v := version{name: "broken", rings: "Alarm"}
	good := Canary{Version: "broken", Alarm: "Alarm", Minute: 2, Messages: 100, Effects: 90, Refused: 10}
	for name, tt := range map[string]struct {
		spoil func(*Canary)
		want  string
	}{
		"as it must be": {func(*Canary) {}, ""},
		"rings nothing": {func(c *Canary) { c.Alarm = "" }, `rings ""`},
		"rings another": {func(c *Canary) { c.Alarm = "Other" }, `want "Alarm"`},
		"twice":         {func(c *Canary) { c.Duplicates = 1 }, "more than once"},
		"lost":          {func(c *Canary) { c.Lost = 1 }, "1 were lost"},
		"too many":      {func(c *Canary) { c.Effects, c.Refused = 70, 30 }, "70 of 100 messages took effect"},
	} {
		c := good
		tt.spoil(&c)
		if err := c.err(v); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want %q", name, err, tt.want)
		}
	}
}

// A line of each kind that a function writes: whole, in parts, of another log, and one that names what it does not carry.
func TestMetrics(t *testing.T) {
	m := newMetrics(func(timestamp int64) int { return int(timestamp / 60_000) })
	for _, text := range []string{
		`{"_aws":{"Timestamp":60000,"CloudWatchMetrics":[{"Namespace":"Once","Dimensions":[["Scope"],["Scope","Version"]],"Metrics":[{"Name":"Failed"},{"Name":"Listed"}]}]},`,
		`"Scope":"a","Version":"2","Failed":3}` + "\n" + `{"level":"WARN"}` + "\nSTART RequestId\n",
		`{"_aws":{"Timestamp":119999,"CloudWatchMetrics":[{"Namespace":"Once","Dimensions":[["Scope"]],"Metrics":[{"Name":"Failed"}]}]},"Scope":"a","Failed":1}` + "\n",
	} {
		if _, err := io.WriteString(m, text); err != nil {
			t.Fatal(err)
		}
	}
	want := "  Once Failed Scope=a: map[1:4]\n  Once Failed Scope=a Version=2: map[1:3]\n"
	if got := m.known(); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// Evaluation as CloudWatch documents it (Amazon CloudWatch user guide, "Alarm evaluation"): of the last n periods m must breach, and one
// without data does not.
func TestRings(t *testing.T) {
	share, err := template.ParseExpression("FILL(failed, 0) / (messages + 1)")
	if err != nil {
		t.Fatal(err)
	}
	simple := template.Alarm{
		LogicalID: "A", Metrics: []template.Metric{{Namespace: "N", Name: "Errors", Statistic: "Sum"}}, EvaluationPeriods: 3, DatapointsToAlarm: 2,
		Comparison: "GreaterThanThreshold", MissingData: "notBreaching",
	}
	ofTwo := simple
	ofTwo.Metrics = []template.Metric{
		{ID: "failed", Namespace: "N", Name: "Failed", Statistic: "Sum"}, {ID: "messages", Namespace: "N", Name: "Messages", Statistic: "Sum"},
	}
	ofTwo.Expression, ofTwo.Threshold = share, 0.5
	for name, tt := range map[string]struct {
		alarm            template.Alarm
		errors           map[int]float64
		failed, messages map[int]float64
		want             int
	}{
		"nothing":                  {alarm: simple},
		"one":                      {alarm: simple, errors: map[int]float64{2: 9}},
		"two on end":               {alarm: simple, errors: map[int]float64{1: 1, 2: 1}, want: 2},
		"two of three":             {alarm: simple, errors: map[int]float64{2: 1, 4: 1}, want: 4},
		"two of four":              {alarm: simple, errors: map[int]float64{1: 1, 4: 1}},
		"none are above":           {alarm: simple, errors: map[int]float64{1: 0, 2: 0, 3: 0}},
		"beyond the last":          {alarm: simple, errors: map[int]float64{5: 1, 6: 1}},
		"a share":                  {alarm: ofTwo, failed: map[int]float64{3: 4, 4: 4}, messages: map[int]float64{3: 4, 4: 4}, want: 4},
		"a share of half":          {alarm: ofTwo, failed: map[int]float64{3: 4, 4: 4}, messages: map[int]float64{3: 8, 4: 8}},
		"a share of nothing":       {alarm: ofTwo, messages: map[int]float64{3: 4, 4: 4}},
		"failures without a total": {alarm: ofTwo, failed: map[int]float64{3: 4, 4: 4}},
	} {
		m := newMetrics(nil)
		m.sums = map[string]map[int]float64{"N Errors": tt.errors, "N Failed": tt.failed, "N Messages": tt.messages}
		if got, err := m.rings(tt.alarm, 5); err != nil || got != tt.want {
			t.Errorf("%s: got minute %d and error %v, want %d", name, got, err, tt.want)
		}
	}
	for name, spoil := range map[string]func(*template.Alarm){
		"TreatMissingData is missing": func(a *template.Alarm) { a.MissingData = "missing" },
		"statistic Average":           func(a *template.Alarm) { a.Metrics = []template.Metric{{Statistic: "Average"}} },
	} {
		a := simple
		spoil(&a)
		if _, err := newMetrics(nil).rings(a, 5); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got error %v, want %q", err, name)
		}
	}
}
