package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"

	"github.com/singleeffect/once/shared/environment"
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
func newSES(cfg aws.Config, from string) sesAPI {
	return sesAPI{from: from, client: sesv2.NewFromConfig(cfg, func(o *sesv2.Options) {
		o.Retryer = aws.NopRetryer{}
		o.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.DisableKeepAlives = true })
	})}
}

// send hands over one letter and returns SES's message id. Its error is a verdict: see failed.
func (s sesAPI) send(ctx context.Context, address string, l letter, tag string) (string, error) {
	content := func(text string) *types.Content { return &types.Content{Data: &text, Charset: aws.String(utf8)} }
	var way line
	out, err := s.client.SendEmail(ctx, &sesv2.SendEmailInput{
		FromEmailAddress: &s.from,
		Destination:      &types.Destination{ToAddresses: []string{address}},
		Content:          &types.EmailContent{Simple: &types.Message{Subject: content(l.subject), Body: &types.Body{Text: content(l.text)}}},
		EmailTags:        []types.MessageTag{{Name: aws.String(intentTag), Value: &tag}},
	}, way.watch)
	if err != nil {
		return "", failed(err, way.up.Load())
	}
	if aws.ToString(out.MessageId) == "" {
		return "", &sesError{Status: http.StatusOK, Code: "no message id"}
	}
	return *out.MessageId, nil
}

// line is the way to SES of one request. Until it is up, nothing can have been sent.
type line struct {
	next sesv2.HTTPClient
	up   atomic.Bool
}

// watch is an option of one call. The trace is put on the request to SES alone: on the call's context
// it would see the connections of those who fetch credentials, too.
func (l *line) watch(o *sesv2.Options) {
	l.next = o.HTTPClient
	o.HTTPClient = l
}

func (l *line) Do(r *http.Request) (*http.Response, error) {
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { l.up.Store(true) }}
	return l.next.Do(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
}

// checkSender returns an *environment.Error unless e-mails can come from the address, which is one bare
// address, as the role's ses:FromAddress compares it. One that SES could not read would make it turn
// away every letter as a bad request.
func checkSender(from string) error {
	if !deliverable(from) {
		return &environment.Error{Invalid: []string{fmt.Sprintf("EMAIL_FROM=%q is not one bare e-mail address", from)}}
	}
	return nil
}
