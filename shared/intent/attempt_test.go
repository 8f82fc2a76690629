package intent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// An effect is told how often its message was received, whatever its class.
func TestAttemptKnowsItsReceives(t *testing.T) {
	for _, n := range []int{0, 1, 7} {
		both(t, func(t *testing.T, c class) {
			w := newWorld(t)
			d := delivery(t, book)
			d.Receives = n
			if _, err := w.handler(c).Deliver(t.Context(), d); err != nil || len(w.runs) != 1 || w.runs[0].Receives != n {
				t.Errorf("got attempts %+v and error %v, want one of a message received %d times", w.runs, err, n)
			}
		})
	}
}

// Only the first three receives are early; where they are not known nothing is put off.
func TestEarly(t *testing.T) {
	for n, want := range map[int]bool{-1: false, 0: false, 1: true, 2: true, 3: true, 4: false, 5: false} {
		if got := (intent.Attempt{Receives: n}).Early(); got != want {
			t.Errorf("%d receives: got %t, want %t", n, got, want)
		}
	}
}

// The context of the store outlives its caller by two seconds, and never the time that the answer needs.
func TestStoreContextEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		deadline, cancelled time.Duration // zero: none
		ends                time.Duration
	}{
		"its caller gives up":            {0, 5 * time.Second, 7 * time.Second},
		"its caller gives up late":       {10 * time.Second, 9 * time.Second, 9750 * time.Millisecond},
		"its caller gives up in time":    {10 * time.Second, time.Second, 3 * time.Second},
		"its caller waits to the end":    {10 * time.Second, 0, 9750 * time.Millisecond},
		"it is made when all is over":    {-time.Second, 0, 0},
		"its caller had given up before": {0, time.Nanosecond, 2*time.Second + time.Nanosecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				if tt.deadline != 0 {
					ctx, cancel = context.WithTimeout(ctx, tt.deadline)
					defer cancel()
				}
				if tt.cancelled != 0 {
					time.AfterFunc(tt.cancelled, cancel)
				}
				began := time.Now()
				own, stop := intent.StoreContext(ctx)
				defer stop()
				<-own.Done()
				if got := time.Since(began); got != tt.ends {
					t.Errorf("ended after %v, want %v", got, tt.ends)
				}
			})
		})
	}
}

// A reason is bounded whatever bytes an error's text is made of.
func TestReasonOfAnyBytes(t *testing.T) {
	for name, text := range map[string]string{
		"no characters": strings.Repeat("\x80", 1000), "a few": "é" + strings.Repeat("\x80", 1000), "none too many": strings.Repeat("é", 100),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.effect = func(context.Context, intent.Attempt) (any, error) { return nil, errors.New(text) }
			o, err := w.handler(blind).Deliver(t.Context(), delivery(t, book))
			if err != nil || o.Kind != intent.InDoubt || len(o.Reason) > 256 {
				t.Errorf("got %+v and error %v, want it in doubt with 256 bytes of reason at the most", o, err)
			}
			if panicked := (*intent.PanicError)(nil); errors.As(o.Cause, &panicked) {
				t.Error(panicked)
			}
		})
	}
}

// An effect without a record is told of its message, too.
func TestNaturalAttempt(t *testing.T) {
	var got intent.Attempt
	n := &intent.Natural[order]{Effect: func(_ context.Context, _ order, a intent.Attempt) error { got = a; return nil }}
	d := delivery(t, book)
	d.MessageID, d.Receives = "message-7", 3
	if _, err := n.Deliver(t.Context(), d); err != nil || got.MessageID != "message-7" || got.Receives != 3 {
		t.Errorf("got %+v and error %v, want the message's id and receives", got, err)
	}
}

// A verdict that does not count because of the effect's own fault says which fault it is.
func TestFaultOfAVerdictIsTold(t *testing.T) {
	no := errors.New("declined")
	for says, verdict := range map[string]error{
		"a verdict around a nil error": intent.NotApplied(nil),
		"Quarantine of a nil error":    intent.Quarantine(nil),
		"an answer without a verdict":  intent.Answered(nil),
		"a verdict around an answer":   intent.NotApplied(intent.Answered(intent.NotApplied(no))),
		"two verdicts in one error":    intent.NotApplied(intent.Refuse("no")),
	} {
		t.Run(says, func(t *testing.T) {
			both(t, func(t *testing.T, c class) {
				w := newWorld(t)
				w.effect = func(context.Context, intent.Attempt) (any, error) { return nil, verdict }
				o, err := w.deliver(c, book)
				if text := errors.Join(err, o.Cause); text == nil || !strings.Contains(text.Error(), says) {
					t.Errorf("got %+v and error %v, want it to say %q", o, err, says)
				}
				if got := w.store.record(record).State; got == intent.StateReleased || got == intent.StateRefused {
					t.Errorf("got %s, want it unknown", got)
				}
			})
		})
	}
}

// A panic that an effect contained and returned keeps its stack for the log.
func TestPanicInsideAnEffectsError(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.effect = func(context.Context, intent.Attempt) (any, error) {
			err := intent.Contain(func() error { panic("inside") })
			return nil, errors.Join(errors.New("outside"), err)
		}
		o, err := w.deliver(c, book)
		var panicked *intent.PanicError
		if !errors.As(errors.Join(err, o.Cause), &panicked) || panicked.Value != "inside" || len(panicked.Stack) == 0 {
			t.Errorf("got %+v and error %v, want the panic with its stack", o, err)
		}
	})
}
