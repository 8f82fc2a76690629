package ses_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/aws/smithy-go"

	"github.com/singleeffect/once/infra/local/ses"
)

// sdk is a client that asks once.
func sdk(url string) *sesv2.Client {
	return sesv2.New(sesv2.Options{
		Region: "us-east-1", BaseEndpoint: &url, Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
}

func serve(t *testing.T, s *ses.Server) *sesv2.Client {
	t.Helper()
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	return sdk(listening.URL)
}

func text(s string) *types.Content { return &types.Content{Data: &s} }

// to is an e-mail as it should be; change spoils it.
func to(address string, change ...func(*sesv2.SendEmailInput)) *sesv2.SendEmailInput {
	in := &sesv2.SendEmailInput{
		FromEmailAddress: aws.String("Shop <shop@example.com>"),
		Destination:      &types.Destination{ToAddresses: []string{address}},
		Content:          &types.EmailContent{Simple: &types.Message{Subject: text("Hello"), Body: &types.Body{Text: text("Hello.")}}},
		EmailTags:        []types.MessageTag{{Name: aws.String("intent"), Value: aws.String("0-1_a")}},
	}
	for _, c := range change {
		c(in)
	}
	return in
}

// code is how a request was refused, "" if it was not.
func code(err error) string {
	var answer smithy.APIError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &answer):
		return answer.ErrorCode()
	}
	return "no answer"
}

func TestSend(t *testing.T) {
	s := ses.New(ses.Config{})
	client := serve(t, s)
	ids := map[string]bool{}
	for _, address := range []string{"ada@example.com", "bob@example.com", "ada@example.com"} { // SES knows no duplicates
		out, err := client.SendEmail(t.Context(), to(address))
		if err != nil {
			t.Fatal(err)
		}
		ids[*out.MessageId] = true
	}
	if len(ids) != 3 {
		t.Errorf("message ids: got %v, want three", ids)
	}
	sent := s.Sent()
	if got, want := sent.ByRecipient(), map[string]int{"ada@example.com": 2, "bob@example.com": 1}; !maps.Equal(got, want) {
		t.Errorf("by recipient: got %v, want %v", got, want)
	}
	first := sent[0]
	if !ids[first.ID] || first.From != "Shop <shop@example.com>" || first.Subject != "Hello" || first.Text != "Hello." || first.Tags["intent"] != "0-1_a" {
		t.Errorf("first e-mail: got %+v", first)
	}
}

func TestRefusals(t *testing.T) {
	simple := func(in *sesv2.SendEmailInput) *types.Message { return in.Content.Simple }
	tests := map[string]func(*sesv2.SendEmailInput){
		"no sender":            func(in *sesv2.SendEmailInput) { in.FromEmailAddress = nil },
		"sender no address":    func(in *sesv2.SendEmailInput) { in.FromEmailAddress = aws.String("shop") },
		"recipient no address": func(in *sesv2.SendEmailInput) { in.Destination.ToAddresses[0] = "ada" },
		"recipient not ASCII":  func(in *sesv2.SendEmailInput) { in.Destination.ToAddresses[0] = "ada@bücher.example" },
		"sender not ASCII":     func(in *sesv2.SendEmailInput) { in.FromEmailAddress = aws.String("shop@bücher.example") },
		"no destination":       func(in *sesv2.SendEmailInput) { in.Destination = nil },
		"no recipient":         func(in *sesv2.SendEmailInput) { in.Destination.ToAddresses = nil },
		"51 recipients": func(in *sesv2.SendEmailInput) {
			in.Destination.BccAddresses = strings.Split(strings.Repeat("bob@example.com ", 50), " ")[:50]
		},
		"no content":     func(in *sesv2.SendEmailInput) { in.Content = &types.EmailContent{} },
		"empty subject":  func(in *sesv2.SendEmailInput) { simple(in).Subject = text("") },
		"no body":        func(in *sesv2.SendEmailInput) { simple(in).Body = &types.Body{} },
		"a tag of words": func(in *sesv2.SendEmailInput) { in.EmailTags[0].Value = aws.String("two words") },
	}
	s := ses.New(ses.Config{})
	client := serve(t, s)
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := client.SendEmail(t.Context(), to("ada@example.com", change))
			if got := code(err); got != "BadRequestException" {
				t.Errorf("got %q (%v), want BadRequestException", got, err)
			}
		})
	}
	if got := len(s.Sent()); got != 0 {
		t.Errorf("sent %d e-mails that were refused", got)
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name  string
		fault ses.Fault
		code  string
		sent  int
	}{
		{"none", ses.Fault{}, "", 1},
		{"rejected", ses.Fault{Refuse: ses.Rejected}, "MessageRejected", 0},
		{"its own", ses.Fault{Refuse: &ses.Error{Status: 500, Code: "InternalServiceErrorException"}}, "InternalServiceErrorException", 0},
		{"lost reply", ses.Fault{Drop: true}, "no answer", 1},
		{"lost refusal", ses.Fault{Drop: true, Refuse: ses.Rejected}, "no answer", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var asked, left atomic.Int32
			s := ses.New(ses.Config{
				Fault:     func(ses.Email) ses.Fault { asked.Add(1); return tt.fault },
				AfterSend: func(ses.Email) { left.Add(1) },
			})
			_, err := serve(t, s).SendEmail(t.Context(), to("ada@example.com"))
			if got := code(err); got != tt.code {
				t.Errorf("got %q (%v), want %q", got, err, tt.code)
			}
			if len(s.Sent()) != tt.sent || int(left.Load()) != tt.sent || asked.Load() != 1 {
				t.Errorf("sent %d, told of %d, asked about %d, want %d e-mails", len(s.Sent()), left.Load(), asked.Load(), tt.sent)
			}
		})
	}
}

// A throttled request is answered before anything in it is looked at: one that SES could not read is
// told of it only when it comes again.
func TestThrottled(t *testing.T) {
	throttled, looked := true, 0
	s := ses.New(ses.Config{
		Throttle: func() bool { return throttled },
		Fault:    func(ses.Email) (f ses.Fault) { looked++; return f },
	})
	client := serve(t, s)
	for _, tt := range []struct{ address, code string }{{"ada@example.com", ""}, {"ada", "BadRequestException"}} {
		throttled = true
		if _, err := client.SendEmail(t.Context(), to(tt.address)); code(err) != "TooManyRequestsException" {
			t.Errorf("%s, throttled: got %q (%v), want TooManyRequestsException", tt.address, code(err), err)
		}
		throttled = false
		if _, err := client.SendEmail(t.Context(), to(tt.address)); code(err) != tt.code {
			t.Errorf("%s, again: got %q (%v), want %q", tt.address, code(err), err, tt.code)
		}
	}
	w := httptest.NewRecorder()
	throttled = true
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v2/email/outbound-emails", strings.NewReader("{")))
	if w.Code != http.StatusTooManyRequests {
		t.Errorf("no JSON, throttled: got %d %s", w.Code, w.Body)
	}
	if len(s.Sent()) != 1 || looked != 1 {
		t.Errorf("sent %d e-mails, looked at %d, want the one that is not throttled", len(s.Sent()), looked)
	}
}

func TestOtherRequests(t *testing.T) {
	s := ses.New(ses.Config{})
	_, err := serve(t, s).ListEmailIdentities(t.Context(), &sesv2.ListEmailIdentitiesInput{})
	if got := code(err); got != "UnknownOperationException" {
		t.Errorf("another operation: got %q (%v)", got, err)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v2/email/outbound-emails", strings.NewReader("{")))
	if w.Code != http.StatusBadRequest || w.Header().Get("X-Amzn-ErrorType") != "SerializationException" {
		t.Errorf("no JSON: got %d %s", w.Code, w.Body)
	}
}
