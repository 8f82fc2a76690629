package explore

import (
	"flag"
	"testing"
)

var (
	deviations = flag.Int("deviations", 2, "how many deviations the exhaustive search allows")
	random     = flag.Int("random", 2000, "how many histories by chance, of each class")
	only       = flag.String("class", "", "explore this class alone")
	seed       = flag.Uint64("seed", 0, "run the one history by chance that has this seed")
)

// classes are those to explore.
func classes() []Class {
	if *only != "" {
		return []Class{Class(*only)}
	}
	return []Class{Keyed, Grouped, Blind, Probed, Ledger}
}

// Every history of few deviations, with one to three deliveries side by side.
func TestExhaustive(t *testing.T) {
	total := 0
	for _, class := range classes() {
		for n := 1; n <= 3; n++ {
			histories, v := exhaust(t, class, n, *deviations, nil)
			total += histories
			if v != nil {
				t.Error(v)
			}
		}
	}
	t.Logf("%d histories", total)
}

// Histories by chance, of more deviations.
func TestRandom(t *testing.T) {
	first, last := uint64(1), uint64(*random)
	if *seed != 0 {
		first, last = *seed, *seed
	}
	for _, class := range classes() {
		for s := first; s <= last; s++ {
			if _, v := history(t, class, 1+int(s%3), newDice(s), nil); v != nil {
				t.Fatalf("%v\nagain by: go test ./explore -run TestRandom -args -class=%s -seed=%d", v, class, s)
			}
		}
	}
}
