package sqsbatch_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/smithy-go"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

var errDown = errors.New("provider is down")

// nth is the message at its nth receive, so long after its first one. A bubble's clock begins before any time that SQS may tell.
func nth(m events.SQSMessage, n int, after time.Duration) events.SQSMessage {
	m.Attributes["ApproximateReceiveCount"] = strconv.Itoa(n)
	m.Attributes["ApproximateFirstReceiveTimestamp"] = strconv.FormatInt(time.Now().Add(-after).UnixMilli(), 10)
	return m
}

// wantDelay checks that a message is hidden for a delay, and a tenth less or more.
func wantDelay(t *testing.T, q *hider, id string, delay time.Duration) {
	t.Helper()
	got, ok := q.seconds(id)
	if least, most := delay*9/10, delay*11/10+time.Second; !ok || time.Duration(got)*time.Second < least || time.Duration(got)*time.Second > most {
		t.Errorf("message %s: hidden: %t, for %d s, want %v and a tenth less or more", id, ok, got, delay)
	}
}

// C71: a message that fails is hidden for longer each time, up to an hour, and so outlasts an outage.
func TestRedeliveryScheduleC71(t *testing.T) {
	t.Parallel()
	for n, want := range []time.Duration{1: 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour, 99: time.Hour} {
		if want == 0 {
			continue
		}
		t.Run(fmt.Sprint(n, " receives"), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quarantining)
			r.hand.do = always(intent.Outcome{}, errDown)
			seen := map[int32]bool{}
			for range 50 {
				wantIDs(t, "listed", r.handle(nth(asking("1", "k"), n, 11*time.Hour)), "1")
				wantDelay(t, r.queue, "1", want)
				seconds, _ := r.queue.seconds("1")
				seen[seconds] = true
			}
			if len(seen) < 3 {
				t.Errorf("50 messages that fail together come back after %v s, want them spread", seen)
			}
			if got, want := r.report().Retrying, map[bool]int{true: 1}[n >= 3]; got != want {
				t.Errorf("got %d retrying, want %d", got, want)
			}
		})
	}
}

// What the provider asks for is kept, for an hour at most, whatever verdict it is part of; and so is what the claim needs that stands.
func TestDelayIsTheLongest(t *testing.T) {
	t.Parallel()
	later := func(d time.Duration) error { return intent.RetryAfter(errDown, d) }
	for name, tt := range map[string]struct {
		outcome intent.Outcome
		err     error
		want    time.Duration
	}{
		"less than the schedule": {err: later(5 * time.Second), want: 30 * time.Second},
		"more":                   {err: later(7 * time.Minute), want: 7 * time.Minute},
		"more than an hour":      {err: later(3 * time.Hour), want: time.Hour},
		"of an effect":           {err: fmt.Errorf("%w: %w", intent.ErrReleased, &intent.EffectError{Err: intent.NotApplied(later(7 * time.Minute))}), want: 7 * time.Minute},
		"less than none":         {err: later(-time.Hour), want: 30 * time.Second},
		"a claim that stands":    {outcome: intent.Outcome{Wait: 5 * time.Minute}, err: intent.ErrUnknown, want: 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quarantining)
			r.hand.do = always(tt.outcome, tt.err)
			r.handle(nth(asking("1", "k"), 1, 0))
			wantDelay(t, r.queue, "1", tt.want)
		})
	}
}

// There was no time to try it: it comes back when its visibility timeout ends.
func TestNoTimeIsNoFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t, quarantining)
	r.hand.do = always(intent.Outcome{}, intent.ErrNoTime)
	wantIDs(t, "listed", r.handle(nth(asking("1", "k"), 9, 24*time.Hour)), "1")
	if seconds, hidden := r.queue.seconds("1"); hidden || len(r.queue.taken()) > 0 {
		t.Errorf("hidden for %d s, and %d in quarantine", seconds, len(r.queue.taken()))
	}
}

// A group waits for its head, and no longer: SQS hands out none of it while one message is hidden.
func TestGroupHasOneDelay(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		outcome intent.Outcome
		err     error
	}{
		"fails":       {err: errDown},
		"in progress": {outcome: intent.Outcome{Kind: intent.InProgress, Wait: time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := ordered(t)
			r.hand.do = func(_ context.Context, d intent.Delivery) (intent.Outcome, error) {
				if d.Key == "a2" {
					return tt.outcome, tt.err
				}
				return executed, nil
			}
			a := func(i, n int) events.SQSMessage {
				return nth(grouped(asking(fmt.Sprint("A", i), fmt.Sprint("a", i)), "A"), n, 10*time.Minute)
			}
			wantIDs(t, "listed", r.handle(a(1, 2), a(2, 4), a(3, 1), a(4, 5), grouped(message("A5", "poison"), "A")), "A2", "A3", "A4", "A5")
			wantIDs(t, "run", r.hand.keys(), "a1", "a2")
			head, _ := r.queue.seconds("A2")
			for _, id := range []string{"A3", "A4", "A5"} {
				if got, hidden := r.queue.seconds(id); !hidden || got != head {
					t.Errorf("%s: hidden: %t, for %d s, want %d as the head", id, hidden, got, head)
				}
			}
			if tt.err != nil {
				wantDelay(t, r.queue, "A2", 8*time.Minute) // by the most receives of the group
			}
			if _, hidden := r.queue.seconds("A1"); hidden {
				t.Error("what is done is hidden")
			}
		})
	}
}

// A message is given up when its own attempt fails 12 hours after its first receive, and neither sooner nor otherwise.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	const old = 12*time.Hour + time.Minute
	for name, tt := range map[string]struct {
		after time.Duration
		do    func(context.Context, intent.Delivery) (intent.Outcome, error)
		given bool
	}{
		"fails, and is young":   {12*time.Hour - time.Minute, nil, false},
		"fails, and is old":     {old, nil, true},
		"is old and succeeds":   {old, always(executed, nil), false},
		"is old and waits":      {old, always(intent.Outcome{Kind: intent.InProgress, Wait: time.Second}, nil), false},
		"is old, and no time":   {old, always(intent.Outcome{}, intent.ErrNoTime), false},
		"is old, nothing known": {old, always(intent.Outcome{}, errors.New("table is away")), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quarantining)
			r.hand.do = tt.do
			if tt.do == nil {
				r.hand.do = func(_ context.Context, d intent.Delivery) (intent.Outcome, error) {
					return intent.Outcome{}, d.Failed(errDown)
				}
			}
			listed := r.handle(nth(asking("1", "k"), 20, tt.after))
			sent := r.queue.taken()
			if got := len(sent) == 1 && len(listed) == 0; got != tt.given {
				t.Errorf("%d in quarantine, %q listed, want it given up: %t", len(sent), listed, tt.given)
			}
			if tt.given && !strings.HasPrefix(*sent[0].MessageAttributes[sqsbatch.ReasonAttribute].StringValue, "gave_up: ") {
				t.Errorf("got reason %q", *sent[0].MessageAttributes[sqsbatch.ReasonAttribute].StringValue)
			}
		})
	}
	t.Run("with a younger one of its intent", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, quarantining)
		r.hand.do = func(_ context.Context, d intent.Delivery) (intent.Outcome, error) {
			return intent.Outcome{}, d.Failed(errDown)
		}
		wantIDs(t, "listed", r.handle(nth(asking("1", "k"), 20, old), nth(asking("2", "k"), 1, 0)), "1", "2")
	})
}

// C72: of a group one head is given up in an invocation; what follows it is run, and hidden if it fails, too.
func TestGroupGivesUpItsHeadC72(t *testing.T) {
	t.Parallel()
	r := ordered(t)
	ended := map[string]error{"a1": errDown, "a2": nil, "a3": errDown, "b1": errDown}
	r.hand.do = func(_ context.Context, d intent.Delivery) (intent.Outcome, error) {
		if ended[d.Key] != nil {
			return intent.Outcome{}, d.Failed(ended[d.Key])
		}
		return executed, nil
	}
	old := func(id, group string) events.SQSMessage {
		return nth(grouped(asking(strings.ToUpper(id), id), group), 21, 13*time.Hour)
	}
	wantIDs(t, "listed", r.handle(old("a1", "A"), old("a2", "A"), old("a3", "A"), old("a4", "A"), old("b1", "B")), "A3", "A4")
	wantIDs(t, "run", r.hand.keys(), "a1", "b1", "a2", "a3") // b1 while a1 is sent to quarantine
	var given []string
	for _, m := range r.queue.taken() {
		given = append(given, *m.MessageAttributes[sqsbatch.OriginalIDAttribute].StringValue)
	}
	wantIDs(t, "given up", given, "A1", "B1")
	for _, id := range []string{"A3", "A4"} {
		wantDelay(t, r.queue, id, time.Hour)
	}
}

// After a failure of the whole one message goes ahead. While that fails, too, nothing else is tried; each is hidden by its own schedule.
func TestOneGoesAhead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		down map[string]bool // by key
		err  error
		run  []string
	}{
		"all is down":             {map[string]bool{"a": true, "b": true, "c": true, "d": true}, intent.RetryAfter(errDown, 0), []string{"a", "b"}},
		"it comes back":           {map[string]bool{"a": true}, intent.RetryAfter(errDown, 0), []string{"a", "b", "c", "d"}},
		"it goes again":           {map[string]bool{"a": true, "c": true, "d": true}, intent.RetryAfter(errDown, 0), []string{"a", "b", "c", "d"}},
		"of one intent alone":     {map[string]bool{"a": true, "b": true, "c": true, "d": true}, errDown, []string{"a", "b", "c", "d"}},
		"AWS's own, in an effect": {map[string]bool{"a": true, "b": true, "c": true}, &intent.EffectError{Err: &smithy.GenericAPIError{Code: "ThrottlingException"}}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quarantining, func(c *sqsbatch.Config) { c.Concurrency = 1 })
			r.hand.do = func(_ context.Context, d intent.Delivery) (intent.Outcome, error) {
				if tt.down[d.Key] {
					return intent.Outcome{}, tt.err
				}
				return executed, nil
			}
			listed := r.handle(asking("1", "a"), asking("2", "b"), nth(asking("3", "c"), 5, time.Hour), asking("4", "d"))
			wantIDs(t, "run", r.hand.keys(), tt.run...)
			for i, key := range []string{"a", "b", "c", "d"} {
				id := strconv.Itoa(i + 1)
				_, hidden := r.queue.seconds(id)
				if untried := len(tt.run) == 2 && i >= 2; hidden != (tt.down[key] || untried) {
					t.Errorf("%s is hidden: %t; listed are %q", id, hidden, listed)
				}
			}
			if len(tt.run) == 2 {
				wantDelay(t, r.queue, "3", 8*time.Minute)
				wantDelay(t, r.queue, "4", 30*time.Second)
			}
		})
	}
}

// What is received again and again without an answer may be what ends the process. It is hidden before it runs, and runs alone, after
// all others.
func TestUnansweredRunLastAndAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.UnixMilli(1_790_000_000_000)))
		r := newRig(t, quarantining)
		var mu sync.Mutex
		hiddenBefore := map[string]bool{}
		r.hand.do = func(_ context.Context, d intent.Delivery) (intent.Outcome, error) {
			mu.Lock()
			for _, id := range []string{"1", "3"} {
				_, hiddenBefore[id+" before "+d.Key] = r.queue.seconds(id)
			}
			mu.Unlock()
			time.Sleep(time.Second)
			return executed, nil
		}
		crashed := 6 * 3 * time.Minute // six visibility timeouts, where the schedule has half an hour
		wantIDs(t, "listed", r.handle(
			nth(asking("1", "a"), 7, crashed), nth(asking("2", "b"), 7, 35*time.Minute), nth(asking("3", "c"), 7, crashed), asking("4", "d")))
		keys := r.hand.keys()
		if len(keys) != 4 || strings.Join(keys[2:], "") != "ac" || r.hand.most != 2 {
			t.Errorf("got %q with up to %d at a time, want a and c alone after the others", keys, r.hand.most)
		}
		for when, want := range map[string]bool{"1 before b": false, "1 before a": true, "3 before a": true, "3 before c": true} {
			if hiddenBefore[when] != want {
				t.Errorf("hidden %s: %t, want %t", when, hiddenBefore[when], want)
			}
		}
		wantDelay(t, r.queue, "3", 32*time.Minute)
	})
}

// One that was never answered for 12 hours is given up without another run. Its group goes on.
func TestNeverAnswered(t *testing.T) {
	t.Parallel()
	r := ordered(t)
	at := func(n int, id, key string) events.SQSMessage {
		return nth(grouped(asking(id, key), "A"), n, 12*time.Hour+time.Minute)
	}
	wantIDs(t, "listed", r.handle(at(40, "A1", "a1"), at(40, "A2", "a2"), at(2, "A3", "a3")))
	wantIDs(t, "run", r.hand.keys(), "a2", "a3")
	sent := r.queue.taken()
	if len(sent) != 1 || !strings.HasPrefix(*sent[0].MessageAttributes[sqsbatch.ReasonAttribute].StringValue, "gave_up: given up: 40 receives") {
		t.Errorf("got %v in quarantine, want the head", sent)
	}
}
