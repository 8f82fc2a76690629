package dynamo

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
)

// HideAnswers is an API option for clients of AWS's services, of DynamoDB's by Tune. It keeps what a service says of a
// request out of the text of its error, which is logged and becomes the reason of a quarantine: DynamoDB's "The parameter
// cannot be converted to a numeric value: …" and SQS's "Value … for parameter … is invalid" quote what was sent, and that is
// payload. The code and the request's id are left, and errors.As finds the error as it was.
func HideAnswers(stack *middleware.Stack) error {
	const id = "HideAnswers"
	if _, ok := stack.Initialize.Get(id); ok {
		return nil // by the client's configuration, too
	}
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc(id, func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleInitialize(ctx, in)
		var answer smithy.APIError
		if errors.As(err, &answer) && answer.ErrorMessage() != "" && !speaksOfUs(answer.ErrorCode()) {
			err = &answerError{err, answer.ErrorMessage()}
		}
		return out, metadata, err
	}), middleware.Before)
}

// speaksOfUs reports a code whose text names the role, the action and the resource, and nothing of the request: without it nobody
// knows which permission is missing.
func speaksOfUs(code string) bool { return code == "AccessDeniedException" || code == "AccessDenied" }

// answerError is a service's error without its message.
type answerError struct {
	err     error
	message string
}

func (e *answerError) Error() string { return strings.ReplaceAll(e.err.Error(), ": "+e.message, "") }

func (e *answerError) Unwrap() error { return e.err }
