package soak

import (
	"bytes"
	"strings"
	"testing"

	"github.com/singleeffect/once/infra/local/demo"
	"github.com/singleeffect/once/shared/intent"
)

// shown is the report of a run that shows what it is to show.
func shown() Report {
	return Report{Intents: 100, Deliveries: 300, Kills: 20, LostReplies: 70, Refused: 6, InDoubt: 10, Redriven: 12,
		Outage: Outage{Seconds: 39600}, wanted: Config{Intents: 100, Kills: 20}}
}

func TestErr(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Report)
		want   string
	}{
		{"as it should be", func(*Report) {}, ""},
		{"a duplicate", func(r *Report) { r.Duplicates = 1 }, "1 duplicates and 0 losses"},
		{"a loss", func(r *Report) { r.Lost = 2 }, "0 duplicates and 2 losses"},
		{"a dead letter of the outage", func(r *Report) { r.Outage.DeadLettered = 3 }, "an outage of 39600 s dead-letters 3 messages"},
		{"a duplicate of the outage", func(r *Report) { r.Outage.Duplicates = 2 }, "and 2 take effect twice"},
		{"no outage", func(r *Report) { r.Outage = Outage{} }, "an outage of 0 s"},
		{"an odd record", func(r *Report) { r.odd = 1 }, "1 intents whose record"},
		{"a stray", func(r *Report) { r.strays = []string{"ship: x: y"} }, "ship: x: y"},
		{"a leak", func(r *Report) { r.leaks = []string{"order-canary1-charge"} }, "order-canary1-charge"},
		{"too few kills", func(r *Report) { r.Kills = 19 }, "100 intents and 19 kills, want 100 and 20"},
		{"too few intents", func(r *Report) { r.Intents = 99 }, "99 intents and 20 kills, want 100 and 20"},
		{"a quiet network", func(r *Report) { r.LostReplies = 0 }, "no reply was lost"},
		{"doubt everywhere", func(r *Report) { r.InDoubt = 11 }, "11 of 100 intents are in doubt"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := shown()
			tt.change(&r)
			err := r.Err()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	r := shown()
	r.Intents = 96
	for _, e := range []demo.Ended{
		{Effects: 3, Record: record(intent.Replayed)},
		{Refusable: true, Record: record(intent.Refused)},
		{Blind: true, Record: record(intent.InDoubt), Quarantine: "in_doubt: x"},
		{},
	} {
		r.count(e, judge(e))
	}
	if r.odd != 1 {
		t.Errorf("got %d odd ones, want 1", r.odd)
	}
	var out bytes.Buffer
	if err := r.JSON(&out); err != nil {
		t.Fatal(err)
	}
	want := `{"soak":{"intents":100,"deliveries":300,"kills":20,"lost_replies":70,"refused":7,"in_doubt":11,"redriven":12,"duplicates":2,"lost":1,"outage":{"seconds":39600,"dead_lettered":0,"duplicates":0}}}` + "\n"
	if got := out.String(); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}
