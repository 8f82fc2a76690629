package sqsbatch_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

const deadLetterURL = "https://sqs.eu-west-1.amazonaws.com/123456789012/once-charge-dead"

// quarantining gives a batch a dead-letter queue to send to.
func quarantining(c *sqsbatch.Config) { c.DeadLetterURL = deadLetterURL }

// named is a payload that knows its key.
type named struct {
	Key string `json:"idempotency_key"`
}

// cause is why a message can never succeed. The message has the id "bad".
type cause struct {
	handler func(*memory, *till) sqsbatch.Handler // of the batch; nil: a cashier
	message events.SQSMessage
	reason  string
	outcome intent.Kind // by which it is counted, too; "" for an error
	change  func(*sqsbatch.Config)
}

// causes are all of them, by what the reason begins with and what brought it about.
func causes() map[string]cause {
	bad := func(fields string) events.SQSMessage { return message("bad", `{`+fields+`}`) }
	const unreadableTime = "bad_key: intent attribute Intent-Time is no whole number of milliseconds since 1970"
	readable := bad(`"idempotency_key":"bad","amount_cents":100`)
	return map[string]cause{
		"unreadable: no JSON":   {message: message("bad", "amount=100"), reason: "unreadable: payload is not JSON"},
		"unreadable: no object": {message: message("bad", `["bad"]`), reason: "unreadable: payload is no JSON object"},
		"unreadable: a key twice": {message: bad(`"idempotency_key":"bad","amount_cents":1,"amount_cents":2`),
			reason: `unreadable: payload repeats a name of its object at byte 42`},
		"unreadable: by its type": {message: bad(`"idempotency_key":"bad","amount_cents":"100"`),
			reason: `unreadable: payload field "amount_cents" is a JSON string that is no int64`},
		"unreadable: envelope": {message: message("bad", `{"Type":"Notification","MessageId":"1","TopicArn":"t","Message":{},"Timestamp":"2026-11-29T12:00:00Z"}`),
			reason: `unreadable: payload field "Message" of the envelope is not what its sender writes there`},

		"no_key: absent":     {message: bad(`"amount_cents":100`), reason: "no_key: no idempotency key"},
		"no_key: null":       {message: bad(`"idempotency_key":null`), reason: "no_key: no idempotency key: body field idempotency_key is null or empty"},
		"no_key: empty":      {message: bad(`"idempotency_key":""`), reason: "no_key: no idempotency key: body field idempotency_key is null or empty"},
		"no_key: function's": {message: bad(``), reason: "no_key: no idempotency key", change: keys(func(events.SQSMessage) (string, error) { return "", nil })},
		"bad_key: no scalar": {message: bad(`"idempotency_key":{}`), reason: "bad_key: intent body field idempotency_key is neither a string, a number nor a truth value"},
		"bad_key: binary": {message: carrying(bad(``), events.SQSMessageAttribute{DataType: "Binary", BinaryValue: []byte("bad")}),
			reason: "bad_key: intent attribute Idempotency-Key is binary, want a string"},
		"bad_key: too long": {message: bad(`"idempotency_key":"` + strings.Repeat("k", 1100) + `"`),
			reason: "bad_key: intent key makes an intent of 1112 bytes, the limit is 1024"},
		"bad_key: Intent-Time":        {message: with(readable, sqsbatch.TimeAttribute, text("2026-11-29")), reason: unreadableTime},
		"bad_key: Intent-Time's sign": {message: with(readable, sqsbatch.TimeAttribute, text("-1")), reason: "bad_key: intent attribute Intent-Time is not from 2001 to 2286 in whole milliseconds since 1970"},

		"conflict: by two keys": {message: carrying(readable, text("other")), reason: `conflict: two keys in one message: ` + intent.ShortHash("other") + ` and ` + intent.ShortHash("bad"), outcome: intent.Conflict},
		"conflict: by the record": {message: readable, reason: "conflict: another payload under the same key", outcome: intent.Conflict,
			handler: func(m *memory, c *till) sqsbatch.Handler {
				other := *deliveryOf(`{"idempotency_key":"bad","amount_cents":200}`, "", false)
				_, _ = cashier(m, &till{}).Deliver(context.Background(), other)
				return cashier(m, c)
			}},
		"in_doubt: no probe": {message: readable, reason: "in_doubt: outcome of the effect is unknown: connection reset", outcome: intent.InDoubt,
			handler: func(m *memory, c *till) sqsbatch.Handler {
				return &intent.Blind[order]{Config: shop(m), Effect: func(_ context.Context, _ order, a intent.Attempt) (any, error) {
					if a.Key.ID == "bad" {
						return nil, errors.New("connection reset")
					}
					return c.charge(a), nil
				}}
			}},
		"outside_window: forgotten": {message: sentAt(readable, time.Now().Add(-91*24*time.Hour)), reason: "outside_window: intent is too old to run without a record"},
		"outside_window: by its own time": {message: with(sentAt(readable, time.Now()), sqsbatch.TimeAttribute, text(millisAgo(91*24*time.Hour))),
			reason: "outside_window: intent is too old to run without a record"},
		"unprocessable: says the effect": {message: readable, reason: "unprocessable: message can never be processed: unknown order",
			handler: func(_ *memory, c *till) sqsbatch.Handler {
				return &intent.Natural[named]{Effect: func(_ context.Context, p named, _ intent.Attempt) error {
					if p.Key == "bad" {
						return intent.Quarantine(errors.New("unknown order"))
					}
					c.charge(intent.Attempt{Downstream: p.Key})
					return nil
				}}
			}},
	}
}

func keys(f func(events.SQSMessage) (string, error)) func(*sqsbatch.Config) {
	return func(c *sqsbatch.Config) { c.Key = f }
}

func millisAgo(d time.Duration) string {
	return strconv.FormatInt(time.Now().Add(-d).UnixMilli(), 10)
}

// handle runs the message between two good ones, which must be done.
func (c cause) handle(t *testing.T, change ...func(*sqsbatch.Config)) (*rig, []string) {
	t.Helper()
	m, charges := &memory{}, &till{}
	if c.handler == nil {
		c.handler = func(m *memory, c *till) sqsbatch.Handler { return cashier(m, c) }
	}
	if c.change != nil {
		change = append(change, c.change)
	}
	r := newRig(t, append(change, func(config *sqsbatch.Config) { config.Handler = c.handler(m, charges) })...)
	listed := r.handle(asking("1", "good"), c.message, asking("3", "good too"))
	if charges.total() != 2 {
		t.Errorf("charged %v, want the two good ones", charges.charges)
	}
	return r, listed
}

func TestQuarantine(t *testing.T) {
	t.Parallel()
	for name, c := range causes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := maps.Clone(c.message.MessageAttributes)
			r, listed := c.handle(t, quarantining)
			wantIDs(t, "listed", listed)
			wantAttributes(t, c.message.MessageAttributes, before) // the event is not ours to change
			sent := r.queue.taken()
			if len(sent) != 1 {
				t.Fatalf("sent %d messages, want 1", len(sent))
			}
			wantCopy(t, sent[0], c.message, c.reason)
			report := r.report()
			if report.Quarantined != 1 || report.Listed != 0 || report.Failed != 0 || report.Outcomes[intent.Executed] != 2 {
				t.Errorf("got report %+v", report)
			}
			if counted := report.Outcomes[intent.Conflict] + report.Outcomes[intent.InDoubt]; counted != report.Outcomes[c.outcome] || (c.outcome != "") != (counted == 1) {
				t.Errorf("got outcomes %v, want one %s", report.Outcomes, c.outcome)
			}
			line := r.log.about(t, "bad")
			_, detail, _ := strings.Cut(c.reason, ": ")
			if line["msg"] != "message quarantined" || line["level"] != "WARN" || line["error"] != detail && line["reason"] != detail {
				t.Errorf("got log line %v, want it to say %q", line, detail)
			}
		})
	}
}

// wantCopy wants a message in quarantine as it came, with what quarantine adds.
func wantCopy(t *testing.T, in *sqs.SendMessageInput, m events.SQSMessage, reason string) {
	t.Helper()
	if *in.QueueUrl != deadLetterURL || *in.MessageBody != m.Body || in.DelaySeconds != 0 || in.MessageGroupId != nil {
		t.Errorf("got %+v, want %q in %s", in, m.Body, deadLetterURL)
	}
	got := received(in.MessageAttributes)
	attributes := maps.Clone(m.MessageAttributes)
	if attributes == nil {
		attributes = map[string]events.SQSMessageAttribute{}
	}
	attributes["Quarantine-Reason"], attributes["Original-Message-Id"] = text(reason), text(m.MessageId)
	if _, ok := attributes["Intent-Time"]; !ok && m.Attributes["SentTimestamp"] != "" {
		attributes["Intent-Time"] = text(m.Attributes["SentTimestamp"])
	}
	wantAttributes(t, got, attributes)
}

func wantAttributes(t *testing.T, got, want map[string]events.SQSMessageAttribute) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		g, w := got[name], want[name]
		if g.DataType != w.DataType || aws.ToString(g.StringValue) != aws.ToString(w.StringValue) || string(g.BinaryValue) != string(w.BinaryValue) {
			t.Errorf("attribute %s: got %s %q %q, want %s %q %q", name, g.DataType, aws.ToString(g.StringValue), g.BinaryValue, w.DataType, aws.ToString(w.StringValue), w.BinaryValue)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got attributes %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

// Where nothing takes it, a message is listed, until SQS moves it.
func TestNotTaken(t *testing.T) {
	t.Parallel()
	denied := &smithy.GenericAPIError{Code: "AccessDenied", Message: "sqs:SendMessage"}
	for name, c := range causes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for how, change := range map[string]func(*sqsbatch.Config){
				"no dead-letter queue": func(*sqsbatch.Config) {},
				"failed": func(c *sqsbatch.Config) {
					quarantining(c)
					c.Queue.(*hider).accept = func(context.Context, *sqs.SendMessageInput) error { return errors.New("queue is away") }
				},
				"denied": func(c *sqsbatch.Config) {
					quarantining(c)
					c.Queue.(*hider).accept = func(context.Context, *sqs.SendMessageInput) error { return denied }
				},
			} {
				r, listed := c.handle(t, change)
				wantIDs(t, how+": listed", listed, "bad")
				want(t, how+": sent", len(r.queue.taken()), 0, func(a, b int) bool { return a == b })
				report := r.report()
				if report.Quarantined != 0 || report.Listed != 1 || report.Failed+report.Outcomes[intent.Conflict]+report.Outcomes[intent.InDoubt] != 1 {
					t.Errorf("%s: got report %+v", how, report)
				}
				line := r.log.about(t, "bad")
				said := fmt.Sprint(line["error"], line["reason"])
				_, detail, _ := strings.Cut(c.reason, ": ")
				if line["msg"] != "message listed" || !strings.Contains(said, detail) {
					t.Errorf("%s: got log line %v", how, line)
				}
				if failure := map[string]string{"failed": "quarantine: queue is away", "denied": "quarantine: " + denied.Error()}[how]; !strings.Contains(said, failure) {
					t.Errorf("%s: got log line %v, want it to say why it was not quarantined", how, line)
				}
			}
		})
	}
}

// An effect that did not happen and that nothing can mend has its message quarantined
// and its claim released; a takeover that ends in an error is counted all the same.
func TestQuarantineOfAReleasedClaim(t *testing.T) {
	t.Parallel()
	m := &memory{}
	r := newRig(t, quarantining, func(c *sqsbatch.Config) {
		c.Handler = &intent.Blind[order]{Config: shop(m), Effect: func(context.Context, order, intent.Attempt) (any, error) {
			return nil, intent.NotApplied(intent.Quarantine(errors.New("no such kind")))
		}}
	})
	wantIDs(t, "listed", r.handle(asking("1", "k")))
	if sent := r.queue.taken(); len(sent) != 1 || !strings.HasPrefix(*sent[0].MessageAttributes[sqsbatch.ReasonAttribute].StringValue, "unprocessable: ") {
		t.Errorf("got %v in quarantine, want the message as unprocessable", sent)
	}
	if got := m.all()["shop#charge#k"].State; got != intent.StateReleased {
		t.Errorf("record: got %s, want released", got)
	}
}
