package demo

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/singleeffect/once/infra/local/queue"
	"github.com/singleeffect/once/infra/local/stack"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// queues are those of one operation.
type queues struct {
	live, dead       string // URLs
	liveARN, deadARN string
}

func (s *side) queues(o *operation) (queues, error) {
	live, deadARN, err := s.stack.QueueOf(o.name)
	if err != nil {
		return queues{}, err
	}
	dead, err := s.stack.Queues.GetQueueURL(queue.GetQueueURLInput{QueueName: strings.TrimPrefix(deadARN, stack.ARN(""))})
	if err != nil {
		return queues{}, err
	}
	return queues{live: live, dead: dead.QueueURL, liveARN: stack.ARN(path.Base(live)), deadARN: deadARN}, nil
}

// send sends the messages in their order and counts what was enqueued: a FIFO
// queue folds a producer's retry.
func (s *side) send(ctx context.Context, all []send) (int, error) {
	ids := map[string]bool{}
	for _, one := range all {
		q, err := s.queues(one.operation)
		if err != nil {
			return 0, err
		}
		in, err := one.input(q.live)
		if err != nil {
			return 0, fmt.Errorf("message of %s: %w", one.operation.name, err)
		}
		out, err := s.stack.Producer.SendMessage(ctx, in)
		if err != nil {
			return 0, fmt.Errorf("send to %s: %w", q.live, err)
		}
		ids[*out.MessageId] = true
	}
	return len(ids), nil
}

// left counts the messages that are not settled: those in the queues, and those in
// the dead-letter queues that their failures brought there. These are redriven once
// their queue is empty. What was put in quarantine stays there, and is settled.
func (s *side) left() (int, error) {
	total := 0
	for _, o := range operations {
		q, err := s.queues(o)
		if err != nil {
			return 0, err
		}
		live, err := s.count(q.live)
		if err != nil {
			return 0, err
		}
		there, err := s.stack.Queues.Peek(q.dead)
		if err != nil {
			return 0, err
		}
		dead := 0
		for _, m := range there {
			if !quarantined(m) {
				dead++
			}
		}
		if live == 0 && dead > 0 {
			if err := s.redrive(q); err != nil {
				return 0, err
			}
		}
		total += live + dead
	}
	return total, nil
}

// quarantined tells what was sent to a dead-letter queue from what the redrive
// policy moved there.
func quarantined(m queue.Message) bool { return m.Attributes["DeadLetterQueueSourceArn"] == "" }

// redrive moves all that lies in the dead-letter queue to the queue. It takes what
// is in quarantine along, which AWS can only do if it is told where to.
func (s *side) redrive(q queues) error {
	_, err := s.stack.Queues.StartMessageMoveTask(queue.StartMessageMoveTaskInput{SourceARN: q.deadARN, DestinationARN: q.liveARN})
	if err != nil {
		return fmt.Errorf("redrive %s: %w", q.deadARN, err)
	}
	latest, err := s.stack.Queues.ListMessageMoveTasks(queue.ListMessageMoveTasksInput{SourceARN: q.deadARN})
	if err != nil {
		return fmt.Errorf("read of the redrive of %s: %w", q.deadARN, err)
	}
	s.redriven += latest.Results[0].ApproximateNumberOfMessagesMoved
	return nil
}

// quarantine gives the reason of every message of the operation that is in
// quarantine, by its body.
func (s *side) quarantine(o *operation) (map[string]string, error) {
	q, err := s.queues(o)
	if err != nil {
		return nil, err
	}
	there, err := s.stack.Queues.Peek(q.dead)
	if err != nil {
		return nil, err
	}
	reasons := map[string]string{}
	for _, m := range there {
		if !quarantined(m) {
			continue
		}
		reason := m.MessageAttributes[sqsbatch.ReasonAttribute].StringValue
		s.log.look("a reason in quarantine: " + reason)
		reasons[m.Body] = reason
	}
	return reasons, nil
}

func (s *side) count(url string) (int, error) {
	out, err := s.stack.Queues.GetQueueAttributes(queue.GetQueueAttributesInput{QueueURL: url, AttributeNames: []string{"All"}})
	if err != nil {
		return 0, err
	}
	total := 0
	for _, name := range []string{"", "NotVisible", "Delayed"} {
		n, err := strconv.Atoi(out.Attributes["ApproximateNumberOfMessages"+name])
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}
