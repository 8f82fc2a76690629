package queue

import (
	"maps"
	"strconv"
)

// GetQueueAttributesInput is the request of GetQueueAttributes.
type GetQueueAttributesInput struct {
	QueueURL string `json:"QueueUrl"`
	// AttributeNames are those of CreateQueue and QueueArn, CreatedTimestamp (epoch s), ApproximateNumberOfMessages
	// (receivable now), ApproximateNumberOfMessagesNotVisible (in flight), ApproximateNumberOfMessagesDelayed; or
	// All. Defaults to none.
	AttributeNames []string
}

// GetQueueAttributesOutput is the answer of GetQueueAttributes.
type GetQueueAttributesOutput struct {
	// Attributes has what was asked for and the queue has. The counts are exact at the time of the call.
	Attributes map[string]string `json:",omitempty"`
}

// queueAttributeNames are all that can be asked for.
var queueAttributeNames = map[string]bool{
	attrVisibility: true, attrDelay: true, attrRetention: true, attrRedrive: true, attrFIFO: true, attrContentDedup: true,
	attrDedupScope: true, attrThroughput: true,
	"QueueArn": true, "CreatedTimestamp": true, "ApproximateNumberOfMessages": true,
	"ApproximateNumberOfMessagesNotVisible": true, "ApproximateNumberOfMessagesDelayed": true,
}

// GetQueueAttributes describes a queue. A name it does not know is refused with InvalidAttributeName.
func (s *Service) GetQueueAttributes(in GetQueueAttributesInput) (GetQueueAttributesOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	q, err := s.queue(in.QueueURL)
	if err != nil {
		return GetQueueAttributesOutput{}, err
	}
	counts := q.Counts(now)
	all := q.attrs.strings()
	maps.Copy(all, map[string]string{
		"QueueArn":                              q.arn(),
		"CreatedTimestamp":                      strconv.FormatInt(q.created.Unix(), 10),
		"ApproximateNumberOfMessages":           strconv.Itoa(counts.Visible),
		"ApproximateNumberOfMessagesNotVisible": strconv.Itoa(counts.InFlight),
		"ApproximateNumberOfMessagesDelayed":    strconv.Itoa(counts.Delayed),
	})
	out := GetQueueAttributesOutput{Attributes: make(map[string]string)}
	for _, name := range in.AttributeNames {
		value, ok := all[name]
		switch {
		case name == "All":
			maps.Copy(out.Attributes, all)
		case ok:
			out.Attributes[name] = value
		case !queueAttributeNames[name]:
			return GetQueueAttributesOutput{}, refuse(invalidAttributeName, "Unknown Attribute %s.", name)
		}
	}
	return out, nil
}

// Peek returns what is in a queue, in flight or not, in the order of sending and without receiving it: the messages
// have no receipt handle, and nothing is counted. SQS has nothing like it. It is for whoever runs the service and asks
// what ended in a dead-letter queue: a receive would hide from the next one what it finds.
func (s *Service) Peek(queueURL string) ([]Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.queue(queueURL)
	if err != nil {
		return nil, err
	}
	all := ReceiveMessageInput{MessageSystemAttributeNames: []string{"All"}, MessageAttributeNames: []string{"All"}}
	var there []Message
	for _, m := range q.Queue.Peek(s.now()) {
		there = append(there, q.delivery(m, all))
	}
	return there, nil
}
