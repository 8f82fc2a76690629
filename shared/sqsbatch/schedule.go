package sqsbatch

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
)

// The redelivery schedule of a message that fails. It has some 20 receives in 12 h.
const (
	// firstDelay is how long a message is hidden after its first receive. Each further
	// receive doubles it, up to maxDelay.
	firstDelay = 30 * time.Second
	maxDelay   = time.Hour

	// delaySpread keeps messages that failed together from coming back together: a
	// delay is up to a tenth shorter or longer.
	delaySpread = 10 // percent

	// giveUpAfter is how long after its first receive a message is given up, once
	// another attempt has failed.
	giveUpAfter = 12 * time.Hour

	// retryingReceives is from which receive on a failing message counts as retrying.
	// SQS leaves what was received more often out of the age of a queue's oldest message
	// (Amazon SQS developer guide, "Available CloudWatch metrics for Amazon SQS").
	retryingReceives = 3

	// unansweredReceives is from which receive on it is looked at whether a message was
	// answered at all.
	unansweredReceives = 6
)

// delay is how long a message is hidden after so many receives.
func delay(receives int) time.Duration {
	d := firstDelay
	for range receives - 1 {
		if d *= 2; d >= maxDelay {
			return maxDelay
		}
	}
	return d
}

// spread makes a delay up to a tenth shorter or longer.
func spread(d time.Duration) time.Duration {
	most := d * delaySpread / 100
	return d - most + rand.N(2*most+1)
}

// receives is how often SQS has delivered the message; 0 if it does not say so.
func receives(m events.SQSMessage) int {
	n, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// sinceFirst is how long ago SQS first delivered the message; 0 if it does not say so.
func sinceFirst(m events.SQSMessage) time.Duration {
	ms, err := strconv.ParseInt(m.Attributes["ApproximateFirstReceiveTimestamp"], 10, 64)
	if err != nil {
		return 0
	}
	first, err := intent.FromMillis(ms)
	if err != nil {
		return 0
	}
	return max(0, time.Since(first))
}

// receives is the most that one of a job's messages was received.
func (j *job) receives() (most int) {
	for _, m := range j.messages {
		most = max(most, receives(m.SQSMessage))
	}
	return most
}

// overdue reports a job that is given up if it fails once more. It is all of its
// messages that are.
func (j *job) overdue() bool {
	for _, m := range j.messages {
		if sinceFirst(m.SQSMessage) < giveUpAfter {
			return false
		}
	}
	return true
}

// unanswered reports a job of which a message was received more often than the
// schedule has it: some receives ended without an answer. It may be what ends its
// process, or have been in a batch with that.
func (j *job) unanswered() bool {
	for _, m := range j.messages {
		var least time.Duration
		n := receives(m.SQSMessage)
		if n < unansweredReceives {
			continue
		}
		for k := range n - 1 {
			least += delay(k+1) * (100 - delaySpread) / 100
		}
		if since := sinceFirst(m.SQSMessage); since > 0 && since < least {
			return true
		}
	}
	return false
}

// wait is how long the messages of a job are hidden; 0: they come back when their
// visibility timeout ends.
func (f fate) wait(receives int) time.Duration {
	switch {
	case f.mustWait():
		return f.outcome.Wait + rand.N(hideJitter)
	case !f.retries:
		return 0
	case f.outcome.Wait > 0: // until the claim that it left has lapsed
		return max(spread(delay(receives)), f.asked, f.outcome.Wait+rand.N(hideJitter))
	}
	return max(spread(delay(receives)), f.asked)
}
