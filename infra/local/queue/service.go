package queue

import (
	crand "crypto/rand"
	"fmt"
	"math/rand/v2"
	"path"
	"sort"
	"strings"
	"sync"
	"time"
)

const (
	account   = "000000000000"
	arnPrefix = "arn:aws:sqs:us-east-1:" + account + ":"
)

// Config says what a Service takes from outside.
type Config struct {
	// BaseURL is the scheme and host that queue URLs begin with: BaseURL/000000000000/Name. Defaults to
	// "http://localhost". Requests find their queue by the last element of the path alone, so a caller who reaches
	// the service under another host is understood too.
	BaseURL string
	// Now is the clock. Defaults to time.Now. A receive that waits does so in the time package's time, so with a
	// clock that does not move with it use WaitTimeSeconds 0, or testing/synctest.
	Now func() time.Time
	// Random is the source of message ids and task handles; it is used under the service's lock. Defaults to a
	// generator seeded by the system.
	Random rand.Source
	// MostHidden bounds for how long ChangeMessageVisibility hides a message, for a run in a hurry. Defaults to SQS's own 12 hours.
	MostHidden time.Duration
}

// Service is a set of queues. Its methods are the operations of SQS under the names SQS gives them; they are safe for
// concurrent use, and every refusal is an *Error.
type Service struct {
	baseURL string
	now     func() time.Time
	hidden  time.Duration // at most

	mu     sync.Mutex
	random rand.Source
	queues map[string]*queue
	moves  []move // newest last
}

// New returns a Service without queues.
func New(c Config) *Service {
	if c.BaseURL == "" {
		c.BaseURL = "http://localhost"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Random == nil {
		var seed [32]byte
		crand.Read(seed[:])
		c.Random = rand.NewChaCha8(seed)
	}
	if c.MostHidden == 0 {
		c.MostHidden = 12 * time.Hour
	}
	return &Service{
		hidden:  c.MostHidden,
		baseURL: strings.TrimSuffix(c.BaseURL, "/"),
		now:     c.Now,
		random:  c.Random,
		queues:  make(map[string]*queue),
	}
}

// GetQueueURLInput is the request of GetQueueURL.
type GetQueueURLInput struct {
	QueueName string
}

// QueueURLOutput is the answer of CreateQueue and GetQueueURL.
type QueueURLOutput struct {
	QueueURL string `json:"QueueUrl"`
}

// GetQueueURL returns the URL of a queue, or QueueDoesNotExist.
func (s *Service) GetQueueURL(in GetQueueURLInput) (QueueURLOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.queues[in.QueueName]; !ok {
		return QueueURLOutput{}, errNoQueue()
	}
	return QueueURLOutput{QueueURL: s.url(in.QueueName)}, nil
}

// ListQueuesInput is the request of ListQueues.
type ListQueuesInput struct {
	// QueueNamePrefix keeps the queues whose names begin with it. Defaults to all.
	QueueNamePrefix string
}

// ListQueuesOutput is the answer of ListQueues.
type ListQueuesOutput struct {
	QueueURLs []string `json:"QueueUrls,omitempty"`
}

// ListQueues returns the URLs of the queues in the order of their names.
func (s *Service) ListQueues(in ListQueuesInput) (ListQueuesOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out ListQueuesOutput
	for name := range s.queues {
		if strings.HasPrefix(name, in.QueueNamePrefix) {
			out.QueueURLs = append(out.QueueURLs, s.url(name))
		}
	}
	sort.Strings(out.QueueURLs)
	return out, nil
}

// PurgeQueueInput is the request of PurgeQueue.
type PurgeQueueInput struct {
	QueueURL string `json:"QueueUrl"`
}

// purgeInterval is the least time between two purges of one queue.
const purgeInterval = time.Minute

// PurgeQueue drops every message of a queue, those in flight too. A second call within 60 s is refused with
// PurgeQueueInProgress. What a FIFO queue knows of deduplication ids stays.
func (s *Service) PurgeQueue(in PurgeQueueInput) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	q, err := s.queue(in.QueueURL)
	if err != nil {
		return err
	}
	if !q.purged.IsZero() && now.Sub(q.purged) < purgeInterval {
		return refuse(purgeQueueInProgress, "Only one PurgeQueue operation on %s is allowed every 60 seconds.", q.name)
	}
	q.purged = now
	q.Purge()
	return nil
}

// queue finds a queue by its URL.
func (s *Service) queue(url string) (*queue, error) {
	if url == "" {
		return nil, refuse(missingParameter, "The request must contain the parameter QueueUrl.")
	}
	q, ok := s.queues[path.Base(url)]
	if !ok {
		return nil, errNoQueue()
	}
	return q, nil
}

// queueByARN returns nil if there is no such queue.
func (s *Service) queueByARN(arn string) *queue {
	name, ok := strings.CutPrefix(arn, arnPrefix)
	if !ok {
		return nil
	}
	return s.queues[name]
}

func (s *Service) url(name string) string { return s.baseURL + "/" + account + "/" + name }

// newID draws an RFC 9562 version 4 UUID, the form of SQS's message ids.
func (s *Service) newID() string {
	hi, lo := s.random.Uint64(), s.random.Uint64()
	hi = hi&^0xf000 | 0x4000
	lo = lo&^(3<<62) | 1<<63
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&(1<<48-1))
}

func errNoQueue() *Error { return refuse(queueDoesNotExist, "The specified queue does not exist.") }
