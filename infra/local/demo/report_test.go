package demo

import (
	"bytes"
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	tests := []struct {
		name    string
		effects int
		settled bool
		want    Effects
	}{
		{"once", 1, false, Effects{Effects: 1}},
		{"three times", 3, false, Effects{Effects: 3, Duplicates: 2}},
		{"never", 0, false, Effects{Lost: 1}},
		{"refused or in doubt", 0, true, Effects{}},
		{"in doubt, and it happened", 1, true, Effects{Effects: 1}},
		{"refused, and it happened twice", 2, true, Effects{Effects: 2, Duplicates: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got Effects
			got.count(tt.effects, tt.settled)
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// shown is the account of a run that shows what it should.
func shown() Report {
	return Report{Rows: []Row{
		{
			Operation: "charge", Intents: 100, Deliveries: 341, Crashes: 23, LostReplies: 12,
			Naive: Effects{Effects: 137, Duplicates: 39, Lost: 2},
			Once:  Guarded{Effects: Effects{Effects: 96}, Refused: 3, InDoubt: 1},
		},
		{
			Operation: "adjust", Intents: 100, Deliveries: 300, Crashes: 20, LostReplies: 8,
			Naive: Effects{Effects: 110, Duplicates: 10},
			Once:  Guarded{Effects: Effects{Effects: 100}},
		},
	}}
}

func TestReportErr(t *testing.T) {
	tests := []struct {
		name   string
		change func(charge, adjust *Row)
		want   string // empty if the run shows what it should
	}{
		{"OK", func(*Row, *Row) {}, ""},
		{"a duplicate", func(charge, _ *Row) { charge.Once.Duplicates = 1 }, "charge: 1 duplicates and 0 losses"},
		{"a loss", func(_, adjust *Row) { adjust.Once.Lost = 2 }, "adjust: 0 duplicates and 2 losses"},
		{"a harmless run", func(_, adjust *Row) { adjust.Naive.Duplicates = 0 }, "adjust: the naive twin made no duplicate"},
		{"both", func(charge, adjust *Row) { charge.Once.Lost, adjust.Naive.Duplicates = 1, 0 }, "charge: 0 duplicates and 1 losses"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := shown()
			tt.change(&r.Rows[0], &r.Rows[1])
			err := r.Err()
			if tt.want == "" {
				if err != nil {
					t.Errorf("got error %v, want none", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestReportJSON(t *testing.T) {
	var out bytes.Buffer
	if err := shown().JSON(&out); err != nil {
		t.Fatal(err)
	}
	want := `{"demo":{"intents":200,"deliveries":641,"crashes":43,"lost_replies":20,` +
		`"naive":{"effects":247,"duplicates":49,"lost":2},` +
		`"once":{"effects":196,"refused":3,"in_doubt":1,"duplicates":0,"lost":0}}}` + "\n"
	if got := out.String(); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestReportTable(t *testing.T) {
	r := shown()
	r.Rows[1].Once.Duplicates, r.Rows[1].Once.Lost = 4, 5
	var out bytes.Buffer
	if err := r.Table(&out); err != nil {
		t.Fatal(err)
	}
	want := `
operation   intents   deliveries   crashes   lost replies   naive effects                once effects
charge      100       341          23        12             137 (39 too many) (2 lost)   96
adjust      100       300          20        8              110 (10 too many)            100 (4 too many) (5 lost)
`
	if got := "\n" + out.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
