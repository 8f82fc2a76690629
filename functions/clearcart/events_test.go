package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// samples is where the sample events lie.
const samples = "../../events/"

// stories are what each sample holds back. The messages say that user 7 checked out at noon.
var stories = map[string]struct {
	hold   []int // what is quarantined, by its place in the event
	reason string
}{
	"first-delivery":               {},
	"redelivery":                   {}, // on its own, as after a crash before the deletes
	"late-redelivery":              {},
	"redriven-with-new-message-id": {},
	"duplicate-in-batch":           {},
	"in-sns-envelope":              {},
	"poison":                       {hold: []int{1}, reason: "unreadable: "},
}

// shop puts into the cart of user 7 what goes with the checkout and what stays, and into that of user 8.
func (w *world) shop(t *testing.T) {
	t.Helper()
	w.add(t, "7", "book", noon-60_000)
	w.add(t, "7", "pen", noon)
	w.add(t, "7", "since", noon+60_000)
	w.add(t, "8", "book", noon-60_000)
}

func (w *world) wantCleared(t *testing.T) {
	t.Helper()
	w.wantCart(t, "since")
	if got := w.cart(t, "8"); !slices.Equal(got, []string{"book"}) {
		t.Errorf("cart of user 8: got %v, want it as it was", got)
	}
}

func TestSampleEvents(t *testing.T) {
	files, err := filepath.Glob(samples + "clearcart-*.json")
	if err != nil || len(files) != len(stories) {
		t.Fatalf("got samples %v and error %v, want one a story", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "clearcart-"), ".json")
		story, ok := stories[name]
		if !ok {
			t.Fatalf("no test knows the story %s", name)
		}
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.shop(t)
			if got := intenttest.Listed(t, file, w.worker(t).Handle); len(got) != 0 {
				t.Errorf("listed: got %v, want none", got)
			}
			reasons := w.reasons()
			if len(reasons) != len(story.hold) || slices.ContainsFunc(reasons, func(r string) bool { return !strings.HasPrefix(r, story.reason) }) {
				t.Errorf("quarantined: got %q, want %d for %q", reasons, len(story.hold), story.reason)
			}
			w.wantCleared(t)
		})
		t.Run(name+", without a dead-letter queue to send to", func(t *testing.T) {
			w := newWorld(t)
			w.shop(t)
			batch, err := sqsbatch.New(sqsbatch.Config{Handler: &intent.Natural[checkout]{Effect: cartsTable{client: w.db, name: w.carts}.clear}})
			if err != nil {
				t.Fatal(err)
			}
			if got := intenttest.Listed(t, file, batch.Handle); !slices.Equal(got, story.hold) {
				t.Errorf("listed: got %v, want %v", got, story.hold)
			}
			w.wantCleared(t)
		})
	}
}

// One after the other, while the user goes on shopping.
func TestSampleEventsOfOneCheckout(t *testing.T) {
	w := newWorld(t)
	w.shop(t)
	worker := w.worker(t)
	for i, name := range []string{"first-delivery", "redelivery", "redriven-with-new-message-id", "duplicate-in-batch", "in-sns-envelope", "late-redelivery"} {
		if got := intenttest.Listed(t, samples+"clearcart-"+name+".json", worker.Handle); len(got) != 0 {
			t.Errorf("%s: listed %v, want none", name, got)
		}
		want := []string{"book", "since"}
		if i == 0 {
			want = []string{"since"}
		}
		w.wantCart(t, want...)
		w.add(t, "7", "book", noon+3_600_000) // once more, after the first delivery
	}
}
