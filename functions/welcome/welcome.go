package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
)

// operation is the name of this effect within the scope. It is part of every record's key and of
// every row's: renaming it makes old intents new ones.
const operation = "welcome"

// greeting is the body of a message. Its key is the handler's to find.
type greeting struct {
	UserID intent.ID `json:"user_id"`
	Kind   kind      `json:"kind"`
}

// Validate returns an *intent.PayloadError that names the field at fault. No delivery makes a kind of
// letter known that this release does not have.
func (g *greeting) Validate() error {
	if err := g.UserID.Validate("user_id"); err != nil {
		return err
	}
	if !slices.Contains(kinds[:], g.Kind) {
		return &intent.PayloadError{Field: "kind", Reason: fmt.Sprintf("is missing or not one of %v", kinds)}
	}
	return nil
}

// receipt is the result of an e-mail that was sent, and what every duplicate gets back. Sent is
// accepted by SES; whether it arrives is another story.
type receipt struct {
	MessageID string `json:"message_id"` // SES's
	EmailID   string `json:"email_id"`   // of the row, and the e-mail's tag "intent"
}

// refusal is the result of an e-mail that will not be sent.
type refusal struct {
	Reason string `json:"reason"`
	Code   string `json:"code,omitempty"` // SES's error code
}

// The reasons of a refusal.
const (
	unknownUser       = "unknown_user"
	noAddress         = "no_address"
	invalidAddress    = "invalid_address"      // by our own check or by SES's
	nonASCIILocalPart = "non_ascii_local_part" // which SES cannot send to
)

// recipient is who gets the e-mail. Neither field is ever logged.
type recipient struct {
	address string
	name    string // may be empty
}

// mailer sends the e-mail of one intent: the effect.
type mailer struct {
	// user looks a recipient up; false if there is no such user.
	user func(ctx context.Context, id string) (recipient, bool, error)

	// send hands the letter to SES, tagged with the intent's downstream key, and returns SES's message id.
	send func(ctx context.Context, address string, l letter, tag string) (messageID string, err error)

	emails emailsTable
	now    func() time.Time
}

// welcome is the intent.Effect. A Blind attempt never follows one that may have sent, so each verdict
// here, its own checks' too, speaks of the whole intent.
func (m mailer) welcome(ctx context.Context, g greeting, a intent.Attempt) (any, error) {
	to, found, err := m.user(ctx, string(g.UserID))
	switch {
	case err != nil:
		return nil, intent.NotApplied(fmt.Errorf("read user: %w", err))
	case !found:
		return nil, notYet(a, unknownUser)
	case to.address == "":
		return nil, notYet(a, noAddress)
	}
	address, reason := deliverable(to.address)
	if reason != "" {
		return nil, intent.Refuse(refusal{Reason: reason})
	}
	l, err := render(g.Kind, to.name)
	if err != nil {
		return nil, intent.NotApplied(err)
	}
	id, err := m.send(ctx, address, l, a.Downstream)
	if err != nil {
		return nil, err
	}
	row := m.emails.put(email{id: a.Downstream, user: string(g.UserID), kind: g.Kind, messageID: id, sentAt: m.now()})
	return dynamo.WithWrites(receipt{MessageID: id, EmailID: a.Downstream}, row), nil
}

// notYet is for what may be in the user's row a moment later: whoever signs a user up may send the
// welcome before the row is written. The first receives of the message come back, and a later one is
// refused.
func notYet(a intent.Attempt, reason string) error {
	if a.Early() {
		return intent.NotApplied(fmt.Errorf("%s at receive %d, which may change", reason, a.Receives))
	}
	return intent.Refuse(refusal{Reason: reason})
}
