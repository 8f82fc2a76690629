package spin

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A few seconds of the proof, where its tools are.
func TestSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles eight programs")
	}
	tools := find(t)
	plan := Small()
	var seen []Result
	report, err := tools.Prove(t.Context(), plan, func(r Result) { seen = append(seen, r) })
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range seen {
		switch {
		case r.Mutant == "" && r.Errors > 0:
			t.Errorf("%s: %s\n%s", r.Configuration, r.Fault, r.Trace)
		case r.Mutant != "" && (r.Errors == 0 || r.Fault == "" || r.Breaks == ""):
			t.Errorf("%s in %s: no error in %d states", r.Mutant, r.Configuration, r.States)
		}
	}
	if want := (Mutants{len(plan.mutants), len(plan.mutants)}); report.Mutants != want || report.Errors != 0 || report.States < 10_000 || !report.OK() {
		t.Errorf("got %+v, want no errors, %+v, and all states", report, want)
	}
}

// An error in the model itself is counted, and told step by step.
func TestFaultOfTheModel(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	tools := find(t)
	wrong := ledger
	wrong.defines = append(slices.Clone(wrong.defines), "MUTANT=REFUSAL_SAID_AT_ONCE")
	var result Result
	report, err := tools.Prove(t.Context(), Plan{configurations: []configuration{wrong}}, func(r Result) { result = r })
	if err != nil {
		t.Fatal(err)
	}
	if report.Errors != 1 || report.OK() || !strings.Contains(result.Fault, "assertion violated") || !strings.Contains(result.Trace, "Ledger") {
		t.Errorf("got %+v, %+v, want its error with the way to it", report, result)
	}
}

func TestProveIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := find(t).Prove(ctx, Small(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func find(t *testing.T) Tools {
	t.Helper()
	tools, err := Find()
	if err != nil {
		t.Skip(err)
	}
	return tools
}

func TestFindNamesWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var missing *MissingError
	if _, err := Find(); !errors.As(err, &missing) || !strings.Contains(err.Error(), "apt-get install") {
		t.Errorf("got %v, want a *MissingError that says how to mend it", err)
	}
}

// A search that left something out is no proof, whatever it says of errors.
func TestParse(t *testing.T) {
	printed := func(name string) string {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	complete := printed("complete.txt")
	for _, tt := range []struct {
		name, output string
		want         Result
		fails        string
	}{
		{"complete", complete, Result{States: 49988}, ""},
		{"many", strings.Replace(complete, "    49988 states, stored", "1.2345e+08 states, stored (1.5e+08 visited)", 1), Result{States: 123_450_000}, ""},
		{"a fault", printed("fault.txt"), Result{States: 56392, Errors: 1, Fault: "assertion violated ((effects==0)||false_no) (at depth 20995)"}, ""},
		{"too deep", "error: max search depth too small\n" + complete, Result{}, errIncomplete.Error()},
		{"out of memory", "pan: out of memory\n" + complete, Result{}, errIncomplete.Error()},
		{"not all states", strings.Replace(complete, "Full statespace", "Bit statespace", 1), Result{}, "not understood"},
		{"no result", "", Result{}, "not understood"},
	} {
		got, err := parse([]byte(tt.output))
		switch {
		case tt.fails != "":
			if err == nil || !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("%s: got %v, want an error about %q", tt.name, err, tt.fails)
			}
		case err != nil || got != tt.want:
			t.Errorf("%s: got %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
}

// Every mutant of the model runs, so no rule is taken to carry the protocol that does
// not; each has a number of its own and is used, and the cases are the public ones.
func TestMutantsAreComplete(t *testing.T) {
	var have []string
	for _, m := range mutants {
		have = append(have, m.name)
	}
	var text strings.Builder
	for _, name := range []string{"rules.pml", "record.pml", "worker.pml", "ledger.pml", "world.pml"} {
		text.WriteString(read(name))
	}
	numbers := map[int]string{}
	for _, m := range declared() {
		if other, ok := numbers[m.number]; ok {
			t.Errorf("%s and %s have the same number", m.name, other)
		}
		numbers[m.number] = m.name
		if !slices.Contains(have, m.name) {
			t.Errorf("%s is run in no configuration", m.name)
		}
		if n := len(regexp.MustCompile(`\b`+m.name+`\b`).FindAllString(text.String(), -1)); n < 2 {
			t.Errorf("%s breaks nothing", m.name)
		}
	}
	for _, name := range have {
		if !slices.ContainsFunc(declared(), func(m mutant) bool { return m.name == name }) {
			t.Errorf("%s is no mutant of the model", name)
		}
	}
	for _, number := range []string{"C01", "C09", "C10", "C11", "C33", "C34", "C35", "C37", "C38", "C39", "C40", "C41", "C42", "C43", "C45", "C46"} {
		if !slices.ContainsFunc(declared(), func(m mutant) bool { return strings.HasPrefix(m.breaks, number+": ") }) {
			t.Errorf("no mutant stands for %s", number)
		}
	}
}
