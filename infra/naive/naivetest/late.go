package naivetest

import (
	"context"
	"testing"

	"github.com/singleeffect/once/infra/naive"
)

// Late is the story of a twin without marks. State tells what is there, where the
// effect happens; each field after it is what State has to say at its time.
type Late struct {
	Effect naive.Effect
	Body   string
	State  func() string

	Before    string
	Delivered string // and delivered again at once
	// MoveOn is what the world does between the first deliveries and the late one.
	MoveOn func(context.Context) error
	Moved  string
	Undone string // by the late redelivery
}

// Redelivery delivers the message, and once more when the world has moved on.
func Redelivery(t *testing.T, story Late) {
	unmarked := naive.Handler{Effect: story.Effect}
	want := func(when, want string) {
		t.Helper()
		if got := story.State(); got != want {
			t.Errorf("%s: got %s, want %s", when, got, want)
		}
	}
	want("before", story.Before)
	for _, when := range []string{"first delivery", "redelivery at once"} {
		if !deliver(t, unmarked, story.Body) {
			t.Errorf("%s: the handler did not answer", when)
		}
		want(when, story.Delivered)
	}
	if err := story.MoveOn(t.Context()); err != nil {
		t.Fatal(err)
	}
	want("moved on", story.Moved)
	if !deliver(t, unmarked, story.Body) {
		t.Error("late redelivery: the handler did not answer")
	}
	want("late redelivery", story.Undone)
}
