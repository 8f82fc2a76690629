package sqsbatch_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// many are so many messages with one body.
func many(n int, body string) []events.SQSMessage {
	messages := make([]events.SQSMessage, n)
	for i := range messages {
		messages[i] = message(fmt.Sprint(i), body)
	}
	return messages
}

// within handles a batch and returns how long it took.
func (r *rig) within(limit time.Duration, messages []events.SQSMessage) (listed []string, took time.Duration) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	began := time.Now()
	listed = r.handleBy(ctx, messages...)
	if took = time.Since(began); took > limit-150*time.Millisecond || len(r.exits) > 0 {
		r.t.Errorf("took %v of %v, ended the process %d times", took, limit, len(r.exits))
	}
	return listed, took
}

// C74: as many duplicates of a running intent as Lambda may put into one event are
// hidden in calls of ten, and as many poison messages quarantined so, both within the
// invocation's time. What time is not left for is listed all the same.
func TestC74ManyToHideOrQuarantine(t *testing.T) {
	t.Parallel()
	const call = 20 * time.Millisecond // what one takes
	for name, c := range map[string]struct {
		messages    []events.SQSMessage
		limit       time.Duration
		calls       int // 0: as many as there was time for
		quarantined bool
	}{
		"duplicates":               {many(2500, `{"idempotency_key":"k"}`), timeout, 250, false},
		"poison":                   {many(4000, `poison`), timeout, 400, true},
		"duplicates, little time":  {many(2500, `{"idempotency_key":"k"}`), 3 * time.Second, 0, false},
		"poison, little time":      {many(4000, `poison`), 3 * time.Second, 0, true},
		"poison that is too large": {append(many(5, "poison"), message("large", strings.Repeat("x", 1<<20))), timeout, 1, true},
		"poison of half a call":    {many(7, strings.Repeat("x", 1<<19)), timeout, 7, true},
	} {
		bubble(t, name, func(t *testing.T) {
			r := newRig(t, quarantining)
			r.hand.do = always(intent.Outcome{Kind: intent.InProgress, Wait: time.Minute}, nil)
			r.queue.do = func(context.Context) error { time.Sleep(call); return nil }
			r.queue.delay = call
			got, _ := r.within(c.limit, c.messages)
			calls, seen := r.queue.calls, len(r.queue.hidden)
			if c.quarantined {
				calls, seen = r.queue.sends, len(r.queue.taken())
			}
			if c.calls != 0 && calls != c.calls {
				t.Errorf("made %d calls for %d messages, want %d", calls, len(c.messages), c.calls)
			}
			if c.calls == 0 && (calls < 50 || seen != 10*calls) {
				t.Errorf("made %d calls and saw to %d messages, want tens as long as there is time", calls, seen)
			}
			if left := len(c.messages) - seen; c.quarantined && len(got) != left || !c.quarantined && len(got) != len(c.messages) {
				t.Errorf("listed %d of %d, want the %d that are not in quarantine, or all that wait", len(got), len(c.messages), left)
			}
		})
	}
}

// C75: SQS hangs. Seven messages to hide keep no intent from starting, also where one
// runs at a time, and neither do seven to quarantine.
func TestC75QueueHangs(t *testing.T) {
	t.Parallel()
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, running := range map[string]bool{"to hide": true, "to quarantine": false} {
		bubble(t, name, func(t *testing.T) {
			var starts []time.Duration
			began := time.Now()
			m := &memory{}
			effect := func(context.Context, order, intent.Attempt) (any, error) {
				starts = append(starts, time.Since(began))
				time.Sleep(time.Second)
				return "sent", nil
			}
			r := newRig(t, quarantining, func(c *sqsbatch.Config) { c.Handler = &intent.Blind[order]{Config: shop(m), Effect: effect} })
			r.queue.do = hang
			r.queue.accept = func(ctx context.Context, _ *sqs.SendMessageInput) error { return hang(ctx) }
			batch := many(7, "poison")
			if running { // elsewhere
				for i := range batch {
					batch[i] = asking(fmt.Sprint(i), fmt.Sprint("running ", i))
					record := intent.Record{Intent: fmt.Sprint("shop#charge#running ", i), State: intent.StateClaimed, Owner: "another", Attempt: 1,
						LeaseUntil: time.Now().Add(time.Minute), ClaimedAt: time.Now(), Fingerprint: deliveryOf(batch[i].Body, "", false).Fingerprint}
					if _, err := m.Claim(t.Context(), record); err != nil {
						t.Fatal(err)
					}
				}
			}
			batch = append(batch, asking("a", "a"), asking("b", "b"), asking("c", "c"))
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			if got := r.handleBy(ctx, batch...); len(got) != 7 {
				t.Errorf("listed %v, want the seven", got)
			}
			if len(starts) != 3 || starts[2] > 3*time.Second {
				t.Errorf("effects start after %v, want one a second from the first", starts)
			}
			if took := time.Since(began); took > timeout-150*time.Millisecond {
				t.Errorf("took %v", took)
			}
		})
	}
}

// After a call to SQS that failed as a whole no other of its kind is made: the answer
// must not wait for each.
func TestQueueIsAway(t *testing.T) {
	t.Parallel()
	bubble(t, "both", func(t *testing.T) {
		r := newRig(t, quarantining)
		r.hand.do = always(intent.Outcome{Kind: intent.InProgress, Wait: time.Minute}, nil)
		away := func(context.Context) error {
			time.Sleep(3 * time.Second)
			return errors.New("dial tcp: connection refused")
		}
		r.queue.do, r.queue.away = away, away
		got, took := r.within(timeout, append(many(100, "poison"), many(100, `{"idempotency_key":"k"}`)...))
		if r.queue.calls != 1 || r.queue.sends != 1 || took > 4*time.Second || len(got) != 100 {
			t.Errorf("listed %d after %v and %d and %d calls, want one of each", len(got), took, r.queue.calls, r.queue.sends)
		}
	})
}

// A call that SQS refuses for one of its messages harms none of the others, in that call
// or in another one.
func TestRefusedMessageInACall(t *testing.T) {
	t.Parallel()
	r := newRig(t, quarantining)
	r.queue.refuses = "2"
	wantIDs(t, "listed", r.handle(many(25, "poison")...), "2")
	if sent := r.queue.taken(); len(sent) != 24 {
		t.Errorf("%d in quarantine, want 24", len(sent))
	}
	alone := newRig(t, func(c *sqsbatch.Config) { c.QueueURL, c.DeadLetterURL = queueURL+".fifo", deadLetterURL+".fifo" })
	alone.queue.refuses = "a"
	batch := []events.SQSMessage{grouped(message("a", "poison"), "g"), grouped(asking("b", "b"), "g"), grouped(message("c", "poison"), "h"), grouped(asking("d", "d"), "h")}
	wantIDs(t, "listed of the groups", alone.handle(batch...), "a", "b")
}

// After a refusal that is not of what was sent no other call is made, however many
// wait.
func TestQueueRefusesAll(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"RequestThrottled", "KmsThrottled", "AWS.SimpleQueueService.NonExistentQueue", "InvalidAddress", "AccessDenied"} {
		r := newRig(t, quarantining)
		r.queue.away = func(context.Context) error { return &smithy.GenericAPIError{Code: code, Fault: smithy.FaultClient} }
		if got := r.handle(many(100, "poison")...); len(got) != 100 || r.queue.sends != 1 {
			t.Errorf("%s: listed %d after %d calls, want all after one", code, len(got), r.queue.sends)
		}
	}
}

// A panic of the queue's client or of the log's handler harms no other message.
func TestPanicsBesideTheEffects(t *testing.T) {
	t.Parallel()
	r := newRig(t, quarantining)
	r.hand.do = func(_ context.Context, d intent.Delivery) (intent.Outcome, error) {
		if d.Key == "running" {
			return intent.Outcome{Kind: intent.InProgress, Wait: time.Minute}, nil
		}
		return executed, nil
	}
	r.queue.do = func(context.Context) error { panic("no connection") }
	r.queue.away = r.queue.do
	wantIDs(t, "listed", r.handle(message("bad", "poison"), asking("running", "running"), asking("good", "good")), "bad", "running")
	mute := newRig(t, func(c *sqsbatch.Config) { c.Log = slog.New(panicking{}) })
	wantIDs(t, "listed without a log", mute.handle(message("bad", "poison"), asking("good", "good")), "bad")
}

// panicking is a log's handler that does.
type panicking struct{ slog.Handler }

func (panicking) Enabled(context.Context, slog.Level) bool { panic("no log") }

// C77: reading stops when there is no time left to run anything. The rest is listed.
func TestC77ReadingStops(t *testing.T) {
	t.Parallel()
	for name, arn := range map[string]string{"standard": queueARN, "FIFO": fifoARN} {
		bubble(t, name, func(t *testing.T) {
			read := 0
			r := newRig(t, func(c *sqsbatch.Config) {
				c.Select = func(body []byte) ([]byte, error) {
					read++
					time.Sleep(100 * time.Millisecond) // what a large body takes
					return body, nil
				}
			})
			var batch []events.SQSMessage
			for _, id := range []string{"1", "2", "3", "4", "5"} {
				m := grouped(asking(id, id), id)
				m.EventSourceARN = arn
				batch = append(batch, m)
			}
			got, _ := r.within(1250*time.Millisecond, batch)
			if read != 3 || len(got) < 2 || len(r.hand.keys())+len(got) != 5 {
				t.Errorf("read %d, ran %v, listed %v, want three read and the rest listed", read, r.hand.keys(), got)
			}
			if line := r.log.about(t, "5"); line["error"] != intent.ErrNoTime.Error() {
				t.Errorf("got log line %v, want %v", line, intent.ErrNoTime)
			}
		})
	}
}

// nothing is an error whose methods panic where it is a nil pointer.
type nothing struct{ text string }

func (n *nothing) Error() string { return n.text }

// C76: an error that is a nil pointer, and an observer that panics, harm one message at
// the most.
func TestC76ErrorsThatPanic(t *testing.T) {
	t.Parallel()
	odd := func(c *sqsbatch.Config) {
		c.Key = func(m events.SQSMessage) (string, error) { return "", (*nothing)(nil) }
	}
	for name, c := range map[string]struct {
		change func(*sqsbatch.Config)
		do     func(context.Context, intent.Delivery) (intent.Outcome, error)
		bad    events.SQSMessage
		listed []string
	}{
		"Key": {change: odd, bad: message("bad", `{}`), listed: []string{"bad"}},
		"Select": {change: func(c *sqsbatch.Config) {
			c.Select = func(body []byte) ([]byte, error) {
				if strings.Contains(string(body), "bad") {
					return nil, (*nothing)(nil)
				}
				return body, nil
			}
		}, bad: asking("bad", "bad"), listed: []string{"bad"}},
		"handler": {do: func(_ context.Context, d intent.Delivery) (intent.Outcome, error) {
			if d.Key == "bad" {
				return intent.Outcome{}, (*nothing)(nil)
			}
			return executed, nil
		}, bad: asking("bad", "bad"), listed: []string{"bad"}},
		"cause": {do: func(_ context.Context, d intent.Delivery) (intent.Outcome, error) {
			return intent.Outcome{Kind: intent.Executed, Cause: (*nothing)(nil)}, nil
		}, bad: asking("bad", "bad"), listed: []string{"bad", "good"}},
		"observer": {change: func(c *sqsbatch.Config) { c.Observe = func(context.Context, sqsbatch.Report) { panic("no metrics") } },
			bad: asking("bad", "bad")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, func(config *sqsbatch.Config) {
					if c.change != nil {
						c.change(config)
					}
				})
				r.hand.do = c.do
				wantIDs(t, "listed", r.handle(c.bad, asking("good", "good")), c.listed...)
			})
		})
	}
}
