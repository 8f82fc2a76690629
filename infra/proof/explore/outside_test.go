package explore

import (
	"fmt"
	"testing"
)

// twice reports a history with a second effect.
func twice(w *world) bool { return len(w.effects(w.subjects[0])) > 1 }

// Outside the assumptions the double is there to be found, so it would be found
// inside, too.
func TestOutsideTheAssumptions(t *testing.T) {
	for _, tt := range []struct {
		class  Class
		breach breach
	}{
		{Probed, pauses}, {RenewedProbed, pauses}, {Blind, falseNo}, {Probed, falseNo}, {Probed, clocks},
		{Keyed, forgets}, {Keyed, keyless}, {Grouped, keyless},
	} {
		t.Run(fmt.Sprintf("%s, where %s", tt.class, tt.breach), func(t *testing.T) {
			t.Parallel()
			histories, found := setting{class: tt.class, breach: tt.breach}.find(t, 1, 20000, twice)
			if found == nil {
				t.Fatalf("no second effect in %d histories: whatever makes one is not explored", histories)
			}
			t.Logf("history %d of them:\n%s", histories, found.told())
		})
	}
}

// What does not count on an assumption holds without it: a ledger, and a provider
// that remembers its keys.
func TestNeedsNoAssumption(t *testing.T) {
	for _, class := range []Class{Keyed, Grouped, Ledger} {
		for _, b := range []breach{pauses, falseNo, clocks} {
			t.Run(fmt.Sprintf("%s, where %s", class, b), func(t *testing.T) {
				t.Parallel()
				for n := 1; n <= 3; n++ {
					s := setting{class: class, side: n, breach: b}
					if _, found := s.exhaust(t, min(*deviations, class.traits().deep[n-1], 2), wrong); found != nil {
						t.Errorf("%s\n%s", found.fault, found.told())
					}
				}
			})
		}
	}
}
