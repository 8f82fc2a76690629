package intent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxPayloadBytes bounds a body: 1 MiB, the largest message SQS carries
	// (Amazon SQS quotas, "Message size").
	MaxPayloadBytes = 1 << 20

	// MaxPayloadDepth bounds how deep objects and arrays may nest.
	MaxPayloadDepth = 64

	// KeyField is the field of a body that may carry the idempotency key.
	KeyField = "idempotency_key"
)

// Payload is a message body that has been read: see ParsePayload. It is never
// changed, so several deliveries may share it.
type Payload struct {
	canonical []byte
	members   []member // of an object, sorted; nil of any other value
}

// member is a name with its value, in the canonical form of an object.
type member struct {
	name     []byte // without escapes
	from, to int    // of both
	value    int    // where the value begins
	at       int    // byte of the name in the text that was read
}

// ParsePayload reads a JSON body once: what it returns is what the fingerprint covers
// and what the effect gets. A *PayloadError is returned for what is no JSON, not
// UTF-8, larger than MaxPayloadBytes or deeper than MaxPayloadDepth, for an object that
// repeats a name (decoders differ on which one counts) and for half a surrogate pair
// (decoders turn different ones into one character). The error tells a position in
// bytes and quotes nothing.
func ParsePayload(body []byte) (Payload, error) {
	c, err := canonicalise(body)
	if err != nil {
		return Payload{}, err
	}
	return Payload{canonical: c.out, members: c.top}, nil
}

// Canonical returns the one form of all JSON texts that mean the same payload: names
// sorted by their UTF-16 code units, white space dropped, strings with the fewest
// escapes (RFC 8785, sections 3.2.2.2 and 3.2.3), numbers kept as written: through a
// float64, 2^53 and 2^53+1 would be one number.
func (p Payload) Canonical() []byte { return bytes.Clone(p.canonical) }

// Equal reports the same payload, its key's field included.
func (p Payload) Equal(q Payload) bool { return bytes.Equal(p.canonical, q.canonical) }

// IsObject reports a JSON object.
func (p Payload) IsObject() bool { return len(p.canonical) > 0 && p.canonical[0] == '{' }

// Field returns a copy of the canonical value of an object's own field; nil if it has
// none of that name.
func (p Payload) Field(name string) json.RawMessage {
	for _, m := range p.members {
		if string(m.name) == name {
			return bytes.Clone(p.canonical[m.value:m.to])
		}
	}
	return nil
}

// Fingerprint is the SHA-256 of the canonical form without the top-level KeyField,
// which is the key however it is written: as 1, as "1", or in an attribute instead.
func (p Payload) Fingerprint() Fingerprint {
	for i, m := range p.members {
		if string(m.name) != KeyField {
			continue
		}
		from, to := m.from, m.to
		if i+1 < len(p.members) {
			to++ // the comma behind it
		} else if i > 0 {
			from-- // the comma before it
		}
		h := sha256.New()
		h.Write(p.canonical[:from])
		h.Write(p.canonical[to:])
		return Fingerprint(h.Sum(nil))
	}
	return sha256.Sum256(p.canonical)
}

// Fingerprint tells payloads under one key apart.
type Fingerprint [sha256.Size]byte

// String is the fingerprint in hexadecimal, as the record stores it.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// Decode reads a payload into P and, where P has a method Validate() error,
// calls it. Every error is a *PayloadError. It names the field, or the Go type that
// could not be read, and quotes nothing, unless P's own Validate does.
//
// What is read is the canonical form: of "amount" and "Amount" encoding/json
// takes the one that comes last, so that two payloads of one fingerprint could
// ask for two things.
func Decode[P any](payload Payload) (P, error) {
	var p P
	if payload.canonical == nil {
		return p, &PayloadError{Reason: "is missing"}
	}
	err := json.Unmarshal(payload.canonical, &p)
	if err == nil {
		if v, ok := any(&p).(interface{ Validate() error }); ok {
			err = v.Validate()
		}
		if err == nil {
			return p, nil
		}
		var field *PayloadError
		if errors.As(err, &field) {
			return p, field
		}
		return p, &PayloadError{Reason: err.Error()}
	}
	var mismatch *json.UnmarshalTypeError
	var field *PayloadError
	switch {
	case errors.As(err, &field):
		return p, field
	case errors.As(err, &mismatch):
		// Behind the kind, encoding/json quotes a number, and our own types say more.
		kind, hint, _ := strings.Cut(mismatch.Value, ": ")
		kind, _, _ = strings.Cut(kind, " ")
		reason := "is a JSON " + kind + " that is no " + mismatch.Type.String()
		if slices.Contains(timeHints, hint) { // else it may be the name of a map's member
			reason += ": " + hint
		}
		return p, &PayloadError{Field: mismatch.Field, Reason: reason}
	}
	// Of a type's own UnmarshalJSON, such as time.Time's, which quotes the value.
	return p, &PayloadError{Reason: fmt.Sprintf("cannot be read: %T", err)}
}
