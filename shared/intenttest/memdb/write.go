package memdb

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// write is one conditional change of one item: a put, an update, a deletion, or
// none of them, a check. Nothing of it looks at the table any more.
type write struct {
	table     *table
	key       key
	condition condition // nil: none
	put       item
	update    *update
	keyItem   item // what an update starts from where no item is
	remove    bool
	showOld   bool // an item that fails the condition goes with the error
}

// outcome is the row that the write leaves in place of the one that is there; nil
// stands for none.
func (w *write) outcome(old *row) (*row, error) {
	var before item
	if old != nil {
		before = old.item
	}
	if w.condition != nil && !w.condition.holds(before) {
		return nil, refused(w, old)
	}
	next, tooLarge := w.put, "Item size has exceeded the maximum allowed size"
	switch {
	case w.remove:
		return nil, nil
	case w.update != nil:
		if before == nil && !w.update.creates() {
			return nil, nil // the paths are not looked at either: there is nothing they could lead into
		}
		if before == nil {
			before = w.keyItem
		}
		var err error
		if next, err = w.update.apply(before); err != nil {
			return nil, err
		}
		tooLarge = "Item size to update has exceeded the maximum allowed size"
	case w.put == nil:
		return old, nil
	}
	r := &row{key: w.key, item: next, size: sizeOf(next)}
	if r.size > maxItem {
		return nil, invalid("%s", tooLarge)
	}
	return r, nil
}

// shown is the item that goes with a failed condition.
func (w *write) shown(old *row) item {
	if !w.showOld || old == nil {
		return nil
	}
	return giveItem(old.item)
}

// writeUnits is what a write costs: a unit for each KB of the larger of both
// items, and one at least. So does one that fails its condition, by the item that
// is there (Amazon DynamoDB, "Read and write operations" and "Condition
// expressions").
func writeUnits(before, after *row) float64 {
	size := 1
	for _, r := range []*row{before, after} {
		if r != nil {
			size = max(size, r.size)
		}
	}
	return float64(ceilDiv(size, 1<<10))
}

// readUnits is what reading that many bytes costs: half of this where the read is
// eventually consistent. Reading nothing costs as much as reading a little.
func readUnits(bytes int, consistent bool) float64 {
	units := float64(ceilDiv(max(bytes, 1), 4<<10))
	if !consistent {
		units /= 2
	}
	return units
}

// newPut checks a put as far as it can be without the table's rows.
func (db *DB) newPut(tableName *string, it item, c condition, showOld bool) (*write, error) {
	t, err := db.table(tableName)
	if err != nil {
		return nil, err
	}
	taken, err := takeItem(it, 0)
	if err != nil {
		return nil, err
	}
	k, err := t.place(taken)
	if err == nil {
		err = t.scalarKeys(c, nil, nil)
	}
	return &write{table: t, key: k, put: taken, condition: c, showOld: showOld}, err
}

// newUpdate checks an update. None at all leaves what is there, or an item that is
// only its key.
func (db *DB) newUpdate(tableName *string, named item, u *update, c condition, showOld bool) (*write, error) {
	w, err := db.newKeyed(tableName, named, c, showOld)
	if err != nil {
		return nil, err
	}
	if u == nil {
		u = new(update)
	}
	w.update = u
	for _, to := range u.targets {
		if w.table.isKey(to[0].name) {
			return nil, mismatch("One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key",
				to[0].name)
		}
	}
	return w, w.table.scalarKeys(nil, u, nil)
}

// newKeyed checks a write that names its item by the key, and changes nothing yet.
func (db *DB) newKeyed(tableName *string, named item, c condition, showOld bool) (*write, error) {
	t, err := db.table(tableName)
	if err != nil {
		return nil, err
	}
	k, taken, err := t.keyed(named)
	if err == nil {
		err = t.scalarKeys(c, nil, nil)
	}
	return &write{table: t, key: k, keyItem: taken, condition: c, showOld: showOld}, err
}

// showsOld reads ReturnValuesOnConditionCheckFailure.
func showsOld(v types.ReturnValuesOnConditionCheckFailure) (bool, error) {
	switch v {
	case "", types.ReturnValuesOnConditionCheckFailureNone:
		return false, nil
	case types.ReturnValuesOnConditionCheckFailureAllOld:
		return true, nil
	}
	return false, unknown("returnValuesOnConditionCheckFailure", v, "ALL_OLD, NONE")
}

// parseCondition reads one of a request's conditions; nil if it has none.
func parseCondition(kind string, text *string, s *scope) (condition, error) {
	if text == nil {
		return nil, nil
	}
	return parse(expressionParser(kind, *text, s), (*parser).condition)
}
