package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/smithy-go"
	smithytraits "github.com/aws/smithy-go/traits"

	"github.com/singleeffect/once/shared/intent"
)

const (
	completed = intent.StateCompleted
	refused   = intent.StateRefused
	released  = intent.StateReleased // the next delivery sends
	doubt     = intent.StateInDoubt  // no delivery sends
)

// Where the answers of SES are documented.
const (
	sendEmailErrors = "https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html#API_SendEmail_Errors"
	sesV2Types      = "https://pkg.go.dev/github.com/aws/aws-sdk-go-v2/service/sesv2/types" // of other operations
	commonErrors    = "https://docs.aws.amazon.com/ses/latest/APIReference-V2/CommonErrors.html"
	awsErrors       = "https://docs.aws.amazon.com/awsconsolehelpdocs/latest/gsg/common-errors.html" // of all services
	iamErrors       = "https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html"
	signingErrors   = "https://docs.aws.amazon.com/IAM/latest/UserGuide/signature-v4-troubleshooting.html"
	sdkErrors       = "https://github.com/smithy-lang/smithy-typescript/blob/main/packages/service-error-classification/src/constants.ts"
	queryErrors     = "https://docs.aws.amazon.com/ses/latest/DeveloperGuide/api-error-codes.html" // of the API before
	sendingErrors   = "https://docs.aws.amazon.com/ses/latest/dg/troubleshoot-error-messages.html"
	quotaErrors     = "https://docs.aws.amazon.com/ses/latest/dg/manage-sending-quotas-errors.html"
	pausedAccount   = "https://github.com/GoodDollar/GoodServer/issues/419"
	suppressionList = "https://aws.amazon.com/blogs/messaging-and-targeting/goodbye-blacklist-introducing-the-suppression-list"
)

// answers are those that SES documents, what each means, and what becomes of the intent: refused only if
// the recipient is at fault (C57).
var answers = []struct {
	status     int
	code, text string
	means      string
	state      intent.State
	source     string
}{
	{400, "AccountSuspendedException", "", "the account may never send again", released, sendEmailErrors},
	{400, "BadRequestException", "The input you provided is invalid.", "the request is malformed", released, sendEmailErrors},
	{400, "LimitExceededException", "Daily message quota exceeded", "a quota is used up", released, sendEmailErrors},
	{400, "MailFromDomainNotVerifiedException", "", "our MAIL FROM domain is not verified", released, sendEmailErrors},
	{400, "MessageRejected", "The message can't be sent because it contains invalid content.", "our letter is invalid", released, sendEmailErrors},
	{404, "NotFoundException", "", "a configuration set or template does not exist", released, sendEmailErrors},
	{400, "SendingPausedException", "ada@example.com", "the account is paused", released, sendEmailErrors},
	{429, "TooManyRequestsException", "Too many requests", "throttled", released, sendEmailErrors},

	{400, "AlreadyExistsException", "", "the resource exists", released, sesV2Types},
	{500, "ConcurrentModificationException", "", "another operation changes the resource", doubt, sesV2Types},
	{409, "ConflictException", "", "the account's details are under review", released, sesV2Types},
	{500, "InternalServiceErrorException", "ada@example.com", "SES has failed", doubt, sesV2Types},
	{400, "InvalidNextTokenException", "", "a page does not exist", released, sesV2Types},

	{400, "AccessDeniedException", "", "no permission", released, commonErrors},
	{403, "AccessDeniedException", "not authorized to perform ses:SendEmail on ada@example.com", "no permission", released, awsErrors},
	{403, "ExpiredTokenException", "", "our credentials have expired", released, awsErrors},
	{400, "IncompleteSignature", "", "the signature is malformed", released, commonErrors},
	{403, "InvalidSignatureException", "", "the signature does not match", released, sdkErrors},
	{403, "SignatureDoesNotMatch", "", "the signature does not match", released, signingErrors},
	{500, "InternalFailure", "", "SES has failed", doubt, commonErrors},
	{400, "InvalidAction", "", "no such operation", released, commonErrors},
	{403, "InvalidClientTokenId", "", "no such access key", released, commonErrors},
	{403, "UnrecognizedClientException", "", "no such access key", released, iamErrors},
	{400, "InvalidParameterCombination", "", "the request is malformed", released, iamErrors},
	{400, "InvalidParameterValue", "", "the request is malformed", released, iamErrors},
	{400, "InvalidQueryParameter", "", "the request is malformed", released, iamErrors},
	{400, "MalformedHttpRequestException", "", "the request is malformed", released, awsErrors},
	{404, "MalformedQueryString", "", "the request is malformed", released, iamErrors},
	{400, "MissingAction", "", "the request is malformed", released, iamErrors},
	{403, "MissingAuthenticationToken", "", "no credentials", released, iamErrors},
	{400, "MissingParameter", "", "the request is malformed", released, iamErrors},
	{400, "NotAuthorized", "", "no permission", released, commonErrors},
	{401, "NotAuthorized", "", "no permission", released, awsErrors},
	{403, "OptInRequired", "", "the account has no SES", released, commonErrors},
	{400, "RequestAbortedException", "", "ended before a reply, and nobody says when", doubt, awsErrors},
	{413, "RequestEntityTooLargeException", "", "our letter is too large", released, awsErrors},
	{400, "RequestExpired", "", "our clock is wrong", released, commonErrors},
	{408, "RequestTimeoutException", "", "the request was not read in time", doubt, awsErrors},
	{503, "ServiceUnavailable", "", "SES has failed", doubt, commonErrors},
	{400, "ThrottlingException", "", "throttled", released, commonErrors},
	{404, "UnknownOperationException", "", "no such operation", released, awsErrors},
	{400, "ValidationError", "", "the request is malformed", released, commonErrors},

	{400, "ThrottlingException", "Maximum sending rate exceeded", "too many e-mails a second", released, quotaErrors},
	{400, "ThrottlingException", "Daily message quota exceeded", "too many e-mails a day", released, quotaErrors},
	{400, "Throttling", "", "throttled", released, queryErrors},
	{400, "ConfigurationSetDoesNotExist", "", "a configuration set does not exist", released, queryErrors},
	{400, "MailFromDomainNotVerified", "", "our MAIL FROM domain is not verified", released, queryErrors},
	{400, "AccountSendingPausedException", "Email sending is paused", "the account is paused", released, queryErrors},

	{400, "MessageRejected", "Email address is not verified. The following identities failed the check in region US-EAST-1: once@example.com",
		"the sender is not verified", released, sendingErrors},
	{400, "MessageRejected", "Email address is not verified. The following identities failed the check in region US-EAST-1: ada@example.com",
		"the account is in the sandbox", released, sendingErrors},
	{400, "MessageRejected", "Account is paused", "the account is paused", released, sendingErrors},
	{400, "MessageRejected", "Sending paused for this account. For more information, please check the inbox of the email address",
		"the account is paused", released, pausedAccount},
	{400, "MessageRejected", "Sending suspended for this account.", "the account is suspended", released, pausedAccount},
	{400, "MessageRejected", "Email contains a virus, ada@example.com", "our letter has a virus", released, sendEmailErrors},
	{400, "MessageRejected", "Illegal address", "not a code for addresses", released, sendEmailErrors},
	{400, "MessageRejected", "Address blacklisted.", "no answer of today's SES, which accepts", released, suppressionList},
	{400, "BadRequestException", "Email address is not verified.", "the sender is not verified", released, sendingErrors},
	{400, "BadRequestException", "There are no recipients specified", "the request is malformed", released, sendingErrors},
	{400, "BadRequestException", "Mail FROM domain is not verified", "our MAIL FROM domain is not verified", released, sendingErrors},
	{400, "BadRequestException", "Configuration set does not exist", "a configuration set does not exist", released, sendingErrors},
	{400, "BadRequestException", "Invalid From address", "the sender is invalid", released, sendEmailErrors},
	{400, "BadRequestException", "Invalid email address <once@example.com>.", "the sender is invalid", released, sendEmailErrors},
	{400, "BadRequestException", "Domain contains illegal character in the MAIL FROM domain", "our MAIL FROM domain is invalid", released, sendEmailErrors},
	{400, "InvalidParameterValue", "Illegal address", "an address is invalid, in a code that SES v2 does not use for it", released, queryErrors},

	{400, "BadRequestException", "There are non-ASCII characters in the email address", "the address is invalid", refused, sendingErrors},
	{400, "BadRequestException", "Illegal address", "the address is invalid", refused, "https://github.com/awsdocs/aws-doc-sdk-examples/pull/5191"},
	{400, "BadRequestException", "Invalid email address ada@example.com.", "the address is invalid", refused, "https://github.com/domdomegg/aws-ses-v2-local/issues/44"},
	{400, "BadRequestException", "Invalid email address <ada@example.com>.", "the address is invalid", refused, "https://github.com/domdomegg/aws-ses-v2-local/issues/44"},
	{400, "BadRequestException", "Missing local name", "the address is invalid", refused, "https://github.com/arithmetric/aws-lambda-ses-forwarder/issues/103"},
	{400, "BadRequestException", "Missing domain", "the address is invalid", refused, "https://github.com/brave/accounts/issues/35"},
	{400, "BadRequestException", "Missing final '@domain'", "the address is invalid", refused, "https://github.com/anymail/django-anymail/issues/281"},
	{400, "BadRequestException", "Local address contains control or whitespace", "the address is invalid", refused, "https://github.com/openstax/accounts/issues/253"},
	{400, "BadRequestException", "Local address contains illegal character", "the address is invalid", refused, "https://github.com/hcengineering/platform/issues/7864"},
	{400, "BadRequestException", "Domain contains control or whitespace", "the address is invalid", refused, "https://github.com/monde-sistemas/delphi-aws-ses/issues/22"},
	{400, "BadRequestException", "Domain contains illegal character", "the address is invalid", refused, "https://github.com/awslabs/aws-sdk-rust/issues/881"},
}

// C57: each documented answer, through two deliveries.
func TestC57_DocumentedAnswers(t *testing.T) {
	for _, a := range answers {
		t.Run(fmt.Sprintf("%d %s, %s", a.status, a.code, a.means), func(t *testing.T) {
			t.Logf("text %q, source %s", a.text, a.source)
			wantAnswered(t, reply{status: a.status, code: a.code, text: a.text}, a.state)
		})
	}
}

// C57: every error that the SDK can read from SES is among the answers, with the status that the SDK
// documents. A new release of the SDK may know a new one: look up what it means.
func TestC57_EveryErrorOfTheSDKIsKnown(t *testing.T) {
	known := map[string]int{}
	for _, a := range answers {
		if known[a.code] == 0 {
			known[a.code] = a.status
		}
	}
	errors := 0
	for _, entry := range sesv2.TypeRegistry.Entries {
		err, ok := entry.New().(smithy.APIError)
		if !ok {
			continue
		}
		errors++
		documented, ok := smithy.SchemaTrait[*smithytraits.HTTPError](entry.Schema)
		if !ok || known[err.ErrorCode()] != documented.Code {
			t.Errorf("%s: the answers have status %d, the SDK has %+v", err.ErrorCode(), known[err.ErrorCode()], documented)
		}
	}
	if errors < 13 {
		t.Errorf("errors of the SDK: got %d, want the 13 of v1.79.9 and those that were added", errors)
	}
}

// C57: a status says whether an answer with a code that nobody knows was SES's no.
func TestC57_StatusesOfAnUnknownCode(t *testing.T) {
	for _, tt := range []struct {
		state    intent.State
		statuses []int
	}{
		{released, []int{400, 401, 402, 403, 404, 405, 407, 409, 410, 413, 421, 422, 425, 429, 431, 451, 499}},
		{doubt, []int{300, 302, 304, 307, 408, 500, 501, 502, 503, 504, 507, 599}},
	} {
		for _, status := range tt.statuses {
			t.Run(fmt.Sprint(status), func(t *testing.T) {
				wantAnswered(t, reply{status: status, code: "UnpoeticException", text: "ada@example.com"}, tt.state)
			})
		}
	}
}

// What is not an answer of SES's form, and what has its form but contradicts itself, says nothing of the
// e-mail.
func TestAnswers(t *testing.T) {
	does := func(f func(http.ResponseWriter)) reply {
		return reply{does: func(w http.ResponseWriter, _ *http.Request) { f(w) }}
	}
	says := func(text string) reply {
		return does(func(w http.ResponseWriter) { _, _ = w.Write([]byte(text)) })
	}
	tests := []struct {
		name  string
		reply reply
		state intent.State
	}{
		{"accepted", reply{}, completed},
		{"500, but it was sent", reply{status: 500, code: "InternalServiceErrorException", sends: true}, doubt},
		{"503 that calls itself throttling", reply{status: 503, code: "ThrottlingException"}, doubt},
		{"500 that calls itself a bad address", reply{status: 500, code: "BadRequestException", text: "Illegal address"}, doubt},
		{"400 that calls itself a server's failure", reply{status: 400, code: "InternalServiceErrorException"}, doubt},
		{"400 that calls itself a common failure", reply{status: 400, code: "InternalFailure"}, doubt},
		{"400 that calls itself an outage", reply{status: 400, code: "ServiceUnavailable"}, doubt},
		{"400 that calls itself a time-out", reply{status: 400, code: "RequestTimeoutException"}, doubt},
		{"504 of a proxy", reply{status: 504, body: "<html>ada@example.com</html>", sends: true}, doubt},
		{"429 of a proxy", reply{status: 429, body: "<html>ada@example.com</html>"}, doubt},
		{"403 without a code", reply{status: 403, body: "{}"}, doubt},
		{"hung up", does(func(http.ResponseWriter) { panic(http.ErrAbortHandler) }), doubt},
		{"broken off", does(func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"MessageId":`))
		}), doubt},
		{"not JSON", says("ada@example.com"), doubt},
		{"no message id", says("{}"), doubt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantAnswered(t, tt.reply, tt.state) })
	}
}

// wantAnswered delivers a message whose first e-mail is so answered, and once more: what became of the
// record, and how many e-mails left.
func wantAnswered(t *testing.T, answer reply, state intent.State) {
	t.Helper()
	w := newFixture(t, answer)
	first := w.worker(t, 0)
	listed := first.deliver(t, lesson)
	w.wantState(t, "first delivery", state)
	if (len(listed) == 0) != state.Final() {
		t.Errorf("first delivery: listed %v with a record that is %s", listed, state)
	}
	if got := w.ses.requests(); got != 1 {
		t.Errorf("requests to SES in one delivery: got %d, want 1", got)
	}
	left := len(w.ses.sent())
	if want := fmt.Sprintf(`{"reason":"invalid_address","code":%q}`, answer.code); state == refused {
		if got := string(w.record(t).Result.JSON); got != want {
			t.Errorf("result: got %s, want %s", got, want)
		}
	}

	kind := map[intent.State]intent.Kind{completed: intent.Replayed, refused: intent.Refused, released: intent.Executed, doubt: intent.InDoubt}[state]
	if state == released {
		state = completed
		left++
	}
	w.worker(t, lapse).wantOne(t, "second delivery", lesson, kind, state)
	if got := len(w.ses.sent()); got != left {
		t.Errorf("e-mails after the second delivery: got %d, want %d", got, left)
	}
}
