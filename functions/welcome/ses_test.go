package main

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/calls"
)

// sesConfig leads to a local SES. That it asks for ten attempts, as AWS_MAX_ATTEMPTS may, must not
// matter.
func sesConfig(url string) aws.Config {
	return calls.Config(aws.Config{Region: "us-east-1", BaseEndpoint: &url, RetryMaxAttempts: 10, Credentials: aws.CredentialsProviderFunc(
		func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		})})
}

var hello = letter{subject: "Hello", text: "Hello Ada,\n"}

// disposition says what a send's error means for its intent.
func disposition(err error) string {
	_, refused := intent.Refusal(err)
	switch {
	case err == nil:
		return "sent"
	case refused:
		return "refused"
	case strings.HasPrefix(err.Error(), intent.NotApplied(errors.New("")).Error()):
		return "not applied"
	}
	return "unknown"
}

// A connection that dies after the request has left is a doubt; one that was never there is none.
func TestReach(t *testing.T) {
	notTLS := newFakeSES(t)
	denied := sesConfig(notTLS.url)
	denied.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		// Fetching them took a connection, which says nothing of SES.
		response, err := http.Get(notTLS.url)
		if err == nil {
			_ = response.Body.Close()
		}
		return aws.Credentials{}, errors.Join(err, errors.New("no credentials today"))
	})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		cfg  aws.Config
		want string
	}{
		{"nobody listens", t.Context(), sesConfig("http://127.0.0.1:1"), "not applied"},
		{"no such host", t.Context(), sesConfig("http://ses.invalid"), "not applied"},
		{"no TLS there", t.Context(), sesConfig(strings.Replace(notTLS.url, "http:", "https:", 1)), "not applied"},
		{"no credentials", t.Context(), denied, "not applied"},
		{"no address of SES", t.Context(), sesConfig("::"), "not applied"},
		{"over before it began", over, sesConfig(notTLS.url), "not applied"},
		{"hung up", t.Context(), sesConfig(newFakeSES(t, reply{does: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }}).url), "unknown"},
		{"500", t.Context(), sesConfig(newFakeSES(t, reply{status: 500, code: "InternalFailure"}).url), "unknown"},
		{"sent", t.Context(), sesConfig(newFakeSES(t).url), "sent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := newSES(tt.cfg, "once@example.com").send(tt.ctx, "ada@example.com", hello, "tag")
			if got := disposition(err); got != tt.want {
				t.Errorf("got %s (%v), want %s", got, err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "ada@example.com") {
				t.Errorf("%v tells the address", err)
			}
		})
	}
	if got := len(notTLS.sent()); got != 0 {
		t.Errorf("e-mails of those that were not applied: got %d", got)
	}
}

// Each e-mail has a connection of its own: one that was kept may be dead when a frozen sandbox wakes.
func TestConnectionsAreNotKept(t *testing.T) {
	p := newFakeSES(t)
	api := newSES(sesConfig(p.url), "once@example.com")
	opened := map[string]bool{}
	p.script = []reply{{does: func(w http.ResponseWriter, r *http.Request) {
		opened[r.RemoteAddr] = true
		_, _ = w.Write([]byte(`{"MessageId":"m"}`))
	}}}
	for range 3 {
		if _, err := api.send(t.Context(), "ada@example.com", hello, "tag"); err != nil {
			t.Error(err)
		}
	}
	if len(opened) != 3 {
		t.Errorf("connections for 3 e-mails: got %d", len(opened))
	}
}

// Whom e-mails are from is looked at when the function starts. An internationalised domain is not
// converted, since the role compares the literal: the error says what to write (C66).
func TestCheckSender(t *testing.T) {
	for from, problem := range map[string]string{ // "" for none
		"once@example.com":              "",
		"once+welcome@mail.example.com": "",
		"once@r3---sn.example.com":      "",
		"once@xn--bcher-kva.example":    "",
		"once@bücher.example":           `has a domain that is not ASCII: write "once@xn--bcher-kva.example"`,
		"önce@example.com":              "has a local part that is not ASCII",
		"önce@bücher.example":           "has a local part that is not ASCII",
		"Once <once@example.com>":       "is not one bare e-mail address",
		" once@example.com":             "is not one bare e-mail address",
		"once":                          "is not one bare e-mail address",
		"once@":                         "is not one bare e-mail address",
		"a@example.com,b@example.com":   "is not one bare e-mail address",
		"once@bü_cher.example":          "is not one bare e-mail address",
		"once@localhost":                "is not one bare e-mail address",
		"once@exam_ple.com":             "is not one bare e-mail address", // SES: "Domain contains illegal character"
		"once@[192.0.2.1]":              "is not one bare e-mail address",
		`"on ce"@example.com`:           "is not one bare e-mail address",
	} {
		err := checkSender(from)
		var invalid *environment.Error
		switch {
		case problem == "" && err != nil:
			t.Errorf("%q: got %v, want no error", from, err)
		case problem != "" && (!errors.As(err, &invalid) || !strings.Contains(err.Error(), "EMAIL_FROM="+strconv.Quote(from)+" "+problem)):
			t.Errorf("%q: got %v, want an error that names the variable and says that it %s", from, err, problem)
		}
	}
}
