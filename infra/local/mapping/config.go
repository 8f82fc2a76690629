package mapping

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/singleeffect/once/infra/local/queue"
)

// Invoker calls one instance of a function.
type Invoker interface {
	// Invoke hands the function an event and returns its answer, both JSON. An error means that the function failed:
	// it returned an error, crashed, or ran out of time. It is not called again before it has returned, and must
	// return soon after ctx ends.
	Invoke(ctx context.Context, payload []byte) ([]byte, error)
}

// Config describes a mapping.
type Config struct {
	// Queue has the queue at QueueURL, which is the event source.
	Queue    *queue.Service
	QueueURL string
	// Invokers are the instances of the function; each gets its own poller, so their number is MaximumConcurrency.
	// At least 1.
	Invokers []Invoker
	// BatchSize is the most messages in one event: 1 to 10, and for a standard queue with a BatchingWindow of at
	// least 1 s to 10,000. Defaults to 10.
	BatchSize int
	// BatchingWindow is how long to gather messages after the first one, up to 5 minutes. Not for FIFO queues.
	// Defaults to 0: what one receive brings. Gathered messages are hidden already: with a window as long as the
	// queue's visibility timeout they are received again while they wait.
	BatchingWindow time.Duration
	// ReportBatchItemFailures makes the function's answer count. Defaults to off: then a batch whose invocation
	// succeeds is deleted whole, whatever the answer says (C03).
	ReportBatchItemFailures bool
	// Observe is told of each batch when it is over. Pollers call it at the same time. Defaults to nobody.
	Observe func(Batch)
}

// Batch is one event's fate. Counting: each is one batch, len(Messages) is its deliveries, and Err != nil a whole-batch
// failure.
type Batch struct {
	// Poller is the index of the invoker that was called.
	Poller int
	// Messages are the ids of the messages that were handed to the function, in their order, and Bodies their bodies: an
	// id is one sending's, and a redrive gives another.
	Messages, Bodies []string
	// Left are those that stay in the queue: the ones the function listed, all of them after a whole-batch failure,
	// and the ones whose receipt handle had expired before they could be deleted.
	Left []string
	// Err says why the whole batch failed. It wraps the invoker's error, or says what is wrong with the answer.
	Err error
}

const (
	maxReceive   = 10 // of one ReceiveMessage
	longPoll     = 20 // s, the longest wait of one ReceiveMessage
	maxBatchSize = 10_000
	maxWindow    = 5 * time.Minute
)

func (c Config) validate() error {
	fifo := strings.HasSuffix(c.QueueURL, ".fifo")
	switch {
	case c.Queue == nil:
		return errors.New("missing Queue")
	case len(c.Invokers) == 0:
		return errors.New("missing Invokers: no function to call")
	case c.BatchSize < 1 || c.BatchSize > maxBatchSize:
		return fmt.Errorf("BatchSize %d is not from 1 to %d", c.BatchSize, maxBatchSize)
	case c.BatchingWindow < 0 || c.BatchingWindow > maxWindow:
		return fmt.Errorf("BatchingWindow %v is not from 0 to %v", c.BatchingWindow, maxWindow)
	case fifo && c.BatchSize > maxReceive:
		return fmt.Errorf("BatchSize %d with the FIFO queue %s: at most %d", c.BatchSize, c.QueueURL, maxReceive)
	case fifo && c.BatchingWindow > 0:
		return fmt.Errorf("BatchingWindow %v with the FIFO queue %s: FIFO queues have none", c.BatchingWindow, c.QueueURL)
	case c.BatchSize > maxReceive && c.BatchingWindow < time.Second:
		return fmt.Errorf("BatchSize %d with BatchingWindow %v: more than %d messages take at least 1s to gather",
			c.BatchSize, c.BatchingWindow, maxReceive)
	}
	return nil
}
