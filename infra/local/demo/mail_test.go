package demo

import (
	"net/http"
	"testing"
)

// sendsMail asks for an e-mail as a function does.
func sendsMail(t *testing.T, s *side, a action) {
	t.Helper()
	r := request(t, environment(s, &welcome)["AWS_ENDPOINT_URL_SESV2"]+"/v2/email/outbound-emails",
		`{"FromEmailAddress":"shop@example.com","Destination":{"ToAddresses":["`+address(a)+`"]},`+
			`"Content":{"Simple":{"Subject":{"Data":"Welcome"},"Body":{"Text":{"Data":"Hello."}}}}}`)
	r.Header.Set("Content-Type", "application/json")
	if response, body, err := ask(t, r); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got answer %v %s and error %v", response, body, err)
	}
}
