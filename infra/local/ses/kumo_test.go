package ses_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/sivchari/kumo"

	"github.com/singleeffect/once/infra/local/ses"
)

// TestSameAsKumo asks both for the same. (kumo looks at no address, subject or tag.)
func TestSameAsKumo(t *testing.T) {
	theirs := kumo.NewServer()
	t.Cleanup(theirs.Close)
	s := ses.New(ses.Config{})
	clients := map[string]*sesv2.Client{"kumo": sdk(theirs.URL), "the stand-in": serve(t, s)}
	tests := []struct {
		name   string
		twice  bool
		change func(*sesv2.SendEmailInput)
		code   string
		sent   int
	}{
		{name: "one", sent: 1},
		{name: "the same again", twice: true, sent: 2},
		{name: "no destination", change: func(in *sesv2.SendEmailInput) { in.Destination = nil }, code: "BadRequestException"},
		{name: "no content", change: func(in *sesv2.SendEmailInput) { in.Content = &types.EmailContent{} }, code: "BadRequestException"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			address := rand.Text() + "@example.com" // kumo's list is one for all
			in := to(address)
			if tt.change != nil {
				tt.change(in)
			}
			for name, client := range clients {
				out, err := client.SendEmail(t.Context(), in)
				if tt.twice && err == nil {
					out, err = client.SendEmail(t.Context(), in)
				}
				if got := code(err); got != tt.code {
					t.Errorf("%s: got %q (%v), want %q", name, got, err, tt.code)
				}
				if err == nil && (out.MessageId == nil || *out.MessageId == "") {
					t.Errorf("%s: no message id", name)
				}
			}
			ours := s.Sent().ByRecipient()[address]
			if kumos := kumoSent(t, theirs.URL)[address]; ours != tt.sent || kumos != tt.sent {
				t.Errorf("sent: got %d here and %d at kumo, want %d", ours, kumos, tt.sent)
			}
		})
	}
}

// kumoSent counts kumo's e-mails by recipient.
func kumoSent(t *testing.T, url string) map[string]int {
	t.Helper()
	response, err := http.Get(url + "/kumo/ses/v2/sent-emails")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var list struct {
		SentEmails []struct {
			Destination struct{ ToAddresses []string }
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	sent := map[string]int{}
	for _, e := range list.SentEmails {
		for _, to := range e.Destination.ToAddresses {
			sent[to]++
		}
	}
	return sent
}
