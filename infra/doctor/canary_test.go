package doctor

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/infra/template"
)

var update = flag.Bool("update", false, "write the reckoning into the README")

func near(got, want float64) bool { return math.Abs(got-want) < 1e-9 }

func TestRings(t *testing.T) {
	const p = 0.7
	for name, tt := range map[string]struct {
		breach    []float64
		m, n      int
		want      float64
		simulated bool
	}{
		"one of one":             {[]float64{p}, 1, 1, p, false},
		"two of three":           {[]float64{p, p, p}, 2, 3, 3*p*p - 2*p*p*p, false},
		"two of three of two":    {[]float64{p, p}, 2, 3, p * p, false},
		"three of two":           {[]float64{1, 1}, 3, 3, 0, false},
		"two of three of four":   {[]float64{p, p, p, p}, 2, 3, 0, true},
		"three of four of seven": {[]float64{0.1, 0.9, 0.5, 0.4, 1, 0, 0.3}, 3, 4, 0, true},
	} {
		want := tt.want
		if tt.simulated {
			want = enumerated(tt.breach, tt.m, tt.n)
		}
		if got := rings(tt.breach, tt.m, tt.n); !near(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// enumerated is the same by looking at every history.
func enumerated(breach []float64, m, n int) float64 {
	sum := 0.0
	for history := range 1 << len(breach) {
		probability, rung := 1.0, false
		for i, p := range breach {
			if history>>i&1 == 0 {
				p = 1 - p
			}
			probability *= p
			in := 0
			for j := max(0, i-n+1); j <= i; j++ {
				in += history >> j & 1
			}
			rung = rung || in >= m
		}
		if rung {
			sum += probability
		}
	}
	return sum
}

func TestAtLeast(t *testing.T) {
	for k, want := range []float64{1, 1 - math.Exp(-3), 1 - 4*math.Exp(-3), 1 - 8.5*math.Exp(-3)} {
		if got := atLeast(k, 3); !near(got, want) {
			t.Errorf("%d or more of 3: got %v, want %v", k, got, want)
		}
	}
}

func TestWeights(t *testing.T) {
	for kind, want := range map[string][]float64{
		"AllAtOnce":                   nil,
		"Canary10Percent5Minutes":     {0.1, 0.1, 0.1},
		"Linear10PercentEvery1Minute": {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7},
	} {
		pace, known := template.Deployment{Type: kind}.Pace()
		if got := weights(pace, time.Minute); !known || !slices.EqualFunc(got, want, near) {
			t.Errorf("%s: got %v, want %v", kind, got, want)
		}
	}
}

func reckoned(t *testing.T, edit ...string) map[string]Ringing {
	t.Helper()
	found := map[string]Ringing{}
	for _, r := range Reckon(stack(t, strings.NewReplacer(edit...).Replace(text(t)), nil)) {
		found[r.Function+" "+r.Way] = r
	}
	return found
}

func TestReckon(t *testing.T) {
	const start, refuse = "ShipFunction it cannot start", "AdjustFunction it refuses every message"
	whole := reckoned(t)
	if r := whole[start]; r.Alarm != "ShipErrorsAlarm" || r.Minute != 4 || r.Single != 29 || r.Batched != 284 || r.BatchSize != 10 {
		t.Errorf("got %+v", r)
	}
	if r := whole[refuse]; r.Alarm != "AdjustRefusedAlarm" || r.Minute != 4 || r.Single != 46 || r.Batched != 284 {
		t.Errorf("got %+v", r)
	}
	if _, there := whole["ShipFunction it refuses every message"]; there || len(whole) != 3*8+2*6 {
		t.Errorf("got %d ways: a Natural effect refuses nothing", len(whole))
	}
	// A longer canary needs less traffic, and so does one that grows; an alarm that needs more minutes needs more of it.
	long := reckoned(t, "Canary10Percent5Minutes", "Canary10Percent30Minutes")[start]
	linear := reckoned(t, "Canary10Percent5Minutes", "Linear10PercentEvery1Minute")[start]
	strict := reckoned(t, "DatapointsToAlarm: 2", "DatapointsToAlarm: 3")[start]
	if long.Single >= 29 || linear.Single >= 29 || strict.Single <= 29 || strict.Minute != 5 {
		t.Errorf("got %+v, %+v and %+v", long, linear, strict)
	}
	if r := reckoned(t, "          - !Ref ShipErrorsAlarm\n", "")[start]; r.Alarm != "" || r.Single != 0 {
		t.Errorf("without its alarm: got %+v", r)
	}
	if all := Reckon(stack(t, text(t), map[string]string{"GradualDeployment": "false"})); len(all) > 0 {
		t.Errorf("all at once: got %v", all)
	}
}

// What is reckoned holds of deployments that begin anywhere in a minute.
func TestReckonIsCareful(t *testing.T) {
	const runs = 20000
	draw := rand.New(rand.NewPCG(12, 67))
	// rang says how often an alarm rings, for so many deliveries a minute, where so many invocations in a minute breach.
	rang := func(deliveries float64, least int) float64 {
		count := 0
		for range runs {
			phase, breaches := draw.Float64(), map[int]int{}
			for at := draw.ExpFloat64() / (deliveries * 0.1); at < 5; at += draw.ExpFloat64() / (deliveries * 0.1) {
				breaches[int(math.Floor(at-phase))]++ // the period that begins so many minutes after the phase
			}
			for i := -1; phase+float64(i)+1+1 <= 5; i++ { // its data is there a minute after its end
				in := 0
				for j := i - 2; j <= i; j++ {
					if breaches[j] >= least {
						in++
					}
				}
				if in >= 2 {
					count++
					break
				}
			}
		}
		return float64(count) / runs
	}
	for least, r := range map[int]Ringing{
		1: reckoned(t)["ShipFunction it cannot start"], 2: reckoned(t)["ShipFunction it lists every message"],
	} {
		if got := rang(float64(r.Single), least); got < certain {
			t.Errorf("%s: %d deliveries a minute ring %v of the time, want %v", r.Way, r.Single, got, certain)
		}
		if got := rang(float64(r.Single)/2, least); got > certain {
			t.Errorf("%s: half of %d deliveries a minute ring %v of the time", r.Way, r.Single, got)
		}
	}
}

// table is the reckoning as the README has it, ways with the same numbers in one row.
func table(all []Ringing) string {
	type row struct {
		alarm           string
		minute          int
		single, batched string
	}
	var rows []row
	said := map[row][]string{}
	for _, r := range all {
		row := row{
			alarm:  cmp.Or(strings.TrimSuffix(strings.TrimPrefix(r.Alarm, strings.TrimSuffix(r.Function, "Function")), "Alarm"), "none"),
			minute: r.Minute, single: fmt.Sprint(r.Single), batched: fmt.Sprint(r.Batched),
		}
		if said[row] == nil {
			rows = append(rows, row)
		}
		if !slices.Contains(said[row], r.Way) {
			said[row] = append(said[row], r.Way)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| a version is taken back when | by its alarm | within minute | deliveries a minute, one an invocation | %d an invocation |\n", all[0].BatchSize)
	b.WriteString("|---|---|---|---|---|\n")
	for _, r := range rows {
		line := fmt.Sprintf("| %s | %s | %d | %s | %s |\n", strings.Join(said[r], ", or "), r.alarm, r.minute, r.single, r.batched)
		b.WriteString(strings.ReplaceAll(line, " 0 ", " – "))
	}
	return b.String()
}

// The README has the reckoning of template.yaml: go test ./infra/doctor -run README -update writes it.
func TestREADME(t *testing.T) {
	const mark = "<!-- canary -->\n"
	path := filepath.Join(root, "README.md")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(content), mark)
	if len(parts) != 3 {
		t.Fatalf("README.md has %d marks %q, want 2", len(parts)-1, mark)
	}
	want := "\n" + table(Reckon(stack(t, text(t), nil))) + "\n"
	if parts[1] == want {
		return
	}
	if !*update {
		t.Fatalf("README.md says\n%s\nand the template\n%s", parts[1], want)
	}
	parts[1] = want
	if err := os.WriteFile(path, []byte(strings.Join(parts, mark)), 0o666); err != nil {
		t.Fatal(err)
	}
}
