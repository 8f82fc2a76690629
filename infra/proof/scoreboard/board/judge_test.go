package board

import "testing"

func TestJudge(t *testing.T) {
	done, listed := &message{acknowledged: true, deliveries: 2}, &message{deliveries: 5}
	one, each := Case{want: map[string]int{"a": 1}}, Case{want: map[string]int{"a": 1, "b": 1}}
	none := Case{want: map[string]int{"a": 0, "b": 0}, reported: true}
	for _, test := range []struct {
		name     string
		c        Case
		effects  map[string]int
		messages []*message
		want     Score
	}{
		{"one of one", one, map[string]int{"a": 1}, []*message{done}, Score{1, false, 2, 0}},
		{"one, and the message stays", one, map[string]int{"a": 1}, []*message{listed}, Score{1, false, 5, 1}},
		{"lost", one, nil, []*message{done}, Score{0, true, 2, 0}},
		{"twice", one, map[string]int{"a": 2}, []*message{done}, Score{2, true, 2, 0}},
		{"of an intent that was never asked for", one, map[string]int{"a": 1, "b": 1}, []*message{done}, Score{2, true, 2, 0}},
		{"one each", each, map[string]int{"a": 1, "b": 1}, []*message{done, done}, Score{2, false, 4, 0}},
		{"two of one and none of the other", each, map[string]int{"a": 2}, []*message{done, done}, Score{2, true, 4, 0}},
		{"none, both reported", none, nil, []*message{listed, listed}, Score{0, false, 10, 2}},
		{"none, one of them swallowed", none, nil, []*message{listed, done}, Score{0, true, 7, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.c.judge(test.effects, test.messages); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}
