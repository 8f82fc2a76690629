package sqsbatch_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// wantSpared wants the message listed, and nothing in quarantine.
func wantSpared(t *testing.T, r *rig, listed []string) {
	t.Helper()
	wantIDs(t, "listed", listed, "bad")
	want(t, "sent", len(r.queue.taken()), 0, func(a, b int) bool { return a == b })
	if report := r.report(); report.Quarantined != 0 || report.Listed != 1 {
		t.Errorf("got report %+v", report)
	}
	if line := r.log.about(t, "bad"); line["msg"] != "message listed" {
		t.Errorf("got log line %v", line)
	}
}

// What the next delivery may mend stays in its queue, whatever an effect's error is
// made of: it knows nothing of how its message was read.
func TestNotQuarantined(t *testing.T) {
	t.Parallel()
	poisons := map[string]error{
		"payload":     &intent.PayloadError{Field: "reply", Reason: "is not JSON"},
		"key":         &intent.KeyError{Field: "key", Reason: "is empty"},
		"no key":      intent.ErrNoKey,
		"expired":     intent.ErrExpired,
		"quarantined": intent.Quarantine(errors.New("unknown order")),
	}
	endings := map[string]func(error) error{
		"unknown":            func(err error) error { return err },
		"unknown, wrapped":   func(err error) error { return fmt.Errorf("call provider: %w", err) },
		"released":           intent.NotApplied,
		"released, answered": func(err error) error { return intent.Answered(intent.NotApplied(err)) },
		"panic":              func(err error) error { panic(err) },
	}
	for name, poison := range poisons {
		for how, end := range endings {
			if name == "quarantined" && strings.HasPrefix(how, "released") {
				continue // it did not happen, and nothing can mend it: see TestQuarantineOfAReleasedClaim
			}
			t.Run(how+", "+name, func(t *testing.T) {
				t.Parallel()
				m := &memory{}
				r := newRig(t, quarantining, func(c *sqsbatch.Config) {
					c.Handler = &intent.Keyed[order]{Config: shop(m), Window: 24 * time.Hour,
						Effect: func(context.Context, order, intent.Attempt) (any, error) { return nil, end(poison) }}
				})
				wantSpared(t, r, r.handle(asking("bad", "k")))
				wanted := intent.StateClaimed // until it lapses
				if strings.HasPrefix(how, "released") {
					wanted = intent.StateReleased
				}
				if got := m.all()["shop#charge#k"].State; got != wanted {
					t.Errorf("got state %s, want %s", got, wanted)
				}
			})
		}
		if name == "quarantined" {
			continue // a Natural means it
		}
		t.Run("natural, "+name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quarantining, func(c *sqsbatch.Config) {
				c.Handler = &intent.Natural[order]{Effect: func(context.Context, order, intent.Attempt) error { return fmt.Errorf("read reply: %w", poison) }}
			})
			wantSpared(t, r, r.handle(asking("bad", "k")))
		})
	}
	for name, err := range map[string]error{
		"store":                 errors.New("claim intent: store is away"),
		"format of another day": fmt.Errorf("claim intent: %w", &intent.FormatError{Intent: "shop#charge#k", Version: 2}),
		"no time":               intent.ErrNoTime,
		"vanished":              intent.ErrVanished,
		"another class":         fmt.Errorf("%w: state claimed", intent.ErrOtherClass),
		"lost":                  errors.Join(intent.ErrLost, fmt.Errorf("%w: %w", intent.ErrReleased, poisons["payload"])),
		"lost, without a word":  intent.ErrLost,
		"cut off":               context.DeadlineExceeded,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quarantining)
			r.hand.do = always(intent.Outcome{}, err)
			wantSpared(t, r, r.handle(asking("bad", "k")))
		})
	}
	for name, do := range map[string]func(context.Context, intent.Delivery) (intent.Outcome, error){
		"in progress":            always(intent.Outcome{Kind: intent.InProgress, Wait: time.Second}, nil),
		"in doubt, probe left":   always(intent.Outcome{Kind: intent.InDoubt, Wait: time.Second}, nil),
		"conflict and an error":  always(intent.Outcome{Kind: intent.Conflict}, errors.New("store is away")),
		"doubt and an error":     always(intent.Outcome{Kind: intent.InDoubt}, errors.New("store is away")),
		"progress and an error":  always(intent.Outcome{Kind: intent.InProgress, Wait: time.Second}, errors.New("store is away")),
		"kind of next release":   always(intent.Outcome{Kind: "rescheduled", Wait: time.Second}, nil),
		"nothing":                always(intent.Outcome{}, nil),
		"panic of the handler":   func(context.Context, intent.Delivery) (intent.Outcome, error) { panic(poisons["payload"]) },
		"goroutine of the batch": func(context.Context, intent.Delivery) (intent.Outcome, error) { runtime.Goexit(); return executed, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quarantining)
			r.hand.do = do
			wantSpared(t, r, r.handle(asking("bad", "k")))
			_, hidden := r.queue.seconds("bad")
			if want := !slices.Contains([]string{"kind of next release", "nothing", "goroutine of the batch"}, name); hidden != want {
				t.Errorf("hidden: %t, want %t", hidden, want)
			}
		})
	}
	for name, change := range map[string]func(*sqsbatch.Config){
		"key function fails":  keys(func(events.SQSMessage) (string, error) { return "", errors.New("table of orders is away") }),
		"key function panics": keys(func(events.SQSMessage) (string, error) { panic(poisons["key"]) }),
		"select fails": func(c *sqsbatch.Config) {
			c.Select = func([]byte) ([]byte, error) { return nil, errors.New("schema is away") }
		},
		"select panics": func(c *sqsbatch.Config) { c.Select = func([]byte) ([]byte, error) { panic(poisons["payload"]) } },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quarantining, change)
			wantSpared(t, r, r.handle(message("bad", `{"amount_cents":100}`)))
		})
	}
}

// For as long as a probe may yet say no, a doubt is hidden and listed; when it says
// so, the intent runs.
func TestDoubtWaitsForItsProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, c := &memory{}, &till{}
		broken, verdict := true, intent.Unknown
		r := newRig(t, quarantining, func(config *sqsbatch.Config) {
			config.Handler = &intent.Blind[order]{Config: shop(m),
				Effect: func(_ context.Context, _ order, a intent.Attempt) (any, error) {
					if broken {
						return nil, errors.New("connection reset")
					}
					return c.charge(a), nil
				},
				Probe: func(context.Context, order, intent.Attempt) (intent.Verdict, any, error) { return verdict, nil, nil },
			}
		})
		const firstLook, secondLook = 5 * time.Minute, 20 * time.Minute
		r.handle(asking("bad", "k"))
		wantHidden(t, r.queue, "bad", firstLook)
		time.Sleep(firstLook)
		wantIDs(t, "listed while the probe does not know", r.handle(asking("bad", "k")), "bad")
		want(t, "doubts", r.report().Outcomes[intent.InDoubt], 1, func(a, b int) bool { return a == b })
		wantHidden(t, r.queue, "bad", secondLook-firstLook)
		broken, verdict = false, intent.No
		wantIDs(t, "listed once it says no", r.handle(asking("bad", "k")))
		if c.total() != 1 || len(r.queue.taken()) != 0 {
			t.Errorf("%d effects and %d in quarantine, want 1 and none", c.total(), len(r.queue.taken()))
		}
	})
}

// A message that cannot be sent in time is listed, and the answer leaves in time.
func TestNoTimeForQuarantine(t *testing.T) {
	t.Parallel()
	poison := message("bad", "poison")
	bubble(t, "cancelled", func(t *testing.T) {
		r := newRig(t, quarantining)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		wantSpared(t, r, r.handleBy(ctx, poison))
	})
	for _, left := range []time.Duration{-time.Second, 0, 100 * time.Millisecond} {
		bubble(t, left.String()+" left", func(t *testing.T) {
			r := newRig(t, quarantining)
			ctx, cancel := context.WithTimeout(context.Background(), left)
			defer cancel()
			wantSpared(t, r, r.handleBy(ctx, poison))
		})
	}
	for name, accept := range map[string]func(context.Context, *sqs.SendMessageInput) error{
		"queue hangs": func(ctx context.Context, _ *sqs.SendMessageInput) error { <-ctx.Done(); return ctx.Err() },
		"queue is slow": func(ctx context.Context, _ *sqs.SendMessageInput) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(timeout - 200*time.Millisecond):
				return nil
			}
		},
	} {
		bubble(t, name, func(t *testing.T) {
			start := time.Now()
			r := newRig(t, quarantining)
			r.queue.accept = accept
			wantSpared(t, r, r.handle(poison, asking("good", "good")))
			if took := time.Since(start); took > timeout-200*time.Millisecond || len(r.exits) != 0 {
				t.Errorf("answered after %v of %v, ended the process at %v", took, timeout, r.exits)
			}
		})
	}
}
