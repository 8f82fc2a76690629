package sqsbatch_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// A message whose attributes were too many is opened when it comes back, runs, and
// keeps its first id if it does not end.
func TestWrappedComesBack(t *testing.T) {
	t.Parallel()
	r, m, c := newShop(t, quarantining)
	doubtful := true
	r.Handler = &intent.Blind[order]{Config: shop(m), Effect: func(_ context.Context, o order, a intent.Attempt) (any, error) {
		if doubtful || o.AmountCents != 100 {
			return nil, errors.New("connection reset")
		}
		return c.charge(a), nil
	}}
	first := laden(carrying(message("first", `{"amount_cents":100}`), text("k")), 9)
	wantIDs(t, "listed", r.handle(first))
	back := r.queue.redrive(queueARN)[0]
	if len(back.MessageAttributes) != 2 || back.Body == first.Body {
		t.Fatalf("came back as %+v, want it wrapped", back)
	}
	wantIDs(t, "listed while in doubt", r.handle(back))
	again := r.queue.redrive(queueARN)[0]
	if !strings.Contains(again.Body, `"Original-Message-Id":{"stringValue":"first"`) || strings.Contains(again.Body, back.MessageId) {
		t.Errorf("got %s, want it to name its first id", again.Body)
	}
	settle(t, m, "shop#charge#k")
	doubtful = false
	wantIDs(t, "listed once settled", r.handle(again))
	if c.total() != 1 || m.all()["shop#charge#k"].MessageID != again.MessageId || len(r.queue.taken()) != 0 {
		t.Errorf("got %d effects and record %+v", c.total(), m.all()["shop#charge#k"])
	}
}

// C63: a message that is wrapped for its ten attributes gets one more from whoever moves
// it. It is opened all the same, and keeps that attribute.
func TestC63WrappedAndMoved(t *testing.T) {
	t.Parallel()
	r := newRig(t, quarantining)
	r.hand.do = always(intent.Outcome{Kind: intent.InDoubt}, nil)
	m := laden(carrying(message("first", `{"amount_cents":100}`), text("k")), 9)
	for moves := range 3 {
		wantIDs(t, "listed", r.handle(m))
		sent := r.queue.taken()
		if !isWrapped(sent[0]) {
			t.Fatalf("got %v in quarantine, want it wrapped", sent)
		}
		_, attributes := opened(t, sent[0])
		for moved := range moves {
			if name := fmt.Sprint("dd-trace-", moved); aws.ToString(attributes[name].StringValue) != "x" {
				t.Errorf("attribute %s is lost: %v", name, attributes)
			}
		}
		m = with(r.queue.redrive(queueARN)[0], fmt.Sprint("dd-trace-", moves), text("x"))
	}
	wantIDs(t, "run", r.hand.keys(), "k", "k", "k")
	for _, d := range r.hand.deliveries {
		if string(d.Payload.Canonical()) != `{"amount_cents":100}` {
			t.Errorf("got payload %s", d.Payload.Canonical())
		}
	}
	// Another key beside the wrapped form is another intent's.
	conflicting := newRig(t)
	wantIDs(t, "listed", conflicting.handle(with(m, sqsbatch.KeyAttribute, text("another")), asking("2", "good")), m.MessageId)
	if line := conflicting.log.about(t, m.MessageId); line["outcome"] != string(intent.Conflict) {
		t.Errorf("got log line %v, want a conflict", line)
	}
}

// settle is what the operator's verb does: it did not happen.
func settle(t *testing.T, m *memory, key string) {
	t.Helper()
	shown := m.all()[key]
	next := shown
	next.State, next.Owner, next.ClaimedAt, next.Reason = intent.StateReleased, intent.NewOwner(), time.Time{}, "operator: did not happen"
	standing, err := m.Replace(t.Context(), shown, next)
	if err != nil || standing.State != intent.StateReleased || shown.State != intent.StateInDoubt {
		t.Fatalf("settled %+v to %+v and error %v", shown, standing, err)
	}
}

// A business body that looks as if quarantine had wrapped it is one all the same.
func TestLooksWrapped(t *testing.T) {
	t.Parallel()
	r := newRig(t, quarantining)
	r.hand.do = always(intent.Outcome{Kind: intent.InDoubt}, nil)
	const body = `{"reason":"late","attributes":{},"body":"{\"idempotency_key\":\"another\"}"}`
	m := carrying(message("1", body), text("k"))
	for range 3 {
		wantIDs(t, "listed", r.handle(m))
		m = r.queue.redrive(queueARN)[0]
	}
	wantIDs(t, "run", r.hand.keys(), "k", "k", "k")
	for _, odd := range []string{`{"reason":1,"attributes":{},"body":"{}"}`, `{"reason":"r","attributes":[],"body":"{}"}`, `{"reason":"r","attributes":{},"body":"{}","more":1}`} {
		r := newRig(t, func(c *sqsbatch.Config) { c.Key = func(m events.SQSMessage) (string, error) { return m.Body, nil } })
		r.handle(with(message("1", odd), "Quarantine-Reason", text("no_key: no idempotency key")))
		wantIDs(t, "run", r.hand.keys(), odd)
	}
}

// Whoever dies between the send and the acknowledgement, or never hears of the send,
// leaves two copies, and never none.
func TestCrashInQuarantine(t *testing.T) {
	t.Parallel()
	for name, crash := range map[string]func(*rig, events.SQSMessage){
		"died before the answer": func(r *rig, m events.SQSMessage) { r.handle(m) }, // which nobody reads
		"reply lost": func(r *rig, m events.SQSMessage) {
			r.queue.reply = func(*sqs.SendMessageInput) error { return errors.New("connection reset") }
			wantIDs(r.t, "listed", r.handle(m), "bad")
			r.queue.reply = nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quarantining)
			m := message("bad", "poison")
			crash(r, m)
			wantIDs(t, "listed when it comes again", r.handle(m))
			sent := r.queue.taken()
			if len(sent) != 2 || !reflect.DeepEqual(sent[0], sent[1]) {
				t.Errorf("sent %v, want two of a kind", sent)
			}
		})
	}
	t.Run("never sent", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, quarantining)
		r.queue.accept = func(context.Context, *sqs.SendMessageInput) error { return errors.New("connection refused") }
		wantIDs(t, "listed", r.handle(message("bad", "poison")), "bad")
		r.queue.accept = nil
		wantIDs(t, "listed when it comes again", r.handle(message("bad", "poison")))
		want(t, "sent", len(r.queue.taken()), 1, func(a, b int) bool { return a == b })
	})
	t.Run("the message twice in a batch", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, quarantining)
		wantIDs(t, "listed", r.handle(message("bad", "poison"), message("bad", "poison"), asking("1", "a")))
		want(t, "sent", len(r.queue.taken()), 1, func(a, b int) bool { return a == b })
	})
	t.Run("one of two refused", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, quarantining)
		r.hand.do = always(intent.Outcome{Kind: intent.InDoubt}, nil)
		r.queue.accept = func(_ context.Context, in *sqs.SendMessageInput) error {
			if *in.MessageAttributes["Original-Message-Id"].StringValue == "2" {
				return errors.New("queue is away")
			}
			return nil
		}
		wantIDs(t, "listed", r.handle(asking("1", "k"), asking("2", "k"), asking("3", "k")), "2")
		wantIDs(t, "run", r.hand.keys(), "k")
		report := r.report()
		if report.Quarantined != 2 || report.Listed != 1 || report.Outcomes[intent.InDoubt] != 3 {
			t.Errorf("got report %+v", report)
		}
	})
}

// In doubt and acknowledged, an intent that an operator settles as not happened
// would never run. It waits in quarantine, and its copy runs it once.
func TestC46SettledToReleased(t *testing.T) {
	t.Parallel()
	for _, fifo := range []bool{false, true} {
		t.Run(fmt.Sprintf("fifo %t", fifo), func(t *testing.T) {
			t.Parallel()
			m, c := &memory{}, &till{}
			cut := true
			r := newRig(t, quarantining, func(config *sqsbatch.Config) {
				config.Handler = &intent.Blind[order]{Config: shop(m), Effect: func(_ context.Context, _ order, a intent.Attempt) (any, error) {
					if cut {
						return nil, errors.New("connection reset")
					}
					return c.charge(a), nil
				}}
				if fifo {
					config.QueueURL, config.DeadLetterURL = queueURL+".fifo", deadLetterURL+".fifo"
				}
			})
			arn, ask := queueARN, func(id string) events.SQSMessage { return asking(id, "k") }
			if fifo {
				arn, ask = fifoARN, func(id string) events.SQSMessage { return grouped(asking(id, "k"), "A") }
			}
			wantIDs(t, "listed in doubt", r.handle(ask("1")))
			wantIDs(t, "listed of a duplicate", r.handle(ask("2")))
			cut = false
			wantIDs(t, "listed of another", r.handle(ask("3")))
			if c.total() != 0 {
				t.Fatalf("%d effects while in doubt", c.total())
			}
			copies := r.queue.redrive(arn)
			if len(copies) != 3 {
				t.Fatalf("%d copies in quarantine, want 3", len(copies))
			}
			settle(t, m, "shop#charge#k")
			for _, message := range copies {
				wantIDs(t, "listed of the redriven", r.handle(message))
			}
			wantIDs(t, "listed at last", r.handle(ask("1"), ask("4")))
			record := m.all()["shop#charge#k"]
			if c.total() != 1 || record.State != intent.StateCompleted || record.Attempt != 2 || len(r.queue.taken()) != 0 {
				t.Errorf("%d effects, %d in quarantine and record %+v, want one effect", c.total(), len(r.queue.taken()), record)
			}
			if record.MessageID != copies[0].MessageId {
				t.Errorf("%s ran it, want the first redriven copy, %s", record.MessageID, copies[0].MessageId)
			}
		})
	}
}
