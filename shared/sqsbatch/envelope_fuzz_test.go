package sqsbatch_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// FuzzEnvelope puts a body into envelopes. Whole, they change nothing: the delivery is
// that of the bare body, only as old as the eldest time on the way. With a field of the
// outer one spoilt it is opened, refused or taken for a body as a reader of its decoded
// values would.
func FuzzEnvelope(f *testing.F) {
	bodies := []string{`{"idempotency_key":"k","n":1.50}`, `{"idempotency_key":7}`, `{}`, `[]`, `?`, `{"idempotency_key":null}`, "{\"é\\u00e9\":\"<&>\u2028\"}", ` { "b" : 1 , "a" : "x" } `}
	for way := range uint8(len(wraps)) {
		for _, body := range bodies {
			f.Add(body, "k", way, uint64(1_795_953_600_000), int64(-1), "", "")
		}
		for _, field := range []string{"Type", "MessageId", "TopicArn", "Message", "Timestamp", "MessageAttributes", "version", "id", "detail-type", "source", "account", "time", "region", "detail", "other"} {
			for _, value := range []string{``, `null`, `1`, `"Notification"`, `{}`, `"2026-11-29T12:00:00Z"`, `"1969-12-31T23:59:59Z"`,
				`{"Idempotency-Key":{"Type":"String","Value":"k"}}`, `{"Idempotency-Key":{"Type":"Binary","Value":"?"}}`, `{"Intent-Time":{"Type":"Number","Value":"5"}}`} {
				f.Add(bodies[0], "k", way, uint64(5), int64(7), field, value)
			}
		}
	}
	for _, event := range samples(f) {
		for _, m := range event.Records {
			f.Add(m.Body, "order", uint8(1), uint64(1), int64(0), "", "")
		}
	}
	f.Fuzz(func(t *testing.T, body, key string, way uint8, sent uint64, told int64, field, value string) {
		at := time.UnixMilli(1e12 + int64(sent%8e12)).UTC()
		if told > 0 {
			told = 1e12 + told%9e12
		}
		eldest, times := at, snsAttributes{}
		if told > 0 {
			times["Intent-Time"] = [2]string{"Number", strconv.FormatInt(told, 10)}
		}
		wrap := wraps[int(way)%len(wraps)]
		outer, inner, ok := wrap(at, body, times)
		if !ok || !utf8.ValidString(body) {
			return // no envelope carries such a body as it is
		}
		if told > 0 && strings.Contains(outer, "Intent-Time") && time.UnixMilli(told).Before(eldest) {
			eldest = time.UnixMilli(told)
		}
		m := carrying(message("1", outer), text(key))
		got := delivered(t, m)
		bare := delivered(t, carrying(message("1", inner), text(key)))
		switch {
		case (got == nil) != (bare == nil):
			t.Errorf("delivers %+v, and bare %+v", got, bare)
		case got != nil && (got.Key != bare.Key || got.Fingerprint != bare.Fingerprint || !bytes.Equal(got.Payload.Canonical(), bare.Payload.Canonical())):
			t.Errorf("delivers %+v, and bare %+v", got, bare)
		case got != nil && !got.SentAt.Equal(eldest):
			t.Errorf("is of %v, want %v", got.SentAt, eldest)
		}
		if field == "" {
			return
		}
		m.Body = spoilt(t, outer, field, value)
		got, want := delivered(t, m), deliveryOf(m.Body, key, true)
		switch {
		case (got == nil) != (want == nil):
			t.Errorf("%s: delivers %+v, want %+v", m.Body, got, want)
		case got != nil && (got.Key != want.Key || got.Fingerprint != want.Fingerprint || !bytes.Equal(got.Payload.Canonical(), want.Payload.Canonical())):
			t.Errorf("%s: delivers %+v, want %+v", m.Body, got, want)
		}
	})
}

// wraps put a body into envelopes and give what is to be found in them: as it is in a
// notification, as JSON is written in an event; false for what no event can carry.
var wraps = []func(at time.Time, body string, attributes snsAttributes) (outer, inner string, ok bool){
	func(at time.Time, body string, attributes snsAttributes) (string, string, bool) {
		return snsAt(stamp(at), body, attributes), body, !enveloped(body)
	},
	func(at time.Time, body string, _ snsAttributes) (string, string, bool) {
		return eventAt(stamp(at), body), strings.Trim(body, " \t\r\n"), json.Valid([]byte(body)) && !enveloped(body)
	},
	func(at time.Time, body string, attributes snsAttributes) (string, string, bool) {
		event := eventAt(stamp(at.Add(time.Hour)), body)
		return snsAt(stamp(at), event, attributes), strings.Trim(body, " \t\r\n"), json.Valid([]byte(body)) && !enveloped(body)
	},
}

func stamp(at time.Time) string { return at.Format("2006-01-02T15:04:05.000Z") }

// enveloped tells a body that may be opened once more.
func enveloped(body string) bool {
	fields := decoded(body)
	return slices.ContainsFunc([]string{"Type", "detail"}, func(name string) bool { return carries(fields, name) })
}

// spoilt is a JSON object with one field of another value, or without it.
func spoilt(t *testing.T, object, field, value string) string {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &fields); err != nil {
		t.Fatal(err)
	}
	if json.Valid([]byte(value)) {
		fields[field] = json.RawMessage(value)
	} else {
		delete(fields, field)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// delivered is what a handler is given of a message; nil if nothing.
func delivered(t *testing.T, m events.SQSMessage) *intent.Delivery {
	t.Helper()
	h := &hand{}
	batch, err := sqsbatch.New(sqsbatch.Config{Handler: h, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	kept := listed(t, handled(t, batch, []events.SQSMessage{m}), []events.SQSMessage{m})
	if len(kept)+len(h.deliveries) != 1 {
		t.Fatalf("listed %v, delivered %+v", kept, h.deliveries)
	}
	if len(h.deliveries) == 0 {
		return nil
	}
	return &h.deliveries[0]
}
