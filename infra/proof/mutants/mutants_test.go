package mutants

import (
	"encoding/json"
	"flag"
	"fmt"
	"regexp"
	"testing"
	"time"
)

var (
	everything = flag.Bool("all", false, "run every mutant: minutes")
	only       = flag.String("mutant", "", "run the mutants whose name contains this")
)

func TestAll(t *testing.T) {
	if !*everything && *only == "" {
		t.Skip("not asked for: -args -all")
	}
	started := time.Now()
	match := regexp.MustCompile(*only).MatchString
	r, err := Run(t.Context(), match, func(r Result) {
		fmt.Printf("%-8v %-8v %s\n         %s\n", r.Took.Round(time.Millisecond), r.lasted.Round(time.Millisecond), r.Mutant, r.Killer)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Survivors {
		t.Errorf("survives: %s", s)
	}
	line, _ := json.Marshal(r)
	t.Logf("%s in %v", line, time.Since(started))
}

func TestCount(t *testing.T) {
	roots, err := modules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ms, err := all(roots["library"])
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range ms {
		t.Log(i+1, m.name)
	}
}
