package soak

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/singleeffect/once/infra/local/demo"
	"github.com/singleeffect/once/infra/local/lambda"
	"github.com/singleeffect/once/infra/local/mapping"
	"github.com/singleeffect/once/shared/intent"
)

func record(kind intent.Kind) intent.Outcome { return intent.Outcome{Kind: kind} }

func TestJudge(t *testing.T) {
	const (
		doubt    = "in_doubt: claim lapsed"
		conflict = "conflict: another payload"
	)
	tests := []struct {
		name  string
		ended demo.Ended
		want  verdict
	}{
		{"done", demo.Ended{Effects: 1, Record: record(intent.Replayed)}, verdict{}},
		{"done three times", demo.Ended{Effects: 3, Record: record(intent.Replayed)}, verdict{duplicates: 2}},
		{"said to be done", demo.Ended{Record: record(intent.Replayed)}, verdict{lost: true}},
		{"done without a record", demo.Ended{Effects: 1}, verdict{odd: "has no final record"}},
		{"done and still claimed", demo.Ended{Effects: 1, Record: record(intent.InProgress)}, verdict{odd: "has no final record"}},
		{"gone", demo.Ended{}, verdict{lost: true, odd: "has no final record"}},
		{"done, and in quarantine", demo.Ended{Effects: 1, Record: record(intent.Replayed), Quarantine: conflict}, verdict{odd: "is in quarantine"}},
		{"in quarantine", demo.Ended{Quarantine: conflict}, verdict{odd: "is in quarantine"}},

		{"refused", demo.Ended{Refusable: true, Record: record(intent.Refused)}, verdict{}},
		{"refused and done", demo.Ended{Refusable: true, Effects: 1, Record: record(intent.Refused)}, verdict{duplicates: 1}},
		{"to be refused and done", demo.Ended{Refusable: true, Effects: 1, Record: record(intent.Replayed)}, verdict{duplicates: 1}},
		{"refused for nothing", demo.Ended{Record: record(intent.Refused)},
			verdict{lost: true, odd: "is refused, and the business says yes"}},
		{"refused for nothing, and done", demo.Ended{Effects: 1, Record: record(intent.Refused)},
			verdict{odd: "is refused, and the business says yes"}},

		{"in doubt", demo.Ended{Blind: true, Record: record(intent.InDoubt), Quarantine: doubt}, verdict{}},
		{"in doubt and done", demo.Ended{Blind: true, Effects: 1, Record: record(intent.InDoubt), Quarantine: doubt}, verdict{}},
		{"in doubt and done twice", demo.Ended{Blind: true, Effects: 2, Record: record(intent.InDoubt), Quarantine: doubt}, verdict{duplicates: 1}},
		{"in doubt, and nobody hears", demo.Ended{Blind: true, Record: record(intent.InDoubt)},
			verdict{lost: true, odd: "is in doubt, and not in quarantine"}},
		{"in doubt and done, and nobody hears", demo.Ended{Blind: true, Effects: 1, Record: record(intent.InDoubt)},
			verdict{odd: "is in doubt, and not in quarantine"}},
		{"in doubt without need", demo.Ended{Effects: 1, Record: record(intent.InDoubt)},
			verdict{odd: "is in doubt, though its provider can be asked again"}},
		{"done, and told to be in doubt", demo.Ended{Blind: true, Effects: 1, Record: record(intent.Replayed), Quarantine: doubt},
			verdict{odd: "is in quarantine for a doubt, and its record has none"}},

		{"natural", demo.Ended{Natural: true, Effects: 1}, verdict{}},
		{"natural, never reached", demo.Ended{Natural: true}, verdict{lost: true}},
		{"natural, undone", demo.Ended{Natural: true, Effects: 1, Undone: true}, verdict{duplicates: 1}},
		{"natural, in quarantine", demo.Ended{Natural: true, Effects: 1, Quarantine: doubt}, verdict{odd: "is in quarantine"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := judge(tt.ended)
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if got.wrong() != (tt.want != verdict{}) {
				t.Errorf("wrong: got %t", got.wrong())
			}
		})
	}
}

func TestStory(t *testing.T) {
	tr := newTrouble(1, 1, 0, io.Discard)
	tr.observe("welcome", mapping.Batch{Poller: 1, Messages: []string{"m1", "m2"}, Bodies: []string{"ada", "bob"},
		Err: &lambda.CrashError{Type: "Runtime.ExitError", Message: "signal: killed"}})
	tr.observe("welcome", mapping.Batch{Messages: []string{"m3"}, Bodies: []string{"ada"}})
	tr.observe("ship", mapping.Batch{Messages: []string{"m4"}, Bodies: []string{"ada"}, Err: errors.New("not hers")})
	e := demo.Ended{Operation: "welcome", Body: "ada", Blind: true, Effects: 2, Quarantine: "in_doubt: x",
		Record: intent.Outcome{Kind: intent.InDoubt, Attempt: 3, Reason: "lapsed"}}
	story := tr.story(e, judge(e))
	for _, want := range []string{
		"welcome ada: 2 effects", "1 duplicates", `in_doubt, attempt 3`, `reason "lapsed"`, "in quarantine: in_doubt: x",
		"message m1, worker 1: the function crashed: Runtime.ExitError: signal: killed", "message m3, worker 0: answered",
	} {
		if !strings.Contains(story, want) {
			t.Errorf("the story lacks %q:\n%s", want, story)
		}
	}
	for _, other := range []string{"m2", "m4", "not hers"} {
		if strings.Contains(story, other) {
			t.Errorf("the story has another's %q:\n%s", other, story)
		}
	}
}
