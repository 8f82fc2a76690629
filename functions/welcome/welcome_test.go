package main

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

func TestPayload(t *testing.T) {
	tests := []struct {
		name, body, field string // field at fault, "" if none is
	}{
		{"OK", lesson.Body, ""},
		{"OK, id as a number", `{"user_id":7,"kind":"trial_ending"}`, ""},
		{"OK, win back", `{"user_id":"7","kind":"win_back"}`, ""},

		{"ErrUser missing", `{"kind":"signup"}`, "user_id"},
		{"ErrUser empty", `{"user_id":"","kind":"signup"}`, "user_id"},
		{"ErrKind missing", `{"user_id":"7"}`, "kind"},
		{"ErrKind unknown", `{"user_id":"7","kind":"farewell"}`, "kind"},
		{"ErrKind in upper case", `{"user_id":"7","kind":"Signup"}`, "kind"},
		{"ErrKind a path", `{"user_id":"7","kind":"../letters/signup"}`, "kind"},
		{"ErrKind a number", `{"user_id":"7","kind":1}`, "kind"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := intent.Decode[greeting](intenttest.Payload(t, tt.body))
			var at *intent.PayloadError
			switch {
			case tt.field == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case tt.field != "" && (!errors.As(err, &at) || at.Field != tt.field):
				t.Errorf("got %v, want an error that names %s", err, tt.field)
			}
		})
	}
}

// A message of an unknown kind leaves no record and no e-mail.
func TestUnknownKindIsNotClaimed(t *testing.T) {
	w := newFixture(t)
	first := w.worker(t, 0)
	if listed := first.deliver(t, message("user-7-welcome", "7", "farewell")); len(listed) != 1 {
		t.Errorf("listed %v, want the message", listed)
	}
	w.wantState(t, "after it", intent.StateAbsent)
	w.ses.wantSent(t, "after it", nobody)
}

func TestRedelivery(t *testing.T) {
	w := newFixture(t)
	before := time.Now().Truncate(time.Millisecond)
	w.worker(t, 0).wantOne(t, "first delivery", lesson, intent.Executed, intent.StateCompleted)
	w.worker(t, 0).wantOne(t, "redelivery", lesson, intent.Replayed, intent.StateCompleted)
	redriven := lesson
	redriven.MessageId = "another"
	w.worker(t, 14*24*time.Hour).wantOne(t, "redriven two weeks later", redriven, intent.Replayed, intent.StateCompleted)

	id := keyOf("user-7-welcome").Downstream()
	mails := w.ses.sent()
	if len(mails) != 1 {
		t.Fatalf("e-mails: got %v, want one", mails)
	}
	if m := mails[0]; m.to != "ada@example.com" || m.from != "once@example.com" || m.tag != id ||
		m.subject != "Welcome, Ada" || !strings.HasPrefix(m.text, "Hello Ada,\n") {
		t.Errorf("e-mail: got %+v", m)
	}
	var got receipt
	if err := json.Unmarshal(w.record(t).Result.JSON, &got); err != nil || got != (receipt{MessageID: "mail-1", EmailID: id}) {
		t.Errorf("result: got %+v (error %v)", got, err)
	}

	row := w.row(t)
	at, ok := row[sentAtAttribute].(*types.AttributeValueMemberN)
	if !ok || text(row[userIDAttribute]) != "7" || text(row[kindAttribute]) != "signup" || text(row[messageIDAttribute]) != "mail-1" || len(row) != 5 {
		t.Fatalf("row: got %v", row)
	}
	ms, err := strconv.ParseInt(at.Value, 10, 64)
	if sent := time.UnixMilli(ms); err != nil || sent.Before(before) || sent.After(time.Now()) {
		t.Errorf("sent_at: got %s, want the time of this test in ms", at.Value)
	}
}

// What stops a letter before SES is asked: a business no is final, trouble of ours is not.
func TestOwnChecks(t *testing.T) {
	users := []struct{ id, address, name, reason string }{
		{"1", "none@@example.com", "", invalidAddress},
		{"2", "ada@example.com, bob@example.com", "", invalidAddress}, // one letter, two people
		{"3", "Ada <ada@example.com>", "", invalidAddress},
		{"3a", "<ada@example.com>", "", invalidAddress},
		{"4", "ädä@example.com", "", nonASCIILocalPart},
		{"4a", "ädä@bücher.example", "", nonASCIILocalPart}, // C66
		{"5", "ada@bü cher.example", "", invalidAddress},
		{"5b", "ada@bücher..example", "", invalidAddress},
		{"5c", "ada@bücher。。example", "", invalidAddress},
		{"5d", "ada@-bücher.example", "", invalidAddress},
		{"5e", "ada@bü_cher.example", "", invalidAddress},
		{"5f", "ada@" + strings.Repeat("ü", 64) + ".example", "", invalidAddress}, // a label of more than 63 bytes
		{"5g", "ada@ü" + strings.Repeat(".ü", 200), "", invalidAddress},
		{"5h", "ada@\u00ad", "", invalidAddress}, // nothing is left of it
		{"5a", " ada@example.com, ", "", invalidAddress},
		{"6", strings.Repeat("a", 309) + "@example.com", "", invalidAddress},
		{"9", "", "Eve", noAddress},
		{"404", "", "", unknownUser},
	}
	w := newFixture(t)
	for _, u := range users {
		if u.address != "" {
			w.live(t, u.id, u.address, u.name)
		}
		for _, delivery := range []string{"first delivery", "redelivery"} {
			me := w.worker(t, 0)
			if listed := me.deliver(t, message("welcome-"+u.id, u.id, "signup")); len(listed) != 0 || me.report.Outcomes[intent.Refused] != 1 {
				t.Errorf("user %s, %s: got outcomes %v, listed %v, want it refused", u.id, delivery, me.report.Outcomes, listed)
			}
		}
		r, err := intent.Lookup(t.Context(), dynamo.New(w.db, w.records), keyOf("welcome-"+u.id))
		if want := `{"reason":"` + u.reason + `"}`; err != nil || string(r.Result.JSON) != want {
			t.Errorf("user %s: got %s (error %v), want %s", u.id, r.Result.JSON, err, want)
		}
	}
	if got := w.ses.requests(); got != 0 {
		t.Errorf("requests to SES: got %d, want none", got)
	}
}

// C66: an internationalised domain is sent in its ASCII form, and an ASCII one as it is.
func TestC66_InternationalisedDomains(t *testing.T) {
	domains := map[string]string{
		"bücher.example":        "xn--bcher-kva.example",
		"BÜCHER.example":        "xn--bcher-kva.example",
		"bu\u0308cher.example":  "xn--bcher-kva.example", // two code points
		"post.bücher.example":   "post.xn--bcher-kva.example",
		"bücher。example":        "xn--bcher-kva.example", // the ideographic full stop
		"faß.example":           "xn--fa-hia.example",    // not "fass": another domain
		"例え.テスト":                "xn--r8jz45g.xn--zckzah",
		"مثال.إختبار":           "xn--mgbh0fb.xn--kgbechtv",
		"xn--bcher-kva.example": "xn--bcher-kva.example",
		"Example.COM":           "Example.COM",
		"r3---sn.example":       "r3---sn.example",
	}
	for domain, want := range domains {
		t.Run(domain, func(t *testing.T) {
			w := newFixture(t)
			w.live(t, "7", "ada@"+domain, "Ada")
			w.worker(t, 0).wantOne(t, "first delivery", lesson, intent.Executed, completed)
			w.worker(t, 0).wantOne(t, "redelivery", lesson, intent.Replayed, completed)
			w.ses.wantSent(t, "in both", map[string]int{"ada@" + want: 1})
		})
	}
}

// C65: the message overtakes its user's row, or the row's address. It comes back; once the row is there,
// there is one e-mail.
func TestC65_UserComesLate(t *testing.T) {
	for name, before := range map[string]func(*fixture){
		"no row":     func(w *fixture) { w.leave(t, "7") },
		"no address": func(w *fixture) { w.live(t, "7", "", "Ada") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			before(w)
			for n := 1; n <= 3; n++ {
				if listed := w.worker(t, 0).deliver(t, received(lesson, n)); len(listed) != 1 {
					t.Errorf("receive %d: listed %v, want the message", n, listed)
				}
				w.wantState(t, "not there yet", released)
			}
			w.live(t, "7", "ada@example.com", "Ada")
			w.worker(t, 0).wantOne(t, "receive 4", received(lesson, 4), intent.Executed, completed)
			w.ses.wantSent(t, "in all", ada)
		})
		t.Run(name+" at the fourth receive", func(t *testing.T) {
			w := newFixture(t)
			before(w)
			w.worker(t, 0).deliver(t, received(lesson, 3))
			w.wantState(t, "receive 3", released)
			w.worker(t, 0).wantOne(t, "receive 4", received(lesson, 4), intent.Refused, refused)
			w.live(t, "7", "ada@example.com", "Ada")
			w.worker(t, 0).wantOne(t, "receive 5", received(lesson, 5), intent.Refused, refused)
			w.ses.wantSent(t, "in all", nobody)
		})
	}
}

// The users table does not answer: nothing was sent, so the next delivery sends.
func TestUserCannotBeRead(t *testing.T) {
	w := newFixture(t)
	first := w.worker(t, 0)
	first.plan = func(call intenttest.Call) intenttest.Fault {
		if call.Operation == "GetItem" {
			return intenttest.Fault{Reply: &intenttest.Reply{Status: 400, Body: `{"__type":"com.amazonaws.dynamodb.v20120810#AccessDeniedException"}`}}
		}
		return intenttest.Fault{}
	}
	if listed := first.deliver(t, lesson); len(listed) != 1 {
		t.Errorf("listed %v, want the message", listed)
	}
	w.wantState(t, "unread", intent.StateReleased)
	w.worker(t, 0).wantOne(t, "next delivery", lesson, intent.Executed, intent.StateCompleted)
	w.ses.wantSent(t, "in both deliveries", ada)
}

// Somebody who signed up a moment ago must not be refused as unknown.
func TestUserIsReadConsistently(t *testing.T) {
	w := newFixture(t)
	first := w.worker(t, 0)
	var reads []string
	first.plan = func(call intenttest.Call) intenttest.Fault {
		if call.Operation == "GetItem" {
			reads = append(reads, string(call.Body))
		}
		return intenttest.Fault{}
	}
	first.wantOne(t, "first delivery", lesson, intent.Executed, intent.StateCompleted)
	if len(reads) != 1 || !strings.Contains(reads[0], w.users) || !strings.Contains(reads[0], `"ConsistentRead":true`) {
		t.Errorf("reads: got %v, want a consistent one of the users table", reads)
	}
}
