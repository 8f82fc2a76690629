package memdb

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// condition is what an item is held to: of a write, a filter or a key. An item
// that is not there has no attributes.
type condition interface {
	holds(item) bool
}

// operand is a path, a constant or a size. Its value is nil where there is none.
type operand interface {
	value(item) types.AttributeValue
}

type (
	constant  struct{ types.AttributeValue }
	size      struct{ of operand }
	both      struct{ one, two condition }
	either    struct{ one, two condition }
	negation  struct{ of condition }
	existence struct {
		of   path
		want bool
	}
	comparison struct {
		operator string
		one, two operand
	}
	between struct{ of, low, high operand }
	among   struct {
		of   operand
		list []operand
	}
	kinship  struct{ of, kind operand }  // attribute_type
	prefix   struct{ of, start operand } // begins_with
	contains struct{ of, part operand }
)

func (c constant) value(item) types.AttributeValue { return c.AttributeValue }

func (s size) value(it item) types.AttributeValue {
	n := 0
	switch v := s.of.value(it).(type) {
	case *types.AttributeValueMemberS:
		for _, r := range v.Value {
			n += utf16.RuneLen(r) // as Java counts
		}
	case *types.AttributeValueMemberB:
		n = len(v.Value)
	case *types.AttributeValueMemberL:
		n = len(v.Value)
	case *types.AttributeValueMemberM:
		n = len(v.Value)
	case *types.AttributeValueMemberSS:
		n = len(v.Value)
	case *types.AttributeValueMemberNS:
		n = len(v.Value)
	case *types.AttributeValueMemberBS:
		n = len(v.Value)
	default:
		return nil
	}
	return number(n)
}

func (c both) holds(it item) bool      { return c.one.holds(it) && c.two.holds(it) }
func (c either) holds(it item) bool    { return c.one.holds(it) || c.two.holds(it) }
func (c negation) holds(it item) bool  { return !c.of.holds(it) }
func (c existence) holds(it item) bool { return (c.of.value(it) != nil) == c.want }

func (c comparison) holds(it item) bool {
	return compares(c.operator, c.one.value(it), c.two.value(it))
}

// compares holds for <> also where one value is missing or of another type; for
// no other operator.
func compares(operator string, a, b types.AttributeValue) bool {
	switch operator {
	case "=":
		return a != nil && b != nil && equal(a, b)
	case "<>", "!=":
		return a == nil || b == nil || !equal(a, b)
	}
	order, ok := compare(a, b)
	if !ok {
		return false
	}
	switch operator {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

func (c between) holds(it item) bool {
	v := c.of.value(it)
	return compares(">=", v, c.low.value(it)) && compares("<=", v, c.high.value(it))
}

func (c among) holds(it item) bool {
	v := c.of.value(it)
	return slices.ContainsFunc(c.list, func(o operand) bool { return compares("=", v, o.value(it)) })
}

func (c kinship) holds(it item) bool {
	kind, ok := c.kind.value(it).(*types.AttributeValueMemberS)
	return ok && kindOf(c.of.value(it)) == kind.Value
}

func (c prefix) holds(it item) bool {
	switch start := c.start.value(it).(type) {
	case *types.AttributeValueMemberS:
		v, ok := c.of.value(it).(*types.AttributeValueMemberS)
		return ok && strings.HasPrefix(v.Value, start.Value)
	case *types.AttributeValueMemberB:
		v, ok := c.of.value(it).(*types.AttributeValueMemberB)
		return ok && bytes.HasPrefix(v.Value, start.Value)
	}
	return false
}

func (c contains) holds(it item) bool {
	part := c.part.value(it)
	switch v := c.of.value(it).(type) {
	case *types.AttributeValueMemberS:
		s, ok := part.(*types.AttributeValueMemberS)
		return ok && strings.Contains(v.Value, s.Value)
	case *types.AttributeValueMemberB:
		b, ok := part.(*types.AttributeValueMemberB)
		return ok && bytes.Contains(v.Value, b.Value)
	case *types.AttributeValueMemberSS:
		s, ok := part.(*types.AttributeValueMemberS)
		return ok && slices.Contains(v.Value, s.Value)
	case *types.AttributeValueMemberNS:
		n, ok := part.(*types.AttributeValueMemberN)
		return ok && slices.Contains(v.Value, n.Value)
	case *types.AttributeValueMemberBS:
		b, ok := part.(*types.AttributeValueMemberB)
		return ok && slices.ContainsFunc(v.Value, func(e []byte) bool { return bytes.Equal(e, b.Value) })
	case *types.AttributeValueMemberL:
		return part != nil && slices.ContainsFunc(v.Value, func(e types.AttributeValue) bool { return equal(e, part) })
	}
	return false
}
