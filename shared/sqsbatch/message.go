package sqsbatch

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
)

const (
	// KeyAttribute is the message attribute that carries the idempotency key.
	KeyAttribute = "Idempotency-Key"

	// KeyField is the field of the body that carries it.
	KeyField = "idempotency_key"
)

// read takes from a message what identifies its intent, before anything runs. Its
// error may be a *keyConflict.
func (b *Batch) read(m events.SQSMessage) (intent.Delivery, error) {
	l, err := open(m)
	d := intent.Delivery{Payload: []byte(l.Body), MessageID: m.MessageId, Receives: receives(m), SentAt: l.sent}
	if err != nil {
		return d, err
	}
	// The whole body is read, whatever part of it counts: one that decoders
	// understand differently is not run.
	if d.Fingerprint, err = intent.FingerprintOf(d.Payload); err != nil {
		return d, err
	}
	if l.fields == nil {
		return d, &intent.PayloadError{Reason: "is no JSON object"}
	}
	if b.keyless {
		return d, nil // whatever key and time it carries for others
	}
	if l.unusable != nil {
		return d, l.unusable
	}
	if b.Select != nil {
		selected, err := b.Select([]byte(l.Body)) // a copy of its own, which it may spoil
		if err != nil {
			return d, fmt.Errorf("select what the fingerprint covers: %w", err)
		}
		if d.Fingerprint, err = intent.FingerprintOf(selected); err != nil {
			return d, fmt.Errorf("fingerprint what was selected: %w", err)
		}
	}
	d.Key, err = b.key(l)
	return d, err
}

// receives is how often SQS has delivered the message; 0 if it does not say so.
func receives(m events.SQSMessage) int {
	n, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// key looks in the attributes, then in the body, then asks the configured
// function. A null or empty key where one is present is no key: falling through
// would give the message another one than its producer meant. One in several
// places must be the same in all.
func (b *Batch) key(l letter) (string, error) {
	field, inBody, err := keyField(l.fields)
	if err != nil {
		return "", err
	}
	keys := l.keys
	if inBody {
		keys = append(keys[:len(keys):len(keys)], field)
	}
	if len(keys) > 0 {
		for _, key := range keys[1:] {
			if key != keys[0] {
				return "", &keyConflict{keys[0], key}
			}
		}
		return keys[0], nil
	}
	if b.Key == nil {
		return "", intent.ErrNoKey
	}
	key, err := b.Key(l.SQSMessage)
	if err == nil && key == "" {
		err = intent.ErrNoKey
	}
	return key, err
}

// keyConflict is a message that asks for two intents.
type keyConflict struct{ one, other string }

func (e *keyConflict) Error() string {
	return fmt.Sprintf("two keys in one message: %.64q and %.64q", e.one, e.other)
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

// keyField reads the key as written: 1 and "1" are the same one, 0 and false are
// values.
func keyField(fields map[string]json.RawMessage) (key string, present bool, err error) {
	raw, present := fields[KeyField]
	if !present {
		return "", false, nil
	}
	switch raw[0] {
	case '"':
		err = json.Unmarshal(raw, &key)
	case '{', '[':
		err = &intent.KeyError{Field: "body field " + KeyField, Reason: "is neither a string, a number nor a truth value"}
	case 'n':
	default:
		key = string(raw)
	}
	if err == nil && key == "" {
		err = fmt.Errorf("%w: body field %s is null or empty", intent.ErrNoKey, KeyField)
	}
	return key, true, err
}
