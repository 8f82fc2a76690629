package doctor

import (
	"time"

	"github.com/singleeffect/once/shared/intent"
)

const (
	// maxAge is how old an intent may be to run without a record: the functions have the library's default of intent.Config.MaxAge.
	maxAge = intent.DefaultMaxAge

	// retentionSlack is for clocks that differ, and for TTL's own notion of a day.
	retentionSlack = 24 * time.Hour

	// visibilityTimeouts is how many times the function's timeout AWS asks a queue to hide messages for: Lambda retries what is throttled
	// within it (AWS Lambda developer guide, "Creating and configuring an Amazon SQS event source mapping").
	visibilityTimeouts = 6

	// leastReceives are what the redelivery schedule (package sqsbatch) needs until it gives a message up itself: some 20 in twelve hours,
	// and some for processes that end. In a FIFO queue a message is also received with each head that fails before it.
	leastReceives     = 30
	leastReceivesFIFO = 100

	// windowMargin is what intent.Keyed keeps free at the end of a provider's window.
	windowMargin = time.Hour
)

// skewMargin is how far clocks may differ; the functions have the core's default.
func skewMargin() time.Duration { return intent.Config{}.WithDefaults().SkewMargin }

// oldestIntent counts on what SQS may keep: a message that outlived it in its queues would be quarantined although it never ran.
func oldestIntent(s Stack, found report) {
	for _, f := range s.feeds() {
		if f.dead == nil || f.Tags[classTag] == natural {
			continue
		}
		if need := f.queue.Retention + f.dead.Retention + retentionSlack; maxAge < need {
			found(f.LogicalID, "runs an intent without a record until it is %s old, and a message of it may come after %s: %s in %s, %s in %s and %s of slack",
				span(maxAge), span(need), span(f.queue.Retention), f.queue.LogicalID, span(f.dead.Retention), f.dead.LogicalID, span(retentionSlack))
		}
	}
}

func recordRetention(s Stack, found report) {
	for _, f := range s.Functions {
		if f.Tags[classTag] == natural {
			continue
		}
		kept, err := whole(f, "RETENTION_DAYS", 24*time.Hour)
		if err != nil {
			found(f.LogicalID, "%v", err)
			continue
		}
		if need := 2*maxAge + 2*retentionSlack; kept < need {
			found(f.LogicalID, "remembers an intent for %s, less than %s: one that is %s old may run, a redrive makes its message young for as long again, "+
				"and %s of slack for each", span(kept), span(need), span(maxAge), span(retentionSlack))
		}
	}
}

func deadLetterRetention(s Stack, found report) {
	for _, f := range s.feeds() {
		if f.dead != nil && f.dead.Retention <= f.queue.Retention {
			found(f.dead.LogicalID, "keeps a message for %s, not longer than the %s of %s", span(f.dead.Retention), span(f.queue.Retention),
				f.queue.LogicalID)
		}
	}
}

func visibility(s Stack, found report) {
	for _, f := range s.feeds() {
		if need := visibilityTimeouts*f.Timeout + f.event.Window; f.queue.VisibilityTimeout < need {
			found(f.queue.LogicalID, "hides a message for %v, less than %v: %d times the %v of %s, and %v of batching window",
				f.queue.VisibilityTimeout, need, visibilityTimeouts, f.Timeout, f.LogicalID, f.event.Window)
		}
	}
}

func receiveCount(s Stack, found report) {
	for _, f := range s.feeds() {
		least := leastReceives
		if f.queue.FIFO {
			least = leastReceivesFIFO
		}
		if r := f.queue.Redrive; r != nil && r.MaxReceiveCount < least {
			found(f.queue.LogicalID, "gives a message up after %d receives, less than %d", r.MaxReceiveCount, least)
		}
	}
}

func lease(s Stack, found report) {
	for _, f := range s.Functions {
		if f.Tags[classTag] == natural {
			continue
		}
		if _, err := whole(f, "LEASE_MARGIN_SECONDS", time.Second); err != nil {
			found(f.LogicalID, "%v, so its lease would not outlive its timeout of %v", err, f.Timeout)
		}
	}
}

// providerWindow asks for more than the first claim needs: a second one, after a crash, comes when the message is visible again.
func providerWindow(s Stack, found report) {
	for _, f := range s.feeds() {
		if f.Tags[classTag] != keyed {
			continue
		}
		window, err := whole(f.Function, "PROVIDER_WINDOW_HOURS", time.Hour)
		if err != nil {
			found(f.LogicalID, "%v, and its class is %s", err, keyed)
			continue
		}
		margin, _ := whole(f.Function, "LEASE_MARGIN_SECONDS", time.Second) // the rule on leases says what is wrong with it
		need := windowMargin + f.queue.VisibilityTimeout + f.Timeout + margin + skewMargin()
		if window < need {
			found(f.LogicalID, "has a provider that remembers a key for %v, less than %v: %v of margin, %v until %s shows the message again, "+
				"a lease of %v + %v and a skew of %v", window, need, windowMargin, f.queue.VisibilityTimeout, f.queue.LogicalID, f.Timeout, margin,
				skewMargin())
		}
	}
}
