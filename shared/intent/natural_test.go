package intent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

var errPut = errors.New("table is out of reach")

// shipping is a Natural whose effect is the test's; runs are the payloads it saw.
func shipping(effect func(context.Context) error) (n *intent.Natural[order], runs *[]string) {
	runs = new([]string)
	return &intent.Natural[order]{Effect: func(ctx context.Context, o order, _ intent.Attempt) error {
		*runs = append(*runs, o.Item)
		return effect(ctx)
	}}, runs
}

// What an effect can end with, and what its delivery comes to. What it said is
// in the error, and only Quarantine's is one that no delivery can mend.
func TestNatural(t *testing.T) {
	for name, c := range map[string]struct {
		effect        func(context.Context) error
		err           error // nil: executed
		unprocessable bool
	}{
		"nil":                       {effect: func(context.Context) error { return nil }},
		"an error":                  {effect: func(context.Context) error { return errPut }, err: errPut},
		"a cut-off":                 {effect: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, err: context.DeadlineExceeded},
		"done, though it was late":  {effect: func(ctx context.Context) error { <-ctx.Done(); return nil }},
		"Quarantine":                {effect: func(context.Context) error { return intent.Quarantine(errPut) }, err: errPut, unprocessable: true},
		"C50 Quarantine, joined":    {effect: func(context.Context) error { return errors.Join(intent.Quarantine(errPut), errPut) }, err: errPut},
		"C50 Quarantine of nil":     {effect: func(context.Context) error { return intent.Quarantine(nil) }, err: intent.ErrNotDone},
		"an error that is nil":      {effect: func(context.Context) error { return (*broken)(nil) }, err: intent.ErrNotDone},
		"Quarantine, wrapped":       {effect: func(context.Context) error { return fmt.Errorf("ship: %w", intent.Quarantine(errPut)) }, err: errPut, unprocessable: true},
		"another class's verdict":   {effect: func(context.Context) error { return intent.NotApplied(errPut) }, err: errPut},
		"a panic":                   {effect: func(context.Context) error { panic(errPut) }},
		"a panic, with Quarantine":  {effect: func(context.Context) error { panic(intent.Quarantine(errPut)) }},
		"a panic, with a nil error": {effect: func(context.Context) error { panic(error(nil)) }},
	} {
		bubble(t, name, func(t *testing.T) {
			n, runs := shipping(c.effect)
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			for delivered := 1; delivered <= 3; delivered++ { // as often as it comes
				ctx, cancel := context.WithTimeout(ctx, timeout/10)
				o, err := n.Deliver(ctx, delivery(t, book))
				cancel()
				panics := strings.HasPrefix(name, "a panic")
				switch panicked := (*intent.PanicError)(nil); {
				case panics && (!errors.As(err, &panicked) || !strings.Contains(string(panicked.Stack), "natural_test.go")):
					t.Errorf("got %v, want the panic and its stack", err)
				case !panics && c.err != nil && !causedBy(err, c.err), !panics && c.err == nil && err != nil:
					t.Errorf("got %v, want %v", err, c.err)
				}
				if got := errors.Is(err, intent.ErrUnprocessable); got != c.unprocessable {
					t.Errorf("got %v, for the dead-letter queue: %t, want %t", err, got, c.unprocessable)
				}
				if err == nil {
					wantKind(t, o, err, intent.Executed)
				} else if o.Kind != "" {
					t.Errorf("got %+v with error %v, want no outcome", o, err)
				}
				if len(*runs) != delivered || (*runs)[delivered-1] != "book" {
					t.Errorf("after %d deliveries the effect saw %v", delivered, *runs)
				}
			}
		})
	}
}

// The effect's context ends before the invocation does; without a deadline the
// effect takes its time.
func TestNaturalContext(t *testing.T) {
	for left, reserve := range map[time.Duration]time.Duration{
		time.Second:     500 * time.Millisecond,
		2 * time.Second: time.Second,
		timeout:         1200 * time.Millisecond,
	} {
		bubble(t, left.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), left)
			defer cancel()
			end, _ := ctx.Deadline()
			n, _ := shipping(func(ctx context.Context) error {
				if got, ok := ctx.Deadline(); !ok || end.Sub(got) != reserve {
					t.Errorf("the effect's context ends %v before the invocation does, want %v", end.Sub(got), reserve)
				}
				<-ctx.Done()
				return ctx.Err()
			})
			if o, err := n.Deliver(ctx, delivery(t, book)); !causedBy(err, context.DeadlineExceeded) || ctx.Err() != nil {
				t.Errorf("got %+v and %v, want the effect's cut-off before the end", o, err)
			}
		})
	}
	bubble(t, "no deadline", func(t *testing.T) {
		n, _ := shipping(func(ctx context.Context) error {
			time.Sleep(24 * time.Hour)
			return ctx.Err()
		})
		o, err := n.Deliver(context.Background(), delivery(t, book))
		wantKind(t, o, err, intent.Executed)
	})
	bubble(t, "the caller gives up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		n, _ := shipping(func(ctx context.Context) error { cancel(); <-ctx.Done(); return ctx.Err() })
		if o, err := n.Deliver(ctx, delivery(t, book)); !causedBy(err, context.Canceled) {
			t.Errorf("got %+v and %v, want the effect's cancellation", o, err)
		}
	})
}

// What cannot be run is not: the payload is read before there is a look at the
// time, for no time would mend it.
func TestNaturalNotRun(t *testing.T) {
	for name, c := range map[string]struct {
		left    time.Duration
		payload string
		field   string // of a PayloadError; empty: ErrNoTime
	}{
		"no time left":            {999 * time.Millisecond, book, ""},
		"a deadline that is over": {-time.Second, book, ""},
		"a field of another type": {timeout, `{"item":7}`, "item"},
		"unreadable, and no time": {0, `{"item":7}`, "item"},
	} {
		bubble(t, name, func(t *testing.T) {
			n, runs := shipping(func(context.Context) error { return nil })
			ctx, cancel := context.WithTimeout(context.Background(), c.left)
			defer cancel()
			o, err := n.Deliver(ctx, intent.Delivery{Payload: intenttest.Payload(t, c.payload)})
			var unusable *intent.PayloadError
			switch {
			case c.field == "" && !errors.Is(err, intent.ErrNoTime):
				t.Errorf("got %+v and %v, want ErrNoTime", o, err)
			case c.field != "" && (!errors.As(err, &unusable) || unusable.Field != c.field):
				t.Errorf("got %+v and %v, want a PayloadError of %s", o, err, c.field)
			}
			if len(*runs) != 0 {
				t.Errorf("the effect runs with %v", *runs)
			}
		})
	}
}

// A Natural needs neither a key nor an age, and nothing of its is a record:
// there is no store that it could be given.
func TestNaturalNeedsNoKey(t *testing.T) {
	n, runs := shipping(func(context.Context) error { return nil })
	for _, d := range []intent.Delivery{
		{Payload: intenttest.Payload(t, book)},
		{Payload: intenttest.Payload(t, book), Key: strings.Repeat("k", 2*intent.MaxKeyBytes)},
		{Payload: intenttest.Payload(t, book), SentAt: time.Now().AddDate(-10, 0, 0)}, // however late
	} {
		o, err := n.Deliver(context.Background(), d)
		wantKind(t, o, err, intent.Executed)
		if o.Attempt != 0 || o.Result.JSON != nil || o.Result.Omitted {
			t.Errorf("got %+v, want nothing remembered", o)
		}
	}
	if want := []string{"book", "book", "book"}; !slices.Equal(*runs, want) {
		t.Errorf("the effect saw %v, want %v", *runs, want)
	}
	if !n.Keyless() {
		t.Error("a batch would ask for a key")
	}
	for name, other := range map[string]any{"Keyed": new(intent.Keyed[order]), "Blind": new(intent.Blind[order])} {
		if k, ok := other.(interface{ Keyless() bool }); ok && k.Keyless() {
			t.Errorf("%s: a batch would do without its key", name)
		}
	}
}

func TestNaturalValidate(t *testing.T) {
	n, _ := shipping(func(context.Context) error { return nil })
	if err := n.Validate(); err != nil {
		t.Error(err)
	}
	var missing *intent.ConfigError
	if err := new(intent.Natural[order]).Validate(); !errors.As(err, &missing) || missing.Field != "Effect" {
		t.Errorf("got %v, want a ConfigError of Effect", err)
	}
}
