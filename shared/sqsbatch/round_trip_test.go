package sqsbatch_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
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

// odd draws any message: bare or in envelopes, with a key in one place or several,
// attributes of all types up to as many as SQS takes, and times of its own or none.
// Some cannot be read.
func odd(random *rand.Rand) events.SQSMessage {
	one := func(of ...string) string { return of[random.IntN(len(of))] }
	chance := func(n int) bool { return random.IntN(n) == 0 }
	moment := func(from, to time.Duration) time.Time {
		return time.Now().Add(from + time.Duration(random.Int64N(int64(to-from))))
	}
	const day = 24 * time.Hour
	stamp := func() string { return moment(-40*day, 0).UTC().Format(time.RFC3339Nano) }

	key := one("k", "1", "ключ", "<&>\u2028", strings.Repeat("k", 900))
	body := fmt.Sprintf(`{"amount_cents":%d,"note":%q}`, random.IntN(9), one("", "ünï", "<\"&>", strings.Repeat("x", random.IntN(2000))))
	if chance(2) {
		body = fmt.Sprintf(`{"idempotency_key":%q, "nested":{"b":[1.50,null],"a":"\u00e9"}}`, key)
	}
	if chance(6) {
		body = one("poison", "[]", `{"a":1,"a":2}`, `{"reason":"r","attributes":{},"body":"{}"}`, `{"idempotency_key":null}`)
	}
	inner := snsAttributes{}
	if chance(2) {
		inner["Idempotency-Key"] = [2]string{"String", key}
	}
	if chance(3) {
		inner["Intent-Time"] = [2]string{"Number", fmt.Sprint(moment(-40*day, day).UnixMilli())}
	}
	switch random.IntN(5) {
	case 0:
		body = snsAt(stamp(), body, inner)
	case 1:
		if strings.HasPrefix(body, "{") {
			body = eventAt(stamp(), body)
		}
	case 2:
		if strings.HasPrefix(body, "{") {
			body = snsAt(stamp(), eventAt(stamp(), body), inner)
		}
	}
	m := message("first", body)
	if chance(2) {
		m = carrying(m, text(key))
	}
	if chance(2) {
		m = with(m, "Intent-Time", text(fmt.Sprint(moment(-40*day, day).UnixMilli())))
	}
	m = laden(m, random.IntN(11-len(m.MessageAttributes)))
	if !chance(5) {
		m = sentAt(m, moment(-40*day, 0))
	}
	if chance(3) {
		m = grouped(m, one("A", "account 7"))
	}
	return m
}

// Whatever a message is, however often it goes to quarantine and comes back, the
// handler is given the delivery that it was, and no younger one.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	readable, wrapped := 0, 0
	for seed := range uint64(600) {
		first := odd(rand.New(rand.NewPCG(seed, 46)))
		name := fmt.Sprintf("seed %d: %s with %d attributes", seed, first.Body, len(first.MessageAttributes))
		r := newRig(t, quarantining, func(c *sqsbatch.Config) {
			if first.EventSourceARN == fifoARN {
				c.QueueURL, c.DeadLetterURL = queueURL+".fifo", deadLetterURL+".fifo"
			}
			if seed%2 == 0 {
				c.Key = func(m events.SQSMessage) (string, error) { return "of " + m.Body, nil }
			}
		})
		r.hand.do = always(intent.Outcome{Kind: intent.InDoubt}, nil)
		m := first
		var sent []*sqs.SendMessageInput
		for range 3 {
			wantIDs(t, name+": listed", r.handle(m))
			if sent = append(sent, r.queue.taken()...); len(r.queue.taken()) != 1 {
				t.Fatalf("%s: sent %d messages, want 1", name, len(r.queue.taken()))
			}
			m = r.queue.redrive(first.EventSourceARN)[0]
		}
		for _, in := range sent {
			body, attributes := opened(t, in)
			wanted := with(with(first, "Original-Message-Id", text("first")), "Quarantine-Reason", text(reasonOf(sent[0]))).MessageAttributes
			delete(attributes, "Intent-Time") // as the deliveries tell
			delete(wanted, "Intent-Time")
			wantAttributes(t, attributes, wanted)
			want(t, name+": body", body, first.Body, func(a, b string) bool { return a == b })
		}
		if isWrapped(sent[0]) {
			wrapped++
		}
		if !strings.Contains(reasonOf(sent[0]), "in_doubt") {
			wantIDs(t, name+": run", r.hand.keys())
			continue
		}
		readable++
		r.hand.do = nil
		wantIDs(t, name+": listed at last", r.handle(m))
		if len(r.hand.deliveries) != 4 {
			t.Fatalf("%s: ran %d times, want 4", name, len(r.hand.deliveries))
		}
		was := r.hand.deliveries[0]
		for _, is := range r.hand.deliveries[1:] {
			if !was.SentAt.IsZero() && (is.SentAt.IsZero() || is.SentAt.After(was.SentAt)) {
				t.Errorf("%s: sent at %v, then at %v", name, was.SentAt, is.SentAt)
			}
			is.SentAt, is.MessageID = was.SentAt, was.MessageID
			if !reflect.DeepEqual(is, was) {
				t.Errorf("%s: delivered %+v, then %+v", name, was, is)
			}
		}
	}
	if readable < 200 || wrapped < 80 {
		t.Errorf("%d readable and %d wrapped ones are no test", readable, wrapped)
	}
}

// opened is the message in a copy, wrapped or not.
func opened(t *testing.T, in *sqs.SendMessageInput) (body string, attributes map[string]events.SQSMessageAttribute) {
	t.Helper()
	if !isWrapped(in) {
		return *in.MessageBody, received(in.MessageAttributes)
	}
	var inner struct {
		Attributes map[string]events.SQSMessageAttribute
		Body       string
	}
	if err := json.Unmarshal([]byte(*in.MessageBody), &inner); err != nil {
		t.Fatal(err)
	}
	return inner.Body, inner.Attributes
}

func isWrapped(in *sqs.SendMessageInput) bool {
	_, ok := in.MessageAttributes[sqsbatch.WrappedAttribute]
	return ok
}

func reasonOf(in *sqs.SendMessageInput) string {
	return aws.ToString(in.MessageAttributes["Quarantine-Reason"].StringValue)
}
