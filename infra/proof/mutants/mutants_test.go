package mutants

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"regexp"
	"testing"
	"time"
)

var (
	everything = flag.Bool("all", false, "run every mutant: minutes")
	only       = flag.String("mutant", "", "run the mutants whose name matches this")
)

// Every mutant is killed.
func TestAll(t *testing.T) {
	if !*everything && *only == "" {
		t.Skip("not asked for: -args -all")
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		t.Fatal(err)
	}
	began, worked := time.Now(), time.Duration(0)
	r, err := Run(t.Context(), wanted.MatchString, func(r Result) {
		worked += r.Took
		fmt.Printf("%6.1fs %s: %s\n        %s\n", r.Took.Seconds(), r.Where, r.Mutant, cmp.Or(r.Killer, "SURVIVES"))
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Survivors {
		t.Errorf("survives: %s", s)
	}
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s in %v, of processors %v", line, time.Since(began), worked)
}
