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
	"unicode/utf8"
)

const (
	// MaxPayloadBytes bounds a body: 1 MiB, the largest message SQS carries
	// (Amazon SQS quotas, "Message size").
	MaxPayloadBytes = 1 << 20

	// MaxPayloadDepth bounds how deep objects and arrays may nest.
	MaxPayloadDepth = 64
)

// Fingerprint is the SHA-256 of a canonical payload.
type Fingerprint [sha256.Size]byte

// String is the fingerprint in hexadecimal, as the record stores it.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// FingerprintOf returns the fingerprint of a JSON payload's canonical form.
func FingerprintOf(payload []byte) (Fingerprint, error) {
	c, err := Canonical(payload)
	if err != nil {
		return Fingerprint{}, err
	}
	return sha256.Sum256(c), nil
}

// Canonical returns the one form of all JSON texts that mean the same payload:
// object keys sorted, white space dropped, strings written one way, numbers
// kept as written (through a float64, 2^53 and 2^53+1 would be one number).
// A *PayloadError is returned for what is no JSON, not UTF-8, too large or too
// deep, for an object that repeats a key (decoders differ on which one counts)
// and for half a surrogate pair (decoders turn different ones into one character).
func Canonical(payload []byte) ([]byte, error) {
	switch {
	case len(payload) > MaxPayloadBytes:
		return nil, &PayloadError{Reason: fmt.Sprintf("has %d bytes, the limit is %d", len(payload), MaxPayloadBytes)}
	case !utf8.Valid(payload):
		return nil, &PayloadError{Reason: "is not UTF-8"}
	case !json.Valid(payload):
		return nil, &PayloadError{Reason: "is not JSON"}
	}
	c := canonicaliser{in: payload, out: make([]byte, 0, len(payload))}
	if err := c.value(nil, 0); err != nil {
		return nil, err
	}
	return c.out, nil
}

// canonicaliser walks a text that json.Valid accepted, so it looks only for
// where things end.
type canonicaliser struct {
	in  []byte
	pos int
	out []byte
}

// place is where in the payload a value stands. It is written out for an error
// only: a path for each value would cost the square of the payload's size, and
// one message could use up the time of its whole batch.
type place struct {
	parent *place
	key    []byte
	index  int // of an array's element; -1 for an object's member
}

func (p *place) String() string {
	switch {
	case p == nil:
		return ""
	case p.index >= 0:
		return fmt.Sprintf("%s[%d]", p.parent.String(), p.index)
	case p.parent == nil:
		return string(p.key)
	}
	return p.parent.String() + "." + string(p.key)
}

// unusable is the error of the value at p, whose path may be as long as its payload.
func (p *place) unusable(reason string) error {
	return &PayloadError{Field: clip(p.String()), Reason: reason}
}

func (c *canonicaliser) space() {
	for c.pos < len(c.in) {
		switch c.in[c.pos] {
		case ' ', '\t', '\r', '\n':
			c.pos++
		default:
			return
		}
	}
}

func (c *canonicaliser) value(at *place, depth int) error {
	if depth > MaxPayloadDepth {
		return at.unusable(fmt.Sprintf("nests deeper than %d", MaxPayloadDepth))
	}
	c.space()
	switch c.in[c.pos] {
	case '{':
		return c.object(at, depth)
	case '[':
		return c.array(at, depth)
	case '"':
		text, err := c.str(at)
		if err != nil {
			return err
		}
		c.out = appendString(c.out, text)
		return nil
	}
	start := c.pos // a number or a literal, kept as written
	for c.pos < len(c.in) && !bytes.ContainsRune([]byte(" \t\r\n,]}"), rune(c.in[c.pos])) {
		c.pos++
	}
	c.out = append(c.out, c.in[start:c.pos]...)
	return nil
}

func (c *canonicaliser) array(at *place, depth int) error {
	c.out = append(c.out, '[')
	c.pos++
	element := place{parent: at}
	for i := 0; ; i++ {
		c.space()
		if c.in[c.pos] == ']' {
			c.pos++
			c.out = append(c.out, ']')
			return nil
		}
		if i > 0 {
			c.pos++ // the comma
			c.out = append(c.out, ',')
		}
		element.index = i
		if err := c.value(&element, depth+1); err != nil {
			return err
		}
	}
}

func (c *canonicaliser) object(at *place, depth int) error {
	type member struct {
		key      []byte
		from, to int // in what is written of the object
	}
	var few [8]member
	members, start := few[:0], len(c.out)
	here := place{parent: at, index: -1}
	c.pos++
	for {
		c.space()
		if c.in[c.pos] == ',' {
			c.pos++
			c.space()
		}
		if c.in[c.pos] == '}' {
			c.pos++
			break
		}
		key, err := c.str(at)
		if err != nil {
			return err
		}
		c.space()
		c.pos++ // the colon
		from := len(c.out) - start
		c.out = append(appendString(c.out, key), ':')
		here.key = key
		if err := c.value(&here, depth+1); err != nil {
			return err
		}
		members = append(members, member{key, from, len(c.out) - start})
	}
	slices.SortFunc(members, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	written := bytes.Clone(c.out[start:])
	c.out = append(c.out[:start], '{')
	for i, m := range members {
		if i > 0 {
			if here.key = m.key; bytes.Equal(m.key, members[i-1].key) {
				return here.unusable("is given twice")
			}
			c.out = append(c.out, ',')
		}
		c.out = append(c.out, written[m.from:m.to]...)
	}
	c.out = append(c.out, '}')
	return nil
}

// str reads a string and decodes its escapes. Without any it is a part of the input.
func (c *canonicaliser) str(at *place) ([]byte, error) {
	start := c.pos
	escaped := false
	for c.pos++; c.in[c.pos] != '"'; c.pos++ {
		if c.in[c.pos] == '\\' {
			escaped = true
			c.pos++
		}
	}
	c.pos++
	raw := c.in[start:c.pos]
	if !escaped {
		return raw[1 : len(raw)-1], nil
	}
	if loneSurrogate(raw) {
		return nil, at.unusable("has half a surrogate pair")
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, at.unusable(err.Error())
	}
	return []byte(text), nil
}

// loneSurrogate reports a \uD800–\uDFFF escape that is not one of a pair.
func loneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] != 'u' {
			continue
		}
		unit := hexUnit(raw[i+1:])
		i += 4
		if unit < 0xd800 || unit > 0xdfff {
			continue
		}
		if unit > 0xdbff || !bytes.HasPrefix(raw[i+1:], []byte(`\u`)) {
			return true
		}
		if low := hexUnit(raw[i+3:]); low < 0xdc00 || low > 0xdfff {
			return true
		}
		i += 6
	}
	return false
}

func hexUnit(b []byte) int {
	var unit [2]byte
	if len(b) < 4 {
		return 0
	}
	if _, err := hex.Decode(unit[:], b[:4]); err != nil {
		return 0
	}
	return int(unit[0])<<8 | int(unit[1])
}

// appendString writes text with the fewest escapes JSON allows, so that "é" and
// "\u00e9" come out alike.
func appendString(out, text []byte) []byte {
	out = append(out, '"')
	for _, b := range text {
		switch {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b < 0x20:
			out = fmt.Appendf(out, `\u%04x`, b)
		default:
			out = append(out, b)
		}
	}
	return append(out, '"')
}

// Decode reads a payload into P and, where P has a method Validate() error,
// calls it. Every error is a *PayloadError that names the field and does not
// quote its value, unless P's own UnmarshalJSON or Validate does otherwise.
//
// What is read is the canonical form: of "amount" and "Amount" encoding/json
// takes the one that comes last, so that two payloads of one fingerprint could
// ask for two things.
func Decode[P any](payload []byte) (P, error) {
	var p P
	canonical, err := Canonical(payload)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(canonical, &p); err != nil {
		var mismatch *json.UnmarshalTypeError
		var field *PayloadError
		switch {
		case errors.As(err, &field):
			return p, field
		case errors.As(err, &mismatch):
			// A number's Value goes on with the number itself.
			kind, _, _ := strings.Cut(mismatch.Value, " ")
			return p, &PayloadError{Field: mismatch.Field, Reason: "is a JSON " + kind + " that is no " + mismatch.Type.String()}
		}
		return p, &PayloadError{Reason: err.Error()}
	}
	if v, ok := any(&p).(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			var field *PayloadError
			if errors.As(err, &field) {
				return p, field
			}
			return p, &PayloadError{Reason: err.Error()}
		}
	}
	return p, nil
}
