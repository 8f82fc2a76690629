package sim

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/intenttest/queue"
)

// still is a system in which nothing happens by itself.
type still struct{}

func (still) Wire(*Process) (Handle, error) { return nil, nil }
func (still) Outside()                      {}
func (still) Judge()                        {}

// inWorld runs f in a world without faults.
func inWorld(t *testing.T, name string, f func(*World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Plan{Name: name, Reason: "Reason", OriginalID: "Original", New: func(*World) System { return still{} }}, 1)
		w.calm = true
		f(w)
	})
}

// What SQS gave up on comes back as a new message of the same send, and says so.
func TestRedrive(t *testing.T) {
	inWorld(t, "q", func(w *World) {
		w.Send(Sent{}, &sqs.SendMessageInput{MessageBody: aws.String("a")})
		var first delivery
		for range maxReceives {
			first = w.queue.receive()[0]
			time.Sleep(6 * w.timeout)
		}
		if got := w.queue.receive(); len(got) > 0 || len(w.inQuarantine(first.Body.of)) != 1 {
			t.Fatalf("received %v after %d receives, want it in the dead-letter queue", got, maxReceives)
		}
		w.queue.redrive()
		again := w.queue.receive()[0]
		if again.ID == first.ID || again.Receives != 1 || again.Body.of != first.Body.of || w.queue.origins[again.ID] != first.Body.of {
			t.Errorf("redriven: got %+v, want a new message of the same send", again)
		}
		if name := again.Body.attributes[redrivenAs].StringValue; name == nil || *name != again.ID || first.Body.attributes != nil {
			t.Errorf("redriven: got %v, want its own id, and the first one's attributes as they were", again.Body.attributes)
		}
	})
}

// A message is hidden for as long as its outcome said, and something is wrong if production code asked for another time.
func TestHide(t *testing.T) {
	for _, tt := range []struct {
		asked time.Duration
		wrong bool
	}{{time.Hour - time.Second, true}, {time.Hour, false}, {time.Hour + maxJitter + time.Second, false}, {time.Hour + maxJitter + 2*time.Second, true}} {
		inWorld(t, "q.fifo", func(w *World) {
			w.Send(Sent{}, &sqs.SendMessageInput{MessageBody: aws.String("a"), MessageGroupId: aws.String("g"), MessageDeduplicationId: aws.String("d")})
			handle := w.queue.receive()[0].Handle
			w.queue.hide(handle, tt.asked, hidingOf(told{wait: time.Hour, nth: 1}, 1))
			if next := time.Until(w.queue.live.Next(time.Now())); next <= time.Hour || next > time.Hour+maxJitter+time.Second {
				t.Errorf("visible in %v, want an hour and some jitter", next)
			}
			if wrong := w.fault != ""; wrong != tt.wrong {
				t.Errorf("asked for %v: %q, want a fault: %t", tt.asked, w.fault, tt.wrong)
			}
		})
	}
}

// What fails is hidden by the schedule, or until its claim has lapsed; what was not tried, as if it had failed.
func TestHidingOf(t *testing.T) {
	const s = time.Second
	for name, tt := range map[string]struct {
		told     told
		receives int
		want     hiding
	}{
		"fails at first":        {told{failed: true, nth: 1}, 1, hiding{27 * s, 33 * s}},
		"fails again":           {told{failed: true, nth: 1}, 3, hiding{108 * s, 132 * s}},
		"fails for ever":        {told{failed: true, nth: 1}, 50, hiding{54 * time.Minute, 66 * time.Minute}},
		"a long claim stands":   {told{wait: 40 * s, failed: true, nth: 1}, 1, hiding{40 * s, 45 * s}},
		"a short claim stands":  {told{wait: 5 * s, failed: true, nth: 1}, 1, hiding{27 * s, 33 * s}},
		"waits, often received": {told{wait: 5 * s, nth: 1}, 50, hiding{5 * s, 10 * s}},
		"not tried":             {told{}, 2, hiding{54 * s, 66 * s}},
	} {
		if got := hidingOf(tt.told, tt.receives); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}

// What is unusual happens only while it may, and the story tells it; the order is drawn always.
func TestChoose(t *testing.T) {
	inWorld(t, "q", func(w *World) {
		drawn := map[int]bool{}
		for range 100 {
			drawn[w.choose(queue.Next, "", 3)] = true
			if got := w.choose(queue.Twice, "m-1", 2); got != 0 {
				t.Fatal("unusual in a calm world")
			}
		}
		if len(drawn) != 3 {
			t.Errorf("drawn %v, want all of three", drawn)
		}
		w.calm, w.odds, w.faults = false, 1, 1
		if first, second := w.choose(queue.Twice, "m-1", 2), w.choose(queue.Twice, "m-1", 2); first != 1 || second != 0 {
			t.Errorf("chosen %d and %d, want the one fault that was left", first, second)
		}
		if n := strings.Count(strings.Join(w.story, "\n"), "m-1 "+string(queue.Twice)); n != 1 {
			t.Errorf("told %d times, want once", n)
		}
	})
}
