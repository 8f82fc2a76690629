package queue

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// maxAttributes is how many attributes a message can carry.
const maxAttributes = 10

// Attribute is a message attribute: a value beside the body, set by the sender.
type Attribute struct {
	// DataType is String, Number or Binary, each with an optional label behind a full stop ("Number.cents").
	DataType string
	// StringValue is the value of a String or Number; a Number is decimal. Not empty.
	StringValue string `json:",omitempty"`
	// BinaryValue is the value of a Binary. Not empty.
	BinaryValue []byte `json:",omitempty"`
}

func (a Attribute) binary() bool { return a.kind() == "Binary" }

func (a Attribute) kind() string {
	kind, _, _ := strings.Cut(a.DataType, ".")
	return kind
}

func (a Attribute) size() int { return len(a.DataType) + len(a.StringValue) + len(a.BinaryValue) }

func checkAttributes(attributes map[string]Attribute) error {
	if n := len(attributes); n > maxAttributes {
		return refuse(invalidParameterValue, "Number of message attributes [%d] exceeds the allowed maximum [%d].", n, maxAttributes)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		if err := checkAttribute(name, attributes[name]); err != nil {
			return err
		}
	}
	return nil
}

func checkAttribute(name string, a Attribute) error {
	lower := strings.ToLower(name)
	switch {
	case name == "" || len(name) > 256,
		strings.ContainsFunc(name, func(r rune) bool { return !isAlphanumeric(r) && !strings.ContainsRune("_-.", r) }),
		strings.HasPrefix(name, "."), strings.HasSuffix(name, "."), strings.Contains(name, ".."),
		strings.HasPrefix(lower, "aws."), strings.HasPrefix(lower, "amazon."):
		return refuse(invalidParameterValue, "Invalid message attribute name '%s'.", name)
	}
	value, other := a.StringValue, string(a.BinaryValue)
	switch a.kind() {
	case "String", "Number":
	case "Binary":
		value, other = other, value
	default:
		return refuse(invalidParameterValue,
			"The type of message (user) attribute '%s' is invalid. You must use only the following supported type prefixes: Binary, Number, String.", name)
	}
	switch {
	case other != "":
		return refuse(invalidParameterValue, "The message attribute '%s' with type '%s' must use field '%s'.", name, a.kind(), field(a))
	case value == "":
		return refuse(invalidParameterValue, "Message (user) attribute '%s' must contain a non-empty value of type '%s'.", name, a.kind())
	case a.kind() == "Number":
		if _, ok := new(big.Float).SetString(value); !ok {
			return refuse(invalidParameterValue, "Can't cast the value of message (user) attribute '%s' to a number.", name)
		}
	case a.kind() == "String":
		return checkText(value)
	}
	return nil
}

func field(a Attribute) string {
	if a.binary() {
		return "Binary"
	}
	return "String"
}

// md5OfAttributes is the digest that clients check: names in order, each with its type and value, every part behind
// its length, and one byte telling a string from bytes ("Calculating the MD5 message digest for message attributes" in
// the developer guide). No attributes, no digest.
func md5OfAttributes(attributes map[string]Attribute) string {
	if len(attributes) == 0 {
		return ""
	}
	sum := md5.New()
	part := func(b []byte) {
		sum.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b))))
		sum.Write(b)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		part([]byte(name))
		part([]byte(a.DataType))
		if a.binary() {
			sum.Write([]byte{2})
			part(a.BinaryValue)
		} else {
			sum.Write([]byte{1})
			part([]byte(a.StringValue))
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func md5OfBody(body string) string {
	sum := md5.Sum([]byte(body))
	return hex.EncodeToString(sum[:])
}

// selected keeps the attributes that a receive asked for: by name, by "prefix.*", or all by "All" or ".*".
func selected(attributes map[string]Attribute, wanted []string) map[string]Attribute {
	out := make(map[string]Attribute)
	for name, a := range attributes {
		for _, w := range wanted {
			prefix, isPrefix := strings.CutSuffix(w, ".*")
			if w == "All" || w == name || isPrefix && strings.HasPrefix(name, prefix) {
				out[name] = a
			}
		}
	}
	return out
}

func isAlphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
