package sqsbatch_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// adjustment is a message as a producer makes it.
func adjustment() sqsbatch.Message {
	return sqsbatch.Message{
		Key:   intent.Key{Scope: "shop", Operation: "charge", ID: "order-8821#€"},
		Time:  time.UnixMilli(1_790_000_000_123).Add(999 * time.Microsecond),
		Group: "account 7",
		Body:  []byte(`{"amount_cents":-1000}`),
	}
}

func TestInput(t *testing.T) {
	t.Parallel()
	for _, url := range []string{queueURL, queueURL + ".fifo"} {
		in, err := adjustment().Input(url)
		if err != nil {
			t.Fatal(err)
		}
		if *in.QueueUrl != url || *in.MessageBody != `{"amount_cents":-1000}` || faultOf(in) != "" {
			t.Errorf("got %+v: %s", in, faultOf(in))
		}
		attributes := received(in.MessageAttributes)
		if key, at := attributes["Idempotency-Key"], attributes["Intent-Time"]; len(attributes) != 2 ||
			key.DataType != "String" || aws.ToString(key.StringValue) != "order-8821#€" || at.DataType != "Number" || aws.ToString(at.StringValue) != "1790000000123" {
			t.Errorf("got attributes %+v", attributes)
		}
		sum := sha256.Sum256([]byte("shop#charge#order-8821%23€"))
		group, id := "account 7", hex.EncodeToString(sum[:])
		if url == queueURL {
			id = "" // C62: the group stays, fair queues go by it
		}
		if aws.ToString(in.MessageGroupId) != group || aws.ToString(in.MessageDeduplicationId) != id {
			t.Errorf("got group %q and deduplication id %q, want %q and %q", aws.ToString(in.MessageGroupId), aws.ToString(in.MessageDeduplicationId), group, id)
		}
	}
}

// An error names what the handler would not take.
func TestInputRefused(t *testing.T) {
	t.Parallel()
	fifo := queueURL + ".fifo"
	for name, tt := range map[string]struct {
		change func(*sqsbatch.Message)
		field  string // "" where it is taken
	}{
		"OK":                  {func(*sqsbatch.Message) {}, ""},
		"ErrScope":            {func(m *sqsbatch.Message) { m.Key.Scope = "" }, "scope"},
		"ErrOperation":        {func(m *sqsbatch.Message) { m.Key.Operation = "" }, "operation"},
		"ErrKey":              {func(m *sqsbatch.Message) { m.Key.ID = "" }, "key"},
		"ErrKeyNotUTF8":       {func(m *sqsbatch.Message) { m.Key.ID = "\xff" }, "key"},
		"ErrKeyLong":          {func(m *sqsbatch.Message) { m.Key.ID = strings.Repeat("k", 1025) }, "key"},
		"ErrTime":             {func(m *sqsbatch.Message) { m.Time = time.Time{} }, "time"},
		"ErrTimeOf1970":       {func(m *sqsbatch.Message) { m.Time = time.UnixMilli(0) }, "time"},
		"C48 ErrSeconds":      {func(m *sqsbatch.Message) { m.Time = time.UnixMilli(1790000000) }, "time"},
		"C48 ErrMicros":       {func(m *sqsbatch.Message) { m.Time = time.UnixMilli(1790000000000000) }, "time"},
		"OKFirstTime":         {func(m *sqsbatch.Message) { m.Time = time.UnixMilli(1e12) }, ""},
		"OKKeyInBody":         {func(m *sqsbatch.Message) { m.Key.ID, m.Body = "7", []byte(`{"idempotency_key":7}`) }, ""},
		"C64 ErrKeyInBody":    {func(m *sqsbatch.Message) { m.Body = []byte(`{"idempotency_key":"another"}`) }, "body field idempotency_key"},
		"C64 ErrKeyInAnEvent": {func(m *sqsbatch.Message) { m.Body = []byte(eventAt(noon, `{"idempotency_key":"another"}`)) }, "body field idempotency_key"},
		"C64 ErrObject":       {func(m *sqsbatch.Message) { m.Body = []byte(`{"idempotency_key":{}}`) }, "body field idempotency_key"},
		"ErrTimeBefore":       {func(m *sqsbatch.Message) { m.Time = time.UnixMilli(-1) }, "time"},
		"ErrGroupOfFIFO":      {func(m *sqsbatch.Message) { m.Group = "" }, "group"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := adjustment()
			tt.change(&m)
			in, err := m.Input(fifo)
			var unusable *intent.KeyError
			switch {
			case tt.field == "" && (err != nil || in == nil):
				t.Errorf("got %+v and error %v", in, err)
			case tt.field != "" && (!errors.As(err, &unusable) || unusable.Field != tt.field || in != nil):
				t.Errorf("got %+v and error %v, want a KeyError about %s", in, err, tt.field)
			}
		})
	}
	for name, body := range map[string]string{"no JSON": "amount=100", "no object": `["amount"]`, "a name twice": `{"a":1,"a":2}`, "nothing": ""} {
		m := adjustment()
		m.Body = []byte(body)
		var unusable *intent.PayloadError
		if in, err := m.Input(fifo); !errors.As(err, &unusable) || in != nil {
			t.Errorf("%s: got %+v and error %v, want a PayloadError", name, in, err)
		}
	}
	null := adjustment()
	null.Body = []byte(`{"idempotency_key":null}`)
	if in, err := null.Input(fifo); !errors.Is(err, intent.ErrNoKey) || in != nil {
		t.Errorf("null key in the body: got %+v and error %v, want ErrNoKey", in, err)
	}
	standard := adjustment()
	standard.Group = ""
	if _, err := standard.Input(queueURL); err != nil {
		t.Errorf("a standard queue needs no group: %v", err)
	}
}

// What is sent is what a batch reads, whatever the key, and a resend is the same.
func TestInputIsRead(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"order-8821-charge", "0", "false", "a#b%c", "ключ 🙂", `"quoted"`, " ", strings.Repeat("k", 1000)} {
		for _, at := range []time.Time{time.UnixMilli(1e12), adjustment().Time, time.Date(2286, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600))} {
			r := newRig(t)
			sent := adjustment()
			sent.Key.ID, sent.Time = id, at
			for _, url := range []string{queueURL, queueURL + ".fifo"} {
				in, err := sent.Input(url)
				if err != nil {
					t.Fatal(err)
				}
				m := message("1", *in.MessageBody)
				m.MessageAttributes = received(in.MessageAttributes)
				wantIDs(t, "listed", r.handle(m))
			}
			for _, d := range r.hand.deliveries {
				if d.Key != id || d.SentAt.UnixMilli() != at.UnixMilli() || string(d.Payload.Canonical()) != string(sent.Body) {
					t.Errorf("%q of %v: got %+v", id, at, d)
				}
			}
		}
	}
}
