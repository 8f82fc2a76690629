package mapping

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/singleeffect/once/infra/local/queue"
)

// Run polls until ctx ends and then returns nil; no goroutine of it is left. An invocation under way sees ctx end, and
// its batch is over as whatever comes of that. A mapping that cannot work, or whose queue is gone, is an error.
func Run(ctx context.Context, c Config) error {
	if c.BatchSize == 0 {
		c.BatchSize = maxReceive
	}
	if c.Observe == nil {
		c.Observe = func(Batch) {}
	}
	if err := c.validate(); err != nil {
		return fmt.Errorf("event source mapping: %w", err)
	}
	attributes, err := c.Queue.GetQueueAttributes(queue.GetQueueAttributesInput{
		QueueURL: c.QueueURL, AttributeNames: []string{"QueueArn"},
	})
	if err != nil {
		return fmt.Errorf("event source mapping: event source %s: %w", c.QueueURL, err)
	}
	group, ctx := errgroup.WithContext(ctx)
	for i, invoker := range c.Invokers {
		p := &poller{Config: c, index: i, invoker: invoker, arn: attributes.Attributes["QueueArn"]}
		group.Go(func() error { return p.run(ctx) })
	}
	return group.Wait()
}

// poller is one loop of receive, invoke and delete.
type poller struct {
	Config
	index   int
	invoker Invoker
	arn     string // of the queue
}

func (p *poller) run(ctx context.Context) error {
	for {
		messages, err := p.gather(ctx)
		if ctx.Err() != nil {
			return nil // what was gathered comes again after its visibility timeout
		}
		if err != nil {
			return fmt.Errorf("event source mapping: poll %s: %w", p.QueueURL, err)
		}
		for event := range p.events(messages) {
			left := p.deliver(ctx, event)
			if ctx.Err() != nil {
				return nil
			}
			if left && strings.HasSuffix(p.QueueURL, ".fifo") {
				break // the rest of the gathered messages must not overtake what failed
			}
		}
	}
}

// gather receives what goes into a batch: it waits for a first message, and for more as long as the window is open and
// the batch not full.
func (p *poller) gather(ctx context.Context) ([]queue.Message, error) {
	messages, err := p.receive(ctx, p.BatchSize)
	if err != nil || len(messages) == 0 || p.BatchingWindow == 0 {
		return messages, err
	}
	window, cancel := context.WithTimeout(ctx, p.BatchingWindow)
	defer cancel()
	for len(messages) < p.BatchSize && window.Err() == nil {
		more, err := p.receive(window, p.BatchSize-len(messages))
		if err != nil && window.Err() == nil {
			return nil, err
		}
		messages = append(messages, more...)
	}
	return messages, nil
}

func (p *poller) receive(ctx context.Context, most int) ([]queue.Message, error) {
	out, err := p.Queue.ReceiveMessage(ctx, queue.ReceiveMessageInput{
		QueueURL:                    p.QueueURL,
		MaxNumberOfMessages:         min(most, maxReceive),
		WaitTimeSeconds:             longPoll,
		MessageSystemAttributeNames: []string{"All"},
		MessageAttributeNames:       []string{"All"},
	})
	return out.Messages, err
}

// deliver invokes the function with one event and deletes what it did. It reports whether messages stay in the queue.
func (p *poller) deliver(ctx context.Context, e event) (left bool) {
	batch := Batch{Poller: p.index}
	for _, m := range e.messages {
		batch.Messages, batch.Bodies = append(batch.Messages, m.MessageID), append(batch.Bodies, m.Body)
	}
	failed, err := p.invoke(ctx, e.payload, batch.Messages)
	if err != nil {
		batch.Err, batch.Left = err, batch.Messages
	} else {
		batch.Left = p.delete(e.messages, failed)
	}
	p.Observe(batch)
	return len(batch.Left) > 0
}

// invoke returns the ids of the messages that failed; an error means all of them.
func (p *poller) invoke(ctx context.Context, payload []byte, ids []string) ([]string, error) {
	answer, err := p.invoker.Invoke(ctx, payload)
	switch {
	case err != nil:
		return nil, fmt.Errorf("invoke function: %w", err)
	case !p.ReportBatchItemFailures:
		return nil, nil
	}
	failed, err := batchItemFailures(answer, ids)
	if err != nil {
		return nil, fmt.Errorf("partial batch response: %w", err)
	}
	return failed, nil
}

// delete deletes all but what failed and returns the ids of what stays.
func (p *poller) delete(messages []queue.Message, failed []string) (left []string) {
	var done []queue.Message
	for _, m := range messages {
		if slices.Contains(failed, m.MessageID) {
			left = append(left, m.MessageID)
		} else {
			done = append(done, m)
		}
	}
	for chunk := range slices.Chunk(done, maxReceive) {
		in := queue.DeleteMessageBatchInput{QueueURL: p.QueueURL}
		for i, m := range chunk {
			in.Entries = append(in.Entries, queue.DeleteMessageBatchEntry{ID: strconv.Itoa(i), ReceiptHandle: m.ReceiptHandle})
		}
		out, err := p.Queue.DeleteMessageBatch(in)
		for i, m := range chunk {
			refused := func(e queue.BatchError) bool { return e.ID == strconv.Itoa(i) }
			if err != nil || slices.ContainsFunc(out.Failed, refused) {
				left = append(left, m.MessageID)
			}
		}
	}
	return left
}
