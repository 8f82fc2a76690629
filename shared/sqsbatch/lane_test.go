package sqsbatch_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// slow is a handler whose every run takes a second.
func slow(context.Context, intent.Delivery) (intent.Outcome, error) {
	time.Sleep(time.Second)
	return executed, nil
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		concurrency int
		most        int           // at one time
		took        time.Duration // for 25 messages
	}{
		{"10 by default", 0, 10, 3 * time.Second},
		{"1", 1, 1, 25 * time.Second},
		{"4", 4, 4, 7 * time.Second},
		{"more than there are", 50, 25, time.Second},
	} {
		bubble(t, tt.name, func(t *testing.T) {
			r := newRig(t, func(c *sqsbatch.Config) { c.Concurrency = tt.concurrency })
			r.hand.do = slow
			var messages []events.SQSMessage
			for i := range 25 {
				messages = append(messages, asking(fmt.Sprint(i), fmt.Sprint(i)))
			}
			start := time.Now()
			wantIDs(t, "listed", r.handle(messages...))
			if took := time.Since(start); r.hand.most != tt.most || took != tt.took {
				t.Errorf("got %d side by side in %v, want %d in %v", r.hand.most, took, tt.most, tt.took)
			}
		})
	}
}

// freely is a handler that says that it need not run alone.
type freely struct{ *hand }

func (freely) OneAtATime() bool { return false }

func TestNotOneAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := freely{&hand{do: slow}}
		r := newRig(t, func(c *sqsbatch.Config) { c.Handler = h })
		wantIDs(t, "listed", r.handle(asking("1", "1"), asking("2", "2")))
		if h.most != 2 {
			t.Errorf("got %d side by side, want 2", h.most)
		}
	})
}

// A crash must put one Blind intent in doubt, not ten.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		blind := &intent.Blind[order]{Config: shop(m), Effect: func(context.Context, order, intent.Attempt) (any, error) {
			time.Sleep(time.Second)
			claimed := 0
			for _, record := range m.all() {
				if record.State == intent.StateClaimed {
					claimed++
				}
			}
			if claimed != 1 {
				t.Errorf("%d claims stand while an effect runs, want its own", claimed)
			}
			return nil, nil
		}}
		r := newRig(t, func(c *sqsbatch.Config) { c.Handler = blind; c.Concurrency = 5 })
		start := time.Now()
		wantIDs(t, "listed", r.handle(asking("1", "a"), asking("2", "b"), asking("3", "c")))
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %v for three, want 3s", took)
		}
	})
}

// grouped makes a message one of a FIFO queue's group.
func grouped(m events.SQSMessage, group string) events.SQSMessage {
	m.EventSourceARN = fifoARN
	m.Attributes["MessageGroupId"] = group
	return m
}

func TestC14FailureStopsItsGroup(t *testing.T) {
	t.Parallel()
	messages := []events.SQSMessage{grouped(asking("A1", "a1"), "A"), grouped(asking("A2", "a2"), "A"), grouped(asking("B1", "b1"), "B")}
	for name, ending := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *sqsbatch.Config) { c.Concurrency = 1 })
			r.hand.do = func(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
				if d.Key == "a1" {
					return ending.do(ctx, d)
				}
				return executed, nil
			}
			got := r.handle(messages...)
			if ending.done {
				wantIDs(t, "listed", got)
				wantIDs(t, "run", r.hand.keys(), "a1", "a2", "b1")
				return
			}
			wantIDs(t, "listed", got, "A1", "A2")
			wantIDs(t, "run", r.hand.keys(), "a1", "b1")
			if line := r.log.about(t, "A2"); name != "goexit" && line["error"] != "behind a failure in its message group" {
				t.Errorf("got log line %v, want why it was not run", line)
			}
		})
	}
	t.Run("poison", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		got := r.handle(grouped(asking("A1", "a1"), "A"), grouped(message("A2", "poison"), "A"), grouped(asking("A3", "a3"), "A"), grouped(message("A4", "more"), "A"), grouped(asking("B1", "b1"), "B"))
		wantIDs(t, "listed", got, "A2", "A3", "A4")
		want(t, "runs", len(r.hand.keys()), 2, func(a, b int) bool { return a == b })
		for id, reason := range map[string]string{"A2": "payload is not JSON", "A3": "behind a failure in its message group", "A4": "payload is not JSON"} {
			if line := r.log.about(t, id); line["error"] != reason {
				t.Errorf("%s: got error %q, want %q", id, line["error"], reason)
			}
		}
	})
	t.Run("nothing is remembered", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.hand.do = always(intent.Outcome{}, errors.New("store is away"))
		wantIDs(t, "listed", r.handle(messages...), "A1", "A2", "B1")
		r.hand.do = nil
		wantIDs(t, "listed then", r.handle(messages...))
	})
}

// A duplicate joins its like only next to it: behind a failure it is listed with
// the rest of its group, and before one it is not.
func TestC14DuplicateInItsGroup(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.hand.do = func(_ context.Context, d intent.Delivery) (intent.Outcome, error) {
		if d.Key == "bad" {
			return intent.Outcome{}, errors.New("store is away")
		}
		return executed, nil
	}
	got := r.handle(grouped(asking("1", "k"), "A"), grouped(asking("2", "k"), "A"), grouped(asking("3", "bad"), "A"), grouped(asking("4", "k"), "A"))
	wantIDs(t, "listed", got, "3", "4")
	wantIDs(t, "run", r.hand.keys(), "k", "bad")
}

func TestC14GroupsSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hand.do = slow
		var messages []events.SQSMessage
		for i := range 9 {
			messages = append(messages, grouped(asking(fmt.Sprint(i), fmt.Sprint(i)), []string{"A", "B", "C"}[i%3]))
		}
		start := time.Now()
		wantIDs(t, "listed", r.handle(messages...))
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %v for three groups of three, want 3s", took)
		}
		last := map[int]int{0: -1, 1: -1, 2: -1}
		for _, d := range r.hand.deliveries {
			var i int
			if _, err := fmt.Sscan(d.Key, &i); err != nil {
				t.Fatal(err)
			}
			if i <= last[i%3] {
				t.Errorf("%d ran after %d of its group", i, last[i%3])
			}
			last[i%3] = i
		}
	})
}

// Fair queues give standard messages a group, too, which orders nothing.
func TestGroupOnStandardQueue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.hand.do = func(_ context.Context, d intent.Delivery) (intent.Outcome, error) {
		if d.Key == "bad" {
			return intent.Outcome{}, errors.New("store is away")
		}
		return executed, nil
	}
	var messages []events.SQSMessage
	for i, key := range []string{"bad", "b", "c"} {
		m := grouped(asking(fmt.Sprint(i), key), "A")
		m.EventSourceARN = queueARN
		messages = append(messages, m)
	}
	wantIDs(t, "listed", r.handle(messages...), "0")
	want(t, "runs", len(r.hand.keys()), 3, func(a, b int) bool { return a == b })
}

// Two intents may ask for the same, and their keys stand outside of their bodies.
func TestOnePayloadUnderTwoKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *sqsbatch.Config) { c.Concurrency = 1 })
	const body = `{"amount_cents":100}`
	wantIDs(t, "listed", r.handle(
		carrying(grouped(message("1", body), "A"), text("a")), carrying(grouped(message("2", body), "A"), text("b")),
		carrying(message("3", body), text("c")), carrying(message("4", body), text("d"))))
	wantIDs(t, "run", r.hand.keys(), "a", "b", "c", "d")
}
