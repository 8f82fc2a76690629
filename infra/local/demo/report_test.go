package demo

import (
	"bytes"
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	tests := []struct {
		name string
		end  end
		want Effects
	}{
		{"once", end{effects: 1}, Effects{Effects: 1}},
		{"three times", end{effects: 3}, Effects{Effects: 3, Duplicates: 2, Wrong: 1}},
		{"never", end{}, Effects{Lost: 1, Wrong: 1}},
		{"refused or in doubt", end{settled: true}, Effects{}},
		{"in doubt, and it happened", end{effects: 1, settled: true}, Effects{Effects: 1}},
		{"refused, and it happened twice", end{effects: 2, settled: true}, Effects{Effects: 2, Duplicates: 1, Wrong: 1}},
		{"undone later", end{effects: 1, undone: true}, Effects{Effects: 1, Duplicates: 1, Wrong: 1, undone: 1}},
		{"stray", end{effects: 1, stray: true}, Effects{Effects: 1, Lost: 1, Wrong: 1}},
		{"stray and in doubt", end{settled: true, stray: true}, Effects{Lost: 1, Wrong: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got Effects
			got.count(tt.end)
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// shown is the account of a run that shows what it should.
func shown() Report {
	return Report{
		Lessons: []Lesson{
			{Operation: "ship", Naive: 1, Once: 1, of: &ship},
			{Operation: "adjust", Naive: 3, Once: 1, of: &adjust},
			{Operation: "welcome", Naive: 3, Once: 1, InDoubt: true, of: &welcome},
		},
		Rows: []Row{
			{
				Operation: "ship", Intents: 100, Deliveries: 300, Crashes: 20, LostReplies: 8,
				Naive: Effects{Effects: 100, Duplicates: 98, Wrong: 98, undone: 98},
				Once:  Guarded{Effects: Effects{Effects: 100}},
			},
			{
				Operation: "welcome", Intents: 100, Deliveries: 341, Crashes: 23, LostReplies: 12,
				Naive: Effects{Effects: 137, Duplicates: 39, Lost: 2, Wrong: 30},
				Once:  Guarded{Effects: Effects{Effects: 96}, InDoubt: 9},
			},
		},
	}
}

func TestReportErr(t *testing.T) {
	tests := []struct {
		name   string
		change func(r *Report)
		want   string // empty if the run shows what it should
	}{
		{"OK", func(*Report) {}, ""},
		{"a duplicate", func(r *Report) { r.Rows[0].Once.Duplicates = 1 }, "ship: 1 duplicates and 0 losses"},
		{"a leak", func(r *Report) { r.Leaks = []string{"order-canary1-charge"} }, "order-canary1-charge"},
		{"a loss", func(r *Report) { r.Rows[1].Once.Lost = 2 }, "welcome: 0 duplicates and 2 losses"},
		{"a stray", func(r *Report) {
			r.Rows[1].Once.Lost, r.Rows[1].Once.Wrong, r.Rows[1].Strays = 1, 1, []string{"x in quarantine: conflict: y"}
		}, "welcome: 0 duplicates and 1 losses, 1 intents wrong; x in quarantine: conflict: y"},
		{"nobody killed", func(r *Report) { r.Rows[0].Crashes = 0 }, "ship: no worker of the guarded function was killed"},
		{"a refusal", func(r *Report) { r.Rows[1].Once.Refused = 1 }, "welcome: 1 intents are refused"},
		{"doubts everywhere", func(r *Report) { r.Rows[1].Once.InDoubt = 51 }, "welcome: 51 of 100 intents are in doubt"},
		{"a harmless run", func(r *Report) { r.Rows[0].Naive.Wrong = 0 }, "ship: the naive twin did nothing wrong"},
		{"both", func(r *Report) { r.Rows[0].Once.Lost, r.Rows[0].Naive.Wrong = 1, 0 }, "ship: 0 duplicates and 1 losses"},
		{"a naive twin that learnt", func(r *Report) { r.Lessons[2].Naive = 2 },
			"welcome, three runs: welcome e-mails to user 7: 2 (naive) and 1 (in doubt) (once)"},
		{"a naive twin that is not shipped", func(r *Report) { r.Lessons[0].Naive = 0 },
			"ship, three runs: status of order 8821: not shipped (naive) and shipped (once)"},
		{"a lesson not learnt", func(r *Report) { r.Lessons[1].Once = 2 },
			"adjust, three runs: change of account 7's balance, in cents: -3000 (naive) and -2000 (once)"},
		{"a slow machine", func(r *Report) { r.Lessons[1].Naive, r.Lessons[2].Once = 4, 0 }, ""},
		{"an e-mail lost", func(r *Report) { r.Lessons[2].Once, r.Lessons[2].InDoubt = 0, false }, "welcome, three runs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := shown()
			tt.change(&r)
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
		`"naive":{"effects":237,"duplicates":137,"lost":2},` +
		`"once":{"effects":196,"refused":0,"in_doubt":9,"duplicates":0,"lost":0},` +
		`"operations":{"ship":{"intents":100,"deliveries":300,"naive_wrong":98,"once_wrong":0},` +
		`"welcome":{"intents":100,"deliveries":341,"naive_wrong":30,"once_wrong":0}}}}` + "\n"
	if got := out.String(); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestReportTable(t *testing.T) {
	r := shown()
	r.Rows[0].Once.Duplicates, r.Rows[0].Once.Lost, r.Rows[0].Once.undone = 4, 5, 1
	var out bytes.Buffer
	if err := r.Table(&out); err != nil {
		t.Fatal(err)
	}
	want := `
operation   intents   deliveries   crashes   lost replies   naive effects                once effects
ship        100       300          20        8              100 (98 undone later)        100 (3 too many) (1 undone later) (5 lost)
welcome     100       341          23        12             137 (39 too many) (2 lost)   96 (9 in doubt)
`
	if got := "\n" + out.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestShowLesson(t *testing.T) {
	var out bytes.Buffer
	if err := showLesson(&out, shown().Lessons); err != nil {
		t.Fatal(err)
	}
	want := `
operation   effect                                    naive after three runs   once after three runs
ship        status of order 8821                      shipped                  shipped
adjust      change of account 7's balance, in cents   -3000                    -1000
welcome     welcome e-mails to user 7                 3                        1 (in doubt)
`
	if got := "\n" + out.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
