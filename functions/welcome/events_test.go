package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/singleeffect/once/shared/intenttest"
)

// samples is where the sample events lie.
const samples = "../../events/"

func TestSampleEvents(t *testing.T) {
	stories := map[string]struct {
		listed []int
		mails  map[string]int // by subject
	}{
		"first-delivery":               {mails: map[string]int{"Welcome, Ada": 1}},
		"redelivery":                   {mails: map[string]int{"Welcome, Ada": 1}}, // on its own, as after a crash before the claim
		"redriven-with-new-message-id": {mails: map[string]int{"Welcome, Ada": 1}},
		"duplicate-in-batch":           {mails: map[string]int{"Welcome, Ada": 1}},
		"conflicting-payload":          {mails: map[string]int{"Welcome, Ada": 1}, listed: []int{1}},
		"no-key":                       {listed: []int{0, 1, 2}},
		"poison":                       {mails: map[string]int{"Your trial ends soon": 1}, listed: []int{1, 2}},
		"user-not-there-yet":           {listed: []int{0}},
		"unknown-user":                 {}, // at its fourth receive: refused, which is an answer
	}
	files, err := filepath.Glob(samples + "welcome-*.json")
	if err != nil || len(files) != len(stories) {
		t.Fatalf("got samples %v and error %v, want one a story", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "welcome-"), ".json")
		t.Run(name, func(t *testing.T) {
			story, ok := stories[name]
			if !ok {
				t.Fatal("no test knows this story")
			}
			w := newFixture(t)
			if got := intenttest.Listed(t, file, w.worker(t, 0).batch.Handle); !slices.Equal(got, story.listed) {
				t.Errorf("listed: got %v, want %v", got, story.listed)
			}
			mails := map[string]int{}
			for _, m := range w.ses.sent() {
				mails[m.subject]++
			}
			if !maps.Equal(mails, story.mails) {
				t.Errorf("e-mails by subject: got %v, want %v", mails, story.mails)
			}
		})
	}
}

// One after the other they are one intent: one e-mail, and nobody is left waiting for an answer.
func TestSampleEventsOfOneIntent(t *testing.T) {
	w := newFixture(t)
	for _, name := range []string{"first-delivery", "redelivery", "redriven-with-new-message-id", "duplicate-in-batch"} {
		if got := intenttest.Listed(t, samples+"welcome-"+name+".json", w.worker(t, 0).batch.Handle); len(got) != 0 {
			t.Errorf("%s: listed %v, want none", name, got)
		}
	}
	w.ses.wantSent(t, "in all of them", ada)
}
