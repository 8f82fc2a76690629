package stack

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/singleeffect/once/infra/local/queue"
	"github.com/singleeffect/once/infra/template"
)

// createQueues makes the template's queues, targets of redrive policies first. A
// visibility other than 0 replaces that of the queues with such a policy.
func createQueues(service *queue.Service, queues []template.Queue, visibility time.Duration) error {
	byID := map[string]template.Queue{}
	for _, q := range queues {
		byID[q.LogicalID] = q
	}
	made := map[string]bool{}
	var create func(q template.Queue) error
	create = func(q template.Queue) error {
		if made[q.LogicalID] {
			return nil
		}
		made[q.LogicalID] = true
		attributes := map[string]string{
			"VisibilityTimeout":      seconds(q.VisibilityTimeout),
			"DelaySeconds":           seconds(q.Delay),
			"MessageRetentionPeriod": seconds(q.Retention),
		}
		if q.FIFO {
			attributes["FifoQueue"] = "true"
			attributes["ContentBasedDeduplication"] = strconv.FormatBool(q.ContentBasedDeduplication)
			attributes["DeduplicationScope"], attributes["FifoThroughputLimit"] = q.DeduplicationScope, q.ThroughputLimit
		}
		if q.Redrive != nil {
			target := byID[q.Redrive.Target]
			if err := create(target); err != nil {
				return err
			}
			policy, err := json.Marshal(map[string]any{
				"deadLetterTargetArn": ARN(queueName(target)),
				"maxReceiveCount":     q.Redrive.MaxReceiveCount,
			})
			if err != nil {
				return err
			}
			attributes["RedrivePolicy"] = string(policy)
			if visibility != 0 {
				attributes["VisibilityTimeout"] = seconds(visibility)
			}
		}
		_, err := service.CreateQueue(queue.CreateQueueInput{QueueName: queueName(q), Attributes: attributes})
		if err != nil {
			return fmt.Errorf("create queue %s: %w", q.LogicalID, err)
		}
		return nil
	}
	for _, q := range queues {
		if err := create(q); err != nil {
			return err
		}
	}
	return nil
}

func queueName(q template.Queue) string {
	if q.Name != "" {
		return q.Name
	}
	return q.LogicalID
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
