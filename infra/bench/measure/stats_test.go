package measure

import (
	"math"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 1, 5}, 5},
		{[]float64{9, 1, 5, 100}, 7},
	} {
		if got := median(c.values); got != c.want {
			t.Errorf("%v: got %v, want %v", c.values, got, c.want)
		}
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("of nothing: got %v", got)
	}
}

func TestPercentile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(100 - i) // 100 to 1
	}
	for _, c := range []struct {
		values []time.Duration
		q      float64
		want   time.Duration
	}{
		{hundred, 0.5, 50},
		{hundred, 0.99, 99},
		{hundred, 1, 100},
		{hundred, 0.001, 1},
		{[]time.Duration{3, 1, 2}, 0.5, 2},
		{[]time.Duration{4}, 0.99, 4},
		{nil, 0.5, 0},
	} {
		if got := percentile(c.values, c.q); got != c.want {
			t.Errorf("%v of %d: got %d, want %d", c.q, len(c.values), got, c.want)
		}
	}
}
