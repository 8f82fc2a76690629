package explore

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing"
)

var (
	deviations = flag.Int("deviations", 1, "how many deviations the exhaustive search allows; of some classes fewer")
	random     = flag.Int("random", 300, "how many histories by chance, of each class")
	throughSDK = flag.Int("sdk", 40, "how many of them through the SDK's client, of each class")
	only       = flag.String("class", "", "explore this class alone")
	side       = flag.Int("side", 0, "with this many deliveries side by side alone, 1 to 3")
	again      = flag.String("path", "", "run the one history of the exhaustive search that takes this path")
	seed       = flag.Uint64("seed", 0, "run the one history by chance that has this seed")
	first      = flag.Bool("first", false, "end at the first history that goes wrong, wherever it is")
	least      = flag.Int64("least", 0, "fail if fewer histories run")
	reportFile = flag.String("report", "", "write how many histories ran, and how many went wrong, to this file")
)

// ran counts the histories inside the assumptions.
var ran struct {
	histories    atomic.Int64
	sdkHistories atomic.Int64
	violations   atomic.Int64
}

func TestMain(m *testing.M) {
	flag.Parse()
	if *only != "" && !slices.Contains(everyClass, Class(*only)) {
		fmt.Fprintf(os.Stderr, "-class=%s is none of %s\n", *only, everyClass)
		os.Exit(2)
	}
	debug.SetGCPercent(400) // histories leave much behind and hold little: a fifth of the time
	code := m.Run()
	if n := ran.histories.Load(); n < *least {
		fmt.Fprintf(os.Stderr, "%d histories ran, and %d were wanted\n", n, *least)
		code = 1
	}
	if err := report(*reportFile); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func report(file string) error {
	if file == "" {
		return nil
	}
	b, err := json.Marshal(map[string]int64{
		"histories": ran.histories.Load(), "sdk_histories": ran.sdkHistories.Load(), "violations": ran.violations.Load(),
	})
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}

// count counts histories that have run, and reports the one that went wrong.
func count(t *testing.T, histories int, counter *atomic.Int64, found *world) {
	counter.Add(int64(histories))
	if found != nil && found.fault != "" {
		ran.violations.Add(1)
		t.Error(found.violation())
	}
}

// classes are those to explore, sides the numbers of deliveries to do so with: the
// longest searches first.
func classes() []Class {
	if *only != "" {
		return []Class{Class(*only)}
	}
	return everyClass
}

func sides() []int {
	if *side != 0 {
		return []int{*side}
	}
	return []int{3, 2, 1}
}

// Every history of few deviations, with one to three deliveries side by side.
func TestExhaustive(t *testing.T) {
	for _, n := range sides() {
		for _, class := range classes() {
			t.Run(fmt.Sprintf("%s/%d", class, n), func(t *testing.T) {
				t.Parallel()
				s := setting{class: class, side: n}
				if *again != "" {
					taken, err := parseTrack(*again)
					if err != nil {
						t.Fatal(err)
					}
					w := s.history(t, taken)
					count(t, 1, &ran.histories, w)
					t.Log(w.told())
					return
				}
				most := min(*deviations, class.traits().deep[n-1])
				histories, found := s.exhaust(t, most, func(w *world) bool { return wrong(w) || *first && ran.violations.Load() > 0 })
				count(t, histories, &ran.histories, found)
				t.Logf("%d histories", histories)
			})
		}
	}
}

// Histories by chance, of more deviations.
func TestRandom(t *testing.T) {
	byChance(t, *random, &ran.histories, setting{})
}

// The same through the SDK's client: its retries are calls of the schedule, too.
func TestSDK(t *testing.T) {
	byChance(t, *throughSDK, &ran.sdkHistories, setting{sdk: true})
}

func byChance(t *testing.T, histories int, counter *atomic.Int64, s setting) {
	const shard = 1000
	seeds := make([]uint64, histories)
	for i := range seeds {
		seeds[i] = uint64(i) + 1
	}
	if *seed != 0 {
		seeds = []uint64{*seed}
	}
	for seeds := range slices.Chunk(seeds, shard) {
		for _, class := range classes() {
			t.Run(fmt.Sprintf("%s from seed %d", class, seeds[0]), func(t *testing.T) {
				t.Parallel()
				s := s
				s.class = class
				for _, n := range seeds {
					w := s.chance(n).history(t, newDice(n))
					count(t, 1, counter, w)
					if *seed != 0 {
						t.Log(w.told())
					}
					if w.fault != "" {
						return
					}
				}
			})
		}
	}
}
