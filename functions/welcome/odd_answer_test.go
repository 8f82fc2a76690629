package main

import (
	"net/http"
	"strings"
	"testing"
)

// SES accepts an e-mail and tells no id of it, or an empty one: nobody could find it again, so it is a doubt, and is not sent
// again.
func TestAcceptedWithoutAnID(t *testing.T) {
	for _, body := range []string{`{}`, `{"MessageId":""}`, `{"MessageId":null}`} {
		p := newFakeSES(t, reply{does: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }})
		id, err := newSES(sesConfig(p.url), "once@example.com").send(t.Context(), "ada@example.com", hello, "tag")
		if got := disposition(err); got != "unknown" || id != "" {
			t.Errorf("%s: got %s with id %q (%v), want unknown", body, got, id, err)
		}
		if len(p.sent()) != 1 {
			t.Errorf("%s: %d e-mails, want 1", body, len(p.sent()))
		}
	}
}

// Where SES's error is an identity's or the account's, its hint tells where to look. Others have none.
func TestHintOfAnError(t *testing.T) {
	for text, hinted := range map[string]bool{
		"Email address is not verified": true, "Sending paused for this account": true, "Account is suspended": true, "Daily message quota exceeded": false,
	} {
		p := newFakeSES(t, reply{status: 400, code: "MessageRejected", text: text})
		_, err := newSES(sesConfig(p.url), "once@example.com").send(t.Context(), "ada@example.com", hello, "tag")
		if got := disposition(err); got != "not applied" || strings.Contains(err.Error(), "SES's console") != hinted {
			t.Errorf("%s: got %s (%v), want it not applied and hinted: %t", text, got, err, hinted)
		}
	}
}

// An answer that is not of SES's form is told by its status, and not quoted.
func TestUnreadableAnswer(t *testing.T) {
	p := newFakeSES(t, reply{status: 400, body: "<html>ada@example.com</html>"})
	_, err := newSES(sesConfig(p.url), "once@example.com").send(t.Context(), "ada@example.com", hello, "tag")
	if err == nil || !strings.Contains(err.Error(), "ses answered 400, code ") || strings.Contains(err.Error(), "code ,") || strings.Contains(err.Error(), "ada@") {
		t.Errorf("got %v, want its status and a code", err)
	}
}

// An answer that says that all is well, in a form that nobody can read, is a doubt: SES may have sent.
func TestUnreadableSuccess(t *testing.T) {
	for _, body := range []string{"<html>ada@example.com</html>", `{"MessageId":7}`} {
		p := newFakeSES(t, reply{does: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }})
		_, err := newSES(sesConfig(p.url), "once@example.com").send(t.Context(), "ada@example.com", hello, "tag")
		if got := disposition(err); got != "unknown" || !strings.Contains(err.Error(), "unreadable") || strings.Contains(err.Error(), "ada@") {
			t.Errorf("%s: got %s (%v), want unknown and unreadable", body, got, err)
		}
	}
}

// A bad request that names no fault of the address is not the recipient's, whatever else its text holds.
func TestBadRequestThatSaysNothing(t *testing.T) {
	for _, text := range []string{"", " ", "ada@example.com", "<ada@example.com>."} {
		p := newFakeSES(t, reply{status: 400, code: "BadRequestException", text: text})
		_, err := newSES(sesConfig(p.url), "once@example.com").send(t.Context(), "ada@example.com", hello, "tag")
		if got := disposition(err); got != "not applied" {
			t.Errorf("%q: got %s (%v), want not applied", text, got, err)
		}
	}
}
