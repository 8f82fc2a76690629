package sim

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

var (
	schedules = flag.Int("schedules", 200, "histories of each system test")
	firstSeed = flag.Uint64("seed", 1, "seed of the first history; the next ones count on from it")
	report    = flag.String("report", "", "`file` for the sums of all system tests of this binary, as JSON")
)

// sums are those of this test binary so far.
var sums struct {
	sync.Mutex
	Histories  int `json:"histories"`
	Violations int `json:"violations"`
}

// Violation is a history in which something went wrong.
type Violation struct {
	Seed  uint64
	Fault string   // the first one
	Story []string // all that happened
}

func (v *Violation) Error() string {
	return fmt.Sprintf("seed %d: %s\n%s", v.Seed, v.Fault, strings.Join(v.Story, "\n"))
}

const (
	// enough histories show all that Plan.Shows wants.
	enough = 200

	// twice is how many histories are run for one that is run once more, to see whether it is the same again.
	twice = 50
)

// Run runs as many histories as the flag -schedules says, and fails the test with the story of the first one that went wrong and
// with the command that runs it again.
func Run(t *testing.T, plan Plan) {
	t.Helper()
	n := max(*schedules, 1)
	violations := 0
	unseen := slices.Clone(plan.Shows)
	for i := range n {
		seed := *firstSeed + uint64(i)
		story, v := History(t, plan, seed)
		unseen = slices.DeleteFunc(unseen, func(what string) bool {
			return slices.ContainsFunc(story, func(line string) bool { return strings.Contains(line, what) })
		})
		if i%twice == 0 {
			if once, _ := History(t, plan, seed); !slices.Equal(once, story) {
				t.Errorf("seed %d is not the same again: %s", seed, difference(story, once))
			}
		}
		if v == nil {
			continue
		}
		violations++
		again := fmt.Sprintf("go test ./functions/%s -run '^%s$' -seed=%d -schedules=1", strings.TrimSuffix(plan.Name, fifoSuffix), strings.ReplaceAll(t.Name(), "/", "$/^"), seed)
		if violations == 1 {
			t.Errorf("%v\n\nagain: %s", v, again)
		} else {
			t.Errorf("seed %d: %s\nagain: %s", seed, v.Fault, again)
		}
	}
	if n >= enough && len(unseen) > 0 {
		t.Errorf("%d histories, and none shows %q", n, unseen)
	}
	if err := tell(n, violations); err != nil {
		t.Error(err)
	}
}

// difference is where two stories part.
func difference(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is %q, then %q", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("it has %d lines, then %d", len(a), len(b))
}

// Finds fails the test unless one of that many histories goes wrong in that way. It is for systems that are broken on purpose: what
// could find nothing shows nothing.
func Finds(t *testing.T, plan Plan, histories int, fault string) {
	t.Helper()
	plan.wrong = true
	var others []string
	for seed := range uint64(histories) {
		switch _, v := History(t, plan, seed+1); {
		case v == nil:
		case strings.Contains(v.Fault, fault):
			t.Logf("seed %d: %s", v.Seed, v.Fault)
			return
		default:
			others = append(others, v.Fault)
		}
	}
	t.Errorf("%d histories: none shows %q, but %q", histories, fault, others)
}

// History runs one and gives its story.
func History(t *testing.T, plan Plan, seed uint64) (story []string, v *Violation) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(plan, seed)
		w.run()
		if story = w.story; w.fault != "" {
			v = &Violation{Seed: seed, Fault: w.fault, Story: story}
		}
	})
	return story, v
}

// tell adds to the sums, and writes them for whoever runs several test binaries.
func tell(histories, violations int) error {
	sums.Lock()
	defer sums.Unlock()
	sums.Histories += histories
	sums.Violations += violations
	if *report == "" {
		return nil
	}
	text, err := json.Marshal(&sums)
	if err != nil {
		return err
	}
	return os.WriteFile(*report, append(text, '\n'), 0o644)
}
