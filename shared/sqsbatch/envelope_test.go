package sqsbatch_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/singleeffect/once/shared/intenttest"
	"github.com/singleeffect/once/shared/sqsbatch"
)

const (
	noon = "2026-11-29T12:00:00.250Z"
	bare = `{"amount_cents": 100, "note": "\u00e9<&>", "list": [1.50, null]}`
)

// fielded is the payload with its key in the body.
const fielded = `{"idempotency_key":"k","amount_cents":100}`

var keyed = snsAttributes{"Idempotency-Key": {"String", "k"}}

// However it comes, it is one intent with one fingerprint and one payload.
func TestEnvelopes(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		payload string
		ways    map[string]events.SQSMessage
	}{
		"key in an attribute": {bare, map[string]events.SQSMessage{
			"direct":                   carrying(message("1", bare), text("k")),
			"raw delivery":             carrying(message("1", bare), text("k")), // SNS's attributes become SQS's
			"SNS":                      message("1", snsAt(noon, bare, keyed)),
			"SNS, number":              carrying(message("1", snsAt(noon, bare, snsAttributes{"Other": {"Number", "1.5"}})), text("k")),
			"SNS, both":                carrying(message("1", snsAt(noon, bare, keyed)), text("k")),
			"EventBridge":              carrying(message("1", eventAt(noon, bare)), text("k")),
			"EventBridge in SNS":       message("1", snsAt(noon, eventAt(noon, bare), keyed)),
			"SNS in SNS":               message("1", snsAt(noon, snsAt(noon, bare, keyed), nil)),
			"SNS in SNS, by the outer": message("1", snsAt(noon, snsAt(noon, bare, nil), keyed)),
			"spaced SNS":               message("1", "\n "+strings.ReplaceAll(snsAt(noon, bare, keyed), `","`, "\" ,\n\t\"")),
		}},
		"key in the body": {fielded, map[string]events.SQSMessage{
			"direct":             message("1", fielded),
			"and in attributes":  carrying(message("1", fielded), text("k")),
			"SNS":                message("1", snsAt(noon, fielded, nil)),
			"SNS, no attributes": message("1", snsAt(noon, fielded, snsAttributes{})),
			"SNS, all":           carrying(message("1", snsAt(noon, fielded, keyed)), text("k")),
			"EventBridge":        message("1", eventAt(noon, fielded)),
			"EventBridge in SNS": message("1", snsAt(noon, eventAt(noon, fielded), nil)),
			"SNS in EventBridge": message("1", eventAt(noon, snsAt(noon, fielded, nil))),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			payload := intenttest.Payload(t, of.payload)
			r, m, c := newShop(t)
			for way, message := range of.ways {
				reader := newRig(t)
				wantIDs(t, way+": listed", reader.handle(message))
				if d := reader.hand.deliveries[0]; d.Key != "k" || d.Fingerprint != payload.Fingerprint() || !bytes.Equal(d.Payload.Canonical(), payload.Canonical()) || d.MessageID != "1" {
					t.Errorf("%s: got %+v with payload %s", way, d, d.Payload.Canonical())
				}
				wantIDs(t, way+": listed by the shop", r.handle(message))
			}
			if c.total() != 1 || len(m.all()) != 1 {
				t.Errorf("%d effects and records %+v, want one intent", c.total(), m.all())
			}
		})
	}
}

// Of keys in several places none is better than another.
func TestKeysInEnvelopes(t *testing.T) {
	t.Parallel()
	other := snsAttributes{"Idempotency-Key": {"String", "j"}}
	for name, tt := range map[string]struct {
		m        events.SQSMessage
		conflict string
		err      string
	}{
		"SNS and body":        {m: message("1", snsAt(noon, fielded, other)), conflict: twoKeys("j", "k")},
		"SQS and SNS":         {m: carrying(message("1", snsAt(noon, bare, other)), text("k")), conflict: twoKeys("k", "j")},
		"SQS and event":       {m: carrying(message("1", eventAt(noon, fielded)), text("j")), conflict: twoKeys("j", "k")},
		"two alike, one not":  {m: carrying(message("1", snsAt(noon, fielded, other)), text("j")), conflict: twoKeys("j", "k")},
		"two notifications":   {m: message("1", snsAt(noon, snsAt(noon, bare, other), keyed)), conflict: twoKeys("k", "j")},
		"SNS empty":           {m: message("1", snsAt(noon, fielded, snsAttributes{"Idempotency-Key": {"String", ""}})), err: "no idempotency key: attribute Idempotency-Key is empty"},
		"SNS binary":          {m: message("1", snsAt(noon, fielded, snsAttributes{"Idempotency-Key": {"Binary", "aw=="}})), err: "intent attribute Idempotency-Key is binary, want a string"},
		"none":                {m: message("1", snsAt(noon, bare, nil)), err: "no idempotency key"},
		"around the event":    {m: message("1", strings.Replace(eventAt(noon, bare), `"version"`, `"idempotency_key":"k","version"`, 1)), err: "no idempotency key"},
		"around the message":  {m: message("1", strings.Replace(snsAt(noon, bare, nil), `{`, `{"idempotency_key":"k",`, 1)), err: "no idempotency key"},
		"SNS's own id is not": {m: message("1", snsAt(noon, `{"MessageId":"k"}`, nil)), err: "no idempotency key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			wantIDs(t, "listed", r.handle(tt.m, asking("2", "good")), "1")
			wantIDs(t, "run", r.hand.keys(), "good")
			line := r.log.about(t, "1")
			said, _ := line["error"].(string)
			reason, _ := line["reason"].(string)
			if said != tt.err || reason != tt.conflict || (line["outcome"] == "conflict") != (tt.conflict != "") {
				t.Errorf("got log line %v, want conflict %q or error %q", line, tt.conflict, tt.err)
			}
		})
	}
}

// replaced is the notification or event with one field written otherwise, or left out.
func replaced(t *testing.T, body, field, value string) string {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &fields); err != nil || fields[field] == nil {
		t.Fatalf("%s has no %s: %v", body, field, err)
	}
	if fields[field] = json.RawMessage(value); value == "" {
		delete(fields, field)
	}
	b, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What only looks like an envelope is a body: nobody else's field makes it another.
func TestLooksLikeEnvelope(t *testing.T) {
	t.Parallel()
	sns, event := snsAt(noon, `{"idempotency_key":"inside"}`, nil), eventAt(noon, `{"idempotency_key":"inside"}`)
	bodies := map[string]string{
		"a notification of the business": `{"Type":"Notification","Message":"{\"idempotency_key\":\"inside\"}"}`,
		"a field called detail":          `{"detail":{"idempotency_key":"inside"}}`,
		"a field called Message":         `{"Message":"{\"idempotency_key\":\"inside\"}"}`,
		"another type":                   replaced(t, sns, "Type", `"SubscriptionConfirmation"`),
		"a type of another case":         replaced(t, sns, "Type", `"notification"`),
		"a type that is no string":       replaced(t, sns, "Type", `["Notification"]`),
	}
	for _, field := range []string{"Type", "MessageId", "TopicArn", "Message", "Timestamp"} {
		bodies["SNS without "+field] = replaced(t, sns, field, "")
	}
	for _, field := range []string{"version", "id", "detail-type", "source", "account", "time", "region", "detail"} {
		bodies["event without "+field] = replaced(t, event, field, "")
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			wantIDs(t, "listed", r.handle(carrying(message("1", body), text("k"))))
			if d := r.hand.deliveries[0]; d.Key != "k" || !bytes.Equal(d.Payload.Canonical(), intenttest.Payload(t, body).Canonical()) {
				t.Errorf("got key %s with payload %s", d.Key, d.Payload.Canonical())
			}
		})
	}
}

// An envelope is read strictly, as a payload is: what decoders differ on is refused.
func TestUnreadableEnvelopes(t *testing.T) {
	t.Parallel()
	sns, event := snsAt(noon, fielded, keyed), eventAt(noon, fielded)
	misfit := func(field string) string {
		return fmt.Sprintf("payload field %q of the envelope is not what its sender writes there", field)
	}
	const twice = "payload repeats a name of its object at byte "
	deeper := snsAt(noon, snsAt(noon, snsAt(noon, fielded, nil), nil), nil)
	for name, tt := range map[string]struct{ body, err string }{
		"too many":                {deeper, "payload is in more than 2 envelopes"},
		"too many, of both":       {snsAt(noon, eventAt(noon, snsAt(noon, fielded, nil)), nil), "payload is in more than 2 envelopes"},
		"SNS field twice":         {strings.Replace(sns, `{`, `{"Message":"{}",`, 1), twice},
		"SNS field twice, unread": {strings.Replace(sns, `{`, `{"Subject":"one",`, 1), twice},
		"attribute twice": {strings.Replace(sns, `"Idempotency-Key":`, `"Idempotency-Key":{"Type":"String","Value":"j"},"Idempotency-Key":`, 1),
			twice},
		"event field twice":           {strings.Replace(event, `{`, `{"detail":{},`, 1), twice},
		"twice inside an event":       {eventAt(noon, `{"idempotency_key":"k","a":1,"a":2}`), twice},
		"twice inside a notification": {snsAt(noon, `{"idempotency_key":"k","a":1,"a":2}`, nil), twice},
		"message is an object":        {replaced(t, sns, "Message", `{}`), misfit("Message")},
		"message is null":             {replaced(t, sns, "Message", `null`), "payload is not JSON"},
		"message is no JSON":          {snsAt(noon, "hello", keyed), "payload is not JSON"},
		"message is no object":        {snsAt(noon, "[1]", keyed), "payload is no JSON object"},
		"detail is no object":         {eventAt(noon, `"hello"`), "payload is no JSON object"},
		"detail is null":              {eventAt(noon, `null`), "payload is no JSON object"},
		"SNS time in words":           {snsAt("yesterday", fielded, keyed), misfit("Timestamp")},
		"SNS time in ms":              {replaced(t, sns, "Timestamp", `1790000000000`), misfit("Timestamp")},
		"SNS time null":               {replaced(t, sns, "Timestamp", `null`), misfit("Timestamp")},
		"SNS time before there was":   {snsAt("1969-12-31T23:59:59Z", fielded, keyed), misfit("Timestamp")},
		"event time in words":         {eventAt("yesterday", fielded), misfit("time")},
		"event time null":             {replaced(t, event, "time", `null`), misfit("time")},
		"event time of year 1":        {eventAt("0001-01-01T00:00:00Z", fielded), misfit("time")},
		"attributes are a list":       {replaced(t, sns, "MessageAttributes", `[]`), misfit("MessageAttributes")},
		"value is a number":           {replaced(t, sns, "MessageAttributes", `{"a":{"Type":"Number","Value":1}}`), misfit("MessageAttributes")},
		"binary is no base64":         {snsAt(noon, fielded, snsAttributes{"photo": {"Binary", "?"}}), `payload field "MessageAttributes" of the envelope have a binary one that is not base64`},
		"half a surrogate":            {strings.Replace(sns, `"order"`, `"\ud800"`, 1), "payload has half a surrogate pair at byte "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quarantining)
			wantIDs(t, "listed", r.handle(carrying(message("1", tt.body), text("k")), asking("2", "good")))
			wantIDs(t, "run", r.hand.keys(), "good")
			said, _ := r.log.about(t, "1")["error"].(string)
			if strings.TrimRight(said, "0123456789") != strings.TrimRight(tt.err, "0123456789") {
				t.Errorf("got error %q, want %q", said, tt.err)
			}
			if sent := r.queue.taken(); len(sent) != 1 || *sent[0].MessageBody != tt.body || reasonOf(sent[0]) != "unreadable: "+said {
				t.Errorf("got %v in quarantine, want it as it came", sent)
			}
		})
	}
}

// An intent is as old as the oldest that is known of it.
func TestSentAt(t *testing.T) {
	t.Parallel()
	at := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }
	own := func(ms int64) snsAttributes { return snsAttributes{"Intent-Time": {"Number", fmt.Sprint(ms)}} }
	key := func(body string) events.SQSMessage { return carrying(message("1", body), text("k")) }
	timed := func(m events.SQSMessage, sent, own int64) events.SQSMessage {
		return with(sentAt(m, time.UnixMilli(sent)), "Intent-Time", text(fmt.Sprint(own)))
	}
	const first, second, third = 1_790_000_000_001, 1_790_000_000_002, 1_790_000_000_003
	for name, tt := range map[string]struct {
		m    events.SQSMessage
		want int64 // 0: not known
	}{
		"not known":            {key(bare), 0},
		"sent":                 {sentAt(key(bare), time.UnixMilli(first)), first},
		"own":                  {with(key(bare), "Intent-Time", text(fmt.Sprint(first))), first},
		"sent, own later":      {timed(key(bare), first, second), first},
		"own, sent later":      {timed(key(bare), second, first), first},
		"SNS":                  {timed(key(snsAt(at(first), bare, own(second))), second, third), first},
		"own in SNS":           {timed(key(snsAt(at(second), bare, own(first))), second, third), first},
		"event":                {timed(key(eventAt(at(first), bare)), second, third), first},
		"event in SNS":         {timed(key(snsAt(at(second), eventAt(at(first), bare), own(third))), second, third), first},
		"SNS around an event":  {timed(key(snsAt(at(first), eventAt(at(second), bare), own(third))), second, third), first},
		"own around envelopes": {timed(key(snsAt(at(second), eventAt(at(third), bare), own(third))), third, first), first},
		"sent around all":      {timed(key(snsAt(at(second), eventAt(at(third), bare), own(third))), first, third), first},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			wantIDs(t, "listed", r.handle(tt.m))
			got := r.hand.deliveries[0].SentAt
			if tt.want == 0 && !got.IsZero() || tt.want != 0 && got.UnixMilli() != tt.want {
				t.Errorf("got %v, want %d ms", got, tt.want)
			}
		})
	}
}

// The caller's functions are given what was in the envelopes: the body, and the
// attributes of all of them, the innermost first.
func TestFunctionsOnEnvelopes(t *testing.T) {
	t.Parallel()
	attributes := snsAttributes{"order": {"String", "8821"}, "cents": {"Number", "4999"}, "photo": {"Binary", base64.StdEncoding.EncodeToString(everyByte)}}
	m := with(with(message("1", snsAt(noon, eventAt(noon, bare), attributes)), "order", text("outer")), "more", text("more"))
	before := maps.Clone(m.MessageAttributes)
	var selected, asked string
	r := newRig(t, func(c *sqsbatch.Config) {
		c.Select = func(body []byte) ([]byte, error) { selected = string(body); return []byte(`{}`), nil }
		c.Key = func(m events.SQSMessage) (string, error) {
			asked = m.Body
			a := m.MessageAttributes
			if string(a["photo"].BinaryValue) != string(everyByte) || a["photo"].StringValue != nil || a["photo"].DataType != "Binary" {
				t.Errorf("got photo %+v", a["photo"])
			}
			return fmt.Sprintf("%s %s %s", *a["order"].StringValue, *a["cents"].StringValue, *a["more"].StringValue), nil
		}
	})
	wantIDs(t, "listed", r.handle(m))
	wantIDs(t, "run", r.hand.keys(), "8821 4999 more")
	inner := string(intenttest.Payload(t, bare).Canonical()) // an event's detail is read as its canonical form
	if selected != inner || asked != inner {
		t.Errorf("selected from %s and asked for the key of %s, want %s", selected, asked, inner)
	}
	wantAttributes(t, m.MessageAttributes, before)
	if aws.ToString(m.MessageAttributes["order"].StringValue) != "outer" {
		t.Error("the message was changed")
	}
}
