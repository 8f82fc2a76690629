package sqsbatch

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
)

// answerBy is how long before the deadline the answer leaves, done or not.
const answerBy = 150 * time.Millisecond

// Handler is an effect of some class: *intent.Keyed, *intent.Blind,
// *intent.Natural or *dynamo.Ledger.
type Handler interface {
	Validate() error
	Deliver(context.Context, intent.Delivery) (intent.Outcome, error)
}

// Config says how batches are run.
type Config struct {
	// Handler runs the intents. Required.
	Handler Handler

	// Queue hides messages that failed, for longer each time, and those whose intent is in
	// progress elsewhere, for as long as it may be. Without one they come back when
	// their visibility timeout ends, and go to the dead-letter queue that much sooner.
	// Needs sqs:ChangeMessageVisibility.
	Queue Queue

	// QueueURL is the queue's URL. Required with Queue.
	QueueURL string

	// DeadLetterURL is the dead-letter queue's URL, for quarantine: what no further
	// delivery can mend goes there at once, with the reason, and is acknowledged.
	// Needs a Queue and sqs:SendMessage. Without one such messages are listed,
	// until SQS moves them.
	DeadLetterURL string

	// Concurrency is how many intents of a batch run side by side. Defaults to 10;
	// a Blind handler's run one at a time whatever this says.
	Concurrency int

	// Key finds the key of a message that carries none in its attributes or body. It
	// is given the message without its envelopes. Its error is logged, so it must quote
	// nothing of the message. Defaults to refusing it with intent.ErrNoKey.
	Key func(events.SQSMessage) (string, error)

	// Select picks the part of a body, as JSON, that must be the same in every
	// message of an intent. Defaults to the whole of it.
	Select func(body []byte) ([]byte, error)

	// Observe is told how a batch went.
	Observe func(context.Context, Report)

	// Log takes the reasons of listed messages. Neither payloads nor keys are logged: an
	// intent is named by intent.ShortHash of its record's key. What an effect says in an
	// error is logged as it is. Defaults to slog.Default().
	Log *slog.Logger
}

// Report counts the messages of one batch.
type Report struct {
	Outcomes      map[intent.Kind]int // by what they turned out to be
	Messages      int                 // all of them
	Failed        int                 // listed with an error
	Listed        int                 // in the partial batch response
	Quarantined   int                 // sent to the dead-letter queue, and so not listed
	UnknownFormat int                 // records of another release, among Failed
	Takeovers     int                 // claims taken over from one whose lease had lapsed, however they ended
	Retrying      int                 // received three times or more, among Failed
}

// Batch runs SQS events. It holds nothing of an invocation, so that one process
// may run several at once.
type Batch struct {
	Config
	keyless bool        // the handler's messages carry no key, and none is folded
	denied  atomic.Bool // said once that visibility cannot be changed
	exit    func(code int)
}

// New returns the batch runner, or an *intent.ConfigError.
func New(c Config) (*Batch, error) {
	if c.Handler == nil {
		return nil, &intent.ConfigError{Field: "Handler", Reason: "is missing"}
	}
	if err := c.Handler.Validate(); err != nil {
		return nil, err
	}
	if c.Queue != nil && c.QueueURL == "" {
		return nil, &intent.ConfigError{Field: "QueueURL", Reason: "is missing, though there is a Queue"}
	}
	if c.DeadLetterURL != "" && (c.Queue == nil || c.DeadLetterURL == c.QueueURL) {
		return nil, &intent.ConfigError{Field: "DeadLetterURL", Reason: fmt.Sprintf("is %q: it needs a Queue, and must not be QueueURL, %q", c.DeadLetterURL, c.QueueURL)}
	}
	if c.Concurrency < 0 {
		return nil, &intent.ConfigError{Field: "Concurrency", Reason: fmt.Sprintf("is negative: %d", c.Concurrency)}
	}
	if c.Concurrency == 0 {
		c.Concurrency = 10
	}
	if h, ok := c.Handler.(interface{ OneAtATime() bool }); ok && h.OneAtATime() {
		c.Concurrency = 1
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	b := &Batch{Config: c, exit: os.Exit}
	if h, ok := c.Handler.(interface{ Keyless() bool }); ok {
		b.keyless = h.Keyless()
	}
	return b, nil
}

// Handle runs one event. Its error is nil for every event that SQS can send: one error
// would have the whole batch delivered again.
func (b *Batch) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	if err := checkEvent(event); err != nil {
		return events.SQSEventResponse{}, err
	}
	fates := make([]fate, len(event.Records)) // all failed, until they are done
	b.work(ctx, b.lanes(ctx, event.Records, fates))
	return b.answer(ctx, event.Records, fates), nil
}

// work runs the lanes side by side and comes back when all have ended, or ends
// the process shortly before the deadline.
func (b *Batch) work(ctx context.Context, lanes []*lane) {
	// With too little time left nothing is started, so nothing can outlast it.
	if deadline, ok := ctx.Deadline(); ok && intent.TimeToStart(ctx) == nil {
		ending := make(chan struct{})
		watchdog := time.AfterFunc(time.Until(deadline)-answerBy, func() {
			defer close(ending)
			b.Log.ErrorContext(ctx, "an effect ignores its cancellation, ending the process")
			b.exit(1)
		})
		// Once it has begun, the end is awaited: on a busy machine, or in a sandbox
		// that is frozen after the answer, it would come in the next invocation.
		defer func() {
			if !watchdog.Stop() {
				<-ending
			}
		}()
	}
	lanes, unanswered := b.split(lanes)
	b.workOff(ctx, lanes, b.Concurrency)
	if len(unanswered) > 0 {
		// Whoever ends the process takes none of the others along: they are hidden, and
		// come back each in its own time.
		b.putAside(ctx, unanswered)
		b.workOff(ctx, unanswered, 1)
	}
}

// workOff runs lanes, so many at a time.
func (b *Batch) workOff(ctx context.Context, lanes []*lane, workers int) {
	desk := b.newDesk(ctx)
	defer desk.close()
	lanes = desk.refuse(lanes)
	workers = min(workers, len(lanes))
	deliver, leave := b.Handler.Deliver, func() {}
	if h, ok := b.Handler.(grouper); ok {
		deliver, leave = h.Group(workers)
	}
	deliver = inTime(ctx, deliver)
	slots := make(chan struct{}, workers)
	var ended atomic.Int64
	var running sync.WaitGroup
	for _, l := range lanes {
		slots <- struct{}{}
		// In a goroutine of its own: an effect that ends it takes no other lane along.
		running.Go(func() {
			defer func() {
				if int(ended.Add(1)) > len(lanes)-workers {
					leave() // no lane is left to take its place
				}
				<-slots
			}()
			b.run(ctx, l, deliver, desk, slots)
		})
	}
	running.Wait()
}

// grouper is a Handler whose deliveries of one batch share calls to the store.
type grouper interface {
	Group(members int) (deliver deliverer, leave func())
}

type deliverer = func(context.Context, intent.Delivery) (intent.Outcome, error)

// inTime delivers while there is time to, and begins no effect after the moment at
// which those that run by now are cut off: it would be cut off as it begins.
func inTime(ctx context.Context, deliver deliverer) deliverer {
	effects, stop := intent.EffectContext(ctx)
	stop()
	until, bounded := effects.Deadline()
	return func(ctx context.Context, d intent.Delivery) (intent.Outcome, error) {
		if err := intent.TimeToStart(ctx); err != nil {
			return intent.Outcome{}, err
		}
		if bounded && !time.Now().Before(until) {
			return intent.Outcome{}, intent.ErrNoTime
		}
		return deliver(ctx, d)
	}
}

// answer lists what is not done, each id once, and reports.
func (b *Batch) answer(ctx context.Context, messages []events.SQSMessage, fates []fate) events.SQSEventResponse {
	// Never null: Lambda takes that for success, other readers may not.
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	report := Report{Outcomes: map[intent.Kind]int{}, Messages: len(messages)}
	listed := map[string]bool{}
	for i, f := range fates {
		id := messages[i].MessageId
		report.count(f, receives(messages[i]))
		if !f.done() || f.quarantined {
			// A panic of the log's handler must not have the batch delivered again.
			_ = intent.Contain(func() error { b.logUndone(ctx, messages[i], f); return nil })
		}
		if f.done() {
			continue
		}
		if !listed[id] {
			listed[id] = true
			response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: id})
		}
	}
	report.Listed = len(listed)
	if b.Observe != nil {
		// A panic of the observer's must not have the batch delivered again.
		_ = intent.Contain(func() error {
			if err := intent.Contain(func() error { b.Observe(ctx, report); return nil }); err != nil {
				b.Log.ErrorContext(ctx, "the batch was not observed", "error", err.Error())
			}
			return nil
		})
	}
	return response
}

func (r *Report) count(f fate, receives int) {
	if f.outcome.Lapsed {
		r.Takeovers++
	}
	if f.quarantined {
		r.Quarantined++
		if f.outcome.Kind == "" {
			return
		}
	}
	if f.outcome.Kind == "" {
		r.Failed++
		if f.unknownFormat {
			r.UnknownFormat++
		}
		if receives >= retryingReceives {
			r.Retrying++
		}
		return
	}
	r.Outcomes[f.outcome.Kind]++
}

// logUndone says why a message is listed, or in quarantine.
func (b *Batch) logUndone(ctx context.Context, m events.SQSMessage, f fate) {
	attrs := []any{"message_id", m.MessageId, "receive", m.Attributes["ApproximateReceiveCount"]}
	if f.outcome.Intent != "" {
		attrs = append(attrs, "intent", f.outcome.Intent)
	}
	if f.outcome.Kind != "" {
		attrs = append(attrs, "outcome", f.outcome.Kind, "attempt", f.outcome.Attempt)
	}
	if f.outcome.Reason != "" {
		attrs = append(attrs, "reason", f.outcome.Reason)
	}
	text := f.text()
	if text == "" && f.outcome.Kind == "" {
		text = "ended without an outcome" // as by runtime.Goexit
	}
	if text != "" {
		attrs = append(attrs, "error", text)
	}
	if f.stack != "" {
		attrs = append(attrs, "stack", f.stack)
	}
	level := slog.LevelWarn
	if text == "" && f.outcome.Kind == intent.InProgress {
		level = slog.LevelInfo
	}
	said := "message listed"
	if f.quarantined {
		said = "message quarantined"
	}
	b.Log.Log(ctx, level, said, attrs...)
}

// fifoSuffix tells a FIFO queue by its name; a MessageGroupId does not, since fair
// queues use it too.
const fifoSuffix = ".fifo"

func isFIFO(m events.SQSMessage) bool { return strings.HasSuffix(m.EventSourceARN, fifoSuffix) }
