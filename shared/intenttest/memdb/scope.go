package memdb

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// scope is what the placeholders of a request stand for. A request has few of
// them: looking through a slice is quicker than a map.
type scope struct {
	names  []placeholder[string]
	values []placeholder[types.AttributeValue]
}

type placeholder[T any] struct {
	name string
	is   T
	used bool
}

// newScope takes the placeholders of a request that has the expressions.
func newScope(names map[string]string, values item, expressions ...expression) (*scope, error) {
	s := new(scope)
	if names == nil && values == nil {
		return s, nil
	}
	if none := absent(expressions); none != "" {
		if values != nil {
			return nil, invalid("ExpressionAttributeValues can only be specified when using expressions: %s", none)
		}
		return nil, invalid("ExpressionAttributeNames can only be specified when using expressions")
	}
	switch {
	case names != nil && len(names) == 0:
		return nil, invalid("ExpressionAttributeNames must not be empty")
	case values != nil && len(values) == 0:
		return nil, invalid("ExpressionAttributeValues must not be empty")
	}
	bytes := 0
	s.names = make([]placeholder[string], 0, len(names))
	for name, attribute := range names {
		switch {
		case len(name) > maxPlaceholder:
			return nil, invalid("ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; size of key: %d", len(name))
		case !isPlaceholder(name, '#'):
			return nil, invalid("ExpressionAttributeNames contains invalid key: Syntax error; key: \"%s\"", name)
		case attribute == "":
			return nil, invalid("ExpressionAttributeNames contains invalid value: Empty attribute name for key %s", name)
		case len(attribute) > maxName:
			return nil, invalid("ExpressionAttributeNames contains invalid value: %s for key %s", longName, name)
		}
		s.names = append(s.names, placeholder[string]{name: name, is: attribute})
		bytes += len(name) + len(attribute)
	}
	if bytes > maxSubstitutions {
		return nil, invalid("ExpressionAttributeNames exceeds max size")
	}
	s.values = make([]placeholder[types.AttributeValue], 0, len(values))
	for name, value := range values {
		switch {
		case len(name) > maxPlaceholder:
			return nil, invalid("ExpressionAttributeValues contains invalid key: The expression attribute map contains a key that is too long;")
		case !isPlaceholder(name, ':'):
			return nil, invalid("ExpressionAttributeValues contains invalid key: Syntax error; key: \"%s\"", name)
		}
		taken, err := take(value, 0)
		if err != nil {
			return nil, invalid("ExpressionAttributeValues contains invalid value: %s for key %s", messageOf(err), name)
		}
		s.values = append(s.values, placeholder[types.AttributeValue]{name: name, is: taken})
		bytes += len(name) + valueSize(taken)
	}
	if bytes > maxSubstitutions {
		return nil, invalid("ExpressionAttributeValues exceeds max size")
	}
	return s, nil
}

// expression is one of a request's expressions; nil where it has none.
type expression struct {
	kind string // as the request names it
	text *string
}

// absent names the expressions, if none of them is there.
func absent(expressions []expression) string {
	var kinds []string
	for _, e := range expressions {
		if e.text != nil {
			return ""
		}
		kinds = append(kinds, e.kind)
	}
	if len(kinds) == 1 {
		return kinds[0] + " is null"
	}
	return strings.Join(kinds, " and ") + " are null"
}

func isPlaceholder(s string, sigil byte) bool {
	if len(s) < 2 || s[0] != sigil {
		return false
	}
	for i := 1; i < len(s); i++ {
		if !isWordPart(s[i]) {
			return false
		}
	}
	return true
}

func (s *scope) name(placeholder string) (string, bool) { return lookup(s.names, placeholder) }
func (s *scope) value(placeholder string) (types.AttributeValue, bool) {
	return lookup(s.values, placeholder)
}

func lookup[T any](in []placeholder[T], name string) (is T, ok bool) {
	for i := range in {
		if in[i].name == name {
			in[i].used = true
			return in[i].is, true
		}
	}
	return is, false
}

// unused reports placeholders that no expression mentions: DynamoDB refuses them.
func (s *scope) unused() error {
	if names := unusedOf(s.names); names != "" {
		return invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", names)
	}
	if names := unusedOf(s.values); names != "" {
		return invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", names)
	}
	return nil
}

func unusedOf[T any](in []placeholder[T]) string {
	var names []string
	for i := range in {
		if !in[i].used {
			names = append(names, in[i].name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
