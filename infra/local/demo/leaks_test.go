package demo

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestLeaks(t *testing.T) {
	var out bytes.Buffer
	l := &leaks{out: &out}
	whole := "one\nof order-Canary"
	fmt.Fprint(l, whole)
	fmt.Fprint(l, "1-charge, in two writes\ntwo\n")
	l.look("a reason with canary2")
	l.look("a reason")
	fmt.Fprint(l, "the last, of canary3")
	want := []string{"of order-Canary1-charge, in two writes", "a reason with canary2", "the last, of canary3"}
	if got := l.told(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !strings.HasPrefix(out.String(), whole) || !strings.HasSuffix(out.String(), "canary3") {
		t.Errorf("passed on %q", out.String())
	}
	for range 2 * mostLeaks {
		l.look("canary")
	}
	if got := len(l.told()); got != mostLeaks {
		t.Errorf("got %d, want the first %d", got, mostLeaks)
	}
}

// Whatever the crowd says has a canary, so that no part of it can be told unseen.
func TestCrowdIsOfCanaries(t *testing.T) {
	for _, a := range plan(t, 2) {
		values := []string{a.user, a.order, customer(a), address(a)}
		if a.operation.key != nil {
			values = append(values, a.key().ID)
		}
		if a.operation.group != nil {
			values = append(values, a.operation.group(a))
		}
		for _, value := range values {
			if !strings.Contains(value, canary) {
				t.Errorf("%s: %q has no canary", a.operation.name, value)
			}
		}
	}
}
