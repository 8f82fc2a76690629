package linear

import (
	"errors"
	"testing"
)

// Workers whose writes lost a condition leave histories that nobody can put in order.
func TestBrokenWorkers(t *testing.T) {
	for _, tt := range []struct {
		broken breach
		class  Class
	}{{anyoneClaims, Keyed}, {anyoneClaims, Blind}, {anyoneClaims, Ledger}, {anyoneChanges, Keyed}, {anyoneChanges, Blind}} {
		t.Run(string(tt.broken)+"/"+string(tt.class), func(t *testing.T) {
			c := config(t, 500, tt.class)
			c.broken = tt.broken
			found, err := Run(t.Context(), c)
			if !errors.Is(err, errIllegal) {
				t.Fatalf("got error %v after %d histories, want one that is not linearizable", err, found.Histories)
			}
			t.Logf("after %d histories: %v", found.Histories, err)
		})
	}
}
