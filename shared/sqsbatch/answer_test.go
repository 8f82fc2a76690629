package sqsbatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// endings are all ways a delivery can end, and whether its message is done.
var endings = map[string]struct {
	do   func(context.Context, intent.Delivery) (intent.Outcome, error)
	done bool
}{
	"executed":             {always(executed, nil), true},
	"replayed":             {always(intent.Outcome{Kind: intent.Replayed, Attempt: 2}, nil), true},
	"refused":              {always(intent.Outcome{Kind: intent.Refused, Attempt: 1}, nil), true},
	"in progress":          {always(intent.Outcome{Kind: intent.InProgress, Attempt: 1, Wait: 1}, nil), false},
	"conflict":             {always(intent.Outcome{Kind: intent.Conflict, Attempt: 1}, nil), false},
	"in doubt":             {always(intent.Outcome{Kind: intent.InDoubt, Attempt: 1}, nil), false},
	"error":                {always(intent.Outcome{}, errors.New("store is away")), false},
	"executed with error":  {always(executed, errors.New("store is away")), false},
	"nothing":              {always(intent.Outcome{}, nil), false},
	"kind of next release": {always(intent.Outcome{Kind: "rescheduled"}, nil), false},
	"panic":                {func(context.Context, intent.Delivery) (intent.Outcome, error) { panic("gone") }, false},
	"goexit":               {func(context.Context, intent.Delivery) (intent.Outcome, error) { runtime.Goexit(); return executed, nil }, false},
}

func TestC04GoodBadGood(t *testing.T) {
	t.Parallel()
	for name, ending := range endings {
		bubble(t, name, func(t *testing.T) {
			r := newRig(t)
			r.hand.do = func(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
				if d.Key == "bad" {
					return ending.do(ctx, d)
				}
				return executed, nil
			}
			got := r.handle(asking("1", "good"), asking("2", "bad"), asking("3", "good too"))
			if ending.done {
				wantIDs(t, "listed", got)
				wantIDs(t, "logged", nil)
				return
			}
			wantIDs(t, "listed", got, "2")
			line := r.log.about(t, "2")
			if line["msg"] != "message listed" || line["receive"] != "1" {
				t.Errorf("got log line %v", line)
			}
		})
	}
}

func TestC05AnswerIsNeverNull(t *testing.T) {
	t.Parallel()
	for name, records := range map[string][]events.SQSMessage{"empty": {}, "all done": {asking("1", "a"), asking("2", "b")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, err := newRig(t).Handle(t.Context(), events.SQSEvent{Records: records})
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(answer)
			if want := `{"batchItemFailures":[]}`; err != nil || string(got) != want {
				t.Errorf("got %s and error %v, want %s", got, err, want)
			}
		})
	}
}

// Batches of messages that are repeated, share intents and end in every way:
// what is listed is exactly what has a message that is not done.
func TestC05AnswersOfAnyBatch(t *testing.T) {
	t.Parallel()
	names := slices.Sorted(maps.Keys(endings))
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 5))
		var messages []events.SQSMessage
		notDone := map[string]bool{}
		for range random.IntN(11) {
			name := names[random.IntN(len(names))]
			m := asking(fmt.Sprint(random.IntN(8)), name)
			if random.IntN(4) == 0 {
				m.EventSourceARN = fifoARN
				m.Attributes["MessageGroupId"] = m.MessageId // alone in its group, or with its like
			}
			if random.IntN(8) == 0 {
				m.Body = "poison"
			}
			messages = append(messages, m)
			if m.Body == "poison" || !endings[name].done {
				notDone[m.MessageId] = true
			}
		}
		r := newRig(t)
		r.hand.do = func(ctx context.Context, d intent.Delivery) (intent.Outcome, error) { return endings[d.Key].do(ctx, d) }
		got := r.handle(messages...)
		want(t, fmt.Sprintf("seed %d: listed", seed), slices.Sorted(slices.Values(got)), slices.Sorted(maps.Keys(notDone)), slices.Equal)
		want(t, "reported as listed", r.report().Listed, len(notDone), func(a, b int) bool { return a == b })
	}
}

// Ten workers fail at the same moment, round after round.
func TestC32ConcurrentFailures(t *testing.T) {
	t.Parallel()
	const rounds = 1_000 // and 100,000 in TestC32FatesAreGathered
	r := newRig(t, func(c *sqsbatch.Config) { c.Log = slog.New(slog.DiscardHandler); c.Observe = nil })
	var messages []events.SQSMessage
	var ids []string
	for i := range 10 {
		ids = append(ids, fmt.Sprint(i))
		messages = append(messages, asking(ids[i], ids[i]))
	}
	failed := errors.New("store is away")
	for round := range rounds {
		var all sync.WaitGroup
		all.Add(len(messages))
		r.Handler = &hand{do: func(context.Context, intent.Delivery) (intent.Outcome, error) {
			all.Done()
			all.Wait()
			return intent.Outcome{}, failed
		}}
		answer, err := r.Handle(t.Context(), events.SQSEvent{Records: messages})
		var got []string
		for _, failure := range answer.BatchItemFailures {
			got = append(got, failure.ItemIdentifier)
		}
		if err != nil || !slices.Equal(got, ids) {
			t.Fatalf("round %d: listed %v and error %v, want %v", round, got, err, ids)
		}
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.hand.do = func(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
		switch d.Key {
		case "takeover":
			return intent.Outcome{Kind: intent.Executed, Attempt: 2, Lapsed: true}, nil
		case "format":
			return intent.Outcome{}, fmt.Errorf("claim intent: %w", &intent.FormatError{Intent: "shop#charge#format", Version: 2})
		}
		return endings[d.Key].do(ctx, d)
	}
	var messages []events.SQSMessage
	for i, key := range []string{"executed", "takeover", "takeover", "replayed", "refused", "in progress", "conflict", "in doubt", "error", "nothing", "panic", "format"} {
		messages = append(messages, asking(fmt.Sprint(i), key))
	}
	messages = append(messages, message("poison", "poison"))
	got := r.handle(messages...)
	wantIDs(t, "listed", got, "5", "6", "7", "8", "9", "10", "11", "poison")
	want(t, "report", r.report(), sqsbatch.Report{
		// The takeover's second message follows the first one's run.
		Outcomes: map[intent.Kind]int{
			intent.Executed: 2, intent.Replayed: 2, intent.Refused: 1, intent.InProgress: 1, intent.Conflict: 1, intent.InDoubt: 1,
		},
		Messages:      13,
		Failed:        5,
		Listed:        8,
		UnknownFormat: 1,
		Takeovers:     1,
	}, func(a, b sqsbatch.Report) bool { return reflect.DeepEqual(a, b) })
}

func TestMessageWithoutID(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, err := r.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{asking("1", "a"), asking("", "b")}})
	var unlistable *sqsbatch.EventError
	if !errors.As(err, &unlistable) || unlistable.Field != "Records[1].messageId" {
		t.Errorf("got error %v, want an EventError about Records[1].messageId", err)
	}
	wantIDs(t, "run", r.hand.keys())
}
