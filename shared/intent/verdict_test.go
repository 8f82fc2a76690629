package intent_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/singleeffect/once/shared/intent"
)

var errProvider = errors.New("provider says no")

// ending is what becomes of an intent by what its effect returned.
type ending struct {
	kind   intent.Kind // empty for an error
	err    error
	state  intent.State
	result string
	window bool // the provider's window and the payload still bind
}

var (
	executed = ending{kind: intent.Executed, state: intent.StateCompleted, result: `{"receipt":"r-1"}`, window: true}
	refused  = ending{kind: intent.Refused, state: intent.StateRefused, result: `{"reason":"declined"}`, window: true}
	released = ending{err: intent.ErrReleased, state: intent.StateReleased}
	bound    = ending{err: intent.ErrReleased, state: intent.StateReleased, window: true}
	leftOver = ending{err: intent.ErrUnknown, state: intent.StateClaimed, window: true}
	inDoubt  = ending{kind: intent.InDoubt, state: intent.StateInDoubt, window: true}
)

// What an effect can return, and how a claim ends by it: the first attempt's,
// for both classes, and that of a Keyed attempt before which another's outcome
// was never known (C43). A Blind effect has no such attempt.
var verdicts = map[string]struct {
	effect                            func(context.Context, intent.Attempt) (any, error)
	freshKeyed, freshBlind, afterward ending
}{
	"nil": {
		func(context.Context, intent.Attempt) (any, error) { return receipt("r-1"), nil },
		executed, executed, executed,
	},
	"Refuse": {
		func(context.Context, intent.Attempt) (any, error) { return nil, intent.Refuse(reason("declined")) },
		refused, refused, leftOver,
	},
	"Refuse, wrapped": {
		func(context.Context, intent.Attempt) (any, error) {
			return nil, fmt.Errorf("charge: %w", intent.Refuse(reason("declined")))
		},
		refused, refused, leftOver,
	},
	"Refuse, answered": {
		func(context.Context, intent.Attempt) (any, error) {
			return nil, intent.Answered(intent.Refuse(reason("declined")))
		},
		refused, refused, refused,
	},
	"NotApplied": {
		func(context.Context, intent.Attempt) (any, error) { return nil, intent.NotApplied(errProvider) },
		released, released, leftOver,
	},
	"NotApplied, answered": {
		func(context.Context, intent.Attempt) (any, error) {
			return nil, fmt.Errorf("charge: %w", intent.Answered(intent.NotApplied(errProvider)))
		},
		released, released, bound, // the earlier attempt may have happened all the same (C41)
	},
	"an error": {
		func(context.Context, intent.Attempt) (any, error) { return receipt("r-1"), errProvider },
		leftOver, inDoubt, leftOver,
	},
	"an error, answered": {
		func(context.Context, intent.Attempt) (any, error) { return nil, intent.Answered(errProvider) },
		leftOver, inDoubt, leftOver,
	},
	"C50 NotApplied, joined": {
		func(context.Context, intent.Attempt) (any, error) {
			return nil, errors.Join(errProvider, intent.NotApplied(errProvider))
		},
		leftOver, inDoubt, leftOver,
	},
	"C50 Refuse, joined": {
		func(context.Context, intent.Attempt) (any, error) {
			return nil, fmt.Errorf("%w: %w", intent.Refuse(reason("declined")), errProvider)
		},
		leftOver, inDoubt, leftOver,
	},
	"C50 an answer, joined": {
		func(context.Context, intent.Attempt) (any, error) {
			return nil, errors.Join(intent.Answered(intent.NotApplied(errProvider)), errProvider)
		},
		leftOver, inDoubt, leftOver,
	},
	"C50 two verdicts, joined": {
		func(context.Context, intent.Attempt) (any, error) {
			return nil, errors.Join(intent.NotApplied(errProvider), intent.Refuse(reason("declined")))
		},
		leftOver, inDoubt, leftOver,
	},
	"C50 Refuse inside NotApplied": {
		func(context.Context, intent.Attempt) (any, error) {
			return nil, intent.NotApplied(intent.Refuse(reason("declined")))
		},
		leftOver, inDoubt, leftOver,
	},
	"C50 NotApplied of nil": {
		func(context.Context, intent.Attempt) (any, error) { return nil, intent.NotApplied(nil) },
		leftOver, inDoubt, leftOver,
	},
	"C50 an answer of nil": {
		func(context.Context, intent.Attempt) (any, error) { return nil, intent.Answered(nil) },
		leftOver, inDoubt, leftOver,
	},
	"a joined error inside NotApplied": {
		func(context.Context, intent.Attempt) (any, error) {
			return nil, intent.NotApplied(errors.Join(errProvider, errProvider))
		},
		released, released, leftOver,
	},
	"an error that is a nil pointer": {
		func(context.Context, intent.Attempt) (any, error) { return nil, (*broken)(nil) },
		leftOver, inDoubt, leftOver,
	},
	"a panic": {
		func(context.Context, intent.Attempt) (any, error) { panic(errProvider) },
		leftOver, inDoubt, leftOver,
	},
	"a cut-off": {
		func(ctx context.Context, _ intent.Attempt) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
		leftOver, inDoubt, leftOver,
	},
}

// broken is an error whose methods panic where it is a nil pointer.
type broken struct{ text string }

func (b *broken) Error() string { return b.text }

func reason(text string) map[string]string { return map[string]string{"reason": text} }

func TestVerdicts(t *testing.T) {
	for name, v := range verdicts {
		bubble(t, "Keyed/first attempt/"+name, func(t *testing.T) {
			w := newWorld(t)
			w.effect = v.effect
			o, err := w.deliver(keyed, book)
			w.wantEnding(o, err, v.freshKeyed, 1)
		})
		bubble(t, "Blind/first attempt/"+name, func(t *testing.T) {
			w := newWorld(t)
			w.effect = v.effect
			o, err := w.deliver(blind, book)
			w.wantEnding(o, err, v.freshBlind, 1)
		})
		bubble(t, "Keyed/after an unknown attempt/"+name, func(t *testing.T) {
			w := newWorld(t)
			before := w.lapse(keyed)
			w.effect = v.effect
			o, err := w.deliver(keyed, book)
			after := w.wantEnding(o, err, v.afterward, 2)
			if !after.ClaimedAt.Equal(before.ClaimedAt) {
				t.Errorf("claimed_at: got %v, want the first attempt's %v", after.ClaimedAt, before.ClaimedAt)
			}
		})
		bubble(t, "Keyed/after a released attempt/"+name, func(t *testing.T) {
			w := newWorld(t)
			w.effect = verdicts["NotApplied"].effect
			_, _ = w.deliver(keyed, book)
			w.effect, w.runs = v.effect, nil
			o, err := w.deliver(keyed, book)
			w.wantEnding(o, err, v.freshKeyed, 2) // known not to have happened: nothing is left of it
		})
	}
}

func (w *world) wantEnding(o intent.Outcome, err error, want ending, attempt int) intent.Record {
	w.t.Helper()
	w.wantRuns(1)
	if o.Kind != want.kind || !errors.Is(err, want.err) || (err == nil) != (want.err == nil) {
		w.t.Errorf("got %+v and error %v, want %q and error %v", o, err, want.kind, want.err)
	}
	if err == nil && o.Attempt != attempt {
		w.t.Errorf("outcome: got attempt %d, want %d", o.Attempt, attempt)
	}
	r := w.wantState(want.state)
	if string(r.Result.JSON) != want.result || string(o.Result.JSON) != want.result {
		w.t.Errorf("result: got %s in the outcome, %s in the record, want %s", o.Result.JSON, r.Result.JSON, want.result)
	}
	if r.Attempt != attempt || r.ClaimedAt.IsZero() == want.window {
		w.t.Errorf("record: got attempt %d, claimed at %v, want %d and a window: %t", r.Attempt, r.ClaimedAt, attempt, want.window)
	}
	if got, want := !r.ExpiresAt.IsZero(), want.state.Final(); got != want {
		w.t.Errorf("record: expires at %v, final: %t", r.ExpiresAt, want)
	}
	return r
}

// The error keeps what the effect said, and where it panicked.
func TestVerdictLosesNoError(t *testing.T) {
	for _, name := range []string{"NotApplied", "an error"} {
		bubble(t, name, func(t *testing.T) {
			w := newWorld(t)
			w.effect = verdicts[name].effect
			_, err := w.deliver(keyed, book)
			if !causedBy(err, errProvider) || !strings.Contains(err.Error(), errProvider.Error()) {
				t.Errorf("got %v, want the effect's error in it", err)
			}
		})
	}
	bubble(t, "a panic", func(t *testing.T) {
		w := newWorld(t)
		w.effect = verdicts["a panic"].effect
		_, err := w.deliver(keyed, book)
		var panicked *intent.PanicError
		if !errors.As(err, &panicked) || panicked.Value != errProvider || !strings.Contains(string(panicked.Stack), "verdict_test.go") {
			t.Errorf("got %v, want the panic and its stack", err)
		}
	})
	bubble(t, "a doubt", func(t *testing.T) {
		w := newWorld(t)
		w.effect = verdicts["an error"].effect
		o, _ := w.deliver(blind, book)
		if got := w.store.record(record).Reason; !strings.Contains(got, errProvider.Error()) || o.Reason != got {
			t.Errorf("got reason %q in the record, %q in the outcome, want the effect's error", got, o.Reason)
		}
	})
	bubble(t, "a long one", func(t *testing.T) { // the record stays small, in whole characters
		w := newWorld(t)
		w.effect = func(context.Context, intent.Attempt) (any, error) {
			return nil, intent.NotApplied(errors.New("x" + strings.Repeat("é", 1000)))
		}
		_, _ = w.deliver(keyed, book)
		if got := w.wantState(intent.StateReleased).Reason; len(got) > 256 || len(got) < 250 || !utf8.ValidString(got) {
			t.Errorf("got a reason of %d bytes, UTF-8: %t", len(got), utf8.ValidString(got))
		}
	})
}

// An effect that ends its goroutine leaves its claim to lapse, and nothing
// running behind.
func TestGoexit(t *testing.T) {
	for name, deadline := range map[string]bool{"with a deadline": true, "without one": false} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, c class) {
				w := newWorld(t)
				w.effect = func(context.Context, intent.Attempt) (any, error) { runtime.Goexit(); return nil, nil }
				ctx := context.Background()
				if deadline {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, timeout)
					defer cancel()
				}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_, _ = w.handler(c).Deliver(ctx, delivery(t, book))
					t.Error("Deliver returns")
				}()
				<-ended
				w.wantState(intent.StateClaimed)
				time.Sleep(lapsed)
				w.effect = verdicts["nil"].effect
				o, err := w.deliver(c, book)
				want, runs := intent.Executed, 2
				if c.blind {
					want, runs = intent.InDoubt, 1
				}
				wantKind(t, o, err, want)
				w.wantRuns(runs)
			})
		})
	}
}

// C30: the effect happened, whatever becomes of its result.
func TestC30ResultThatCannotBeKept(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.effect = func(context.Context, intent.Attempt) (any, error) { return make(chan int), nil }
		o, err := w.deliver(c, book)
		wantKind(t, o, err, intent.Executed)
		again, err := w.deliver(c, book)
		wantKind(t, again, err, intent.Replayed)
		w.wantRuns(1)
		if !o.Result.Omitted || !again.Result.Omitted || o.Result.JSON != nil {
			t.Errorf("got results %+v and %+v, want both omitted", o.Result, again.Result)
		}
	})
}

// C35: what did not happen runs at the next delivery, at once.
func TestC35NotApplied(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		effect := w.effect
		w.effect = verdicts["NotApplied"].effect
		if _, err := w.deliver(c, book); !errors.Is(err, intent.ErrReleased) {
			t.Fatalf("got %v, want ErrReleased", err)
		}
		w.effect = effect
		o, err := w.deliver(c, `{"item":"another book"}`) // nor does it bind to its payload
		wantKind(t, o, err, intent.Executed)
		w.wantRuns(2)
		if w.runs[0].Downstream != w.runs[1].Downstream || w.runs[1].Number != 2 {
			t.Errorf("got attempts %+v", w.runs)
		}
	})
}

// C40: the request of a Keyed effect that was cut off may still be on its way.
// Nobody runs another beside it: the claim lapses.
func TestC40UnknownLapses(t *testing.T) {
	bubble(t, "Keyed", func(t *testing.T) {
		w := newWorld(t)
		effect := w.effect
		w.effect = verdicts["a cut-off"].effect
		if _, err := w.deliver(keyed, book); !errors.Is(err, intent.ErrUnknown) || !causedBy(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want ErrUnknown and why", err)
		}
		w.effect = effect
		lease := w.store.record(record).LeaseUntil
		for time.Now().Before(lease.Add(skew)) {
			o, err := w.deliver(keyed, book)
			wantKind(t, o, err, intent.InProgress)
			w.wantRuns(1)
			time.Sleep(time.Second)
		}
		o, err := w.deliver(keyed, book)
		wantKind(t, o, err, intent.Executed)
		w.wantRuns(2)
	})
}

// C10: an attempt that was cut off comes back as its class has it: Keyed under
// the same downstream key, Blind not at all.
func TestC10CutOff(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.lapse(c)
		o, err := w.deliver(c, book)
		if c.blind {
			wantKind(t, o, err, intent.InDoubt)
			w.wantRuns(0)
			w.wantState(intent.StateInDoubt)
			return
		}
		wantKind(t, o, err, intent.Executed)
		w.wantRuns(1)
		want := intent.Key{Scope: "shop", Operation: "charge", ID: orderID}.Downstream()
		if w.runs[0].Downstream != want || w.runs[0].Number != 2 {
			t.Errorf("got attempt %+v, want number 2 under %s", w.runs[0], want)
		}
	})
}

// C43: a first attempt charged and crashed; the second one's own check "already
// paid" is no refusal of the intent.
func TestC43OwnCheckIsNoVerdict(t *testing.T) {
	bubble(t, "Keyed", func(t *testing.T) {
		w := newWorld(t)
		w.lapse(keyed)
		before := w.store.record(record)
		w.effect = verdicts["Refuse"].effect
		if _, err := w.deliver(keyed, book); !errors.Is(err, intent.ErrUnknown) {
			t.Errorf("got %v, want ErrUnknown", err)
		}
		after := w.wantState(intent.StateClaimed)
		if !after.ClaimedAt.Equal(before.ClaimedAt) {
			t.Errorf("claimed_at: got %v, want %v", after.ClaimedAt, before.ClaimedAt)
		}
		time.Sleep(lapsed)
		w.effect = verdicts["nil"].effect // the provider answers the first attempt's result
		o, err := w.deliver(keyed, book)
		wantKind(t, o, err, intent.Executed)
	})
}

func TestRefusal(t *testing.T) {
	want := reason("declined")
	for name, err := range map[string]error{
		"plain":    intent.Refuse(want),
		"answered": intent.Answered(intent.Refuse(want)),
		"wrapped":  fmt.Errorf("charge: %w", intent.Refuse(want)),
	} {
		if got, ok := intent.Refusal(err); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, %t", name, got, ok)
		}
	}
	for name, err := range map[string]error{
		"nil": nil, "an error": errProvider, "NotApplied": intent.NotApplied(errProvider), "C50 joined": errors.Join(errProvider, intent.Refuse(want)),
	} {
		if got, ok := intent.Refusal(err); ok {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestContain(t *testing.T) {
	if err := intent.Contain(func() error { return nil }); err != nil {
		t.Error(err)
	}
	if err := intent.Contain(func() error { return errProvider }); err != errProvider {
		t.Errorf("got %v, want the function's own error", err)
	}
	for name, f := range map[string]func() error{
		"a value":         func() error { panic("text") },
		"nil":             func() error { panic(nil) },
		"a runtime error": func() error { var none []int; _ = none[len(none)]; return nil },
	} {
		var panicked *intent.PanicError
		if err := intent.Contain(f); !errors.As(err, &panicked) || !strings.Contains(string(panicked.Stack), "TestContain") {
			t.Errorf("%s: got %v, want a PanicError with its stack", name, err)
		}
	}
}

// A provider's answer that the effect joins with a check of its own is unknown: from
// attempt 2 on the check says nothing of the intent (C43, C50).
func TestC43VerdictsThatAreJoined(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		if c.blind {
			return // a lapsed one is in doubt, and has no second attempt
		}
		w := newWorld(t)
		w.lapse(c)
		w.effect = func(context.Context, intent.Attempt) (any, error) {
			return nil, errors.Join(intent.Refuse("already paid"), intent.Answered(intent.NotApplied(errors.New("slow down"))))
		}
		o, err := w.deliver(c, book)
		if !errors.Is(err, intent.ErrUnknown) || !o.Lapsed {
			t.Errorf("got %+v and error %v, want a takeover whose outcome is unknown", o, err)
		}
		w.wantState(intent.StateClaimed)
	})
}

// A first claim and one of what was released take over nothing that lapsed.
func TestNothingLapsed(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		w.effect = verdicts["NotApplied"].effect
		for what := range 2 { // the first claim, and one after its release
			o, err := w.deliver(c, book)
			if !errors.Is(err, intent.ErrReleased) || o.Lapsed {
				t.Errorf("delivery %d: got %+v and error %v, want ErrReleased and nothing lapsed", what+1, o, err)
			}
		}
	})
}
