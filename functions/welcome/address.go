package main

import (
	"fmt"
	"net/mail"
	"regexp"
	"strings"

	"golang.org/x/net/idna"

	"github.com/singleeffect/once/shared/environment"
)

// maxAddress is the most bytes that an address may have: 64, an @ and 255 (RFC 5321, 4.5.3.1).
const maxAddress = 320

// domains makes the ASCII form of an internationalised domain: idna.Lookup with the lengths of labels
// and names checked.
//
// Lookup, not Registration: an address is typed by a person, and lookup maps upper case, full-width
// letters and the ideographic full stop as RFC 5895 says and as browsers do. Registration, which is for
// whoever grants the name, would turn away "BÜCHER.example".
var domains = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.VerifyDNSLength(true))

// deliverable returns the address as SES can take it, or the reason of its refusal. It must be one bare
// address: to a list SES would send. SES takes ASCII alone, with an internationalised domain in Punycode
// and no such form for the local part
// (https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_Destination.html).
//
// A domain that is ASCII is sent as it is, whatever IDNA says of it: names with hyphens in the third and
// fourth place are in use, and the rest SES knows best.
func deliverable(address string) (ascii, reason string) {
	if !bare(address) {
		return "", invalidAddress
	}
	at := strings.LastIndexByte(address, '@')
	local, domain := address[:at], address[at+1:]
	if !isASCII(local) {
		return "", nonASCIILocalPart
	}
	if !isASCII(domain) {
		mapped, err := domains.ToASCII(domain)
		if err != nil {
			return "", invalidAddress
		}
		address = local + "@" + mapped
	}
	if len(address) > maxAddress || !bare(address) {
		return "", invalidAddress
	}
	return address, ""
}

// bare reports whether the text is one address, without a name, comments or quotes.
func bare(text string) bool {
	parsed, err := mail.ParseAddress(text)
	return err == nil && parsed.Name == "" && parsed.Address == text
}

func isASCII(s string) bool {
	for _, b := range []byte(s) {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return true
}

// senderDomain is a name that SES can have verified: letters, digits and hyphens, and more than one label.
var senderDomain = regexp.MustCompile(`@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$`)

// checkSender returns an *environment.Error unless e-mails can come from the address: one bare address,
// ASCII, of a domain that SES can have verified. SES turns away every e-mail of a sender that it cannot
// read, with the texts that it has for a recipient, and each recipient would be refused for good.
//
// An internationalised domain is not converted here. The role allows to send from EMAIL_FROM as it is
// written (ses:FromAddress), so the ASCII form has to stand there; the error says which it is.
func checkSender(from string) error {
	ascii, reason := deliverable(from)
	switch {
	case reason == nonASCIILocalPart:
		return invalidSender(from, "has a local part that is not ASCII, which SES cannot take")
	case reason != "" || !senderDomain.MatchString(ascii):
		return invalidSender(from, "is not one bare e-mail address")
	case ascii != from:
		return invalidSender(from, fmt.Sprintf("has a domain that is not ASCII: write %q", ascii))
	}
	return nil
}

func invalidSender(from, problem string) error {
	return &environment.Error{Invalid: []string{fmt.Sprintf("EMAIL_FROM=%q %s", from, problem)}}
}
