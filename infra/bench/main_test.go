package main

import "testing"

func TestBeside(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"../../README.md", "bench.svg", "infra/bench/bench.svg"},
		{"README.md", "bench.svg", "bench.svg"},
	} {
		if got, err := beside(c.from, c.to); err != nil || got != c.want {
			t.Errorf("%s from %s: got %s, %v, want %s", c.to, c.from, got, err, c.want)
		}
	}
}
