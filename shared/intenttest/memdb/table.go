package memdb

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// table keeps rows by their keys. Its own fields never change; the rows are
// guarded by the database's lock.
type table struct {
	name       string
	keys       []keyAttribute // the partition key and, if there is one, the sort key
	partitions map[string][]*row
	ttl        string // the TTL attribute, guarded as the rows are
}

type keyAttribute struct {
	name string
	kind types.ScalarAttributeType
}

// row is an item that is there. It never changes: a write puts another in its
// place.
type row struct {
	key  key
	item item
	size int // bytes
}

// key is an item's place: the canonical values of its key attributes.
type key struct {
	partition, sort string
}

func (t *table) find(k key) *row {
	rows := t.partitions[k.partition]
	if i, found := t.search(rows, k.sort); found {
		return rows[i]
	}
	return nil
}

func (t *table) search(rows []*row, sort string) (int, bool) {
	if len(t.keys) == 1 {
		return 0, len(rows) > 0
	}
	return slices.BinarySearchFunc(rows, sort, func(r *row, sort string) int { return t.compareSort(r.key.sort, sort) })
}

func (t *table) compareSort(a, b string) int {
	if t.keys[1].kind == types.ScalarAttributeTypeN {
		return compareNumbers(a, b)
	}
	return strings.Compare(a, b) // strings and binaries both go by their bytes
}

// replace puts a row into a place, or nothing.
func (t *table) replace(k key, r *row) {
	rows := t.partitions[k.partition]
	i, found := t.search(rows, k.sort)
	switch {
	case found && r != nil:
		rows[i] = r
	case found:
		rows = slices.Delete(rows, i, i+1)
	case r != nil:
		rows = slices.Insert(rows, i, r)
	}
	if len(rows) == 0 {
		delete(t.partitions, k.partition)
		return
	}
	t.partitions[k.partition] = rows
}

// all are the table's rows in the order of their keys.
func (t *table) all() []*row {
	var rows []*row
	for _, partition := range t.partitions {
		rows = append(rows, partition...)
	}
	slices.SortFunc(rows, func(a, b *row) int { return t.compare(a.key, b.key) })
	return rows
}

// compare orders places. DynamoDB's own order of partitions is nobody's business.
func (t *table) compare(a, b key) int {
	if order := strings.Compare(a.partition, b.partition); order != 0 || len(t.keys) == 1 {
		return order
	}
	return t.compareSort(a.sort, b.sort)
}

// place is the key of an item that is to be put.
func (t *table) place(it item) (key, error) {
	var values [2]string
	for i, attribute := range t.keys {
		v, ok := it[attribute.name]
		if !ok {
			return key{}, mismatch("One or more parameter values were invalid: Missing the key %s in the item", attribute.name)
		}
		if kind := kindOf(v); kind != string(attribute.kind) {
			return key{}, mismatch("One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s", attribute.name, attribute.kind, kind)
		}
		var err error
		if values[i], err = keyValue(attribute.name, i, v); err != nil {
			return key{}, err
		}
	}
	return key{values[0], values[1]}, nil
}

// keyed is the key that a request names, with its attributes as they are stored.
func (t *table) keyed(named item) (key, item, error) {
	taken, err := takeItem(named, 0)
	if err != nil {
		return key{}, nil, err
	}
	fits := len(taken) == len(t.keys)
	for _, attribute := range t.keys {
		fits = fits && kindOf(taken[attribute.name]) == string(attribute.kind)
	}
	if !fits {
		return key{}, nil, mismatch("The provided key element does not match the schema")
	}
	k, err := t.place(taken)
	return k, taken, err
}

func keyValue(name string, position int, v types.AttributeValue) (string, error) {
	var value, kind string
	switch v := v.(type) {
	case *types.AttributeValueMemberN:
		return v.Value, nil
	case *types.AttributeValueMemberS:
		value, kind = v.Value, "string"
	case *types.AttributeValueMemberB:
		value, kind = string(v.Value), "binary"
	}
	limit, which := maxPartition, "hashkey"
	if position > 0 {
		limit, which = maxSort, "rangekey"
	}
	switch {
	case value == "":
		return "", invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s", kind, name)
	case len(value) > limit:
		return "", invalid("One or more parameter values were invalid: Size of %s has exceeded the maximum size limit of%d bytes", which, limit)
	}
	return value, nil
}

// keyOf are the key attributes of an item, for a caller.
func (t *table) keyOf(it item) item {
	named := item{}
	for _, attribute := range t.keys {
		named[attribute.name] = give(it[attribute.name])
	}
	return named
}

// isKey reports an attribute that is part of the key.
func (t *table) isKey(name string) bool {
	return slices.ContainsFunc(t.keys, func(a keyAttribute) bool { return a.name == name })
}

// ttlWindow: what expired longer ago is taken for a mistake and kept (Amazon
// DynamoDB, "Using Time to Live").
const ttlWindow = 5 * 365 * 24 * time.Hour

// expired reports that TTL would delete the row by now: its attribute is a number
// of seconds that is past.
func (t *table) expired(r *row, now time.Time) bool {
	n, ok := r.item[t.ttl].(*types.AttributeValueMemberN)
	if !ok {
		return false
	}
	seconds, err := strconv.ParseFloat(n.Value, 64)
	at := float64(now.Unix())
	return err == nil && seconds < at && seconds > at-ttlWindow.Seconds()
}
