package queue

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	engine "github.com/singleeffect/once/shared/intenttest/queue"
)

// CreateQueueInput is the request of CreateQueue.
type CreateQueueInput struct {
	// QueueName is 1 to 80 letters, digits, hyphens and underscores; a FIFO queue's ends in ".fifo", which counts.
	QueueName string
	// Attributes are, with their defaults: VisibilityTimeout (s, 0 to 43200; 30), DelaySeconds (s, 0 to 900; 0),
	// MessageRetentionPeriod (s, 60 to 1209600; 345600), RedrivePolicy (none), and for a FIFO queue FifoQueue
	// ("true"), ContentBasedDeduplication ("false"), and DeduplicationScope ("queue", or "messageGroup") with
	// FifoThroughputLimit ("perQueue", or with messageGroup also "perMessageGroupId"), which limits nothing here. Any
	// other is refused with InvalidAttributeName.
	//
	// RedrivePolicy is a JSON document with deadLetterTargetArn, the ARN of a queue of the same type that exists,
	// and maxReceiveCount, 1 to 1000.
	Attributes map[string]string
}

// attributes is what a queue was created with.
type attributes struct {
	visibility, delay, retention time.Duration
	redrive                      *redrivePolicy
	fifo, contentDedup           bool
	dedupScope, throughputLimit  string // FIFO only
}

type redrivePolicy struct {
	Target string `json:"deadLetterTargetArn"`
	Max    int    `json:"maxReceiveCount"`
}

// Names of the attributes that are set and read.
const (
	attrVisibility   = "VisibilityTimeout"
	attrDelay        = "DelaySeconds"
	attrRetention    = "MessageRetentionPeriod"
	attrRedrive      = "RedrivePolicy"
	attrFIFO         = "FifoQueue"
	attrContentDedup = "ContentBasedDeduplication"
	attrDedupScope   = "DeduplicationScope"
	attrThroughput   = "FifoThroughputLimit"

	scopeQueue, scopeGroup = "queue", "messageGroup"
	limitQueue, limitGroup = "perQueue", "perMessageGroupId"
)

var (
	queueName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)
	// AWS's own texts for the two kinds of names.
	errName     = "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"
	errFIFOName = "The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length."
)

// CreateQueue makes a queue. If one of that name is there already and has the given attributes, its URL is returned;
// if they differ, QueueNameExists.
func (s *Service) CreateQueue(in CreateQueueInput) (QueueURLOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	attrs, err := s.parseAttributes(in.Attributes)
	if err != nil {
		return QueueURLOutput{}, err
	}
	base, suffixed := strings.CutSuffix(in.QueueName, ".fifo")
	switch {
	case attrs.fifo && !(suffixed && queueName.MatchString(base) && len(in.QueueName) <= 80):
		return QueueURLOutput{}, refuse(invalidParameterValue, "%s", errFIFOName)
	case !attrs.fifo && !queueName.MatchString(in.QueueName):
		return QueueURLOutput{}, refuse(invalidParameterValue, "%s", errName)
	}
	now := s.now()
	if q, ok := s.queues[in.QueueName]; ok {
		there, given := q.attrs.strings(), attrs.strings()
		for _, name := range slices.Sorted(maps.Keys(in.Attributes)) {
			if there[name] != given[name] {
				return QueueURLOutput{}, refuse(queueNameExists,
					"A queue already exists with the same name and a different value for attribute %s", name)
			}
		}
		return QueueURLOutput{QueueURL: s.url(in.QueueName)}, nil
	}
	s.queues[in.QueueName] = s.newQueue(in.QueueName, attrs, now)
	return QueueURLOutput{QueueURL: s.url(in.QueueName)}, nil
}

func (s *Service) parseAttributes(given map[string]string) (attributes, error) {
	a := attributes{visibility: 30 * time.Second, retention: 4 * 24 * time.Hour, dedupScope: scopeQueue, throughputLimit: limitQueue}
	var err error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value := given[name]
		switch name {
		case attrVisibility:
			a.visibility, err = parseSeconds(name, value, 0, engine.MaxVisibility)
		case attrDelay:
			a.delay, err = parseSeconds(name, value, 0, maxDelay)
		case attrRetention:
			a.retention, err = parseSeconds(name, value, time.Minute, 14*24*time.Hour)
		case attrFIFO:
			// "false" is not a way to say standard: AWS does not know the attribute there.
			if a.fifo = value == "true"; !a.fifo {
				err = refuse(invalidAttributeName, "Unknown Attribute %s.", name)
			}
		case attrContentDedup:
			if given[attrFIFO] != "true" {
				err = refuse(invalidAttributeName, "Unknown Attribute %s.", name)
			} else if a.contentDedup, err = strconv.ParseBool(value); err != nil {
				err = refuse(invalidAttributeValue, "Invalid value for the parameter %s: %q.", name, value)
			}
		case attrDedupScope:
			a.dedupScope, err = oneOf(given, name, scopeQueue, scopeGroup)
		case attrThroughput:
			a.throughputLimit, err = oneOf(given, name, limitQueue, limitGroup)
		case attrRedrive:
			a.redrive, err = s.parseRedrive(value, given[attrFIFO] == "true")
		default:
			err = refuse(invalidAttributeName, "Unknown Attribute %s.", name)
		}
		if err != nil {
			return attributes{}, err
		}
	}
	if a.throughputLimit == limitGroup && a.dedupScope != scopeGroup {
		return attributes{}, refuse(invalidAttributeValue, "Invalid value for the parameter %s: %q needs %s %q.",
			attrThroughput, limitGroup, attrDedupScope, scopeGroup)
	}
	return a, nil
}

// oneOf reads an attribute of FIFO queues that has two values.
func oneOf(given map[string]string, name string, values ...string) (string, error) {
	switch value := given[name]; {
	case given[attrFIFO] != "true":
		return "", refuse(invalidAttributeName, "Unknown Attribute %s.", name)
	case !slices.Contains(values, value):
		return "", refuse(invalidAttributeValue, "Invalid value for the parameter %s: %q.", name, value)
	default:
		return value, nil
	}
}

func (s *Service) parseRedrive(value string, fifo bool) (*redrivePolicy, error) {
	invalid := func(reason string) error { return invalidValue(value, attrRedrive, reason) }
	var doc struct {
		Target string      `json:"deadLetterTargetArn"`
		Max    json.Number `json:"maxReceiveCount"` // AWS takes 5 and "5"
	}
	if err := json.Unmarshal([]byte(value), &doc); err != nil {
		return nil, invalid("Redrive policy is not a valid JSON map.")
	}
	count, err := strconv.Atoi(doc.Max.String())
	if err != nil || count < 1 || count > 1000 {
		return nil, invalid("Invalid value for maxReceiveCount: " + doc.Max.String() + ", valid values are from 1 to 1000 both inclusive.")
	}
	if !strings.HasPrefix(doc.Target, "arn:") {
		return nil, invalid("Invalid value for deadLetterTargetArn.")
	}
	switch dead := s.queueByARN(doc.Target); {
	case dead == nil:
		return nil, invalid("Dead letter target does not exist.")
	case dead.attrs.fifo != fifo:
		return nil, invalid("Dead-letter queue must be same type of queue as the source.")
	}
	return &redrivePolicy{Target: doc.Target, Max: count}, nil
}

func parseSeconds(name, value string, least, most time.Duration) (time.Duration, error) {
	n, err := strconv.Atoi(value)
	d := time.Duration(n) * time.Second
	if err != nil || n < 0 || d < least || d > most {
		return 0, refuse(invalidAttributeValue, "Invalid value for the parameter %s: %q is not a number of seconds from %d to %d.",
			name, value, seconds(least), seconds(most))
	}
	return d, nil
}

// strings is the queue's attributes as AWS reports them.
func (a attributes) strings() map[string]string {
	out := map[string]string{
		attrVisibility: strconv.Itoa(seconds(a.visibility)),
		attrDelay:      strconv.Itoa(seconds(a.delay)),
		attrRetention:  strconv.Itoa(seconds(a.retention)),
	}
	if a.fifo {
		out[attrFIFO] = "true"
		out[attrContentDedup] = strconv.FormatBool(a.contentDedup)
		out[attrDedupScope] = a.dedupScope
		out[attrThroughput] = a.throughputLimit
	}
	if a.redrive != nil {
		doc, _ := json.Marshal(a.redrive) // a string and an int: cannot fail
		out[attrRedrive] = string(doc)
	}
	return out
}

func seconds(d time.Duration) int { return int(d / time.Second) }
