package queue

import (
	"cmp"

	engine "github.com/singleeffect/once/shared/intenttest/queue"
)

// StartMessageMoveTaskInput is the request of StartMessageMoveTask.
type StartMessageMoveTaskInput struct {
	// SourceARN is of a queue that is some queue's dead-letter queue.
	SourceARN string `json:"SourceArn"`
	// DestinationARN is of a queue of the same type. Defaults to the queue each message came from.
	DestinationARN string `json:"DestinationArn,omitempty"`
}

// StartMessageMoveTaskOutput is the answer of StartMessageMoveTask.
type StartMessageMoveTaskOutput struct {
	TaskHandle string
}

// move is a finished redrive.
type move struct {
	source string
	MessageMoveTask
}

// StartMessageMoveTask is the redrive: it moves what is receivable in a dead-letter queue back. The task is finished
// when the call returns; ListMessageMoveTasks tells how it ended.
//
// Without a destination a message that was sent to the dead-letter queue directly stops the task, since nobody knows where
// it belongs: the task is then FAILED with CouldNotDetermineMessageSource, and what came after it stays.
func (s *Service) StartMessageMoveTask(in StartMessageMoveTaskInput) (StartMessageMoveTaskOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	from, err := s.moveSource(in.SourceARN)
	if err != nil {
		return StartMessageMoveTaskOutput{}, err
	}
	if !s.isDeadLetterQueue(in.SourceARN) {
		return StartMessageMoveTaskOutput{}, refuse(invalidParameterValue, "Source queue must be configured as a Dead Letter Queue.")
	}
	if in.DestinationARN != "" {
		switch to := s.queueByARN(in.DestinationARN); {
		case to == nil:
			return StartMessageMoveTaskOutput{}, refuse(resourceNotFound,
				"The resource that you specified for the DestinationArn parameter doesn't exist.")
		case to.attrs.fifo != from.attrs.fifo:
			return StartMessageMoveTaskOutput{}, refuse(unsupportedOperation, "Source and destination must be queues of the same type.")
		}
	}
	task := MessageMoveTask{
		Status:           "COMPLETED",
		SourceARN:        in.SourceARN,
		DestinationARN:   in.DestinationARN,
		StartedTimestamp: now.UnixMilli(),
	}
	task.ApproximateNumberOfMessagesMoved, task.ApproximateNumberOfMessagesToMove = from.Redrive(now,
		func(m engine.Message[content], _ string) (*engine.Queue[content], content) {
			to := s.queueByARN(cmp.Or(in.DestinationARN, m.Source))
			if to == nil {
				task.Status, task.FailureReason = "FAILED", "CouldNotDetermineMessageSource"
				return nil, content{}
			}
			to.signal()
			return to.Queue, m.Body
		})
	s.moves = append(s.moves, move{source: in.SourceARN, MessageMoveTask: task})
	return StartMessageMoveTaskOutput{TaskHandle: s.newID()}, nil
}

// ListMessageMoveTasksInput is the request of ListMessageMoveTasks.
type ListMessageMoveTasksInput struct {
	SourceARN string `json:"SourceArn"`
	// MaxResults is 1 to 10. Defaults to 1.
	MaxResults int `json:",omitempty"`
}

// MessageMoveTask is a redrive that has run.
type MessageMoveTask struct {
	Status                            string // COMPLETED or FAILED
	FailureReason                     string `json:",omitempty"`
	SourceARN                         string `json:"SourceArn"`
	DestinationARN                    string `json:"DestinationArn,omitempty"`
	StartedTimestamp                  int64  // epoch ms
	ApproximateNumberOfMessagesMoved  int
	ApproximateNumberOfMessagesToMove int
}

// ListMessageMoveTasksOutput is the answer of ListMessageMoveTasks, newest first.
type ListMessageMoveTasksOutput struct {
	Results []MessageMoveTask `json:",omitempty"`
}

// ListMessageMoveTasks returns the latest redrives of a dead-letter queue.
func (s *Service) ListMessageMoveTasks(in ListMessageMoveTasksInput) (ListMessageMoveTasksOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.moveSource(in.SourceARN); err != nil {
		return ListMessageMoveTasksOutput{}, err
	}
	if in.MaxResults == 0 {
		in.MaxResults = 1
	}
	if in.MaxResults < 1 || in.MaxResults > 10 {
		return ListMessageMoveTasksOutput{}, invalidValue(in.MaxResults, "MaxResults", "Must be between 1 and 10, if provided.")
	}
	var out ListMessageMoveTasksOutput
	for i := len(s.moves) - 1; i >= 0 && len(out.Results) < in.MaxResults; i-- {
		if s.moves[i].source == in.SourceARN {
			out.Results = append(out.Results, s.moves[i].MessageMoveTask)
		}
	}
	return out, nil
}

func (s *Service) moveSource(arn string) (*queue, error) {
	if q := s.queueByARN(arn); q != nil {
		return q, nil
	}
	return nil, refuse(resourceNotFound, "The resource that you specified for the SourceArn parameter doesn't exist.")
}

func (s *Service) isDeadLetterQueue(arn string) bool {
	for _, q := range s.queues {
		if q.attrs.redrive != nil && q.attrs.redrive.Target == arn {
			return true
		}
	}
	return false
}
