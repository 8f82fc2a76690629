package sqsbatch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// An event of which a part cannot be read fails as a whole: what is left of a message could be run as another, or deleted.
func TestEventThatIsReadInPart(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]string{
		"a body that is no text": `{"Records":[{"messageId":"1","body":"{\"idempotency_key\":\"a\"}"},{"messageId":"2","body":5}]}`,
		"a message that is none": `{"Records":[{"messageId":"1","body":"{\"idempotency_key\":\"a\"}"},7]}`,
	} {
		r := newRig(t, quarantining)
		answer, err := r.Invoke(t.Context(), []byte(event))
		if wrong := (*sqsbatch.EventError)(nil); !errors.As(err, &wrong) || wrong.Field != "Records" {
			t.Errorf("%s: got %s and error %v, want one of Records", name, answer, err)
		}
		wantIDs(t, name+": run", r.hand.keys())
		if n := len(r.queue.taken()); n != 0 {
			t.Errorf("%s: %d in quarantine, want none", name, n)
		}
	}
}

// Handle, which others than Invoke may call, takes no event without Records for a batch that is done. An empty list is one.
func TestHandleWithoutRecords(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if answer, err := r.Handle(t.Context(), events.SQSEvent{}); err == nil {
		t.Errorf("got %+v, want an error", answer)
	}
	if answer, err := r.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{}}); err != nil || len(answer.BatchItemFailures) != 0 {
		t.Errorf("got %+v and error %v of an empty batch", answer, err)
	}
}

// The error of a message without an id names the service that it seems to come from, where that is another.
func TestSourceOfAMessageWithoutAnID(t *testing.T) {
	t.Parallel()
	for source, named := range map[string]bool{"": false, "aws:sqs": false, "aws:kinesis": true} {
		r := newRig(t)
		m := asking("", "a")
		m.EventSource = source
		_, err := r.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{m}})
		if err == nil || strings.Contains(err.Error(), "eventSource") != named || named && !strings.Contains(err.Error(), source) {
			t.Errorf("%q: got error %v, want its source named: %t", source, err, named)
		}
		wantIDs(t, "run", r.hand.keys())
	}
}

// A handler of another kind may wrap what it likes: a message whose outcome is unknown, or whose effect did not happen, is
// delivered again and not quarantined for what stands beside that.
func TestWhatIsDeliveredAgainIsNotQuarantined(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]error{"unknown": intent.ErrUnknown, "released": intent.ErrReleased, "not done": intent.ErrNotDone} {
		for other, beside := range map[string]error{
			"unprocessable": intent.ErrUnprocessable,
			"expired":       intent.ErrExpired,
			"no key":        intent.ErrNoKey,
			"bad key":       &intent.KeyError{Field: "key", Reason: "is bad"},
			"unreadable":    &intent.PayloadError{Reason: "is bad"},
		} {
			if name != "unknown" && other == "unprocessable" {
				continue // of what did not happen an effect may say so
			}
			for _, err := range []error{fmt.Errorf("%w: %w", again, beside), fmt.Errorf("%w: %w", beside, again)} {
				r := newRig(t, quarantining)
				r.hand.do = always(intent.Outcome{}, err)
				wantIDs(t, name+", "+other+": listed", r.handle(asking("1", "a")), "1")
				if n := len(r.queue.taken()); n != 0 {
					t.Errorf("%s, %s: %d in quarantine, want none", name, other, n)
				}
			}
		}
	}
}
