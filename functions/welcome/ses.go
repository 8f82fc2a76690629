package main

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"

	"github.com/singleeffect/once/shared/arrival"
)

// intentTag is the message tag that carries the intent's downstream key into SES's events. A value is
// at most 256 characters of A-Z, a-z, 0-9, _ and -, which a downstream key is.
// Source: https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_MessageTag.html
const intentTag = "intent"

// utf8 is the charset of all that we write.
const utf8 = "UTF-8"

// sesAPI sends through SES. IAM: ses:SendEmail on the sending identity.
type sesAPI struct {
	client *sesv2.Client
	from   string
}

// newSES returns a client that sends each e-mail in one request and never in a second one.
//
// No retries: the SDK would repeat a request that ended in a 500 or without an answer, after which SES
// may have sent (https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html). The
// queue retries what is known not to be sent.
//
// No connection is kept for the next e-mail. One that dies while the sandbox is frozen takes the next
// request and gives no answer to it, which is a doubt that a human must settle; a handshake is cheaper.
//
// No timeout: the effect's own context ends it.
//
// No redirects, and no second try of net/http's own: both need a GetBody, and the SDK gives its requests none.
func newSES(cfg aws.Config, from string) sesAPI {
	return sesAPI{from: from, client: sesv2.NewFromConfig(cfg, func(o *sesv2.Options) {
		o.Retryer = aws.NopRetryer{}
		client := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.DisableKeepAlives = true })
		o.HTTPClient = arrival.Client(client.Do)
	})}
}

// send hands over one letter and returns SES's message id. Its error is a verdict: see classifyError.
func (s sesAPI) send(ctx context.Context, address string, l letter, tag string) (string, error) {
	content := func(text string) *types.Content { return &types.Content{Data: &text, Charset: aws.String(utf8)} }
	ctx, call := arrival.Track(ctx)
	out, err := s.client.SendEmail(ctx, &sesv2.SendEmailInput{
		FromEmailAddress: &s.from,
		Destination:      &types.Destination{ToAddresses: []string{address}},
		Content:          &types.EmailContent{Simple: &types.Message{Subject: content(l.subject), Body: &types.Body{Text: content(l.text)}}},
		EmailTags:        []types.MessageTag{{Name: aws.String(intentTag), Value: &tag}},
	})
	if err != nil {
		return "", classifyError(err, call.MayHaveArrived(), address)
	}
	if aws.ToString(out.MessageId) == "" {
		return "", &sesError{Status: http.StatusOK, Code: "no message id"}
	}
	return *out.MessageId, nil
}
