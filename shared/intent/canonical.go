package intent

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// canonicaliser walks a text that json.Valid accepted, so it looks only for
// where things end.
type canonicaliser struct {
	in  []byte
	pos int
	out []byte
	top []member // of the outermost object
}

// canonicalise writes the canonical form of a JSON text.
func canonicalise(text []byte) (*canonicaliser, error) {
	switch {
	case len(text) > MaxPayloadBytes:
		return nil, &PayloadError{Reason: fmt.Sprintf("has %d bytes, the limit is %d", len(text), MaxPayloadBytes)}
	case !utf8.Valid(text):
		return nil, &PayloadError{Reason: "is not UTF-8"}
	case !json.Valid(text):
		return nil, &PayloadError{Reason: "is not JSON"}
	}
	c := &canonicaliser{in: text, out: make([]byte, 0, len(text))}
	if err := c.value(0); err != nil {
		return nil, err
	}
	return c, nil
}

// unusable is the error of what stands at a byte of the text. It tells the place and
// no name: names are parts of the payload.
func unusable(at int, reason string) error {
	return &PayloadError{Reason: fmt.Sprintf("%s at byte %d", reason, at)}
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

func (c *canonicaliser) value(depth int) error {
	if c.space(); depth > MaxPayloadDepth {
		return unusable(c.pos, fmt.Sprintf("nests deeper than %d", MaxPayloadDepth))
	}
	switch c.in[c.pos] {
	case '{':
		return c.object(depth)
	case '[':
		return c.array(depth)
	case '"':
		text, err := c.str()
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

func (c *canonicaliser) array(depth int) error {
	c.out = append(c.out, '[')
	c.pos++
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
		if err := c.value(depth + 1); err != nil {
			return err
		}
	}
}

// object writes the members as they come and then puts them in order.
func (c *canonicaliser) object(depth int) error {
	var few [8]member
	members, start := few[:0], len(c.out)
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
		m := member{from: len(c.out), at: c.pos}
		var err error
		if m.name, err = c.str(); err != nil {
			return err
		}
		c.space()
		c.pos++ // the colon
		c.out = append(appendString(c.out, m.name), ':')
		m.value = len(c.out)
		if err := c.value(depth + 1); err != nil {
			return err
		}
		m.to = len(c.out)
		members = append(members, m)
	}
	slices.SortStableFunc(members, func(a, b member) int { return compareUTF16(a.name, b.name) })
	written := bytes.Clone(c.out[start:])
	c.out = append(c.out[:start], '{')
	for i := range members {
		m := &members[i]
		if i > 0 {
			if bytes.Equal(m.name, members[i-1].name) {
				return unusable(m.at, "repeats a name of its object")
			}
			c.out = append(c.out, ',')
		}
		moved := len(c.out) - m.from
		c.out = append(c.out, written[m.from-start:m.to-start]...)
		m.from, m.value, m.to = m.from+moved, m.value+moved, m.to+moved
	}
	c.out = append(c.out, '}')
	if depth == 0 {
		c.top = slices.Clone(members)
	}
	return nil
}

// compareUTF16 orders names by their UTF-16 code units, as RFC 8785, section 3.2.3,
// and Go's encoding/json/jsontext do. That is the order of the bytes but for one
// thing: characters beyond U+FFFF, whose UTF-8 begins with 0xf0 or more, come before
// U+E000 to U+FFFF, whose UTF-8 begins with 0xee or 0xef.
func compareUTF16(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		switch {
		case x == y:
			continue
		case x >= 0xf0 && (y == 0xee || y == 0xef):
			return -1
		case y >= 0xf0 && (x == 0xee || x == 0xef):
			return 1
		}
		return int(x) - int(y)
	}
	return len(a) - len(b)
}

// str reads a string and decodes its escapes. Without any it is a part of the input.
func (c *canonicaliser) str() ([]byte, error) {
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
	var text string
	if loneSurrogate(raw) || json.Unmarshal(raw, &text) != nil {
		return nil, unusable(start, "has half a surrogate pair")
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

// shortEscapes are the control characters that have an escape of their own.
var shortEscapes = map[byte]byte{'\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

// appendString writes text with the fewest escapes that JSON allows, so that "é" and
// "\u00e9" come out alike.
func appendString(out, text []byte) []byte {
	out = append(out, '"')
	for _, b := range text {
		switch {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b >= 0x20:
			out = append(out, b)
		case shortEscapes[b] != 0:
			out = append(out, '\\', shortEscapes[b])
		default:
			out = fmt.Appendf(out, `\u%04x`, b)
		}
	}
	return append(out, '"')
}
