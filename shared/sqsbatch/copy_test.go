package sqsbatch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// everyByte is what binary attributes may hold.
var everyByte = func() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}()

// laden adds n attributes of all types to a message.
func laden(m events.SQSMessage, n int) events.SQSMessage {
	for i := range n {
		name := fmt.Sprintf("a.%d", i)
		switch i % 3 {
		case 0:
			m = with(m, name, text("ünï\n<\"&>\u2028 "+name))
		case 1:
			m = with(m, name, events.SQSMessageAttribute{DataType: "Number.cents", StringValue: aws.String(fmt.Sprint(-i))})
		case 2:
			m = with(m, name, events.SQSMessageAttribute{DataType: "Binary", BinaryValue: everyByte})
		}
	}
	return m
}

// quarantined is what one message is sent as.
func quarantined(t *testing.T, m events.SQSMessage, change ...func(*sqsbatch.Config)) *sqs.SendMessageInput {
	t.Helper()
	r := newRig(t, append([]func(*sqsbatch.Config){quarantining}, change...)...)
	r.hand.do = always(intent.Outcome{Kind: intent.InDoubt}, nil)
	wantIDs(t, "listed", r.handle(m))
	sent := r.queue.taken()
	if len(sent) != 1 {
		t.Fatalf("sent %d messages, want 1", len(sent))
	}
	return sent[0]
}

func TestIntentTimeInQuarantine(t *testing.T) {
	t.Parallel()
	const early, late = "1790000000000", "1790000086400"
	number := func(ms string) events.SQSMessageAttribute {
		return events.SQSMessageAttribute{DataType: "Number", StringValue: &ms}
	}
	sent := func(m events.SQSMessage, ms string) events.SQSMessage {
		m.Attributes["SentTimestamp"] = ms
		return m
	}
	plain := func() events.SQSMessage { return asking("1", "k") }
	inSNS := func(at string) events.SQSMessage { return message("1", snsAt(at, plain().Body, nil)) }
	own := sqsbatch.TimeAttribute
	for name, tt := range map[string]struct {
		m    events.SQSMessage
		want events.SQSMessageAttribute
	}{
		"kept":                             {with(sent(plain(), late), own, number(early)), number(early)},
		"kept without another":             {with(plain(), own, number(early)), number(early)},
		"sent":                             {sent(plain(), early), text(early)},
		"of its envelope":                  {sent(inSNS("2026-09-21T13:33:20Z"), late), text("1789997600000")},
		"of its envelope, part of a ms":    {sent(inSNS("2026-09-21T13:33:20.000999Z"), late), text("1789997600000")},
		"older than its envelope":          {sent(inSNS("2026-09-23T13:33:20Z"), early), text(early)},
		"a clock that is ahead":            {with(sent(plain(), early), own, number(late)), text(early)},
		"its own, in its envelope":         {sent(message("1", snsAt("2026-09-23T13:33:20Z", plain().Body, snsAttributes{own: {"Number", early}})), late), text(early)},
		"its own, younger by its envelope": {with(sent(inSNS("2026-09-21T13:33:20Z"), late), own, number(early)), text("1789997600000")},
		"unreadable":                       {with(sent(plain(), late), own, text("yesterday")), text("yesterday")},
		"not known":                        {plain(), events.SQSMessageAttribute{}},
		"not known by a clock at zero":     {sent(plain(), "0"), events.SQSMessageAttribute{}},
		"not known by nonsense":            {sent(plain(), "soon"), events.SQSMessageAttribute{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := received(quarantined(t, tt.m).MessageAttributes)[own]
			if got.DataType != tt.want.DataType || aws.ToString(got.StringValue) != aws.ToString(tt.want.StringValue) {
				t.Errorf("got %s %s, want %s %s", got.DataType, aws.ToString(got.StringValue), tt.want.DataType, aws.ToString(tt.want.StringValue))
			}
		})
	}
}

// Its first id is what the records and logs of its first deliveries know it by.
func TestOriginalMessageID(t *testing.T) {
	t.Parallel()
	m := with(asking("again", "k"), "Original-Message-Id", text("first"))
	if got := received(quarantined(t, m).MessageAttributes)["Original-Message-Id"]; aws.ToString(got.StringValue) != "first" {
		t.Errorf("got %s, want first", aws.ToString(got.StringValue))
	}
}

// With three of quarantine's there is room for seven.
func TestAttributesInQuarantine(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_790_000_000_000)
	for n := range 11 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			m := sentAt(laden(message("bad", "{\"note\": \"<é\u2028>\"}"), n), at)
			const reason = "no_key: no idempotency key"
			got := quarantined(t, m)
			if n <= 7 {
				wantCopy(t, got, m, reason)
				return
			}
			wantAttributes(t, received(got.MessageAttributes), map[string]events.SQSMessageAttribute{"Quarantine-Reason": text(reason), "Quarantine-Wrapped": text("1")})
			var body map[string]json.RawMessage
			var inner struct {
				Reason     string
				Attributes map[string]events.SQSMessageAttribute
				Body       string
			}
			if err := errors.Join(json.Unmarshal([]byte(*got.MessageBody), &body), json.Unmarshal([]byte(*got.MessageBody), &inner)); err != nil {
				t.Fatal(err)
			}
			want(t, "fields", slices.Sorted(maps.Keys(body)), []string{"attributes", "body", "reason"}, slices.Equal)
			if inner.Reason != reason || inner.Body != m.Body {
				t.Errorf("got reason %q of %q, want %q of %q", inner.Reason, inner.Body, reason, m.Body)
			}
			attributes := maps.Clone(m.MessageAttributes)
			attributes["Quarantine-Reason"], attributes["Original-Message-Id"], attributes["Intent-Time"] = text(reason), text("bad"), text("1790000000000")
			wantAttributes(t, inner.Attributes, attributes)
		})
	}
	t.Run("two that are there already", func(t *testing.T) {
		t.Parallel()
		m := with(with(sentAt(laden(message("bad", "{}"), 8), at), "Intent-Time", text("1780000000000")), "Original-Message-Id", text("first"))
		got := received(quarantined(t, m).MessageAttributes)
		want(t, "attributes", len(got), 2, func(a, b int) bool { return a == b }) // 8 + 3
		m.MessageAttributes = maps.Clone(m.MessageAttributes)
		delete(m.MessageAttributes, "a.0")
		got = received(quarantined(t, m).MessageAttributes)
		want(t, "attributes", len(got), 10, func(a, b int) bool { return a == b })
	})
}

// What a message and its attributes may have, SQS's 1,048,576 bytes, is used to the
// last; past that a message stays in its queue.
func TestSizeInQuarantine(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	// A wrapped body's bytes are its own beside what is around it, quoted.
	around := func(attributes int) int {
		in := quarantined(t, laden(message("bad", `{"":""}`), attributes))
		n := len(*in.MessageBody)
		for name, a := range in.MessageAttributes {
			n += len(name) + len(*a.DataType) + len(aws.ToString(a.StringValue)) + len(a.BinaryValue)
		}
		return n
	}
	for name, attributes := range map[string]int{"as it came": 6, "wrapped": 9} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fits := limit - around(attributes)
			for _, pad := range []int{fits, fits + 1} {
				m := laden(message("bad", `{"":"`+strings.Repeat("x", pad)+`"}`), attributes)
				r := newRig(t, quarantining)
				got := r.handle(m)
				if pad == fits {
					wantIDs(t, "listed", got)
					continue
				}
				wantSpared(t, r, got)
				said, _ := r.log.about(t, "bad")["error"].(string)
				if !strings.Contains(said, "quarantine: message with its reason has 1") || !strings.Contains(said, "the limit is 1048576") {
					t.Errorf("got error %q, want both sizes", said)
				}
			}
		})
	}
}

// A reason is text that SQS takes, and not too much of it. The queue of these tests
// refuses what SQS would.
func TestReasonInQuarantine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ said, want string }{
		"as it is":              {"order <8821>, \"é\" 🙂 \u007f", "order <8821>, \"é\" 🙂 \u007f"},
		"control characters":    {"a\x00b\tc\nd\x1be", "a?b?c?d?e"},
		"no characters":         {"a\ufffeb\uffffc", "a?b?c"},
		"no UTF-8":              {"a\xff\xc3b\xed\xa0\x80", "a??b???"},
		"long":                  {strings.Repeat("é", 400), strings.Repeat("é", 300)},
		"long and of four each": {strings.Repeat("🙂", 400), strings.Repeat("🙂", 300)},
		"empty":                 {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quarantining)
			r.hand.do = always(intent.Outcome{}, fmt.Errorf("%w: %s", intent.ErrUnprocessable, tt.said))
			wantIDs(t, "listed", r.handle(asking("1", "k")))
			sent := r.queue.taken()
			if len(sent) != 1 {
				t.Fatalf("sent %d, want 1", len(sent))
			}
			got := *sent[0].MessageAttributes["Quarantine-Reason"].StringValue
			whole := "unprocessable: message can never be processed: " + tt.want
			if cut := string([]rune(whole)[:min(300, utf8.RuneCountInString(whole))]); got != cut {
				t.Errorf("got %q, want %q", got, cut)
			}
		})
	}
}

func TestQuarantineOfGroups(t *testing.T) {
	t.Parallel()
	fifo := func(c *sqsbatch.Config) { c.QueueURL, c.DeadLetterURL = queueURL+".fifo", deadLetterURL+".fifo" }
	for name, m := range map[string]events.SQSMessage{
		"as it came": grouped(message("bad", "poison"), "account 7"),
		"wrapped":    laden(grouped(message("bad", "poison"), "account 7"), 10),
	} {
		m.Attributes["MessageDeduplicationId"] = "the producer's"
		in := quarantined(t, m, fifo)
		if aws.ToString(in.MessageGroupId) != "account 7" || aws.ToString(in.MessageDeduplicationId) != "bad" {
			t.Errorf("%s: got group %q and deduplication id %q", name, aws.ToString(in.MessageGroupId), aws.ToString(in.MessageDeduplicationId))
		}
	}
	// Fair queues give standard messages a group, which a FIFO queue's rules do not touch.
	fair := message("bad", "poison")
	fair.Attributes["MessageGroupId"] = "tenant"
	fair.Attributes["AWSTraceHeader"] = "Root=1-5e3d83c1-e6a0db584850d61342823d4c"
	in := quarantined(t, fair)
	trace := in.MessageSystemAttributes["AWSTraceHeader"]
	if in.MessageDeduplicationId != nil || aws.ToString(in.MessageGroupId) != "tenant" || aws.ToString(trace.StringValue) != fair.Attributes["AWSTraceHeader"] { // C62
		t.Errorf("got %+v on a standard queue, want its group and trace", in)
	}
}
