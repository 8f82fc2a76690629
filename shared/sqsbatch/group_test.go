package sqsbatch_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// ordered is a rig on a FIFO queue whose dead-letter queue refuses the messages named.
// A message with the key "bad" is in doubt, one with "away" fails.
func ordered(t *testing.T, refused ...string) *rig {
	t.Helper()
	r := newRig(t, func(c *sqsbatch.Config) {
		c.Concurrency, c.QueueURL, c.DeadLetterURL = 1, queueURL+".fifo", deadLetterURL+".fifo"
	})
	r.hand.do = func(_ context.Context, d intent.Delivery) (intent.Outcome, error) {
		switch d.Key {
		case "bad":
			return intent.Outcome{Kind: intent.InDoubt, Reason: "connection reset"}, nil
		case "away":
			return intent.Outcome{}, errors.New("store is away")
		}
		return executed, nil
	}
	r.queue.accept = func(_ context.Context, in *sqs.SendMessageInput) error {
		for _, id := range refused {
			if *in.MessageDeduplicationId == id {
				return errors.New("queue is away")
			}
		}
		return nil
	}
	return r
}

// lineUp makes messages of what is written: "A1" asks for a1 in group A, "A1=k" for k;
// "=poison" cannot be read, and "=two" has two keys.
func lineUp(t *testing.T, batch string) (messages []events.SQSMessage) {
	t.Helper()
	for _, word := range strings.Fields(batch) {
		id, is, found := strings.Cut(word, "=")
		if !found {
			is = strings.ToLower(id)
		}
		m := asking(id, is)
		switch is {
		case "poison":
			m = message(id, "poison")
		case "two":
			m = carrying(m, text("one"))
		}
		messages = append(messages, grouped(m, id[:1]))
	}
	return messages
}

// byGroup puts ids in the order of their groups. Inside a group they keep theirs: a
// group that waits for its copy in quarantine lets the others go on meanwhile.
func byGroup(ids []string) []string {
	return slices.SortedStableFunc(slices.Values(ids), func(a, b string) int { return strings.Compare(a[:1], b[:1]) })
}

// What is in quarantine holds up nothing; what is not stops its group, so that
// nothing overtakes it, into its queue or out of it.
func TestC14QuarantineInGroups(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ batch, refused, listed, run, sent string }{
		"the first of a pair stays": {batch: "A1=bad A2=bad A3", refused: "A1", listed: "A1 A3", run: "bad", sent: "A2"},
		"poison first":              {batch: "A1=poison A2 B1", run: "a2 b1", sent: "A1"},
		"poison between":            {batch: "A1 A2=poison A3", run: "a1 a3", sent: "A2"},
		"in doubt":                  {batch: "A1=bad A2 B1", run: "bad a2 b1", sent: "A1"},
		"all of them":               {batch: "A1=poison A2=bad A3=poison B1=poison", run: "bad", sent: "A1 A2 A3 B1"},
		"refused":                   {batch: "A1=poison A2 B1", refused: "A1", listed: "A1 A2", run: "b1"},
		"doubt refused":             {batch: "A1=bad A2 B1", refused: "A1", listed: "A1 A2", run: "bad b1"},
		"poison behind a refused":   {batch: "A1=poison A2=poison B1=poison", refused: "A1", listed: "A1 A2", sent: "B1"},
		"poison behind a failure":   {batch: "A1=away A2=poison A3=bad B1", listed: "A1 A2 A3", run: "away b1"},
		"failure behind poison":     {batch: "A1=poison A2=away A3", listed: "A2 A3", run: "away", sent: "A1"},
		"one intent, one refused":   {batch: "A1=bad A2=bad A3", refused: "A2", listed: "A2 A3", run: "bad", sent: "A1"},
		"one message twice":         {batch: "A1=poison A1=poison A2", run: "a2", sent: "A1"},
		"two keys in one":           {batch: "A1=two A2", run: "a2", sent: "A1"},
		"two keys in one, refused":  {batch: "A1=two A2", refused: "A1", listed: "A1 A2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := ordered(t, strings.Fields(tt.refused)...)
			wantIDs(t, "listed", r.handle(lineUp(t, tt.batch)...), strings.Fields(tt.listed)...)
			wantIDs(t, "run", byGroup(r.hand.keys()), byGroup(strings.Fields(tt.run))...)
			wantIDs(t, "sent", byGroup(wantGroups(t, r.queue)), byGroup(strings.Fields(tt.sent))...)
		})
	}
}

// wantGroups wants what was sent in the group it came in, and returns the ids.
func wantGroups(t *testing.T, q *hider) (ids []string) {
	t.Helper()
	for _, in := range q.taken() {
		id := *in.MessageDeduplicationId
		if *in.MessageGroupId != id[:1] {
			t.Errorf("%s went to group %s", id, *in.MessageGroupId)
		}
		ids = append(ids, id)
	}
	return ids
}

// The next invocation takes up where order stands: what was refused first goes first.
func TestC14QuarantineIsTriedAgain(t *testing.T) {
	t.Parallel()
	r := ordered(t, "A1")
	wantIDs(t, "listed", r.handle(lineUp(t, "A1=poison A2 A3=poison")...), "A1", "A2", "A3")
	if line := r.log.about(t, "A3"); line["error"] != "payload is not JSON" {
		t.Errorf("got log line %v", line)
	}
	r.queue.accept = nil
	wantIDs(t, "listed then", r.handle(lineUp(t, "A1=poison A2 A3=poison")...))
	wantIDs(t, "run", r.hand.keys(), "a2")
	wantIDs(t, "sent", wantGroups(t, r.queue), "A1", "A3")
}
