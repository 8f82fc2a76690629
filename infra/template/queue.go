package template

import (
	"slices"
	"strings"
	"time"
)

// Queue is one SQS queue. Durations are whole seconds.
type Queue struct {
	LogicalID string
	// Name is empty where CloudFormation would make one up.
	Name string
	// URL is what a Ref to the queue stands for.
	URL string
	// VisibilityTimeout is how long a received message stays hidden.
	VisibilityTimeout time.Duration
	// Delay is how long a new message stays hidden.
	Delay time.Duration
	// Retention is how long a message is kept, from its first enqueue on.
	Retention time.Duration
	FIFO      bool
	// ContentBasedDeduplication makes the body's SHA-256 the deduplication id of a message that has none.
	ContentBasedDeduplication bool
	// DeduplicationScope is where a FIFO queue looks for a message's deduplication id: queue (SQS's default) or messageGroup. Empty for
	// a standard queue.
	DeduplicationScope string
	// ThroughputLimit is what a FIFO queue's quota of requests is for: perQueue (SQS's default) or perMessageGroupId. Empty for a
	// standard queue.
	ThroughputLimit string
	// Encrypted tells of messages that are encrypted where SQS keeps them, by its own key or by one of KMS; SQS does so unless told not to.
	Encrypted bool
	// Redrive is nil where messages are received until their retention ends.
	Redrive *Redrive
}

// Redrive says where a message goes on receive MaxReceiveCount + 1, instead of being received.
type Redrive struct {
	// Target is the dead-letter queue's logical id.
	Target          string
	MaxReceiveCount int
}

// SQS's own bounds and defaults, in seconds, from its API reference (CreateQueue).
const (
	defaultVisibility, maxVisibility            = 30, 43200
	maxDelay                                    = 900
	defaultRetention, minRetention, maxRetained = 345600, 60, 1209600
	maxReceives                                 = 1000
)

func queue(p *properties, r *resource, ids ids) Queue {
	q := Queue{
		LogicalID:                 r.logicalID,
		Name:                      r.name,
		URL:                       p.self(r),
		VisibilityTimeout:         time.Duration(p.number("VisibilityTimeout", defaultVisibility, 0, maxVisibility)) * time.Second,
		Delay:                     time.Duration(p.number("DelaySeconds", 0, 0, maxDelay)) * time.Second,
		Retention:                 time.Duration(p.number("MessageRetentionPeriod", defaultRetention, minRetention, maxRetained)) * time.Second,
		FIFO:                      p.flag("FifoQueue", false),
		ContentBasedDeduplication: p.flag("ContentBasedDeduplication", false),
	}
	key := p.text("KmsMasterKeyId", "")
	q.Encrypted = p.flag("SqsManagedSseEnabled", true) || key != ""
	if q.Name != "" && q.FIFO != strings.HasSuffix(q.Name, ".fifo") {
		p.fail("QueueName", r.line, "is %q while FifoQueue is %t: a FIFO queue's name, and no other, ends in .fifo", q.Name, q.FIFO)
	}
	if q.ContentBasedDeduplication && !q.FIFO {
		p.fail("ContentBasedDeduplication", r.line, "is for FIFO queues only")
	}
	q.deduplicate(p, r)
	if policy := p.within("RedrivePolicy"); policy != nil {
		arn := policy.required("deadLetterTargetArn")
		target := ids.queueARNs[arn]
		if target == "" && arn != "" {
			policy.fail("deadLetterTargetArn", policy.line, "%q is none of the template's queues", arn)
		}
		if policy.left["maxReceiveCount"] == nil {
			policy.fail("maxReceiveCount", policy.line, "is missing")
		}
		q.Redrive = &Redrive{Target: target, MaxReceiveCount: policy.number("maxReceiveCount", 0, 1, maxReceives)}
	}
	return q
}

// deduplicate reads what a FIFO queue compares and counts by.
func (q *Queue) deduplicate(p *properties, r *resource) {
	defaults := map[string]string{"DeduplicationScope": "queue", "FifoThroughputLimit": "perQueue"}
	if !q.FIFO {
		defaults = map[string]string{}
	}
	q.DeduplicationScope = p.text("DeduplicationScope", defaults["DeduplicationScope"])
	q.ThroughputLimit = p.text("FifoThroughputLimit", defaults["FifoThroughputLimit"])
	switch pair := q.DeduplicationScope + " " + q.ThroughputLimit; {
	case !q.FIFO && pair != " ":
		p.fail("DeduplicationScope", r.line, "and FifoThroughputLimit are for FIFO queues only")
	case q.FIFO && !slices.Contains([]string{"queue perQueue", "messageGroup perQueue", "messageGroup perMessageGroupId"}, pair):
		p.fail("DeduplicationScope", r.line, "is %q while FifoThroughputLimit is %q: SQS knows no such pair", q.DeduplicationScope,
			q.ThroughputLimit)
	}
}
