package board

import (
	"errors"
	"os"
	"testing"

	"github.com/singleeffect/once/infra/proof/scoreboard/powertools"
	"github.com/singleeffect/once/infra/proof/scoreboard/worker"
	"github.com/singleeffect/once/shared/intenttest"
)

func TestMain(m *testing.M) {
	worker.Run() // this binary is the Go functions, too
	os.Exit(m.Run())
}

// verdicts are what each side is known to do: effects, and whether they are wrong. Once has none: it is right.
var verdicts = map[string]struct{ powertools, naive Score }{
	"lost_claim_reply":        {Score{Effects: 1}, Score{Effects: 0, Wrong: true}},
	"zombie_completes":        {Score{Effects: 2, Wrong: true}, Score{Effects: 1}},
	"zombie_fails_late":       {Score{Effects: 2, Wrong: true}, Score{Effects: 0, Wrong: true}},
	"crash_before_completion": {Score{Effects: 2, Wrong: true}, Score{Effects: 1}},
	"result_not_storable":     {Score{Effects: 5, Wrong: true}, Score{Effects: 1}},
	"null_key":                {Score{Effects: 1, Wrong: true}, Score{Effects: 1, Wrong: true}},
	"big_ids":                 {Score{Effects: 1, Wrong: true}, Score{Effects: 2}},
	"two_operations":          {Score{Effects: 1, Wrong: true}, Score{Effects: 1, Wrong: true}},
	"short_retention":         {Score{Effects: 2, Wrong: true}, Score{Effects: 2, Wrong: true}},
}

func TestOnceAndNaive(t *testing.T) {
	once, err := Once()
	if err != nil {
		t.Fatal(err)
	}
	naive, err := Naive()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Cases {
		t.Run(c.Name, func(t *testing.T) {
			scores := run(t, c, once, naive)
			right := Score{}
			for _, n := range c.want {
				right.Effects += n
			}
			check(t, "once", scores[0], right)
			check(t, "naive", scores[1], verdicts[c.Name].naive)
		})
	}
}

// TestPowertools holds the peer to what the README says of it, good and bad.
func TestPowertools(t *testing.T) {
	peer := peer(t)
	for _, c := range Cases {
		t.Run(c.Name, func(t *testing.T) {
			check(t, "Powertools", run(t, c, peer)[0], verdicts[c.Name].powertools)
		})
	}
	for _, other := range Others {
		t.Run(other.Case+" with "+other.Says, func(t *testing.T) {
			if s := run(t, Named(other.Case), other.Of(peer))[0]; s.Wrong {
				t.Errorf("got %v, want it to be right", s)
			}
		})
	}
}

func peer(t *testing.T) Side {
	peer, err := Powertools(t.Context())
	if errors.Is(err, powertools.ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return peer
}

// run runs one case while others run, too: what they do is to wait for leases.
func run(t *testing.T, c Case, sides ...Side) []Score {
	engine := Engine{*intenttest.Engine(t).Options().BaseEndpoint}
	t.Parallel()
	scores, err := Run(t.Context(), engine, c, sides, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

func check(t *testing.T, side string, got, want Score) {
	t.Helper()
	if got.Effects != want.Effects || got.Wrong != want.Wrong {
		t.Errorf("%s: got %v after %d deliveries, want %v", side, got, got.deliveries, want)
	}
}
