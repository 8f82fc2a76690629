package template

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestExpression(t *testing.T) {
	none := math.NaN()
	metrics := map[string][]float64{"m": {6, none, 2, 0}, "n": {3, 4, 0, none}}
	tests := []struct {
		text string
		want []float64
		ids  []string
	}{
		{"2.5", []float64{2.5, 2.5, 2.5, 2.5}, nil},
		{"m", []float64{6, none, 2, 0}, []string{"m"}},
		{"other", []float64{none, none, none, none}, []string{"other"}},
		{"m + n * 2", []float64{12, none, 2, none}, []string{"m", "n"}},
		{"(m - 1) * n", []float64{15, none, 0, none}, []string{"m", "n"}},
		{"m / n", []float64{2, none, none, none}, []string{"m", "n"}}, // also of a quotient by 0
		{"FILL(m, 1) / FILL(n, 4)", []float64{2, 0.25, none, 0}, []string{"m", "n"}},
		{"DIFF(m)", []float64{none, none, -4, -2}, []string{"m"}}, // over the gap
		{"DIFF(FILL(other, 0))", []float64{none, 0, 0, 0}, []string{"other"}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			e, err := ParseExpression(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
			if got := e.Series(4, metrics); !slices.EqualFunc(got, tt.want, same) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if got := e.IDs(); !slices.Equal(got, tt.ids) {
				t.Errorf("reads %q, want %q", got, tt.ids)
			}
			if e.String() != tt.text {
				t.Errorf("is %q", e)
			}
		})
	}
}

func TestUnknownExpressions(t *testing.T) {
	for text, want := range map[string]string{
		"":                "no expression",
		"m n":             "no expression",
		"m > 1":           "operator >",
		"'m'":             "no number",
		"-m":              "UnaryExpr",
		"IF(m, 1, 2)":     "known calls",
		"FILL(m)":         "known calls",
		"FILL(m, REPEAT)": "a number alone",
		"DIFF(m, n)":      "known calls",
		"DIFF(m % 2)":     "operator %",
		"a.b(m)":          "known calls",
	} {
		if e, err := ParseExpression(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v and error %v, want one with %q", text, e, err, want)
		}
	}
}

func TestBreaches(t *testing.T) {
	for comparison, want := range map[string][]bool{ // below, at and above the threshold
		"GreaterThanThreshold": {false, false, true}, "GreaterThanOrEqualToThreshold": {false, true, true},
		"LessThanThreshold": {true, false, false}, "LessThanOrEqualToThreshold": {true, true, false},
	} {
		a := Alarm{Comparison: comparison, Threshold: 0.5}
		if got := []bool{a.Breaches(0.4), a.Breaches(0.5), a.Breaches(0.6)}; !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", comparison, got, want)
		}
		if a.Breaches(math.NaN()) {
			t.Errorf("%s: a missing value breaches", comparison)
		}
	}
}
