package sqsbatch_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// shipment is a payload without a key.
type shipment struct {
	OrderID   intent.ID     `json:"order_id"`
	ShippedAt intent.Millis `json:"shipped_at"`
}

// clerk is a Natural handler that keeps what it was asked, and does what the test says.
type clerk struct {
	do func(context.Context, shipment) error

	mu     sync.Mutex
	orders []string
}

func (c *clerk) natural() *intent.Natural[shipment] {
	return &intent.Natural[shipment]{Effect: func(ctx context.Context, s shipment, _ intent.Attempt) error {
		c.mu.Lock()
		c.orders = append(c.orders, string(s.OrderID))
		c.mu.Unlock()
		if c.do == nil {
			return nil
		}
		return c.do(ctx, s)
	}}
}

func newClerk(t *testing.T, change ...func(*sqsbatch.Config)) (*rig, *clerk) {
	t.Helper()
	c := &clerk{}
	r := newRig(t, append([]func(*sqsbatch.Config){quarantining, func(config *sqsbatch.Config) { config.Handler = c.natural() }}, change...)...)
	return r, c
}

func shipping(id, order string) events.SQSMessage {
	return message(id, fmt.Sprintf(`{"order_id":%q,"shipped_at":"2026-11-29T12:00:00Z"}`, order))
}

// No key is needed, and none does harm: not one that is for others, nor two, nor one
// that nobody could use.
func TestNaturalNeedsNoKey(t *testing.T) {
	t.Parallel()
	const fields = `"order_id":"8821","shipped_at":1790000000000`
	binary := events.SQSMessageAttribute{DataType: "Binary", BinaryValue: []byte("k")}
	for name, m := range map[string]events.SQSMessage{
		"none":                       shipping("1", "8821"),
		"in the body":                message("1", `{"idempotency_key":"k",`+fields+`}`),
		"null":                       message("1", `{"idempotency_key":null,`+fields+`}`),
		"empty":                      message("1", `{"idempotency_key":"",`+fields+`}`),
		"an object":                  message("1", `{"idempotency_key":{},`+fields+`}`),
		"in an attribute":            carrying(shipping("1", "8821"), text("k")),
		"binary":                     carrying(shipping("1", "8821"), binary),
		"empty in a notification":    message("1", snsAt(noon, `{`+fields+`}`, snsAttributes{"Idempotency-Key": {"String", ""}})),
		"two":                        carrying(message("1", `{"idempotency_key":"k",`+fields+`}`), text("j")),
		"time that nobody reads":     with(shipping("1", "8821"), "Intent-Time", text("yesterday")),
		"long ago":                   with(shipping("1", "8821"), "Intent-Time", text("1")),
		"in an event":                message("1", eventAt(noon, `{`+fields+`}`)),
		"in an event's notification": message("1", snsAt(noon, eventAt(noon, `{`+fields+`}`), nil)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, c := newClerk(t, func(c *sqsbatch.Config) {
				c.Key = func(events.SQSMessage) (string, error) { t.Error("asked for a key"); return "", nil }
			})
			wantIDs(t, "listed", r.handle(m))
			wantIDs(t, "run", c.orders, "8821")
			want(t, "outcomes", r.report().Outcomes, map[intent.Kind]int{intent.Executed: 1}, maps.Equal[map[intent.Kind]int])
			want(t, "quarantined", r.report().Quarantined, 0, func(a, b int) bool { return a == b })
		})
	}
}

// Nothing is folded: each message is a write of its own, side by side on a standard
// queue also when they are for one row, and one message twice is run twice.
func TestNaturalFoldsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, c := newClerk(t)
		c.do = func(context.Context, shipment) error { time.Sleep(time.Second); return nil }
		start := time.Now()
		wantIDs(t, "listed", r.handle(shipping("1", "8821"), shipping("2", "8821"), shipping("2", "8821"),
			carrying(shipping("3", "8821"), text("k")), carrying(shipping("4", "8821"), text("k"))))
		if took := time.Since(start); took != time.Second {
			t.Errorf("took %v, want 1s", took)
		}
		wantIDs(t, "run", c.orders, "8821", "8821", "8821", "8821", "8821")
		want(t, "outcomes", r.report().Outcomes, map[intent.Kind]int{intent.Executed: 5}, maps.Equal[map[intent.Kind]int])
	})
}

// Each has its own end: of two for one row one may fail.
func TestNaturalEndsForItself(t *testing.T) {
	t.Parallel()
	r, c := newClerk(t, func(c *sqsbatch.Config) { c.Concurrency = 1 })
	c.do = func(context.Context, shipment) error {
		if c.mu.Lock(); len(c.orders) == 2 {
			defer c.mu.Unlock()
			return errors.New("throttled")
		}
		c.mu.Unlock()
		return nil
	}
	wantIDs(t, "listed", r.handle(shipping("1", "8821"), shipping("2", "8821"), shipping("3", "8821")), "2")
	wantIDs(t, "listed then", r.handle(shipping("2", "8821")))
	wantIDs(t, "run", c.orders, "8821", "8821", "8821", "8821")
}

func TestNaturalInGroups(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, c := newClerk(t, func(c *sqsbatch.Config) { c.QueueURL, c.DeadLetterURL = queueURL+".fifo", deadLetterURL+".fifo" })
		c.do = func(_ context.Context, s shipment) error {
			time.Sleep(time.Second)
			switch {
			case strings.HasPrefix(string(s.OrderID), "unknown"):
				return intent.Quarantine(errors.New("unknown order"))
			case s.OrderID == "B2":
				return errors.New("throttled")
			}
			return nil
		}
		var messages []events.SQSMessage
		for _, order := range []string{"A1", "B1", "A1", "unknown A2", "B2", "A3", "B3", "A1"} {
			group := order[strings.LastIndex(order, " ")+1:][:1]
			messages = append(messages, grouped(shipping(fmt.Sprint(len(messages)), order), group))
		}
		start := time.Now()
		wantIDs(t, "listed", r.handle(messages...), "4", "6") // B2 and what is behind it
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("took %v, want 5s for five of a group", took)
		}
		groups := map[byte][]string{}
		for _, order := range c.orders {
			group := order[strings.LastIndex(order, " ")+1]
			groups[group] = append(groups[group], order)
		}
		wantIDs(t, "run of A", groups['A'], "A1", "A1", "unknown A2", "A3", "A1")
		wantIDs(t, "run of B", groups['B'], "B1", "B2")
		want(t, "sent", len(r.queue.taken()), 1, func(a, b int) bool { return a == b })
	})
}

func TestNaturalPoison(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ body, reason string }{
		"no JSON":      {"order_id=8821", "unreadable: payload is not JSON"},
		"array":        {`[{"order_id":"8821"}]`, "unreadable: payload is no JSON object"},
		"null":         {`null`, "unreadable: payload is no JSON object"},
		"string":       {`"8821"`, "unreadable: payload is no JSON object"},
		"field twice":  {`{"order_id":"8821","order_id":"8822"}`, `unreadable: payload repeats a name of its object at byte 19`},
		"another type": {`{"order_id":true}`, `unreadable: payload field "order_id" is a JSON bool that is no intent.ID`},
		"unknown":      {`{"order_id":"unknown"}`, "unprocessable: message can never be processed: unknown order"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, c := newClerk(t)
			c.do = func(_ context.Context, s shipment) error {
				if s.OrderID == "unknown" {
					return intent.Quarantine(errors.New("unknown order"))
				}
				return nil
			}
			poison := message("bad", tt.body)
			wantIDs(t, "listed", r.handle(shipping("1", "8821"), poison, shipping("3", "8821")))
			wantIDs(t, "run", slices.DeleteFunc(c.orders, func(order string) bool { return order == "unknown" }), "8821", "8821")
			sent := r.queue.taken()
			if len(sent) != 1 {
				t.Fatalf("sent %d, want 1", len(sent))
			}
			wantCopy(t, sent[0], poison, tt.reason)
			if line := r.log.about(t, "bad"); line["msg"] != "message quarantined" {
				t.Errorf("got log line %v", line)
			}
		})
	}
}

// Two messages that can never be processed are two in quarantine, and when the world
// has what they speak of, both redriven ones are done.
func TestNaturalQuarantinedDuplicates(t *testing.T) {
	t.Parallel()
	r, c := newClerk(t)
	unknown := true
	c.do = func(context.Context, shipment) error {
		if unknown {
			return intent.Quarantine(errors.New("unknown order"))
		}
		return nil
	}
	wantIDs(t, "listed", r.handle(shipping("1", "8821"), shipping("2", "8821")))
	report := r.report()
	if report.Quarantined != 2 || report.Failed != 0 || len(report.Outcomes) != 0 {
		t.Errorf("got report %+v", report)
	}
	copies := r.queue.redrive(queueARN)
	unknown = false
	wantIDs(t, "listed of the redriven", r.handle(copies...))
	want(t, "outcomes", r.report().Outcomes, map[intent.Kind]int{intent.Executed: 2}, maps.Equal[map[intent.Kind]int])
}
