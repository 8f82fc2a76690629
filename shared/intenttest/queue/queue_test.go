package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// world is a queue with its dead-letter queue, and a clock that stands still until a test moves it.
type world struct {
	t       *testing.T
	q, dead *Queue[string]
	now     time.Time
	handles map[string]string // by body: of the latest delivery
	ids     int
}

// newWorld makes a queue with a visibility timeout of 10 s that gives up after 3 receives; set changes that.
func newWorld(t *testing.T, fifo bool, set ...func(*Config[string])) *world {
	w := &world{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), handles: map[string]string{}}
	id := func() string { w.ids++; return fmt.Sprint("m", w.ids) }
	w.dead = New(Config[string]{Name: "dead", FIFO: fifo, NewID: id})
	c := Config[string]{Name: "q", FIFO: fifo, Visibility: 10 * time.Second, DeadLetters: w.dead, MaxReceives: 3, NewID: id}
	for _, f := range set {
		f(&c)
	}
	w.q = New(c)
	return w
}

func choosing(choices map[Choice]int) func(*Config[string]) {
	return func(c *Config[string]) {
		c.Choose = func(choice Choice, _ string, n int) int { return min(choices[choice], n-1) }
	}
}

// send sends bodies, "A1" to the group A under the deduplication id "A1".
func (w *world) send(bodies ...string) (last Message[string]) {
	for _, body := range bodies {
		last, _ = w.q.Send(w.now, Outgoing[string]{Body: body, Group: body[:1], Dedup: body})
	}
	return last
}

// receive takes up to n, and gives the bodies as one text.
func (w *world) receive(n int) string { return w.from(w.q, n) }

func (w *world) from(q *Queue[string], n int) string {
	var bodies []string
	got, _ := q.Receive(w.now, n, nil)
	for _, d := range got {
		bodies = append(bodies, d.Body)
		w.handles[d.Body] = d.Handle
	}
	return strings.Join(bodies, " ")
}

func (w *world) delete(bodies ...string) {
	w.t.Helper()
	for _, body := range bodies {
		if deleted, err := w.q.Delete(w.now, w.handles[body]); !deleted || err != nil {
			w.t.Fatalf("delete %s: %v, %v", body, deleted, err)
		}
	}
}

func (w *world) pass(d time.Duration) { w.now = w.now.Add(d) }

func (w *world) want(what string, got, want any) {
	w.t.Helper()
	if got != want {
		w.t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// counts are visible, in flight and delayed.
func counts(c Counts) string { return fmt.Sprint(c.Visible, c.InFlight, c.Delayed) }

func bodies(messages []Message[string]) string {
	var all []string
	for _, m := range messages {
		all = append(all, m.Body)
	}
	return strings.Join(all, " ")
}

// Guide: "Amazon SQS visibility timeout"; API: ReceiveMessage.
func TestVisibilityTimeout(t *testing.T) {
	for _, fifo := range []bool{false, true} {
		t.Run(fmt.Sprint("fifo ", fifo), func(t *testing.T) {
			w := newWorld(t, fifo)
			w.send("A1")
			w.want("received", w.receive(1), "A1")
			first := w.handles["A1"]
			w.want("counts", counts(w.q.Counts(w.now)), "0 1 0")
			w.pass(10*time.Second - 1)
			w.want("hidden", w.receive(1), "")
			w.want("next", w.q.Next(w.now), w.now.Add(1))
			w.pass(1)
			w.want("counts when it is over", counts(w.q.Counts(w.now)), "1 0 0")
			w.want("again", w.receive(1), "A1")
			if w.handles["A1"] == first {
				t.Error("both deliveries have one receipt handle")
			}
			w.pass(10 * time.Second)
			got, _ := w.q.Receive(w.now, 10, new(time.Duration(0))) // wins over the queue's
			w.want("receives", got[0].Receives, 3)
			w.want("first receive", got[0].FirstReceived, w.now.Add(-20*time.Second))
			w.want("0 hides nothing", counts(w.q.Counts(w.now)), "1 0 0")
		})
	}
}

// API: ChangeMessageVisibility.
func TestChangeVisibility(t *testing.T) {
	for _, tt := range []struct {
		name string
		fifo bool
		late time.Duration // since the receive
		to   time.Duration
		want error
		at   time.Duration // when it is visible again, since the receive
	}{
		{"counts from the call", false, 8 * time.Second, 5 * time.Second, nil, 13 * time.Second},
		{"0 shows it", true, time.Second, 0, nil, time.Second},
		{"12 hours from the receive", false, time.Second, MaxVisibility - time.Second, nil, MaxVisibility},
		{"more than 12 hours from the receive", false, time.Second, MaxVisibility, ErrTooLong, 10 * time.Second},
		{"expired, FIFO", true, 10 * time.Second, time.Minute, ErrExpired, 10 * time.Second},
		{"expired, standard", false, 10 * time.Second, time.Minute, nil, 10 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.fifo)
			w.send("A1")
			received := w.now
			w.receive(1)
			w.pass(tt.late)
			changed, err := w.q.ChangeVisibility(w.now, w.handles["A1"], tt.to)
			w.want("error", err, tt.want)
			w.want("changed", changed, err == nil && tt.at != 10*time.Second)
			if w.now = received.Add(tt.at - 1); tt.at > tt.late {
				w.want("before", w.receive(1), "")
			}
			w.now = received.Add(tt.at)
			w.want("then", w.receive(1), "A1")
		})
	}
	w := newWorld(t, false)
	_, err := w.q.ChangeVisibility(w.now, "m1 1", time.Second)
	w.want("none such", err, ErrGone)
}

// API: DeleteMessage; AWS knowledge center: "sqs-receipt-handle-error".
func TestDelete(t *testing.T) {
	for _, tt := range []struct {
		name    string
		fifo    bool
		choices map[Choice]int
		again   bool // it is received once more, and the first handle is used
		late    time.Duration
		deleted bool
		want    error
	}{
		{"in time", false, nil, false, 0, true, nil},
		{"in time, FIFO", true, nil, false, 0, true, nil},
		{"late", false, nil, false, time.Minute, true, nil},
		{"late, FIFO", true, nil, false, time.Minute, false, ErrExpired},
		{"an old handle", false, nil, true, 0, false, nil},
		{"an old handle that works", false, map[Choice]int{ByOldHandle: 1}, true, 0, true, nil},
		{"an old handle, FIFO", true, map[Choice]int{ByOldHandle: 1}, true, 0, false, ErrExpired},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.fifo, choosing(tt.choices))
			w.send("A1")
			w.receive(1)
			handle := w.handles["A1"]
			if tt.again {
				w.pass(10 * time.Second)
				w.receive(1)
			}
			w.pass(tt.late)
			deleted, err := w.q.Delete(w.now, handle)
			w.want("deleted", deleted, tt.deleted)
			w.want("error", err, tt.want)
			w.want("left", len(w.q.Peek(w.now)) == 0, tt.deleted)
			if !tt.deleted {
				return
			}
			deleted, err = w.q.Delete(w.now, handle)
			w.want("deleted twice", deleted, false)
			w.want("error of the second", err, nil)
		})
	}
}

// Guide: "Amazon SQS delay queues", "message timers".
func TestDelay(t *testing.T) {
	w := newWorld(t, false, func(c *Config[string]) { c.Delay = 5 * time.Second })
	w.send("queue's")
	for body, delay := range map[string]time.Duration{"own": 9 * time.Second, "none": 0} {
		w.q.Send(w.now, Outgoing[string]{Body: body, Delay: &delay})
	}
	w.want("counts", counts(w.q.Counts(w.now)), "1 0 2")
	w.want("at once", w.receive(10), "none")
	w.pass(5 * time.Second)
	w.want("after the queue's", w.receive(10), "queue's")
	w.pass(4 * time.Second)
	w.want("after its own", w.receive(10), "own")
	w.dead.Send(w.now, Outgoing[string]{Body: "redriven"})
	w.dead.Redrive(w.now, func(m Message[string], _ string) (*Queue[string], string) { return w.q, m.Body })
	w.want("of a redrive", counts(w.q.Counts(w.now)), "0 3 1")
}

// Guide: "FIFO queue delivery logic", "Using the message group ID with Amazon SQS FIFO queues".
func TestGroups(t *testing.T) {
	t.Run("as many as there are of one, then the next one", func(t *testing.T) {
		w := newWorld(t, true)
		w.send("A1", "B1", "A2", "A3", "B2", "C1")
		w.want("first", w.receive(4), "A1 A2 A3 B1")
		w.want("second", w.receive(10), "C1")
	})
	t.Run("blocked while one of it is in flight", func(t *testing.T) {
		w := newWorld(t, true)
		w.send("A1", "A2", "A3")
		w.want("two of three", w.receive(2), "A1 A2")
		w.delete("A1")
		w.want("one is out", w.receive(10), "")
		w.delete("A2")
		w.want("none is out", w.receive(10), "A3")
	})
	t.Run("in order though the second comes back first", func(t *testing.T) {
		w := newWorld(t, true)
		w.send("A1", "A2")
		w.receive(10)
		if _, err := w.q.ChangeVisibility(w.now, w.handles["A2"], 0); err != nil {
			t.Fatal(err)
		}
		w.want("A1 is out", w.receive(10), "")
		w.pass(10 * time.Second)
		w.want("both are back", w.receive(10), "A1 A2")
	})
	t.Run("behind a delayed head", func(t *testing.T) {
		w := newWorld(t, true, func(c *Config[string]) { c.Delay = 5 * time.Second })
		w.send("A1")
		w.pass(3 * time.Second)
		w.send("A2")
		w.pass(2 * time.Second)
		w.want("A2 is still delayed", w.receive(10), "A1")
		w.pass(3 * time.Second)
		w.want("A1 is out", w.receive(10), "")
		w.delete("A1")
		w.want("then", w.receive(10), "A2")
	})
	t.Run("goes on behind what is given up, in the same receive", func(t *testing.T) {
		w := newWorld(t, true, func(c *Config[string]) { c.MaxReceives = 1 })
		w.send("A1")
		w.receive(1)
		w.pass(10 * time.Second)
		w.send("A2")
		w.want("received", w.receive(10), "A2")
		w.want("given up", bodies(w.dead.Peek(w.now)), "A1")
	})
}

// Guide: "Using the message deduplication ID", "High throughput for FIFO queues" (scope).
func TestDeduplication(t *testing.T) {
	send := func(w *world, group, dedup string) (string, bool) {
		m, duplicate := w.q.Send(w.now, Outgoing[string]{Body: group, Group: group, Dedup: dedup})
		return m.ID, duplicate
	}
	t.Run("for 5 minutes, across groups, deleted or not", func(t *testing.T) {
		w := newWorld(t, true)
		first, _ := send(w, "A", "d")
		w.receive(1)
		w.delete("A")
		w.pass(deduplication - 1)
		id, duplicate := send(w, "B", "d")
		w.want("id of the duplicate", id, first)
		w.want("duplicate", duplicate, true)
		w.want("received", w.receive(1), "")
		w.pass(1)
		_, duplicate = send(w, "B", "d")
		w.want("after 5 minutes", duplicate, false)
	})
	t.Run("anew from a redrive on", func(t *testing.T) {
		w := newWorld(t, true)
		send(w, "A", "d")
		w.dead.Send(w.now, Outgoing[string]{Body: "A", Group: "A", Dedup: "d"})
		w.pass(3 * time.Minute)
		moved, _ := w.dead.Redrive(w.now, func(m Message[string], _ string) (*Queue[string], string) { return w.q, m.Body })
		w.want("moved, though it is known", moved, 1)
		w.pass(deduplication - 1)
		_, duplicate := send(w, "A", "d")
		w.want("known", duplicate, true)
		w.pass(1)
		_, duplicate = send(w, "A", "d")
		w.want("known for longer", duplicate, false)
	})
	t.Run("in a group, where the scope is that", func(t *testing.T) {
		w := newWorld(t, true, func(c *Config[string]) { c.DedupByGroup = true })
		send(w, "A", "d")
		_, other := send(w, "B", "d")
		_, same := send(w, "A", "d")
		w.want("in another group", other, false)
		w.want("in the same", same, true)
	})
	t.Run("not in a standard queue", func(t *testing.T) {
		w := newWorld(t, false)
		send(w, "A", "d")
		_, duplicate := send(w, "A", "d")
		w.want("duplicate", duplicate, false)
	})
}

// Guide: "standard queue quotas", "FIFO queue quotas".
func TestInFlightLimit(t *testing.T) {
	for _, fifo := range []bool{false, true} {
		t.Run(fmt.Sprint("fifo ", fifo), func(t *testing.T) {
			w := newWorld(t, fifo)
			for i := range MaxInFlight + 3 {
				w.q.Send(w.now, Outgoing[string]{Body: fmt.Sprint(i), Group: fmt.Sprint(i), Dedup: fmt.Sprint(i)})
			}
			for range MaxInFlight/7 + 1 {
				w.receive(7)
			}
			w.want("in flight", counts(w.q.Counts(w.now)), fmt.Sprint(3, MaxInFlight, 0))
			w.want("ready", w.q.Ready(w.now), false)
			w.want("full", w.q.Full(w.now), true)
			w.want("received beyond", w.receive(7), "")
			w.delete("0")
			want := "120000"
			w.want("one is deleted", w.receive(7), want)
			w.pass(10 * time.Second)
			got, _ := w.q.Receive(w.now, 10, nil)
			w.want("their timeout is over", len(got), 10)
		})
	}
}

// Guide: "Avoid large message backlogs with the same message group ID".
func TestWindow(t *testing.T) {
	w := newWorld(t, true)
	for i := range Window {
		w.q.Send(w.now, Outgoing[string]{Body: fmt.Sprint("A", i), Group: "A", Dedup: fmt.Sprint(i)})
	}
	w.send("B1", "B2")
	w.want("first", w.receive(1), "A0")
	w.want("B is not seen", w.receive(10), "")
	w.delete("A0")
	w.want("it blocks again", w.receive(2), "A1 A2")
	w.want("one further", w.receive(10), "B1")
	w.delete("A1")
	w.want("B is blocked", w.receive(10), "")
	w.delete("B1")
	w.want("and on", w.receive(10), "B2")
	w.want("counts", counts(w.q.Counts(w.now)), fmt.Sprint(Window-3, 2, 0))
	w.q.Purge()
	w.want("purged", counts(w.q.Counts(w.now)), "0 0 0")
}

// Guide: "Using dead-letter queues in Amazon SQS" (C19: the receive after the last one moves the message).
func TestDeadLetters(t *testing.T) {
	for _, fifo := range []bool{false, true} {
		t.Run(fmt.Sprint("fifo ", fifo), func(t *testing.T) {
			w := newWorld(t, fifo)
			sent := w.now
			m := w.send("A1")
			for n := range 3 {
				got, _ := w.q.Receive(w.now, 1, nil)
				w.want("receives", got[0].Receives, n+1)
				w.pass(10 * time.Second)
			}
			w.want("still here", counts(w.q.Counts(w.now)), "1 0 0")
			w.send("B1")
			got, buried := w.q.Receive(w.now, 1, nil)
			w.want("it takes no place", got[0].Body, "B1")
			w.want("given up", bodies(buried), "A1")
			dead, _ := w.dead.Receive(w.now, 1, nil)
			w.want("id", dead[0].ID, m.ID)
			w.want("receives go on", dead[0].Receives, 4)
			w.want("source", dead[0].Source, "q")
			if fifo {
				w.want("sent anew", dead[0].Sent, w.now)
				w.want("deduplication id", dead[0].Dedup, m.ID)
			} else {
				w.want("sent", dead[0].Sent, sent)
				w.want("deduplication id", dead[0].Dedup, "A1")
			}
			w.want("age since the move", w.dead.Counts(w.now.Add(time.Hour)).Oldest, time.Hour)
		})
	}
	t.Run("deleted before the receive that would move it", func(t *testing.T) {
		w := newWorld(t, false, func(c *Config[string]) { c.MaxReceives = 1 })
		w.send("A1")
		w.receive(1)
		w.pass(time.Hour)
		w.delete("A1")
		w.want("received", w.receive(1), "")
		w.want("given up", bodies(w.dead.Peek(w.now)), "")
	})
	t.Run("receives elsewhere do not count", func(t *testing.T) {
		w := newWorld(t, false)
		last := New(Config[string]{NewID: w.q.config.NewID})
		w.dead.config.DeadLetters, w.dead.config.MaxReceives = last, 2
		w.send("A1")
		for range 4 {
			w.receive(1)
			w.pass(10 * time.Second)
		}
		for n, want := range []string{"A1", "A1", ""} {
			w.want(fmt.Sprint("of the dead-letter queue, ", n), w.from(w.dead, 1), want)
		}
		w.want("in the last one", bodies(last.Peek(w.now)), "A1")
	})
}

// What is given up is visible at once, but not before what was sent to the dead-letter queue earlier and is delayed there.
func TestDeadLettersDoNotOvertake(t *testing.T) {
	w := newWorld(t, true, func(c *Config[string]) { c.MaxReceives = 1 })
	w.send("A1")
	w.receive(1)
	w.pass(10 * time.Second)
	w.dead.Send(w.now, Outgoing[string]{Body: "A2", Group: "A", Dedup: "A2", Delay: new(5 * time.Second)})
	w.receive(1)
	w.want("counts", counts(w.dead.Counts(w.now)), "1 0 1")
	w.want("early", w.from(w.dead, 10), "")
	w.pass(5 * time.Second)
	w.want("late", w.from(w.dead, 10), "A2 A1")
}

// Guide: "Setting-up dead-letter queue retention in Amazon SQS".
func TestRetention(t *testing.T) {
	for _, tt := range []struct {
		fifo bool
		left time.Duration // in the dead-letter queue, of 100 s
	}{{false, 20 * time.Second}, {true, 100 * time.Second}} {
		t.Run(fmt.Sprint("fifo ", tt.fifo), func(t *testing.T) {
			w := newWorld(t, tt.fifo, func(c *Config[string]) { c.Retention, c.MaxReceives = 90*time.Second, 1 })
			w.dead.config.Retention = 100 * time.Second
			w.send("A1")
			w.receive(1)
			w.pass(80 * time.Second)
			w.receive(1)
			w.send("B1")
			w.pass(tt.left - 1)
			w.want("dead letter", bodies(w.dead.Peek(w.now)), "A1")
			w.pass(1)
			w.want("dead letter past its retention", bodies(w.dead.Peek(w.now)), "")
			w.receive(1)
			w.pass(90*time.Second - tt.left)
			w.want("in flight past its retention", bodies(w.q.Peek(w.now)), "")
			w.want("counts", counts(w.q.Counts(w.now)), "0 0 0")
		})
	}
	w := newWorld(t, true)
	w.send("A1", "A2")
	w.receive(1)
	w.pass(defaultRetention - 1)
	w.want("by default", bodies(w.q.Peek(w.now)), "A1 A2")
	w.send("A3")
	w.pass(1)
	w.want("its followers go on", w.receive(1), "A3")
	w.pass(defaultRetention - 2)
	w.want("before its time", bodies(w.q.Peek(w.now)), "A3")
	w.pass(1)
	w.want("at its time", bodies(w.q.Peek(w.now)), "")

	w = newWorld(t, false, func(c *Config[string]) { c.MaxReceives = 1 })
	w.send("A1")
	w.receive(1)
	w.pass(time.Hour)
	w.dead.Send(w.now, Outgoing[string]{Body: "younger, and there before"})
	w.receive(1)
	w.pass(defaultRetention - time.Hour)
	w.want("the older one is gone", bodies(w.dead.Peek(w.now)), "younger, and there before")
}

// Guide: "Learn how to configure a dead-letter queue redrive in Amazon SQS".
func TestRedrive(t *testing.T) {
	for _, fifo := range []bool{false, true} {
		t.Run(fmt.Sprint("fifo ", fifo), func(t *testing.T) {
			w := newWorld(t, fifo, func(c *Config[string]) { c.MaxReceives = 1 })
			w.send("A1", "A2", "B1", "C1")
			w.receive(10)
			w.pass(10 * time.Second)
			w.receive(10)
			w.pass(time.Hour)
			w.dead.config.Visibility = time.Minute
			w.want("in flight, so that it stays", w.from(w.dead, 1), "A1")
			moved, of := w.dead.Redrive(w.now, func(m Message[string], id string) (*Queue[string], string) {
				if m.Source != "q" || m.Body == "C1" {
					return nil, ""
				}
				return w.q, m.Body + " as " + id
			})
			if fifo {
				w.want("moved", fmt.Sprint(moved, " of ", of), "1 of 2")
				w.want("left", bodies(w.dead.Peek(w.now)), "A1 A2 C1")
				w.want("back", bodies(w.q.Peek(w.now)), "B1 as m5")
			} else {
				w.want("moved", fmt.Sprint(moved, " of ", of), "2 of 3")
				w.want("left", bodies(w.dead.Peek(w.now)), "A1 C1")
				w.want("back", bodies(w.q.Peek(w.now)), "A2 as m5 B1 as m6")
			}
			got, _ := w.q.Receive(w.now, 1, nil)
			w.want("receives", got[0].Receives, 1)
			w.want("sent", got[0].Sent, w.now)
			w.want("source", got[0].Source, "")
		})
	}
}

// Guide: "Available CloudWatch metrics for Amazon SQS", ApproximateAgeOfOldestMessage.
func TestOldest(t *testing.T) {
	for _, fifo := range []bool{false, true} {
		t.Run(fmt.Sprint("fifo ", fifo), func(t *testing.T) {
			w := newWorld(t, fifo, func(c *Config[string]) { c.MaxReceives = 100 })
			w.want("of none", w.q.Counts(w.now).Oldest, time.Duration(0))
			w.send("A1")
			w.pass(time.Second)
			w.send("B1")
			for range 3 {
				w.receive(1)
				w.pass(10 * time.Second)
			}
			age, next := 31*time.Second, "A1"
			if !fifo { // which puts A1 behind the others
				age, next = 30*time.Second, "B1"
			}
			w.want("oldest", w.q.Counts(w.now).Oldest, age)
			w.want("next", w.receive(1), next)
		})
	}
}

func TestPurge(t *testing.T) {
	w := newWorld(t, true)
	w.send("A1", "A2", "B1")
	w.receive(1)
	w.q.Purge()
	w.want("counts", counts(w.q.Counts(w.now)), "0 0 0")
	_, duplicate := w.q.Send(w.now, Outgoing[string]{Body: "A1", Group: "A", Dedup: "A1"})
	w.want("known all the same", duplicate, true)
	w.send("A3")
	w.want("received", w.receive(1), "A3")
}

// What SQS leaves open happens as it is chosen, and in a FIFO queue only what it leaves open there.
func TestChoices(t *testing.T) {
	for _, tt := range []struct {
		choice   Choice
		answer   int
		standard string // of three receives of up to 2, with the deletion of what came first
		fifo     string
	}{
		{Next, 1, "B1 C1|A1|", "B1 C1|A1|"},
		{Fewer, 1, "A1|B1|C1", "A1|B1|C1"},
		{StaysVisible, 1, "A1 B1|B1 C1|B1 C1", "A1 B1|C1|"},
		{Twice, 1, "A1 A1|B1 B1|C1 C1", "A1 B1|C1|"},
		{ComesBack, 1, "A1 B1|C1|", "A1 B1|C1|"},
	} {
		for fifo, want := range map[bool]string{false: tt.standard, true: tt.fifo} {
			t.Run(fmt.Sprint(tt.choice, ", fifo ", fifo), func(t *testing.T) {
				w := newWorld(t, fifo, choosing(map[Choice]int{tt.choice: tt.answer}))
				w.send("A1", "B1", "C1")
				var got []string
				for i := range 3 {
					got = append(got, w.receive(2))
					if i == 0 {
						w.delete(strings.Fields(got[0])[0])
					}
				}
				w.want("received", strings.Join(got, "|"), want)
			})
		}
	}
	t.Run("what is deleted comes back", func(t *testing.T) {
		choices := map[Choice]int{ComesBack: 1}
		w := newWorld(t, false, choosing(choices))
		w.send("A1")
		w.receive(1)
		w.delete("A1")
		w.want("gone", counts(w.q.Counts(w.now))+bodies(w.q.Peek(w.now)), "0 0 0")
		_, err := w.q.ChangeVisibility(w.now, w.handles["A1"], time.Hour)
		w.want("its visibility", err, ErrGone)
		w.want("counts to the limit", w.q.inFlight, 0)
		w.want("next", w.q.Next(w.now), w.now.Add(10*time.Second))
		w.pass(10 * time.Second)
		w.want("back", counts(w.q.Counts(w.now)), "1 0 0")
		w.delete("A1") // by the handle of before, when it is no longer in flight
		w.want("back at once", w.receive(1), "A1")
		choices[ComesBack] = 0
		w.delete("A1")
		w.want("gone for good", w.receive(1), "")
	})
}

// Without a Chooser, or with the same answers, the same calls have the same results.
func TestDeterministic(t *testing.T) {
	run := func() (story []string) {
		n := 0
		w := newWorld(t, false, func(c *Config[string]) {
			c.Choose = func(_ Choice, _ string, of int) int { n++; return n * 7 % of }
		})
		for i := range 200 {
			w.send(fmt.Sprint(i))
			story = append(story, w.receive(10))
			for body, handle := range w.handles {
				if body == fmt.Sprint(i-3) {
					_, _ = w.q.Delete(w.now, handle)
				}
			}
			w.pass(time.Second)
		}
		return append(story, bodies(w.dead.Peek(w.now)))
	}
	if first := run(); !slices.Equal(first, run()) {
		t.Error("two runs differ")
	}
}
