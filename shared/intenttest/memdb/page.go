package memdb

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// page is what a Query or a Scan wants of the rows that it reads.
type page struct {
	table      *table
	filter     condition // nil: none
	wanted     projection
	countOnly  bool
	limit      int // of rows read; 0: none
	consistent bool
}

// newPage parses what both have in common. It is the last to use the scope.
func (r *request) newPage(tableName, filter, wanted *string, s *scope, selected types.Select, limit *int32) (*page, error) {
	p := &page{countOnly: selected == types.SelectCount}
	var err error
	switch {
	case selected != "" && !slices.Contains(selected.Values(), selected):
		return nil, unknown("select", selected, "SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES")
	case selected != "" && !p.countOnly:
		return nil, &UnsupportedError{What: "Select " + string(selected)}
	case p.countOnly && wanted != nil:
		return nil, invalid("Cannot specify the ProjectionExpression when choosing to get only the Count")
	case limit != nil && *limit < 1:
		return nil, invalid("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1", *limit)
	case limit != nil:
		p.limit = int(*limit)
	}
	if p.filter, err = parseCondition("FilterExpression", filter, s); err != nil {
		return nil, err
	}
	if p.wanted, err = parseProjection(wanted, s); err != nil {
		return nil, err
	}
	if err := s.unused(); err != nil {
		return nil, err
	}
	if p.table, err = r.table(tableName); err != nil {
		return nil, err
	}
	return p, p.table.scalarKeys(p.filter, nil, p.wanted)
}

// startingKey is where the page before has ended, with its attributes as they are stored; nil if this is the first.
func (t *table) startingKey(named item) (*key, item, error) {
	if named == nil {
		return nil, nil, nil
	}
	k, taken, err := t.keyed(named)
	if err != nil {
		return nil, nil, invalid("The provided starting key is invalid: %s", messageOf(err))
	}
	return &k, taken, nil
}

// pageRead is what a page answers.
type pageRead struct {
	items          []map[string]types.AttributeValue
	count, scanned int32
	last           item // nil: the rows have ended
}

// page reads rows up to 1 MB or the limit, and keeps those that the filter leaves. The database is locked.
func (r *request) page(p *page, rows []*row) pageRead {
	var read pageRead
	if !p.countOnly {
		read.items = []map[string]types.AttributeValue{}
	}
	size := 0
	for _, found := range rows {
		read.scanned++
		size += found.size
		if p.filter == nil || p.filter.holds(found.item) {
			read.count++
			if !p.countOnly {
				read.items = append(read.items, p.wanted.of(found.item))
			}
		}
		if size >= maxPage || int(read.scanned) == p.limit { // also after the last row: DynamoDB does not look ahead
			read.last = p.table.keyOf(found.item)
			break
		}
	}
	r.cost(p.table, readUnits(size, p.consistent), 0)
	return read
}

// behind are the rows, in the order of their keys, that come after a place; before it, if they are read backward.
func (t *table) behind(rows []*row, after *key, backward bool) []*row {
	rows = slices.Clone(rows)
	if backward {
		slices.Reverse(rows)
	}
	if after == nil {
		return rows
	}
	return slices.DeleteFunc(rows, func(r *row) bool {
		order := t.compare(r.key, *after)
		return order == 0 || (order < 0) != backward
	})
}
