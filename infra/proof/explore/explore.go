package explore

import (
	"fmt"
	"testing"
)

// violation is a history in which something went wrong; nil if nothing did.
func (w *world) violation() error {
	if w.fault == "" {
		return nil
	}
	test := "TestExhaustive"
	if _, ok := w.chooser.(*dice); ok {
		test = "TestRandom"
	}
	if w.sdk {
		test = "TestSDK"
	}
	return fmt.Errorf("%s\n%sagain by: go test ./explore -run %s -args -class=%s -side=%d %s", w.fault, w.told(), test, w.class, w.side, w.chooser)
}

// exhaust runs every history of up to that many deviations, until one is as it is
// wanted, and returns that.
func (s setting) exhaust(t *testing.T, deviations int, wanted func(*world) bool) (histories int, found *world) {
	p := &path{budget: deviations}
	for {
		histories++
		if w := s.history(t, p); wanted(w) {
			return histories, w
		}
		if !p.next() {
			return histories, nil
		}
	}
}

// find looks for a history among those of few deviations, and then by chance.
func (s setting) find(t *testing.T, deviations, random int, wanted func(*world) bool) (histories int, found *world) {
	for d := range deviations + 1 {
		for s.side = 1; s.side <= 2; s.side++ {
			n, found := s.exhaust(t, d, wanted)
			if histories += n; found != nil {
				return histories, found
			}
		}
	}
	for seed := range uint64(random) {
		histories++
		if w := s.chance(seed+1).history(t, newDice(seed+1)); wanted(w) {
			return histories, w
		}
	}
	return histories, nil
}

// chance is the setting of the history that has the seed.
func (s setting) chance(seed uint64) setting {
	s.side = 1 + int(seed%3)
	return s
}

func wrong(w *world) bool { return w.fault != "" }
