package sqsbatch

import (
	"encoding/json"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
)

const (
	// KeyAttribute is the message attribute that carries the idempotency key.
	KeyAttribute = "Idempotency-Key"

	// KeyField is the field of the body that carries it.
	KeyField = "idempotency_key"
)

// read takes from a message what identifies its intent, before anything runs.
func (b *Batch) read(m events.SQSMessage) (intent.Delivery, error) {
	d := intent.Delivery{Payload: []byte(m.Body), MessageID: m.MessageId}
	var err error
	// The whole body is read, whatever part of it counts: one that decoders
	// understand differently is not run.
	if d.Fingerprint, err = intent.FingerprintOf(d.Payload); err != nil {
		return d, err
	}
	if b.Select != nil {
		selected, err := b.Select([]byte(m.Body)) // a copy of its own, which it may spoil
		if err != nil {
			return d, fmt.Errorf("select what the fingerprint covers: %w", err)
		}
		if d.Fingerprint, err = intent.FingerprintOf(selected); err != nil {
			return d, fmt.Errorf("fingerprint what was selected: %w", err)
		}
	}
	d.Key, err = b.key(m)
	return d, err
}

// key looks in the attributes, then in the body, then asks the configured
// function. A null or empty key where one is present is no key: falling through
// would give the message another one than its producer meant. One in both
// places must be the same in both.
func (b *Batch) key(m events.SQSMessage) (string, error) {
	attribute, inAttributes, err := keyAttribute(m)
	if err != nil {
		return "", err
	}
	field, inBody, err := keyField(m.Body)
	if err != nil {
		return "", err
	}
	switch {
	case inAttributes && inBody && attribute != field:
		return "", &intent.KeyError{Field: "attribute " + KeyAttribute, Reason: fmt.Sprintf("is %.64q, but body field %s is %.64q", attribute, KeyField, field)}
	case inAttributes:
		return attribute, nil
	case inBody:
		return field, nil
	case b.Key == nil:
		return "", intent.ErrNoKey
	}
	key, err := b.Key(m)
	if err == nil && key == "" {
		err = intent.ErrNoKey
	}
	return key, err
}

func keyAttribute(m events.SQSMessage) (key string, present bool, err error) {
	a, present := m.MessageAttributes[KeyAttribute]
	switch {
	case !present:
		return "", false, nil
	case a.StringValue == nil && len(a.BinaryValue) > 0:
		return "", true, &intent.KeyError{Field: "attribute " + KeyAttribute, Reason: "is binary, want a string"}
	case a.StringValue == nil || *a.StringValue == "":
		return "", true, fmt.Errorf("%w: attribute %s is empty", intent.ErrNoKey, KeyAttribute)
	}
	return *a.StringValue, true, nil
}

// keyField reads the key as written: 1 and "1" are the same one, 0 and false are
// values.
func keyField(body string) (key string, present bool, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &fields); err != nil || fields == nil {
		return "", false, &intent.PayloadError{Reason: "is no JSON object"}
	}
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
