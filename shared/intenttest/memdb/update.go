package memdb

import (
	"bytes"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// update is a parsed update expression, or the clauses of an UPDATE statement.
type update struct {
	sets    []assignment
	removes []path
	adds    []change
	deletes []change
	targets []path // all that it may change
}

type assignment struct {
	to   path
	from source
}

// change is what ADD and DELETE do to an attribute with a constant.
type change struct {
	to   path
	with types.AttributeValue
}

// checked completes an update that was read: no two targets in each other's way, and elements that are to be appended to one
// list in the order of their indexes.
func (u *update) checked(kind string) (*update, error) {
	u.targets = make([]path, 0, len(u.sets)+len(u.removes)+len(u.adds)+len(u.deletes))
	for _, a := range u.sets {
		u.targets = append(u.targets, a.to)
	}
	u.targets = append(u.targets, u.removes...)
	for _, c := range slices.Concat(u.adds, u.deletes) {
		u.targets = append(u.targets, c.to)
	}
	slices.SortStableFunc(u.sets, func(a, b assignment) int { return a.to.compare(b.to) })
	return u, allDisjoint(kind, u.targets)
}

// creates reports that the update makes an item where none is. One that only removes or deletes does not; one that is none at all
// does (scylladb/scylladb, test/alternator/test_item.py, test_update_item_non_existent, which is run against the service).
func (u *update) creates() bool {
	return len(u.targets) == 0 || len(u.sets)+len(u.adds) > 0
}

// apply is the item after the update; the one before it stays as it is. All is
// computed from the item before.
func (u *update) apply(old item) (item, error) {
	next := maps.Clone(old)
	removes := u.removes
	for _, a := range u.sets {
		v, err := a.from.value(old)
		if err != nil {
			return nil, err
		}
		if err := a.to.set(next, v); err != nil {
			return nil, err
		}
	}
	for _, c := range u.adds {
		v, err := added(c.to.value(old), c.with)
		if err != nil {
			return nil, err
		}
		if err := c.to.set(next, v); err != nil {
			return nil, err
		}
	}
	for _, c := range u.deletes {
		v, err := without(c.to.value(old), c.with)
		switch {
		case err != nil:
			return nil, err
		case v == nil:
			removes = append(slices.Clip(removes), c.to)
		default:
			if err := c.to.set(next, v); err != nil {
				return nil, err
			}
		}
	}
	if len(removes) > 1 { // the last elements first: none moves before its turn
		removes = slices.SortedFunc(slices.Values(removes), func(a, b path) int { return b.compare(a) })
	}
	for _, to := range removes {
		from := next
		if to.value(old) == nil { // nothing to take away, also where the update itself has put something
			from = maps.Clone(old)
		}
		if err := to.set(from, nil); err != nil {
			return nil, err
		}
	}
	for _, to := range u.targets { // whole attributes were checked with the request
		if len(to) > 1 && depth(next[to[0].name]) > maxDepth+1 {
			return nil, invalid("Nesting Levels have exceeded supported limits")
		}
	}
	return next, nil
}

// source is the right side of an assignment. Its value is computed from the item
// before the update.
type source interface {
	value(old item) (types.AttributeValue, error)
}

type (
	given   struct{ types.AttributeValue }
	copied  struct{ of path }
	ifUnset struct {
		of   path
		from source
	}
	joined struct{ one, two source }
	sum    struct {
		one, two source
		subtract bool
	}
	// changed is PartiQL's set_add and set_delete.
	changed struct {
		of   path
		by   func(old, with types.AttributeValue) (types.AttributeValue, error)
		with source
	}
)

func (s given) value(item) (types.AttributeValue, error) { return s.AttributeValue, nil }

func (s copied) value(old item) (types.AttributeValue, error) {
	if v := s.of.value(old); v != nil {
		return v, nil
	}
	return nil, invalid("The provided expression refers to an attribute that does not exist in the item")
}

// value is an error where the second operand has none, also if it is not needed.
func (s ifUnset) value(old item) (types.AttributeValue, error) {
	from, err := s.from.value(old)
	if v := s.of.value(old); v != nil && err == nil {
		return v, nil
	}
	return from, err
}

func wrongType() error {
	return invalid("An operand in the update expression has an incorrect data type")
}

// operands are the values of two sources.
func operands(one, two source, old item) (first, second types.AttributeValue, err error) {
	if first, err = one.value(old); err == nil {
		second, err = two.value(old)
	}
	return first, second, err
}

func (s joined) value(old item) (types.AttributeValue, error) {
	one, two, err := operands(s.one, s.two, old)
	if err != nil {
		return nil, err
	}
	list1, ok1 := one.(*types.AttributeValueMemberL)
	list2, ok2 := two.(*types.AttributeValueMemberL)
	if !ok1 || !ok2 {
		return nil, wrongType()
	}
	return &types.AttributeValueMemberL{Value: slices.Concat(list1.Value, list2.Value)}, nil
}

func (s sum) value(old item) (types.AttributeValue, error) {
	one, two, err := operands(s.one, s.two, old)
	if err != nil {
		return nil, err
	}
	n1, ok1 := one.(*types.AttributeValueMemberN)
	n2, ok2 := two.(*types.AttributeValueMemberN)
	if !ok1 || !ok2 {
		return nil, wrongType()
	}
	n, err := addNumbers(n1.Value, n2.Value, s.subtract)
	return &types.AttributeValueMemberN{Value: n}, err
}

func (s changed) value(old item) (types.AttributeValue, error) {
	with, err := s.with.value(old)
	if err != nil {
		return nil, err
	}
	return s.by(s.of.value(old), with)
}

// added is what ADD makes of a number or a set; of nothing, the value itself.
func added(old, with types.AttributeValue) (types.AttributeValue, error) {
	switch with := with.(type) {
	case *types.AttributeValueMemberN:
		if n, ok := old.(*types.AttributeValueMemberN); ok {
			result, err := addNumbers(n.Value, with.Value, false)
			return &types.AttributeValueMemberN{Value: result}, err
		}
	case *types.AttributeValueMemberSS:
		if set, ok := old.(*types.AttributeValueMemberSS); ok {
			return &types.AttributeValueMemberSS{Value: slices.Compact(slices.Sorted(slices.Values(slices.Concat(set.Value, with.Value))))}, nil
		}
	case *types.AttributeValueMemberNS:
		if set, ok := old.(*types.AttributeValueMemberNS); ok {
			return &types.AttributeValueMemberNS{Value: slices.Compact(slices.SortedFunc(slices.Values(slices.Concat(set.Value, with.Value)), compareNumbers))}, nil
		}
	case *types.AttributeValueMemberBS:
		if set, ok := old.(*types.AttributeValueMemberBS); ok {
			all := slices.SortedFunc(slices.Values(slices.Concat(set.Value, with.Value)), bytes.Compare)
			return &types.AttributeValueMemberBS{Value: slices.CompactFunc(all, bytes.Equal)}, nil
		}
	}
	if old != nil {
		return nil, wrongType()
	}
	return with, nil
}

// without is what DELETE leaves of a set; nil if nothing is left.
func without(old, with types.AttributeValue) (types.AttributeValue, error) {
	switch with := with.(type) {
	case *types.AttributeValueMemberSS:
		if set, ok := old.(*types.AttributeValueMemberSS); ok {
			left := slices.DeleteFunc(slices.Clone(set.Value), func(s string) bool { return slices.Contains(with.Value, s) })
			return orNone(len(left), &types.AttributeValueMemberSS{Value: left}), nil
		}
	case *types.AttributeValueMemberNS:
		if set, ok := old.(*types.AttributeValueMemberNS); ok {
			left := slices.DeleteFunc(slices.Clone(set.Value), func(n string) bool { return slices.Contains(with.Value, n) })
			return orNone(len(left), &types.AttributeValueMemberNS{Value: left}), nil
		}
	case *types.AttributeValueMemberBS:
		if set, ok := old.(*types.AttributeValueMemberBS); ok {
			left := slices.DeleteFunc(slices.Clone(set.Value), func(b []byte) bool {
				return slices.ContainsFunc(with.Value, func(d []byte) bool { return bytes.Equal(b, d) })
			})
			return orNone(len(left), &types.AttributeValueMemberBS{Value: left}), nil
		}
	}
	if old != nil {
		return nil, wrongType()
	}
	return nil, nil
}

// orNone is the set, if something is left in it: DynamoDB keeps no empty sets.
func orNone(left int, set types.AttributeValue) types.AttributeValue {
	if left == 0 {
		return nil
	}
	return set
}

func number(n int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
}
