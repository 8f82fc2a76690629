package main

import (
	"net/http"
	"testing"

	"github.com/singleeffect/once/shared/intent"
)

// Each answer of SES's, by what becomes of the intent's record, and of a second delivery.
func TestAnswers(t *testing.T) {
	const (
		completed = intent.StateCompleted
		refused   = intent.StateRefused
		released  = intent.StateReleased // the next delivery sends
		doubt     = intent.StateInDoubt  // no delivery sends
	)
	answer := func(status int, code, text string) reply { return reply{status: status, code: code, text: text} }
	hangUp := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	breakOff := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"MessageId":`))
	}
	says := func(text string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
	}
	tests := []struct {
		name   string
		reply  reply
		state  intent.State
		result string // of one that is refused
	}{
		{"accepted", reply{}, completed, ""},

		{"content rejected", answer(400, "MessageRejected", "Email contains a virus, ada@example.com"), refused, `{"reason":"rejected","code":"MessageRejected"}`},
		{"suppressed", answer(400, "MessageRejected", "Address is on the suppression list"), refused, `{"reason":"rejected","code":"MessageRejected"}`},
		{"illegal address", answer(400, "BadRequestException", "Illegal address: ada@example.com"), refused, `{"reason":"invalid_address","code":"BadRequestException"}`},
		{"illegal domain", answer(400, "BadRequestException", "Domain contains illegal character"), refused, `{"reason":"invalid_address","code":"BadRequestException"}`},
		{"no domain", answer(400, "BadRequestException", "Missing final '@domain'"), refused, `{"reason":"invalid_address","code":"BadRequestException"}`},
		{"invalid recipient", answer(400, "BadRequestException", "Invalid recipient"), refused, `{"reason":"invalid_address","code":"BadRequestException"}`},

		{"sender not verified", answer(400, "MessageRejected", "Email address is not verified. The following identities failed the check in region US-EAST-1: once@example.com"), released, ""},
		{"recipient not verified, in the sandbox", answer(400, "MessageRejected", "Email address is not verified. The following identities failed the check in region US-EAST-1: ada@example.com"), released, ""},
		{"not verified, as a bad request", answer(400, "BadRequestException", "Email address is not verified."), released, ""},
		{"account paused, as a rejection", answer(400, "MessageRejected", "Sending paused for this account. For more information, please check the inbox of the email address"), released, ""},
		{"account suspended, as a rejection", answer(400, "MessageRejected", "Sending suspended for this account."), released, ""},
		{"bad sender", answer(400, "BadRequestException", "Invalid From address"), released, ""},
		{"no configuration set", answer(400, "BadRequestException", "Configuration set does not exist"), released, ""},
		{"a bad request that we do not know", answer(400, "BadRequestException", "The input you provided is invalid."), released, ""},
		{"too many requests", answer(429, "TooManyRequestsException", "Too many requests"), released, ""},
		{"sending rate", answer(400, "ThrottlingException", "Maximum sending rate exceeded"), released, ""},
		{"daily quota", answer(400, "LimitExceededException", "Daily message quota exceeded"), released, ""},
		{"sending paused", answer(400, "SendingPausedException", "ada@example.com"), released, ""},
		{"sending paused, by its old name", answer(400, "AccountSendingPausedException", "Email sending is paused"), released, ""},
		{"account suspended", answer(400, "AccountSuspendedException", ""), released, ""},
		{"mail-from domain", answer(400, "MailFromDomainNotVerifiedException", ""), released, ""},
		{"not found", answer(404, "NotFoundException", ""), released, ""},
		{"denied", answer(403, "AccessDeniedException", "not authorized to perform ses:SendEmail on ada@example.com"), released, ""},
		{"expired", answer(403, "ExpiredTokenException", ""), released, ""},
		{"signature", answer(403, "InvalidSignatureException", ""), released, ""},
		{"a code of the future", answer(422, "UnpoeticException", "ada@example.com"), released, ""},

		{"500", answer(500, "InternalServiceErrorException", "ada@example.com"), doubt, ""},
		{"500, but it was sent", reply{status: 500, code: "InternalServiceErrorException", sends: true}, doubt, ""},
		{"503", answer(503, "ServiceUnavailable", ""), doubt, ""},
		{"503 that calls itself throttling", answer(503, "ThrottlingException", ""), doubt, ""},
		{"504 of a proxy", reply{status: 504, body: "<html>ada@example.com</html>", sends: true}, doubt, ""},
		{"408", answer(408, "RequestTimeout", ""), doubt, ""},
		{"429 of a proxy", reply{status: 429, body: "<html>ada@example.com</html>"}, doubt, ""},
		{"403 without a code", reply{status: 403, body: "{}"}, doubt, ""},
		{"moved", reply{status: 302, body: "{}"}, doubt, ""},
		{"hung up", reply{does: hangUp}, doubt, ""},
		{"broken off", reply{does: breakOff}, doubt, ""},
		{"not JSON", reply{does: says("ada@example.com")}, doubt, ""},
		{"no message id", reply{does: says("{}")}, doubt, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newFixture(t, tt.reply)
			first := w.worker(t, 0)
			listed := first.deliver(t, lesson)
			w.wantState(t, "first delivery", tt.state)
			if (len(listed) == 0) != tt.state.Final() {
				t.Errorf("first delivery: listed %v with a record that is %s", listed, tt.state)
			}
			if got := w.ses.requests(); got != 1 {
				t.Errorf("requests to SES in one delivery: got %d, want 1", got)
			}
			left := len(w.ses.sent())
			if tt.state == refused {
				if got := string(w.record(t).Result.JSON); got != tt.result {
					t.Errorf("result: got %s, want %s", got, tt.result)
				}
			}

			kind := map[intent.State]intent.Kind{completed: intent.Replayed, refused: intent.Refused, released: intent.Executed, doubt: intent.InDoubt}[tt.state]
			state := tt.state
			if state == released {
				state = completed
				left++
			}
			w.worker(t, lapse).wantOne(t, "second delivery", lesson, kind, state)
			if got := len(w.ses.sent()); got != left {
				t.Errorf("e-mails after the second delivery: got %d, want %d", got, left)
			}
		})
	}
}
