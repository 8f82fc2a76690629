package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/aws/smithy-go"

	"github.com/singleeffect/once/shared/intent"
)

// failed reads the error of a send. reached: a connection to SES was up, so the request may have
// arrived. The order matters.
//
//	not reached                                   not applied
//	no answer, one that is not of SES's form      unknown: SES may have sent it
//	5xx, 408                                      unknown
//	MessageRejected, of our identity or account   not applied
//	MessageRejected                               refused
//	BadRequestException, of the recipient         refused
//	any other 4xx with an error code              not applied
//
// If the call "fails, Amazon SES returns an error message to your application and does not send the
// email" (https://docs.aws.amazon.com/ses/latest/dg/troubleshoot-error-messages.html). That holds for a
// 4xx. Of a 5xx the guide says to retry, and to wait in between "to reduce the likelihood of generating
// duplicates": it may have sent
// (https://docs.aws.amazon.com/ses/latest/DeveloperGuide/api-error-codes.html).
//
// What stays a plain "not applied" is ours to mend, and no reason to refuse a customer's e-mail for
// good: throttling, quotas, a paused or suspended account, domains, permissions, credentials, and
// every code that we do not know. The queue brings it back, and then the dead-letter queue keeps it.
func failed(err error, reached bool) error {
	if !reached {
		return intent.NotApplied(fmt.Errorf("ses was not reached: %w", err))
	}
	var response *awshttp.ResponseError
	if !errors.As(err, &response) || response.HTTPStatusCode() == 0 {
		return fmt.Errorf("call ses: %w", err)
	}
	said := &sesError{Status: response.HTTPStatusCode(), RequestID: response.RequestID}
	var answer smithy.APIError
	if !errors.As(err, &answer) {
		said.Code = "unreadable"
		return said
	}
	said.Code = answer.ErrorCode()
	switch {
	case said.Status < http.StatusBadRequest, said.Status >= http.StatusInternalServerError,
		said.Status == http.StatusRequestTimeout, said.Code == noCode:
		return said
	case ours(answer):
		said.Hint = "an identity or the account is not allowed to send: see SES's console"
		return intent.NotApplied(said)
	case is[*types.MessageRejected](err):
		return intent.Refuse(refusal{Reason: rejected, Code: said.Code})
	case is[*types.BadRequestException](err) && theirs(answer):
		return intent.Refuse(refusal{Reason: invalidAddress, Code: said.Code})
	}
	return intent.NotApplied(said)
}

// noCode is what the SDK makes of an error answer without a code, as a proxy sends it.
const noCode = "UnknownError"

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// ours reports an error whose text speaks of our side, whatever its code says: MessageRejected is also
// SES's answer for "Email address is not verified", of the sender's address or, in the sandbox, of the
// recipient's (https://docs.aws.amazon.com/ses/latest/dg/troubleshoot-error-messages.html), and for
// "Sending paused for this account" (https://github.com/GoodDollar/GoodServer/issues/419).
func ours(answer smithy.APIError) bool {
	return says(answer, "verified", "paused", "suspended")
}

// theirs reports a bad request whose text is one of a mail parser on an address, such as "Domain
// contains illegal character" (https://github.com/awslabs/aws-sdk-rust/issues/881). It does not say
// whose; ours was looked at when the function started: see checkSender.
func theirs(answer smithy.APIError) bool {
	return says(answer, "address", "domain", "recipient", "local name") && !says(answer, "from", "sender", "source", "identity")
}

func says(answer smithy.APIError, words ...string) bool {
	text := strings.ToLower(answer.ErrorMessage())
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
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
