package sqsbatch

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
)

const (
	// KeyAttribute is the message attribute that carries the idempotency key.
	KeyAttribute = "Idempotency-Key"

	// KeyField is the field of the body that carries it.
	KeyField = intent.KeyField
)

// read makes a job of a message, before anything runs. A panic of Key or Select, which
// are the caller's, is this message's own.
func (b *Batch) read(m events.SQSMessage, place int) job {
	j := job{messages: []letter{{SQSMessage: m, place: place}}}
	f := judged(func() (intent.Outcome, error) {
		l, err := open(m)
		l.place = place
		j.messages[0] = l
		if err == nil {
			j.delivery, err = b.delivery(l)
		}
		var conflict *keyConflict
		if errors.As(err, &conflict) {
			return intent.Outcome{Kind: intent.Conflict, Reason: conflict.Error()}, nil
		}
		return intent.Outcome{}, err
	})
	if f.outcome.Kind != "" || len(f.errors) > 0 {
		j.unread = &f
	}
	return j
}

// delivery takes from a message what identifies its intent. Its error may be a
// *keyConflict.
func (b *Batch) delivery(l letter) (intent.Delivery, error) {
	d := intent.Delivery{Payload: l.payload, MessageID: l.MessageId, Receives: receives(l.SQSMessage), SentAt: l.sent}
	if !l.payload.IsObject() {
		return d, &intent.PayloadError{Reason: "is no JSON object"}
	}
	if b.keyless {
		return d, nil // whatever key and time it carries for others
	}
	if l.unusable != nil {
		return d, l.unusable
	}
	d.Fingerprint = l.payload.Fingerprint()
	if b.Select != nil {
		selected, err := b.Select([]byte(l.opened.Body)) // a copy of its own, which it may spoil
		if err != nil {
			return d, fmt.Errorf("select what the fingerprint covers: %w", err)
		}
		part, err := intent.ParsePayload(selected)
		if err != nil {
			return d, fmt.Errorf("read what was selected for the fingerprint: %w", err)
		}
		d.Fingerprint = part.Fingerprint()
	}
	var err error
	d.Key, err = b.key(l)
	return d, err
}

// key looks in the attributes, then in the body, then asks the configured
// function. A null or empty key where one is present is no key: falling through
// would give the message another one than its producer meant. One in several
// places must be the same in all.
func (b *Batch) key(l letter) (string, error) {
	if key, err := l.key(); key != "" || err != nil {
		return key, err
	}
	if b.Key == nil {
		return "", intent.ErrNoKey
	}
	key, err := b.Key(l.opened)
	if err == nil && key == "" {
		err = intent.ErrNoKey
	}
	return key, err
}

// key is what the message's own key is; empty if it carries none.
func (l letter) key() (string, error) {
	keys := l.keys
	if field := l.payload.Field(KeyField); field != nil {
		inBody, err := keyText(field)
		if err != nil {
			return "", err
		}
		keys = append(keys[:len(keys):len(keys)], inBody)
	}
	if len(keys) == 0 {
		return "", nil
	}
	for _, key := range keys[1:] {
		if key != keys[0] {
			return "", &keyConflict{keys[0], key}
		}
	}
	return keys[0], nil
}

// keyConflict is a message that asks for two intents.
type keyConflict struct{ one, other string }

func (e *keyConflict) Error() string {
	return "two keys in one message: " + intent.ShortHash(e.one) + " and " + intent.ShortHash(e.other)
}

func keyAttribute(attributes map[string]events.SQSMessageAttribute) (key string, present bool, err error) {
	a, present := attributes[KeyAttribute]
	switch {
	case !present:
		return "", false, nil
	case len(a.BinaryValue) > 0:
		return "", true, &intent.KeyError{Field: "attribute " + KeyAttribute, Reason: "is binary, want a string"}
	case a.StringValue == nil || *a.StringValue == "":
		return "", true, fmt.Errorf("%w: attribute %s is empty", intent.ErrNoKey, KeyAttribute)
	}
	return *a.StringValue, true, nil
}

// keyText reads the body's key as written: 1 and "1" are the same one, 0 and false are
// values.
func keyText(field json.RawMessage) (key string, err error) {
	switch field[0] {
	case '"':
		err = json.Unmarshal(field, &key)
	case '{', '[':
		err = &intent.KeyError{Field: "body field " + KeyField, Reason: "is neither a string, a number nor a truth value"}
	case 'n':
	default:
		key = string(field)
	}
	if err == nil && key == "" {
		err = fmt.Errorf("%w: body field %s is null or empty", intent.ErrNoKey, KeyField)
	}
	return key, err
}
