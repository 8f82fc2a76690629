package intenttest

import (
	"sync"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

func (c *contract) claim(t *testing.T) {
	t.Run("absent", func(t *testing.T) {
		next := Draft()
		c.wrote(t, next, claiming(next))
	})
	t.Run("forgotten", func(t *testing.T) {
		// The claim's own clock says what is forgotten: this one is past the
		// retention of an hour, and the record is still there.
		old := c.stand(t, intent.StateCompleted)
		next := succeeded(Draft(), intent.StateClaimed)
		next.Intent, next.ClaimedAt = old.Intent, next.ClaimedAt.Add(2*time.Hour)
		next.LeaseUntil = next.ClaimedAt.Add(time.Minute)
		c.wrote(t, next, claiming(next))
	})
	for _, state := range states[1:] {
		t.Run("any other/"+called(state), func(t *testing.T) {
			old := c.stand(t, state)
			next := Draft()
			next.Intent = old.Intent
			if state.Final() { // up to its last second
				next.ClaimedAt = old.ExpiresAt
			} else { // undecided: never forgotten
				next.ClaimedAt = old.ClaimedAt.AddDate(10, 0, 0)
			}
			c.refused(t, old.Intent, claiming(next))
		})
	}
	for name, n := range losses {
		t.Run("lost reply "+name, func(t *testing.T) {
			next := Draft()
			c.wroteBy(t, c.losing(t, n, nil), next, claiming(next))
		})
	}
	t.Run("lost reply, or what became of it", func(t *testing.T) {
		next := Draft()
		became := succeeded(next, intent.StateInDoubt)
		c.wroteBy(t, c.losing(t, 1, func() { c.wrote(t, became, replacing(next, became)) }), became, claiming(next))
	})
	t.Run("vanished", func(t *testing.T) {
		old := c.stand(t, intent.StateClaimed)
		next := Draft()
		next.Intent = old.Intent
		got, err := c.bare(t, true).Claim(t.Context(), next)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "answer", got, intent.Record{})
		same(t, "record", c.read(t, old.Intent), old)
	})
	t.Run("refused without the record", func(t *testing.T) {
		old := c.stand(t, intent.StateClaimed)
		next := Draft()
		next.Intent = old.Intent
		c.refusedBy(t, c.bare(t, false), old.Intent, claiming(next))
	})
	t.Run("64 at once", func(t *testing.T) {
		next := Draft()
		c.oneWins(t, next.Intent, 64, func() (intent.Record, change) {
			mine := next
			mine.Owner = intent.NewOwner()
			return mine, claiming(mine)
		})
	})
}

func (c *contract) amend(t *testing.T) {
	// What is allowed, and what is not, is under Transitions.
	for _, to := range states[1:] {
		t.Run("absent/"+called(to), func(t *testing.T) {
			next := moved(Draft(), to)
			c.refused(t, next.Intent, amending(next)) // with the zero Record
		})
		for _, from := range states[1:] {
			t.Run("another's/"+called(from)+" to "+called(to), func(t *testing.T) {
				old := c.stand(t, from)
				mine := moved(old, to)
				mine.Owner = intent.NewOwner()
				c.refused(t, old.Intent, amending(mine))
			})
		}
		for _, verdict := range []intent.State{intent.StateCompleted, intent.StateRefused, intent.StateReleased} {
			t.Run("settled/"+called(verdict)+" to "+called(to), func(t *testing.T) {
				doubt := c.stand(t, intent.StateInDoubt)
				settled := succeeded(doubt, verdict)
				c.wrote(t, settled, replacing(doubt, settled))
				c.refused(t, doubt.Intent, amending(moved(doubt, to)))
			})
		}
	}
	t.Run("ours, known not to have happened", func(t *testing.T) {
		next := moved(c.stand(t, intent.StateClaimed), intent.StateReleased)
		next.ClaimedAt = time.Time{}
		c.wrote(t, next, amending(next))
	})
	t.Run("lost reply, or what became of it", func(t *testing.T) {
		old := c.stand(t, intent.StateClaimed)
		next := moved(old, intent.StateReleased)
		became := succeeded(next, intent.StateClaimed)
		c.wroteBy(t, c.losing(t, 1, func() { c.wrote(t, became, replacing(next, became)) }), became, amending(next))
	})
	t.Run("refused without the record", func(t *testing.T) {
		old := c.stand(t, intent.StateReleased)
		c.refusedBy(t, c.bare(t, false), old.Intent, amending(moved(old, intent.StateCompleted)))
	})
}

func (c *contract) replace(t *testing.T) {
	for _, tr := range intent.Transitions {
		if tr.Guard != intent.ByShown {
			continue
		}
		name := tr.Verb + " " + called(tr.From) + " to " + called(tr.To)
		t.Run("absent/"+name, func(t *testing.T) {
			shown := moved(Draft(), tr.From)
			c.refused(t, shown.Intent, replacing(shown, succeeded(shown, tr.To))) // with the zero Record
		})
		// The write of another that may land between the look and the replacement:
		// the state alone, the owner, the lease.
		for what, since := range map[string]func(intent.Record) intent.Record{
			"state": func(shown intent.Record) intent.Record { return moved(shown, intent.StateCompleted) },
			"owner": func(shown intent.Record) intent.Record { shown.Owner = intent.NewOwner(); return shown },
			"lease": func(shown intent.Record) intent.Record {
				shown.LeaseUntil = shown.LeaseUntil.Add(time.Millisecond)
				return shown
			},
		} {
			t.Run("changed since/"+what+"/"+name, func(t *testing.T) {
				shown := Draft()
				standing := since(moved(shown, tr.From))
				first := standing
				first.State, first.Reason, first.Result, first.CompletedAt, first.ExpiresAt =
					intent.StateClaimed, "", intent.Result{}, time.Time{}, time.Time{}
				c.wrote(t, first, claiming(first))
				if standing.State != intent.StateClaimed {
					c.wrote(t, standing, amending(standing))
				}
				shown = moved(shown, tr.From)
				c.refused(t, shown.Intent, replacing(shown, succeeded(shown, tr.To)))
			})
		}
	}
	t.Run("as shown, a new owner of what may have happened before", func(t *testing.T) {
		shown := c.stand(t, intent.StateInDoubt)
		next := succeeded(shown, intent.StateReleased)
		next.ClaimedAt = shown.ClaimedAt
		c.wrote(t, next, replacing(shown, next))
	})
	t.Run("lost reply, or what became of it", func(t *testing.T) {
		shown := c.stand(t, intent.StateClaimed)
		next := succeeded(shown, intent.StateClaimed)
		became := moved(next, intent.StateCompleted)
		c.wroteBy(t, c.losing(t, 1, func() { c.wrote(t, became, amending(became)) }), became, replacing(shown, next))
	})
	t.Run("refused without the record", func(t *testing.T) {
		shown := c.stand(t, intent.StateClaimed)
		now := moved(shown, intent.StateCompleted)
		c.wrote(t, now, amending(now))
		c.refusedBy(t, c.bare(t, false), shown.Intent, replacing(shown, succeeded(shown, intent.StateClaimed)))
	})
	t.Run("16 at once", func(t *testing.T) {
		shown := c.stand(t, intent.StateClaimed)
		c.oneWins(t, shown.Intent, 16, func() (intent.Record, change) {
			mine := succeeded(shown, intent.StateClaimed)
			return mine, replacing(shown, mine)
		})
	})
}

// oneWins runs n rival writes at once: one lands, and all are answered with it.
func (c *contract) oneWins(t *testing.T, key string, n int, rival func() (intent.Record, change)) {
	t.Helper()
	var mu sync.Mutex
	answers := map[string]int{} // how many were shown this owner
	won := 0
	err := atOnce(n, func(int) error {
		mine, w := rival()
		got, err := w(t.Context(), c.plain)
		mu.Lock()
		defer mu.Unlock()
		answers[got.Owner]++
		if got.Owner == mine.Owner {
			won++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if won != 1 || answers[c.read(t, key).Owner] != n {
		t.Errorf("%d writes won and the answers name the owners %v, want 1 and the one that stands", won, answers)
	}
}

func (c *contract) load(t *testing.T) {
	for _, state := range states[1:] {
		t.Run(called(state), func(t *testing.T) {
			want := c.stand(t, state)
			same(t, "record", c.read(t, want.Intent), want)
		})
	}
	t.Run("absent", func(t *testing.T) {
		same(t, "record", c.read(t, Draft().Intent), intent.Record{})
	})
}
