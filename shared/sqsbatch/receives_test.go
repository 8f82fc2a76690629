package sqsbatch_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/aws/aws-lambda-go/events"
)

// receivedFor is the message with that count of receives.
func receivedFor(m events.SQSMessage, count string) events.SQSMessage {
	m.Attributes = maps.Clone(m.Attributes)
	m.Attributes["ApproximateReceiveCount"] = count
	return m
}

// An effect is told how often its message was received: of messages that are one intent the most, in whichever order they
// come, so that nothing counts as early because of a younger copy.
func TestReceivesOfMessagesThatAreOne(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		counts []string
		want   int
	}{
		{[]string{"1"}, 1},
		{[]string{"7"}, 7},
		{[]string{"2", "5"}, 5},
		{[]string{"5", "2"}, 5},
		{[]string{"2", "9", "5"}, 9},
		{[]string{"0"}, 0},
		{[]string{"-3"}, 0},
		{[]string{"soon"}, 0},
		{[]string{"99999999999999999999"}, 0},
		{[]string{""}, 0},
		{[]string{"soon", "4"}, 4},
	} {
		r := newRig(t)
		var messages []events.SQSMessage
		for i, count := range tt.counts {
			messages = append(messages, receivedFor(asking(fmt.Sprint(i), "k"), count))
		}
		wantIDs(t, "listed", r.handle(messages...))
		if wantIDs(t, "run", r.hand.keys(), "k"); r.hand.deliveries[0].Receives != tt.want {
			t.Errorf("%q: handed over as received %d times, want %d", tt.counts, r.hand.deliveries[0].Receives, tt.want)
		}
	}
}
