package memdb

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// path leads to an attribute, or into one.
type path []step

// step goes to a map's member, or to a list's element where it has no name.
type step struct {
	name  string
	index int
}

// String is how DynamoDB's errors write a path.
func (p path) String() string {
	names := make([]string, len(p))
	for i, s := range p {
		if names[i] = s.name; s.name == "" {
			names[i] = "[" + strconv.Itoa(s.index) + "]"
		}
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// value is nil where the path leads nowhere.
func (p path) value(it item) types.AttributeValue {
	v := it[p[0].name]
	for _, s := range p[1:] {
		switch container := v.(type) {
		case *types.AttributeValueMemberM:
			v = nil
			if s.name != "" {
				v = container.Value[s.name]
			}
		case *types.AttributeValueMemberL:
			v = nil
			if s.name == "" && s.index < len(container.Value) {
				v = container.Value[s.index]
			}
		default:
			return nil
		}
	}
	return v
}

// compare orders paths so that elements of one list come by their index.
func (p path) compare(q path) int {
	return slices.CompareFunc(p, q, func(a, b step) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.index, b.index))
	})
}

// disjoint reports two paths of which one is in the other's way.
func disjoint(kind string, one, two path) error {
	for i := range min(len(one), len(two)) {
		if one[i] == two[i] {
			continue
		}
		if (one[i].name == "") == (two[i].name == "") {
			return nil
		}
		return invalid("%sTwo document paths conflict with each other; must remove or rewrite one of these paths; path one: %s, path two: %s", in(kind), one, two)
	}
	return invalid("%sTwo document paths overlap with each other; must remove or rewrite one of these paths; path one: %s, path two: %s", in(kind), one, two)
}

// allDisjoint wants no two of the paths in each other's way.
func allDisjoint(kind string, paths []path) error {
	for i, two := range paths {
		for _, one := range paths[:i] {
			if err := disjoint(kind, one, two); err != nil {
				return err
			}
		}
	}
	return nil
}

func invalidPath() error {
	return invalid("The document path provided in the update expression is invalid for update")
}

// with is v with the value at the path, and what it held before unchanged. Set on
// a list, behind its end, it is appended; a nil value takes away what is there.
func (p path) with(v types.AttributeValue, value types.AttributeValue) (types.AttributeValue, error) {
	if len(p) == 0 {
		return value, nil
	}
	switch container := v.(type) {
	case *types.AttributeValueMemberM:
		if p[0].name == "" {
			return nil, invalidPath()
		}
		m := maps.Clone(container.Value)
		if err := p.set(m, value); err != nil {
			return nil, err
		}
		return &types.AttributeValueMemberM{Value: m}, nil
	case *types.AttributeValueMemberL:
		if p[0].name != "" {
			return nil, invalidPath()
		}
		list, err := p.inList(container.Value, value)
		return &types.AttributeValueMemberL{Value: list}, err
	}
	return nil, invalidPath()
}

// set puts the value at the path into a map that is the caller's own.
func (p path) set(m item, value types.AttributeValue) error {
	name := p[0].name
	inner, ok := m[name]
	if len(p) > 1 && !ok {
		return invalidPath()
	}
	inner, err := p[1:].with(inner, value)
	switch {
	case err != nil:
		return err
	case inner == nil:
		delete(m, name)
	default:
		m[name] = inner
	}
	return nil
}

func (p path) inList(list []types.AttributeValue, value types.AttributeValue) ([]types.AttributeValue, error) {
	index, last := p[0].index, len(p) == 1
	switch {
	case index < len(list) && last && value == nil:
		return slices.Delete(slices.Clone(list), index, index+1), nil
	case index >= len(list) && last && value == nil:
		return list, nil
	case index >= len(list) && last:
		return append(slices.Clone(list), value), nil
	case index >= len(list):
		return nil, invalidPath()
	}
	inner, err := p[1:].with(list[index], value)
	list = slices.Clone(list)
	list[index] = inner
	return list, err
}
