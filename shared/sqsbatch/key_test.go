package sqsbatch_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// carrying adds the key attribute to a message.
func carrying(m events.SQSMessage, a events.SQSMessageAttribute) events.SQSMessage {
	m.MessageAttributes = map[string]events.SQSMessageAttribute{sqsbatch.KeyAttribute: a}
	return m
}

func text(value string) events.SQSMessageAttribute {
	return events.SQSMessageAttribute{DataType: "String", StringValue: aws.String(value)}
}

// twoKeys is what is said of a message with two keys, which it does not tell (C73).
func twoKeys(one, other string) string {
	return "two keys in one message: " + intent.ShortHash(one) + " and " + intent.ShortHash(other)
}

func TestKey(t *testing.T) {
	t.Parallel()
	const (
		noKey    = "no idempotency key"
		noScalar = "intent body field idempotency_key is neither a string, a number nor a truth value"
		fromID   = "asked for"
	)
	binary := events.SQSMessageAttribute{DataType: "Binary", BinaryValue: []byte("k")}
	for _, tt := range []struct {
		name      string
		body      string
		attribute *events.SQSMessageAttribute
		key       string // "" where there is none
		err       string // what the log says then
		conflict  string // or this
	}{
		{name: "body", body: `{"idempotency_key":"k"}`, key: "k"},
		{name: "body number", body: `{"idempotency_key": 1 }`, key: "1"},
		{name: "body string of a number", body: `{"idempotency_key":"1"}`, key: "1"},
		{name: "body number as written", body: `{"idempotency_key":9007199254740993}`, key: "9007199254740993"},
		{name: "body 0", body: `{"idempotency_key":0}`, key: "0"},
		{name: "body false", body: `{"idempotency_key":false}`, key: "false"},
		{name: "body true", body: `{"idempotency_key":true}`, key: "true"},
		{name: "body escapes", body: `{"idempotency_\u006bey":"\u006b\n"}`, key: "k\n"},
		{name: "body null", body: `{"idempotency_key":null}`, err: noKey + ": body field idempotency_key is null or empty"},
		{name: "body empty", body: `{"idempotency_key":""}`, err: noKey + ": body field idempotency_key is null or empty"},
		{name: "body object", body: `{"idempotency_key":{"k":1}}`, err: noScalar},
		{name: "body array", body: `{"idempotency_key":["k"]}`, err: noScalar},
		{name: "body field of another case", body: `{"Idempotency_Key":"k"}`, key: fromID},
		{name: "body field deeper down", body: `{"order":{"idempotency_key":"k"}}`, key: fromID},
		{name: "neither", body: `{}`, key: fromID},

		{name: "attribute", body: `{}`, attribute: new(text("k")), key: "k"},
		{name: "attribute number", body: `{}`, attribute: &events.SQSMessageAttribute{DataType: "Number", StringValue: aws.String("1")}, key: "1"},
		{name: "attribute empty", body: `{}`, attribute: new(text("")), err: noKey + ": attribute Idempotency-Key is empty"},
		{name: "attribute without a value", body: `{}`, attribute: &events.SQSMessageAttribute{DataType: "String"}, err: noKey + ": attribute Idempotency-Key is empty"},
		{name: "attribute binary", body: `{}`, attribute: &binary, err: "intent attribute Idempotency-Key is binary, want a string"},

		{name: "both equal", body: `{"idempotency_key":"k"}`, attribute: new(text("k")), key: "k"},
		{name: "both equal but for their type", body: `{"idempotency_key":1}`, attribute: new(text("1")), key: "1"},
		{name: "both different", body: `{"idempotency_key":"j"}`, attribute: new(text("k")), conflict: twoKeys("k", "j")},
		{name: "both different and long", body: `{"idempotency_key":"j` + strings.Repeat("x", 300) + `"}`, attribute: new(text("k" + strings.Repeat("é", 300))),
			conflict: twoKeys("k"+strings.Repeat("é", 300), "j"+strings.Repeat("x", 300))},
		{name: "attribute empty, body not", body: `{"idempotency_key":"j"}`, attribute: new(text("")), err: noKey + ": attribute Idempotency-Key is empty"},
		{name: "attribute binary, body not", body: `{"idempotency_key":"k"}`, attribute: &binary, err: "intent attribute Idempotency-Key is binary, want a string"},
		{name: "body null, attribute not", body: `{"idempotency_key":null}`, attribute: new(text("k")), err: noKey + ": body field idempotency_key is null or empty"},
		{name: "body object, attribute not", body: `{"idempotency_key":{}}`, attribute: new(text("k")), err: noScalar},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := message("1", tt.body)
			if tt.attribute != nil {
				m = carrying(m, *tt.attribute)
			}
			asked := 0
			r := newRig(t, func(c *sqsbatch.Config) {
				c.Key = func(events.SQSMessage) (string, error) { asked++; return fromID, nil }
			})
			got := r.handle(m)
			if tt.key == "" {
				wantIDs(t, "listed", got, "1")
				wantIDs(t, "run", r.hand.keys())
				line := r.log.about(t, "1")
				if got, _ := line["error"].(string); got != tt.err {
					t.Errorf("got error %q, want %q", got, tt.err)
				}
				if got, _ := line["reason"].(string); got != tt.conflict || (line["outcome"] == "conflict") != (got != "") {
					t.Errorf("got outcome %v, %q, want a conflict: %q", line["outcome"], got, tt.conflict)
				}
			} else {
				wantIDs(t, "listed", got)
				wantIDs(t, "run", r.hand.keys(), tt.key)
			}
			if wanted := tt.key == fromID; wanted != (asked == 1) || asked > 1 {
				t.Errorf("the configured function was asked %d times, wanted: %t", asked, wanted)
			}
		})
	}
}

// 1 and "1" are one intent, and so are the key in the attributes and in the body:
// of one payload it is one run.
func TestKeySpelledTwice(t *testing.T) {
	t.Parallel()
	r, m, c := newShop(t)
	got := r.handle(message("1", `{"idempotency_key":1,"amount_cents":5}`), message("2", `{"idempotency_key":"1","amount_cents":5}`))
	wantIDs(t, "listed", got) // C61: the key, however it is written, is no part of the payload
	got = r.handle(carrying(message("3", `{"amount_cents":5}`), text("7")), carrying(message("4", `{"amount_cents":5}`), text("7")))
	wantIDs(t, "listed", got)
	if len(m.all()) != 2 || c.total() != 2 {
		t.Errorf("got %d charges and records %+v, want 2", c.total(), m.all())
	}
}

func TestC29NoKeyIsNobodysKey(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"absent": `{"amount_cents":100}`,
		"null":   `{"idempotency_key":null,"amount_cents":100}`,
		"empty":  `{"idempotency_key":"","amount_cents":100}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, m, c := newShop(t)
			wantIDs(t, "listed", r.handle(message("1", body), asking("2", "k"), message("3", body)), "1", "3")
			for _, id := range []string{"1", "3"} {
				if line := r.log.about(t, id); !strings.HasPrefix(line["error"].(string), intent.ErrNoKey.Error()) {
					t.Errorf("got error %q, want %q", line["error"], intent.ErrNoKey)
				}
			}
			if len(m.all()) != 1 || c.total() != 1 {
				t.Errorf("got %d charges and records %+v, want those of the message with a key", c.total(), m.all())
			}
		})
	}
}

// A dead-letter queue rewrites the deduplication id, and producers may give another
// one to each try: it is not the key, not even where there is none.
func TestC16DeduplicationIDIsNoKey(t *testing.T) {
	t.Parallel()
	deduplicated := func(m events.SQSMessage, id string) events.SQSMessage {
		m = grouped(m, "A")
		m.Attributes["MessageDeduplicationId"] = id
		return m
	}
	r, m, c := newShop(t)
	wantIDs(t, "listed", r.handle(deduplicated(asking("1", "k"), "one"), deduplicated(asking("2", "k"), "rewritten"), deduplicated(asking("3", "j"), "one")))
	if len(m.all()) != 2 || c.total() != 2 {
		t.Errorf("got %d effects and records %+v, want those of k and j", c.total(), m.all())
	}
	wantIDs(t, "listed without a key", r.handle(deduplicated(message("4", `{"amount_cents":100}`), "one")), "4")
	if line := r.log.about(t, "4"); line["error"] != intent.ErrNoKey.Error() {
		t.Errorf("got log line %v, want %v", line, intent.ErrNoKey)
	}
}

func TestKeyFunction(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		key  func(events.SQSMessage) (string, error)
		err  string // "" where it gives a key
	}{
		{"OK", func(m events.SQSMessage) (string, error) { return m.Attributes["ApproximateReceiveCount"], nil }, ""},
		{"Empty", func(events.SQSMessage) (string, error) { return "", nil }, "no idempotency key"},
		{"Error", func(events.SQSMessage) (string, error) { return "k", errors.New("no order number") }, "no order number"},
		{"Panic", func(m events.SQSMessage) (string, error) { return *m.MessageAttributes["order"].StringValue, nil }, "effect panicked: runtime error: invalid memory address or nil pointer dereference"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *sqsbatch.Config) { c.Key = tt.key })
			got := r.handle(message("1", `{}`), asking("2", "k"))
			if tt.err == "" {
				wantIDs(t, "listed", got)
				want(t, "runs", len(r.hand.keys()), 2, func(a, b int) bool { return a == b })
				return
			}
			wantIDs(t, "listed", got, "1")
			wantIDs(t, "run", r.hand.keys(), "k")
			line := r.log.about(t, "1")
			if line["error"] != tt.err {
				t.Errorf("got error %q, want %q", line["error"], tt.err)
			}
			if stack, _ := line["stack"].(string); (tt.name == "Panic") != strings.Contains(stack, "key_test.go") {
				t.Errorf("got stack %q", stack)
			}
		})
	}
}

// traceless is the part of a body that is the same in every message of an intent.
func traceless(body []byte) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	delete(fields, "trace")
	if _, ok := fields["unselectable"]; ok {
		return nil, errors.New("nothing to select")
	}
	clear(body) // it may do with it as it likes
	return json.Marshal(fields)
}

func TestSelect(t *testing.T) {
	t.Parallel()
	selecting := func(c *sqsbatch.Config) { c.Select = traceless }
	body := func(trace, amount string) string {
		return `{"trace":"` + trace + `","idempotency_key":"k","amount_cents":` + amount + `}`
	}
	t.Run("another trace is the same intent", func(t *testing.T) {
		t.Parallel()
		r, _, c := newShop(t, selecting)
		wantIDs(t, "listed", r.handle(message("1", body("x", "1")), message("2", body("y", "1"))))
		wantIDs(t, "listed", r.handle(message("3", body("z", "1")), message("4", body("z", "2"))), "4")
		want(t, "charges", c.total(), 1, func(a, b int) bool { return a == b })
	})
	t.Run("the payload stays whole", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, selecting)
		r.handle(message("1", body("x", "1")))
		if got, want := r.hand.deliveries[0].Payload, intenttest.Payload(t, body("x", "1")); !reflect.DeepEqual(got, want) {
			t.Errorf("got payload %q, want %q", got.Canonical(), want.Canonical())
		}
	})
	for _, tt := range []struct {
		name, body string
		choose     func([]byte) ([]byte, error)
		err        string
	}{
		{"Error", `{"unselectable":1,"idempotency_key":"k"}`, traceless, "select what the fingerprint covers: nothing to select"},
		{"ErrPoison", `{"idempotency_key":"k","a":1,"a":2}`, traceless, "payload repeats a name of its object at byte 29"},
		{"ErrNoJSON", `{"idempotency_key":"k"}`, func([]byte) ([]byte, error) { return nil, nil }, "read what was selected for the fingerprint: payload is not JSON"},
		{"Panic", `{"idempotency_key":"k"}`, func([]byte) ([]byte, error) { panic("gone") }, "effect panicked with a string"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *sqsbatch.Config) {
				c.Select = func(body []byte) ([]byte, error) {
					if string(body) == tt.body {
						return tt.choose(body)
					}
					return body, nil
				}
			})
			wantIDs(t, "listed", r.handle(message("1", tt.body), asking("2", "j")), "1")
			wantIDs(t, "run", r.hand.keys(), "j")
			if line := r.log.about(t, "1"); line["error"] != tt.err {
				t.Errorf("got error %q, want %q", line["error"], tt.err)
			}
		})
	}
}
