package main

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/aws/smithy-go"

	"github.com/singleeffect/once/shared/intent"
)

// classifyError reads the error of a send to the recipient. The order matters.
//
//	the request cannot have arrived               not applied
//	no answer, or one that is not of SES's form   unknown: SES may have sent
//	5xx, 408, a code of the server's trouble      unknown
//	BadRequestException, the recipient's address  refused
//	any other 4xx with an error code              not applied
//
// If the call "fails, Amazon SES returns an error message to your application and does not send the
// email" (https://docs.aws.amazon.com/ses/latest/dg/troubleshoot-error-messages.html). That holds for a
// 4xx. Of a 5xx the guide says to retry, and to wait in between "to reduce the likelihood of generating
// duplicates": it may have sent
// (https://docs.aws.amazon.com/ses/latest/DeveloperGuide/api-error-codes.html).
//
// A refusal is final, so only what is the recipient's own is refused. All else is ours to mend:
// throttling, quotas, a paused or suspended account, identities, permissions, credentials, malformed
// requests, and codes that we do not know. The queue brings it back, and then the dead-letter queue
// keeps it.
//
// MessageRejected is ours, too. Its documented causes are an identity that is not verified, a paused
// account (same guide), and invalid content
// (https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html), which are our letters.
// None is the recipient's: SES accepts an e-mail to a suppressed address and bounces it
// (https://aws.amazon.com/blogs/messaging-and-targeting/goodbye-blacklist-introducing-the-suppression-list).
func classifyError(err error, mayHaveArrived bool, recipient string) error {
	if !mayHaveArrived {
		return intent.NotApplied(fmt.Errorf("request did not reach ses: %w", err))
	}
	var response *awshttp.ResponseError
	if !errors.As(err, &response) || response.HTTPStatusCode() == 0 {
		return fmt.Errorf("call ses: %w", err)
	}
	answered := &sesError{Status: response.HTTPStatusCode(), RequestID: response.RequestID}
	var answer smithy.APIError
	if !errors.As(err, &answer) {
		answered.Code = "unreadable"
		return answered
	}
	answered.Code = answer.ErrorCode()
	switch {
	case answered.Status < http.StatusBadRequest, answered.Status >= http.StatusInternalServerError,
		answered.Status == http.StatusRequestTimeout, answer.ErrorFault() == smithy.FaultServer,
		slices.Contains(unknownOutcomes, answered.Code):
		return answered
	case recipientFault(answer, recipient):
		return intent.Refuse(refusal{Reason: invalidAddress, Code: answered.Code})
	case senderFault(answer):
		answered.Hint = "an identity or the account is not allowed to send: see SES's console"
	}
	return intent.NotApplied(answered)
}

// unknownOutcomes are error codes that do not say whether the request was carried out, whatever status
// they come with. RequestAbortedException is documented with 400, for a request that ended "before a
// reply was sent back" (https://docs.aws.amazon.com/lambda/latest/api/CommonErrors.html). The SDK makes
// UnknownError of an answer without a code, as a proxy sends it.
var unknownOutcomes = []string{
	"UnknownError", "RequestAbortedException", "RequestTimeoutException", "InternalFailure", "ServiceUnavailable",
}

// addressErrors are SES's texts on an address that it cannot read. The last one is documented
// (https://docs.aws.amazon.com/ses/latest/dg/troubleshoot-error-messages.html), the others were
// reported by those who met them:
// https://github.com/awsdocs/aws-doc-sdk-examples/pull/5191,
// https://github.com/domdomegg/aws-ses-v2-local/issues/44,
// https://github.com/arithmetric/aws-lambda-ses-forwarder/issues/103,
// https://github.com/brave/accounts/issues/35, https://github.com/anymail/django-anymail/issues/281,
// https://github.com/openstax/accounts/issues/253,
// https://github.com/hcengineering/platform/issues/7864,
// https://github.com/monde-sistemas/delphi-aws-ses/issues/22,
// https://github.com/awslabs/aws-sdk-rust/issues/881.
var addressErrors = []string{
	"Illegal address",
	"Invalid email address",
	"Missing local name",
	"Missing domain",
	"Missing final '@domain'",
	"Local address contains control or whitespace",
	"Local address contains illegal character",
	"Domain contains control or whitespace",
	"Domain contains illegal character",
	"There are non-ASCII characters in the email address",
}

// recipientFault reports a BadRequestException that is about the recipient's address and nothing else:
// its text is one of addressErrors, alone or with that address. The texts do not say whose address is
// meant. It is not the sender's, which checkSender holds to a stricter syntax.
func recipientFault(answer smithy.APIError, recipient string) bool {
	if _, ok := answer.(*types.BadRequestException); !ok {
		return false
	}
	return slices.ContainsFunc(addressErrors, func(text string) bool {
		rest, found := strings.CutPrefix(answer.ErrorMessage(), text)
		rest = strings.Trim(rest, " .:<>'\"")
		return found && (rest == "" || rest == recipient)
	})
}

// senderFault reports an error that the owner of the account mends in SES's console. It decides no
// verdict: it is a hint for the log.
func senderFault(answer smithy.APIError) bool {
	switch answer.(type) {
	case *types.AccountSuspendedException, *types.SendingPausedException, *types.MailFromDomainNotVerifiedException:
		return true
	}
	return mentions(answer, "verified", "paused", "suspended")
}

func mentions(answer smithy.APIError, words ...string) bool {
	text := strings.ToLower(answer.ErrorMessage())
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// sesError is what may be logged and stored of an answer of SES's. SES's own text is left out: it
// quotes addresses.
type sesError struct {
	Status    int // HTTP
	Code      string
	RequestID string // under which AWS's support knows it
	Hint      string
}

func (e *sesError) Error() string {
	text := fmt.Sprintf("ses answered %d, code %s", e.Status, e.Code)
	if e.RequestID != "" {
		text += ", request " + e.RequestID
	}
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}
