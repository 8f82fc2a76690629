package queue_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/singleeffect/once/infra/local/queue"
)

// waiting starts a receive of up to 20 s; the function it returns waits for its answer and says how long that took.
func waiting(ctx context.Context, s *queue.Service, url string) func() (queue.ReceiveMessageOutput, time.Duration, error) {
	var out queue.ReceiveMessageOutput
	var err error
	var took time.Duration
	start := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		out, err = s.ReceiveMessage(ctx, queue.ReceiveMessageInput{QueueURL: url, WaitTimeSeconds: 20})
		took = time.Since(start)
	}()
	return func() (queue.ReceiveMessageOutput, time.Duration, error) {
		<-done
		return out, took, err
	}
}

func TestReceiveWaits(t *testing.T) {
	type setting struct {
		*world
		q, dead  string
		inFlight queue.Message // A1, whose visibility timeout of 5 s begins with the wait
	}
	for name, tc := range map[string]struct {
		during func(s setting) // happens while the receive waits
		want   time.Duration
		body   string // none: the wait was in vain
	}{
		"in vain": {func(s setting) { s.delete(s.q, s.inFlight) }, 20 * time.Second, ""},
		"for a send": {func(s setting) {
			time.Sleep(3 * time.Second)
			s.send(s.q, "B1")
		}, 3 * time.Second, "B1"},
		"for the end of a visibility timeout": {func(setting) {}, 5 * time.Second, "A1"},
		"for a later end of it": {func(s setting) {
			if err := s.visibility(s.q, s.inFlight, 9); err != nil {
				s.t.Error(err)
			}
		}, 9 * time.Second, "A1"},
		"for an earlier end of it": {func(s setting) {
			if err := s.visibility(s.q, s.inFlight, 0); err != nil {
				s.t.Error(err)
			}
		}, 0, "A1"},
		"for its group to open": {func(s setting) {
			s.send(s.q, "A2")
			time.Sleep(2 * time.Second)
			s.delete(s.q, s.inFlight)
		}, 2 * time.Second, "A2"},
		"for a redrive": {func(s setting) {
			s.send(s.dead, "C1")
			s.move(queue.StartMessageMoveTaskInput{SourceARN: arn + "dead.fifo", DestinationARN: arn + "q.fifo"})
		}, 0, "C1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := setting{world: &world{t: t, Service: queue.New(queue.Config{})}}
				s.dead = s.fifo("dead.fifo")
				s.q = s.fifo("q.fifo", "VisibilityTimeout", "5", "RedrivePolicy", redrive("dead.fifo", 5))
				s.send(s.q, "A1")
				s.inFlight = s.one(s.q)
				answer := waiting(t.Context(), s.Service, s.q)
				synctest.Wait()
				tc.during(s)
				out, took, err := answer()
				got := ""
				if len(out.Messages) > 0 {
					got = out.Messages[0].Body
				}
				if err != nil || took != tc.want || got != tc.body {
					t.Fatalf("after %v: %q, %v; want %q after %v", took, got, err, tc.body, tc.want)
				}
			})
		})
	}
}

func TestReceiveWaitsForADelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, Service: queue.New(queue.Config{})}
		url := w.create("q", "DelaySeconds", "7")
		w.send(url, "a")
		if out, took, err := waiting(t.Context(), w.Service, url)(); err != nil || took != 7*time.Second || len(out.Messages) != 1 {
			t.Fatalf("after %v: %v, %v", took, out, err)
		}
	})
}

func TestReceiveWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, Service: queue.New(queue.Config{})}
		url := w.create("q")
		ctx, cancel := context.WithCancel(t.Context())
		answer := waiting(ctx, w.Service, url)
		synctest.Wait()
		cancel()
		if _, took, err := answer(); !errors.Is(err, context.Canceled) || took != 0 {
			t.Fatalf("after %v: %v", took, err)
		}
		w.send(url, "a")
		w.wantBodies(url, "a")
	})
}

// TestOneDeliveryForManyReceives has the receives of ten consumers meet one message.
func TestOneDeliveryForManyReceives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, Service: queue.New(queue.Config{})}
		url := w.create("q")
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		var answers []func() (queue.ReceiveMessageOutput, time.Duration, error)
		for range 10 {
			answers = append(answers, waiting(ctx, w.Service, url))
		}
		synctest.Wait()
		w.send(url, "a")
		got := 0
		for _, answer := range answers {
			out, _, _ := answer()
			got += len(out.Messages)
		}
		if got != 1 {
			t.Fatalf("%d deliveries, want 1", got)
		}
	})
}
