package mapping_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/infra/local/mapping"
	"github.com/singleeffect/once/infra/local/queue"
)

func TestFailedMessagesWaitForTheirVisibilityTimeout(t *testing.T) {
	onStage(t, "q", func(t *testing.T, s *stage) {
		var got seen
		s.send("good", "bad")
		stop := s.run(mapping.Config{ReportBatchItemFailures: true}, function(func(_ context.Context, e events.SQSEvent) (string, error) {
			got.add(e)
			return failing(e, "bad"), nil
		}))
		defer stop()
		s.pass(visibility - 1)
		got.want(t, "good bad")
		s.pass(1)
		got.want(t, "good bad", "bad")
	})
}

// TestC19DeadLetterAfterTheLastReceive: three deliveries, and the fourth receive moves the message without one.
func TestC19DeadLetterAfterTheLastReceive(t *testing.T) {
	onStage(t, "q", func(t *testing.T, s *stage) {
		var got seen
		var counts []string
		s.send("poison")
		stop := s.run(mapping.Config{}, function(func(_ context.Context, e events.SQSEvent) (string, error) {
			got.add(e)
			counts = append(counts, e.Records[0].Attributes["ApproximateReceiveCount"])
			return "", errors.New("cannot")
		}))
		s.pass(2 * visibility)
		got.want(t, "poison", "poison", "poison")
		s.wantCounts(s.dead, 0, 0)
		s.pass(visibility)
		got.want(t, "poison", "poison", "poison")
		s.wantCounts(s.dead, 1, 0)
		s.wantCounts(s.url, 0, 0)
		if fmt.Sprint(counts) != "[1 2 3]" {
			t.Errorf("receive counts = %v", counts)
		}
		stop()
		deliveries, failures := 0, 0
		for _, b := range s.fates() {
			if !slices.Equal(b.Bodies, []string{"poison"}) {
				t.Errorf("bodies = %q", b.Bodies)
			}
			deliveries += len(b.Messages)
			if b.Err != nil {
				failures++
			}
		}
		if deliveries != 3 || failures != 3 {
			t.Errorf("deliveries = %d, whole-batch failures = %d, want 3 and 3", deliveries, failures)
		}
	})
}

func TestBatchSize(t *testing.T) {
	for size, want := range map[int][]string{
		0:  {"a b c d e f g h i j", "k l"},
		4:  {"a b c d", "e f g h", "i j k l"},
		10: {"a b c d e f g h i j", "k l"},
	} {
		onStage(t, "q", func(t *testing.T, s *stage) {
			var got seen
			s.send(strings.Split("abcdefghijkl", "")...)
			stop := s.run(mapping.Config{BatchSize: size}, function(func(_ context.Context, e events.SQSEvent) (string, error) {
				got.add(e)
				return "", nil
			}))
			defer stop()
			got.want(t, want...)
			s.wantCounts(s.url, 0, 0)
		})
	}
}

func TestBatchingWindow(t *testing.T) {
	type step struct {
		after  time.Duration
		bodies string
	}
	for name, tc := range map[string]struct {
		size   int
		window time.Duration
		steps  []step
		want   []string // the events, each with its time
	}{
		"closes by time":        {10, 5 * time.Second, []step{{0, "a"}, {3 * time.Second, "b"}, {3 * time.Second, "c"}}, []string{"5s a b", "11s c"}},
		"closes when full":      {2, 5 * time.Second, []step{{0, "a"}, {time.Second, "b"}}, []string{"1s a b"}},
		"opens with a message":  {10, 5 * time.Second, []step{{90 * time.Second, "a"}}, []string{"1m35s a"}},
		"is longer than a poll": {10, 25 * time.Second, []step{{0, "a"}, {24 * time.Second, "b"}, {time.Second, ""}}, []string{"25s a b"}},
		"gathers more than ten": {12, time.Second, []step{{0, "a b c d e f g h i j k l m"}}, []string{"0s a b c d e f g h i j k l", "1s m"}},
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, "q", func(t *testing.T, s *stage) {
				var got seen
				start := time.Now()
				stop := s.run(mapping.Config{BatchSize: tc.size, BatchingWindow: tc.window}, function(func(_ context.Context, e events.SQSEvent) (string, error) {
					e.Records = append([]events.SQSMessage{{Body: time.Since(start).String()}}, e.Records...)
					got.add(e)
					return "", nil
				}))
				defer stop()
				for _, step := range tc.steps {
					s.pass(step.after)
					s.send(strings.Fields(step.bodies)...)
				}
				s.pass(time.Minute)
				got.want(t, tc.want...)
				s.wantCounts(s.url, 0, 0)
			})
		})
	}
}

// TestEachPollerHasItsOwnInvoker: as many at a time as there are invokers, and never two in one.
func TestEachPollerHasItsOwnInvoker(t *testing.T) {
	onStage(t, "q", func(t *testing.T, s *stage) {
		const pollers = 3
		var running [pollers]atomic.Int32
		var invokers []mapping.Invoker
		for i := range pollers {
			invokers = append(invokers, function(func(context.Context, events.SQSEvent) (string, error) {
				if n := running[i].Add(1); n != 1 {
					t.Errorf("invoker %d is called %d times at once", i, n)
				}
				time.Sleep(10 * time.Second)
				running[i].Add(-1)
				return "", nil
			}))
		}
		s.send(strings.Split("abcdef", "")...)
		stop := s.run(mapping.Config{BatchSize: 1}, invokers...)
		defer stop()
		s.pass(5 * time.Second)
		for i := range running {
			if n := running[i].Load(); n != 1 {
				t.Errorf("invoker %d: %d calls under way, want 1", i, n)
			}
		}
		s.wantCounts(s.url, 3, 3)
		s.pass(15 * time.Second)
		s.wantCounts(s.url, 0, 0)
		var batches [pollers]int
		for _, b := range s.fates() {
			batches[b.Poller]++
		}
		if batches != [pollers]int{2, 2, 2} {
			t.Errorf("batches of the pollers = %v, want 2 each", batches)
		}
	})
}

func TestFIFO(t *testing.T) {
	t.Run("a group waits for its failed message, others go on", func(t *testing.T) {
		onStage(t, "q.fifo", func(t *testing.T, s *stage) {
			var got seen
			var repaired atomic.Bool
			s.send("A1", "B1", "A2")
			stop := s.run(mapping.Config{ReportBatchItemFailures: true}, function(func(_ context.Context, e events.SQSEvent) (string, error) {
				got.add(e)
				if !repaired.Load() {
					return failing(e, "A1", "A2"), nil
				}
				return "", nil
			}))
			defer stop()
			s.send("A3", "B2")
			s.pass(visibility - 1)
			got.want(t, "A1 A2 B1", "B2")
			repaired.Store(true)
			s.pass(1)
			got.want(t, "A1 A2 B1", "B2", "A1 A2 A3")
		})
	})
	t.Run("what is deleted is what is not listed, in order or not", func(t *testing.T) {
		onStage(t, "q.fifo", func(t *testing.T, s *stage) {
			s.send("A1", "A2")
			stop := s.run(mapping.Config{ReportBatchItemFailures: true}, function(func(_ context.Context, e events.SQSEvent) (string, error) {
				return failing(e, "A1"), nil
			}))
			defer stop()
			s.wantCounts(s.url, 0, 1)
		})
	})
	t.Run("too late to delete", func(t *testing.T) {
		onStage(t, "q.fifo", func(t *testing.T, s *stage) {
			ids := s.send("A1")
			stop := s.run(mapping.Config{}, function(func(context.Context, events.SQSEvent) (string, error) {
				time.Sleep(visibility)
				return "", nil
			}))
			defer stop()
			s.pass(visibility)
			if b := s.fates()[0]; b.Err != nil || fmt.Sprint(b.Left) != fmt.Sprint(ids) {
				t.Errorf("batch = %+v", b)
			}
		})
	})
	t.Run("no other event of what was gathered after a failed one", func(t *testing.T) {
		onStage(t, "q.fifo", func(t *testing.T, s *stage) {
			var got []string
			big := strings.Repeat("x", 1<<20-2)
			for i := range 8 {
				s.send(fmt.Sprintf("A%d%s", i, big))
			}
			stop := s.run(mapping.Config{}, function(func(_ context.Context, e events.SQSEvent) (string, error) {
				for _, r := range e.Records {
					got = append(got, r.Body[:2])
				}
				return "", errors.New("cannot")
			}))
			defer stop()
			s.pass(visibility - 1)
			if fmt.Sprint(got) != "[A0 A1 A2 A3 A4]" {
				t.Errorf("delivered %v", got)
			}
		})
	})
}

func TestStop(t *testing.T) {
	t.Run("while it waits for messages", func(t *testing.T) {
		onStage(t, "q", func(t *testing.T, s *stage) {
			stop := s.run(mapping.Config{}, function(func(context.Context, events.SQSEvent) (string, error) { return "", nil }))
			s.pass(90 * time.Second)
			start := time.Now()
			stop()
			if took := time.Since(start); took != 0 {
				t.Errorf("stopping took %v", took)
			}
		})
	})
	t.Run("while it gathers: no event", func(t *testing.T) {
		onStage(t, "q", func(t *testing.T, s *stage) {
			s.send("a")
			stop := s.run(mapping.Config{BatchingWindow: 10 * time.Second}, function(func(context.Context, events.SQSEvent) (string, error) {
				t.Error("invoked")
				return "", nil
			}))
			stop()
			s.wantCounts(s.url, 0, 1)
		})
	})
	t.Run("while the function runs: it is told, and nothing is deleted", func(t *testing.T) {
		onStage(t, "q", func(t *testing.T, s *stage) {
			s.send("a")
			stop := s.run(mapping.Config{}, function(func(ctx context.Context, _ events.SQSEvent) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			}))
			stop()
			s.wantCounts(s.url, 0, 1)
			if b := s.fates()[0]; !errors.Is(b.Err, context.Canceled) {
				t.Errorf("batch = %+v", b)
			}
		})
	})
	t.Run("between two events: no second one", func(t *testing.T) {
		onStage(t, "q", func(t *testing.T, s *stage) {
			s.send(slices.Repeat([]string{strings.Repeat("x", 1<<20)}, 6)...) // one too many for one event
			stop := s.run(mapping.Config{}, function(func(ctx context.Context, _ events.SQSEvent) (string, error) {
				<-ctx.Done()
				return "", nil
			}))
			stop()
			if n := len(s.fates()); n != 1 {
				t.Errorf("%d events, want 1", n)
			}
			s.wantCounts(s.url, 0, 1)
		})
	})
	t.Run("while the function ends: its answer counts", func(t *testing.T) {
		onStage(t, "q", func(t *testing.T, s *stage) {
			s.send("a")
			stop := s.run(mapping.Config{}, function(func(ctx context.Context, _ events.SQSEvent) (string, error) {
				<-ctx.Done()
				return "", nil
			}))
			stop()
			s.wantCounts(s.url, 0, 0)
		})
	})
}

func TestConfigRefusals(t *testing.T) {
	service := queue.New(queue.Config{})
	for _, in := range []queue.CreateQueueInput{{QueueName: "q"}, {QueueName: "q.fifo", Attributes: map[string]string{"FifoQueue": "true"}}} {
		if _, err := service.CreateQueue(in); err != nil {
			t.Fatal(err)
		}
	}
	invokers := []mapping.Invoker{function(nil)}
	for want, c := range map[string]mapping.Config{
		"missing Queue":                   {QueueURL: "q", Invokers: invokers},
		"missing Invokers":                {Queue: service, QueueURL: "q"},
		"BatchSize -1":                    {Queue: service, QueueURL: "q", Invokers: invokers, BatchSize: -1},
		"BatchSize 10001":                 {Queue: service, QueueURL: "q", Invokers: invokers, BatchSize: 10001, BatchingWindow: time.Second},
		"BatchSize 11 with BatchingWind":  {Queue: service, QueueURL: "q", Invokers: invokers, BatchSize: 11},
		"BatchingWindow 5m0.000000001s":   {Queue: service, QueueURL: "q", Invokers: invokers, BatchingWindow: 5*time.Minute + 1},
		"BatchSize 11 with the FIFO":      {Queue: service, QueueURL: "q.fifo", Invokers: invokers, BatchSize: 11},
		"BatchingWindow 1s with the FIFO": {Queue: service, QueueURL: "q.fifo", Invokers: invokers, BatchingWindow: time.Second},
		"event source none":               {Queue: service, QueueURL: "none", Invokers: invokers},
	} {
		synctest.Test(t, func(t *testing.T) {
			if err := mapping.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("run = %v, want %q", err, want)
			}
		})
	}
}
