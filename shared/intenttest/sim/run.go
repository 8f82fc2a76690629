package sim

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

var (
	schedules = flag.Int("schedules", 300, "histories of each system test")
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

// Run runs as many histories as the flag -schedules says, and fails the test with the story of the first one that went wrong and
// with the command that runs it again.
func Run(t *testing.T, plan Plan) {
	t.Helper()
	n := max(*schedules, 1)
	violations := 0
	for i := range n {
		seed := *firstSeed + uint64(i)
		_, v := History(t, plan, seed)
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
	if err := tell(n, violations); err != nil {
		t.Error(err)
	}
}

// Finds fails the test unless one of that many histories goes wrong in that way. It is for systems that are broken on purpose: what
// could find nothing shows nothing.
func Finds(t *testing.T, plan Plan, histories int, fault string) {
	t.Helper()
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
