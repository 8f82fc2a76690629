package ses

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/mail"
	"regexp"
	"strings"
	"unicode"
)

// Email is one e-mail.
type Email struct {
	ID      string // SES's message id; "" for one that was not sent
	From    string
	To      []string
	Subject string
	Text    string
	Tags    map[string]string
}

// Emails is a list of e-mails in the order they were sent.
type Emails []Email

// ByRecipient counts the e-mails that went to each address.
func (e Emails) ByRecipient() map[string]int {
	counts := map[string]int{}
	for _, email := range e {
		for _, to := range email.To {
			counts[to]++
		}
	}
	return counts
}

// request is what this stand-in knows of SendEmail's.
type request struct {
	FromEmailAddress string
	Destination      struct{ ToAddresses, CcAddresses, BccAddresses []string }
	Content          struct {
		Simple *struct {
			Subject struct{ Data string }
			Body    struct{ Text, Html struct{ Data string } }
		}
	}
	EmailTags []struct{ Name, Value string }
}

// tag is what a message tag's name and value may be.
// Source: https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_MessageTag.html
var tag = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// maxRecipients is SES's limit on the recipients of one e-mail.
// Source: https://docs.aws.amazon.com/ses/latest/dg/quotas.html
const maxRecipients = 50

// read takes the e-mail out of a request, or says what SES refuses of it.
func read(r *http.Request) (Email, *Error) {
	var in request
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return Email{}, &Error{http.StatusBadRequest, "SerializationException", err.Error()}
	}
	to := append(append(in.Destination.ToAddresses, in.Destination.CcAddresses...), in.Destination.BccAddresses...)
	switch {
	case in.Content.Simple == nil:
		return Email{}, bad("Content must be Simple: nothing else is known here")
	case len(to) == 0:
		return Email{}, bad("There are no recipients specified")
	case len(to) > maxRecipients:
		return Email{}, bad("Recipient count exceeds %d", maxRecipients)
	case in.Content.Simple.Subject.Data == "":
		return Email{}, bad("Subject is empty")
	case in.Content.Simple.Body.Text.Data == "" && in.Content.Simple.Body.Html.Data == "":
		return Email{}, bad("Body is empty")
	}
	for _, address := range append([]string{in.FromEmailAddress}, to...) {
		if _, err := mail.ParseAddress(address); err != nil {
			return Email{}, bad("Illegal address")
		}
		// Source: https://docs.aws.amazon.com/ses/latest/dg/troubleshoot-error-messages.html
		if strings.ContainsFunc(address, func(r rune) bool { return r > unicode.MaxASCII }) {
			return Email{}, bad("There are non-ASCII characters in the email address")
		}
	}
	email := Email{From: in.FromEmailAddress, To: to, Subject: in.Content.Simple.Subject.Data, Text: in.Content.Simple.Body.Text.Data, Tags: map[string]string{}}
	for _, t := range in.EmailTags {
		if !tag.MatchString(t.Name) || !tag.MatchString(t.Value) {
			return Email{}, bad("Invalid tag %q, value %q", t.Name, t.Value)
		}
		email.Tags[t.Name] = t.Value
	}
	return email, nil
}

func bad(format string, a ...any) *Error {
	return &Error{http.StatusBadRequest, "BadRequestException", fmt.Sprintf(format, a...)}
}
