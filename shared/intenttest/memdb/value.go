package memdb

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type item = map[string]types.AttributeValue

// maxDepth is how deep a list or a map may stand in others: with the item and what
// it holds itself that makes 32 levels (Amazon DynamoDB quotas, "Nested attribute
// depth").
const maxDepth = 30

// take copies a caller's value: its numbers canonical, its sets sorted. What the
// database holds is never changed in place, so it is shared freely inside.
func take(v types.AttributeValue, depth int) (types.AttributeValue, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: v.Value}, nil
	case *types.AttributeValueMemberN:
		n, err := canonical(v.Value)
		return &types.AttributeValueMemberN{Value: n}, err
	case *types.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: append([]byte{}, v.Value...)}, nil
	case *types.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Value}, nil
	case *types.AttributeValueMemberNULL:
		if !v.Value {
			return nil, invalid("One or more parameter values were invalid: Null attribute value types must have the value of true")
		}
		return &types.AttributeValueMemberNULL{Value: true}, nil
	case *types.AttributeValueMemberL:
		if depth > maxDepth {
			return nil, tooDeep()
		}
		list := make([]types.AttributeValue, len(v.Value))
		for i, element := range v.Value {
			var err error
			if list[i], err = take(element, depth+1); err != nil {
				return nil, err
			}
		}
		return &types.AttributeValueMemberL{Value: list}, nil
	case *types.AttributeValueMemberM:
		if depth > maxDepth {
			return nil, tooDeep()
		}
		m, err := takeItem(v.Value, depth+1)
		return &types.AttributeValueMemberM{Value: m}, err
	case nil:
		return nil, invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	}
	return takeSet(v)
}

const longName = "Attribute name is too large, must be less than 65536 bytes"

// depth is how deep a value is: 0 of a scalar or a set.
func depth(v types.AttributeValue) int {
	deepest := -1
	switch v := v.(type) {
	case *types.AttributeValueMemberL:
		for _, element := range v.Value {
			deepest = max(deepest, depth(element))
		}
	case *types.AttributeValueMemberM:
		for _, element := range v.Value {
			deepest = max(deepest, depth(element))
		}
	default:
		return 0
	}
	return max(deepest, 0) + 1
}

func tooDeep() error {
	return invalid("Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit")
}

func takeItem(m item, depth int) (item, error) {
	taken := make(item, len(m))
	for name, v := range m {
		switch {
		case name == "":
			return nil, invalid("Empty attribute name")
		case len(name) > maxName:
			return nil, invalid("%s", longName)
		}
		var err error
		if taken[name], err = take(v, depth); err != nil {
			return nil, err
		}
	}
	return taken, nil
}

func takeSet(v types.AttributeValue) (types.AttributeValue, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberSS:
		set := slices.Sorted(slices.Values(v.Value))
		switch {
		case len(set) == 0:
			return nil, invalid("One or more parameter values were invalid: An string set  may not be empty")
		case len(slices.Compact(slices.Clone(set))) < len(set):
			return nil, invalid("One or more parameter values were invalid: Input collection [%s] contains duplicates.", strings.Join(v.Value, ", "))
		}
		return &types.AttributeValueMemberSS{Value: set}, nil
	case *types.AttributeValueMemberNS:
		set := make([]string, len(v.Value))
		for i, n := range v.Value {
			var err error
			if set[i], err = canonical(n); err != nil {
				return nil, err
			}
		}
		slices.SortFunc(set, compareNumbers)
		switch {
		case len(set) == 0:
			return nil, invalid("One or more parameter values were invalid: An number set  may not be empty")
		case len(slices.Compact(slices.Clone(set))) < len(set):
			return nil, invalid("Input collection contains duplicates")
		}
		return &types.AttributeValueMemberNS{Value: set}, nil
	case *types.AttributeValueMemberBS:
		set := make([][]byte, len(v.Value))
		for i, b := range v.Value {
			set[i] = append([]byte{}, b...)
		}
		slices.SortFunc(set, bytes.Compare)
		switch {
		case len(set) == 0:
			return nil, invalid("One or more parameter values were invalid: Binary sets should not be empty")
		case len(slices.CompactFunc(slices.Clone(set), bytes.Equal)) < len(set):
			return nil, invalid("One or more parameter values were invalid: Input collection of type BS contains duplicates.")
		}
		return &types.AttributeValueMemberBS{Value: set}, nil
	}
	return nil, invalid("Supplied AttributeValue is of no known datatype: %T", v)
}

// give copies a value for a caller, who may do with it what he likes.
func give(v types.AttributeValue) types.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: v.Value}
	case *types.AttributeValueMemberN:
		return &types.AttributeValueMemberN{Value: v.Value}
	case *types.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: bytes.Clone(v.Value)}
	case *types.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Value}
	case *types.AttributeValueMemberNULL:
		return &types.AttributeValueMemberNULL{Value: v.Value}
	case *types.AttributeValueMemberL:
		list := make([]types.AttributeValue, len(v.Value))
		for i, element := range v.Value {
			list[i] = give(element)
		}
		return &types.AttributeValueMemberL{Value: list}
	case *types.AttributeValueMemberM:
		return &types.AttributeValueMemberM{Value: giveItem(v.Value)}
	case *types.AttributeValueMemberSS:
		return &types.AttributeValueMemberSS{Value: slices.Clone(v.Value)}
	case *types.AttributeValueMemberNS:
		return &types.AttributeValueMemberNS{Value: slices.Clone(v.Value)}
	case *types.AttributeValueMemberBS:
		set := make([][]byte, len(v.Value))
		for i, b := range v.Value {
			set[i] = bytes.Clone(b)
		}
		return &types.AttributeValueMemberBS{Value: set}
	}
	return nil
}

func giveItem(m item) item {
	if m == nil {
		return nil
	}
	given := make(item, len(m))
	for name, v := range m {
		given[name] = give(v)
	}
	return given
}

// kindOf is a value's type as requests name it.
func kindOf(v types.AttributeValue) string {
	switch v.(type) {
	case *types.AttributeValueMemberS:
		return "S"
	case *types.AttributeValueMemberN:
		return "N"
	case *types.AttributeValueMemberB:
		return "B"
	case *types.AttributeValueMemberBOOL:
		return "BOOL"
	case *types.AttributeValueMemberNULL:
		return "NULL"
	case *types.AttributeValueMemberL:
		return "L"
	case *types.AttributeValueMemberM:
		return "M"
	case *types.AttributeValueMemberSS:
		return "SS"
	case *types.AttributeValueMemberNS:
		return "NS"
	case *types.AttributeValueMemberBS:
		return "BS"
	}
	return ""
}

// equal compares two values that were taken.
func equal(a, b types.AttributeValue) bool {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		b, ok := b.(*types.AttributeValueMemberS)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberN:
		b, ok := b.(*types.AttributeValueMemberN)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberB:
		b, ok := b.(*types.AttributeValueMemberB)
		return ok && bytes.Equal(a.Value, b.Value)
	case *types.AttributeValueMemberBOOL:
		b, ok := b.(*types.AttributeValueMemberBOOL)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberNULL:
		_, ok := b.(*types.AttributeValueMemberNULL)
		return ok
	case *types.AttributeValueMemberL:
		b, ok := b.(*types.AttributeValueMemberL)
		return ok && slices.EqualFunc(a.Value, b.Value, equal)
	case *types.AttributeValueMemberM:
		b, ok := b.(*types.AttributeValueMemberM)
		return ok && maps.EqualFunc(a.Value, b.Value, equal)
	case *types.AttributeValueMemberSS:
		b, ok := b.(*types.AttributeValueMemberSS)
		return ok && slices.Equal(a.Value, b.Value)
	case *types.AttributeValueMemberNS:
		b, ok := b.(*types.AttributeValueMemberNS)
		return ok && slices.Equal(a.Value, b.Value)
	case *types.AttributeValueMemberBS:
		b, ok := b.(*types.AttributeValueMemberBS)
		return ok && slices.EqualFunc(a.Value, b.Value, bytes.Equal)
	}
	return false
}

// compare orders two values of one type that has an order: S, N or B.
func compare(a, b types.AttributeValue) (order int, ok bool) {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		if b, ok := b.(*types.AttributeValueMemberS); ok {
			return strings.Compare(a.Value, b.Value), true
		}
	case *types.AttributeValueMemberN:
		if b, ok := b.(*types.AttributeValueMemberN); ok {
			return compareNumbers(a.Value, b.Value), true
		}
	case *types.AttributeValueMemberB:
		if b, ok := b.(*types.AttributeValueMemberB); ok {
			return bytes.Compare(a.Value, b.Value), true
		}
	}
	return 0, false
}
