package sqsbatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/memdb"
	"github.com/singleeffect/once/shared/intenttest/queue"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// The outage: what is called is down for two hours, and serves a quarter of what it did before from then on. Messages come at 80 % of
// that. Ten minutes of what is left to be done the table throttles.
const (
	downFor       = 2 * time.Hour
	served        = 8 * time.Second // between two calls that are served, once it is up again: for long; a few come at once
	atOnce        = 10
	comesEvery    = served * 10 / 8
	throttledFrom = downFor + 30*time.Minute
	throttledFor  = 10 * time.Minute
	workers       = 4
	groups        = 40
)

var outageReport = flag.String("report", "", "`file` for what TestOutageDeadLettersNothing counted on both queues, as JSON")

// sums are what the outages came to.
type sums struct {
	Seconds      int `json:"seconds"` // until the last message was done, of the longer one
	DeadLettered int `json:"dead_lettered"`
	Duplicates   int `json:"duplicates"`
}

// outage is a queue, its workers, and what they call.
type outage struct {
	began      time.Time
	mu         sync.Mutex
	live, dead *queue.Queue[events.SQSMessage]
	fifo       bool
	calls      int
	next       time.Time      // until when calls are served already
	effects    map[string]int // by the key that the far side is given
	order      map[string][]string
	sent       int
	id         int
}

func (o *outage) at() time.Duration { return time.Since(o.began) }

// call is one call of what is down. While it is, two of three calls find nobody, and one is not answered in time, done or not.
func (o *outage) call(a ask, downstream string) error {
	time.Sleep(200 * time.Millisecond)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls++
	switch {
	case o.at() < downFor && o.calls%3 > 0:
		return intent.NotApplied(intent.RetryAfter(errors.New("nobody listens"), 0))
	case o.at() < downFor:
		if o.calls%2 == 0 {
			o.done(a.Key, downstream)
		}
		return intent.RetryAfter(errors.New("service unavailable"), 0)
	case time.Now().Add(atOnce * served).Before(o.next):
		return intent.NotApplied(intent.RetryAfter(errors.New("too many requests"), time.Minute))
	}
	if o.next = o.next.Add(served); o.next.Before(time.Now()) {
		o.next = time.Now()
	}
	o.done(a.Key, downstream)
	return nil
}

// done is the effect. The far side knows keys, so that one which comes again does nothing.
func (o *outage) done(key, downstream string) {
	if o.effects[downstream]++; o.effects[downstream] == 1 {
		group, _, _ := strings.Cut(key, "-")
		o.order[group] = append(o.order[group], key)
	}
}

func (o *outage) newID() string { o.id++; return strconv.Itoa(o.id) }

func newOutage(fifo bool) *outage {
	o := &outage{began: time.Now(), fifo: fifo, effects: map[string]int{}, order: map[string][]string{}}
	o.dead = queue.New(queue.Config[events.SQSMessage]{FIFO: fifo, NewID: o.newID})
	o.live = queue.New(queue.Config[events.SQSMessage]{FIFO: fifo, DedupByGroup: fifo, Visibility: 3 * time.Minute, DeadLetters: o.dead, MaxReceives: 100, NewID: o.newID})
	return o
}

func (o *outage) send() {
	o.mu.Lock()
	defer o.mu.Unlock()
	group := fmt.Sprint("g", o.sent%groups)
	key := fmt.Sprint(group, "-", o.sent)
	o.live.Send(time.Now(), queue.Outgoing[events.SQSMessage]{
		Body: asking("", key), Group: group, Dedup: key,
	})
	o.sent++
}

// work is one worker, until all is done.
func (o *outage) work(b *sqsbatch.Batch, p *process, over <-chan struct{}) {
	for {
		o.mu.Lock()
		got, _ := o.live.Receive(time.Now(), 10, nil)
		o.mu.Unlock()
		if len(got) == 0 {
			select {
			case <-over:
				return
			case <-time.After(5 * time.Second):
				continue
			}
		}
		var batch []events.SQSMessage
		for _, d := range got {
			m := d.Body
			m.MessageId, m.ReceiptHandle = d.ID, d.Handle
			m.Attributes = map[string]string{
				"ApproximateReceiveCount":          strconv.Itoa(d.Receives),
				"SentTimestamp":                    strconv.FormatInt(d.Sent.UnixMilli(), 10),
				"ApproximateFirstReceiveTimestamp": strconv.FormatInt(d.FirstReceived.UnixMilli(), 10),
			}
			if o.fifo {
				m.EventSourceARN, m.Attributes["MessageGroupId"], m.Attributes["MessageDeduplicationId"] = fifoARN, d.Group, d.Dedup
			}
			batch = append(batch, m)
		}
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		response, _ := b.Handle(ctx, events.SQSEvent{Records: batch})
		cancel()
		if p.ended.Swap(false) { // the answer is lost, and another process takes its place
			continue
		}
		listed := map[string]bool{}
		for _, f := range response.BatchItemFailures {
			listed[f.ItemIdentifier] = true
		}
		o.mu.Lock()
		for _, d := range got {
			if !listed[d.ID] {
				_, _ = o.live.Delete(time.Now(), d.Handle)
			}
		}
		o.mu.Unlock()
	}
}

// process is one process of a worker. What it would still ask for after its end is never sent.
type process struct {
	*outage
	ended atomic.Bool
}

func (p *process) ChangeMessageVisibilityBatch(ctx context.Context, in *sqs.ChangeMessageVisibilityBatchInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	if p.ended.Load() {
		return nil, errors.New("the process has ended")
	}
	return p.outage.ChangeMessageVisibilityBatch(ctx, in)
}

func (o *outage) ChangeMessageVisibilityBatch(_ context.Context, in *sqs.ChangeMessageVisibilityBatchInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range in.Entries {
		_, _ = o.live.ChangeVisibility(time.Now(), aws.ToString(e.ReceiptHandle), time.Duration(e.VisibilityTimeout)*time.Second)
	}
	return &sqs.ChangeMessageVisibilityBatchOutput{}, nil
}

func (o *outage) SendMessageBatch(_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := &sqs.SendMessageBatchOutput{}
	for _, e := range in.Entries {
		o.dead.Send(time.Now(), queue.Outgoing[events.SQSMessage]{Body: message("", aws.ToString(e.MessageBody)), Group: aws.ToString(e.MessageGroupId), Dedup: aws.ToString(e.MessageDeduplicationId)})
		out.Successful = append(out.Successful, sqstypes.SendMessageBatchResultEntry{Id: e.Id})
	}
	return out, nil
}

func (o *outage) batch(t *testing.T, h sqsbatch.Handler, q sqsbatch.Queue) *sqsbatch.Batch {
	t.Helper()
	url := queueURL
	if o.fifo {
		url += ".fifo"
	}
	b, err := sqsbatch.New(sqsbatch.Config{
		Handler: h, Queue: q, QueueURL: url, DeadLetterURL: deadLetterURL, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// throttled has the table throttle every call in its ten minutes.
func (o *outage) throttled(memdb.Call) memdb.Fault {
	if at := o.at(); at < throttledFrom || at >= throttledFrom+throttledFor {
		return memdb.Fault{}
	}
	return memdb.Fault{Err: &smithy.GenericAPIError{Code: "ThrottlingException", Message: "rate exceeded"}}
}

// ask is the payload of the outage's messages.
type ask struct {
	Key string `json:"idempotency_key"`
}

func (*ask) Validate() error { return nil }

// C71, C72: two hours of outage dead-letter nothing, and nothing takes effect twice. A message group keeps its order.
func TestOutageDeadLettersNothing(t *testing.T) {
	var all sums
	for name, fifo := range map[string]bool{"standard": false, "FIFO": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(time.UnixMilli(1_790_000_000_000)))
				o := newOutage(fifo)
				db := memdb.New(memdb.Config{Tables: []memdb.Table{{Name: "records", Keys: []string{"intent"}}, {Name: "sums", Keys: []string{"id"}}}, Plan: o.throttled})
				config := intent.Config{Scope: "test", Operation: "charge", Store: dynamo.New(db, "records")}
				var h sqsbatch.Handler = &intent.Keyed[ask]{Config: config, Window: 24 * time.Hour, Effect: func(_ context.Context, a ask, at intent.Attempt) (any, error) {
					return nil, o.call(a, at.Downstream)
				}}
				if fifo { // each message counts in its group's sum, once
					h = &dynamo.Ledger[ask]{Config: config, Effect: func(_ context.Context, a ask, at intent.Attempt) (dynamo.Writes, error) {
						group, _, _ := strings.Cut(a.Key, "-")
						return dynamo.Writes{Items: []types.TransactWriteItem{{Update: &types.Update{
							TableName: aws.String("sums"), Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: group}},
							UpdateExpression:          aws.String("ADD messages :one"),
							ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
						}}}}, o.call(a, at.Downstream)
					}}
				}
				over := make(chan struct{})
				var running sync.WaitGroup
				for range workers {
					running.Go(func() { o.work(o.batch(t, h, o), new(process), over) })
				}
				left := func() int {
					o.mu.Lock()
					defer o.mu.Unlock()
					c := o.live.Counts(time.Now())
					return c.Visible + c.InFlight + c.Delayed
				}
				most := 0
				for o.at() < downFor || left() > 5 && o.at() < 72*time.Hour {
					o.send()
					time.Sleep(comesEvery)
					most = max(most, left())
				}
				drained := o.at() - downFor
				for left() > 0 && o.at() < 90*time.Hour {
					time.Sleep(time.Minute)
				}
				close(over)
				running.Wait()
				t.Logf("%d messages, %d of them waiting at once, %d calls; drained %v after the outage", o.sent, most, o.calls, drained.Round(time.Minute))
				duplicates := len(o.effects) - o.sent
				if fifo {
					duplicates = o.sum(t, db) - o.sent
				}
				o.judge(t, duplicates)
				all.Seconds = max(all.Seconds, int((downFor + drained).Seconds()))
				all.DeadLettered += len(o.dead.Peek(time.Now()))
				all.Duplicates += max(0, duplicates)
			})
		})
	}
	if *outageReport == "" {
		return
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*outageReport, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// sum counts what the ledger's groups come to: one for each message.
func (o *outage) sum(t *testing.T, db *memdb.DB) (sum int) {
	t.Helper()
	for g := range groups {
		out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: aws.String("sums"), Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: fmt.Sprint("g", g)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		n, _ := out.Item["messages"].(*types.AttributeValueMemberN)
		i, _ := strconv.Atoi(n.Value)
		sum += i
	}
	return sum
}

func (o *outage) judge(t *testing.T, duplicates int) {
	t.Helper()
	if dead := o.dead.Peek(time.Now()); len(dead) > 0 {
		t.Errorf("%d of %d messages in the dead-letter queue", len(dead), o.sent)
	}
	if len(o.effects) != o.sent || duplicates != 0 {
		t.Errorf("%d of %d took effect, and %d more often than once", len(o.effects), o.sent, duplicates)
	}
	if !o.fifo {
		return
	}
	for group, keys := range o.order {
		number := func(key string) int { _, n, _ := strings.Cut(key, "-"); i, _ := strconv.Atoi(n); return i }
		if !slices.IsSortedFunc(keys, func(a, b string) int { return number(a) - number(b) }) {
			t.Errorf("group %s took effect in the order %v", group, keys)
		}
	}
}

// C72's kind: a message that ends its process each time is run some 20 times in twelve hours, and then given up. All others take effect,
// but those behind it in its group, which wait for that.
func TestPoisonEndsItsProcess(t *testing.T) {
	for name, fifo := range map[string]bool{"standard": false, "FIFO": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(time.UnixMilli(1_790_000_000_000)))
				o := newOutage(fifo)
				db := memdb.New(memdb.Config{Tables: []memdb.Table{{Name: "records", Keys: []string{"intent"}}}})
				const messages, poison = 3 * groups, groups + 7
				for range messages {
					o.send()
				}
				runs, took := 0, map[string]time.Duration{}
				over := make(chan struct{})
				var running sync.WaitGroup
				for range workers {
					p := &process{outage: o}
					h := &intent.Keyed[ask]{Config: intent.Config{Scope: "test", Operation: "charge", Store: dynamo.New(db, "records")}, Window: 24 * time.Hour,
						Effect: func(_ context.Context, a ask, _ intent.Attempt) (any, error) {
							o.mu.Lock()
							defer o.mu.Unlock()
							if strings.HasSuffix(a.Key, fmt.Sprint("-", poison)) {
								runs++
								p.ended.Store(true)
								return nil, errors.New("out of memory")
							}
							took[a.Key] = o.at()
							return nil, nil
						}}
					running.Go(func() { o.work(o.batch(t, h, p), p, over) })
				}
				time.Sleep(14 * time.Hour)
				close(over)
				running.Wait()
				dead := o.dead.Peek(time.Now())
				if len(dead) != 1 || runs > 25 || runs < 6 {
					t.Errorf("%d in the dead-letter queue after %d runs, want the poison after some 20", len(dead), runs)
				}
				if len(took) != messages-1 {
					t.Errorf("%d of %d others took effect", len(took), messages-1)
				}
				group, late := fmt.Sprint("g", poison%groups, "-"), 0
				for key, at := range took {
					if at > time.Hour && !(fifo && strings.HasPrefix(key, group)) {
						t.Errorf("%s took effect after %v", key, at)
					}
					if at > time.Hour {
						late++
					}
				}
				t.Logf("%d runs; %d messages waited for it", runs, late)
			})
		})
	}
}
