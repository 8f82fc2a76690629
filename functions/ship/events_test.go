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

// stories are what each sample does to order 8821, of which the messages say that it was shipped at noon, and to
// order 8822. There is no order 9999.
var stories = map[string]struct {
	from   string // status of both before
	hold   []int  // what is quarantined, by its place in the event
	reason string
	status string // of 8821 afterwards
	other  string // of 8822 afterwards
}{
	"first-delivery":               {from: "packed", status: shipped, other: "packed"},
	"redelivery":                   {from: "packed", status: shipped, other: "packed"}, // on its own, as after a crash before the write
	"late-redelivery":              {from: "delivered", status: "delivered", other: "delivered"},
	"redriven-with-new-message-id": {from: "packed", status: shipped, other: "packed"},
	"duplicate-in-batch":           {from: "packed", status: shipped, other: "packed"},
	"in-eventbridge-envelope":      {from: "packed", status: shipped, other: "packed"},
	"poison":                       {from: "packed", status: "packed", other: shipped, hold: []int{1}, reason: "unreadable: "},
	"unknown-order":                {from: "packed", status: shipped, other: "packed", hold: []int{0}, reason: "unprocessable: "}, // of which it is the fourth receive (C65)
}

func TestSampleEvents(t *testing.T) {
	files, err := filepath.Glob(samples + "ship-*.json")
	if err != nil || len(files) != len(stories) {
		t.Fatalf("got samples %v and error %v, want one a story", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "ship-"), ".json")
		story, ok := stories[name]
		if !ok {
			t.Fatalf("no test knows the story %s", name)
		}
		settled := func(t *testing.T, w *world) {
			t.Helper()
			for order, want := range map[string]string{"8821": story.status, "8822": story.other} {
				if got := w.row(t, order); !strings.Contains(got, `status="`+want+`"`) || strings.Contains(got, "shipped_at=") != (want == shipped) {
					t.Errorf("order %s: got %s, want it %s", order, got, want)
				}
			}
			if got := w.row(t, "9999"); got != "none" {
				t.Errorf("order 9999: got %s, want none", got)
			}
		}
		open := func(t *testing.T) *world {
			w := newWorld(t)
			w.put(t, "8821", story.from, nil)
			w.put(t, "8822", story.from, nil)
			return w
		}
		t.Run(name, func(t *testing.T) {
			w := open(t)
			if got := intenttest.Listed(t, file, w.worker(t).Handle); len(got) != 0 {
				t.Errorf("listed: got %v, want none", got)
			}
			reasons := w.reasons()
			if len(reasons) != len(story.hold) || slices.ContainsFunc(reasons, func(r string) bool { return !strings.HasPrefix(r, story.reason) }) {
				t.Errorf("quarantined: got %q, want %d for %q", reasons, len(story.hold), story.reason)
			}
			settled(t, w)
		})
		t.Run(name+", without a dead-letter queue to send to", func(t *testing.T) {
			w := open(t)
			batch, err := sqsbatch.New(sqsbatch.Config{Handler: &intent.Natural[shipment]{Effect: ordersTable{client: w.db, name: w.orders}.ship}})
			if err != nil {
				t.Fatal(err)
			}
			if got := intenttest.Listed(t, file, batch.Handle); !slices.Equal(got, story.hold) {
				t.Errorf("listed: got %v, want %v", got, story.hold)
			}
			settled(t, w)
		})
	}
}

// One after the other, and once more when the order is delivered: the late redelivery changes nothing.
func TestSampleEventsOfOneShipment(t *testing.T) {
	w := newWorld(t)
	w.put(t, "8821", "packed", nil)
	worker := w.worker(t)
	for _, name := range []string{"first-delivery", "redelivery", "redriven-with-new-message-id", "duplicate-in-batch", "in-eventbridge-envelope"} {
		if got := intenttest.Listed(t, samples+"ship-"+name+".json", worker.Handle); len(got) != 0 {
			t.Errorf("%s: listed %v, want none", name, got)
		}
		if got, want := w.row(t, "8821"), shippedRow("8821", noon); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	w.set(t, "8821", "delivered")
	want := w.row(t, "8821")
	for _, name := range []string{"late-redelivery", "redriven-with-new-message-id"} {
		if got := intenttest.Listed(t, samples+"ship-"+name+".json", worker.Handle); len(got) != 0 {
			t.Errorf("%s: listed %v, want none", name, got)
		}
		if got := w.row(t, "8821"); got != want {
			t.Errorf("%s: got %s, want %s as it was delivered", name, got, want)
		}
	}
}
