package memdb

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ExecuteStatement is a *dynamodb.Client's, for one INSERT, UPDATE, DELETE, or SELECT by key.
func (db *DB) ExecuteStatement(ctx context.Context, in *dynamodb.ExecuteStatementInput, _ ...func(*dynamodb.Options)) (*dynamodb.ExecuteStatementOutput, error) {
	return serve(ctx, db, "ExecuteStatement", in, executeStatement)
}

func executeStatement(r *request, in *dynamodb.ExecuteStatementInput) (*dynamodb.ExecuteStatementOutput, error) {
	if err := unsupported(feature{"Limit", in.Limit != nil}, feature{"NextToken", in.NextToken != nil}); err != nil {
		return nil, err
	}
	if err := checkReports(in.ReturnConsumedCapacity, ""); err != nil {
		return nil, err
	}
	if err := checkLength(in.Statement); err != nil {
		return nil, err
	}
	parameters, err := takeParameters(in.Parameters)
	if err != nil {
		return nil, err
	}
	p, err := r.prepare(in.Statement, parameters, in.ReturnValuesOnConditionCheckFailure)
	if err != nil {
		return nil, err
	}
	items, err := r.execute(p, aws.ToBool(in.ConsistentRead))
	if isRefusal(err) && p.verb == "INSERT" && !p.write.showOld {
		message := duplicate
		err = &types.DuplicateItemException{Message: &message}
	}
	if err != nil {
		return nil, err
	}
	return &dynamodb.ExecuteStatementOutput{Items: items, ConsumedCapacity: r.meter.one(in.ReturnConsumedCapacity)}, nil
}

const duplicate = "Duplicate primary key exists in table"

// prepared is a statement that knows its table and its place there.
type prepared struct {
	*statement
	table *table
	key   key
	whole bool // the key is: a SELECT may name the partition only
	write *write
}

func takeParameters(parameters []types.AttributeValue) ([]types.AttributeValue, error) {
	taken := make([]types.AttributeValue, len(parameters))
	for i, v := range parameters {
		var err error
		if taken[i], err = take(v, 0); err != nil {
			return nil, err
		}
	}
	return taken, nil
}

func checkLength(statement *string) error {
	if len(aws.ToString(statement)) > maxStatement {
		return invalid("1 validation error detected: Value at 'statement' failed to satisfy constraint: Member must have length less than or equal to %d", maxStatement)
	}
	return nil
}

// prepare parses a statement and checks it as far as it can be without the rows. With an error it still returns the statement, if
// that got as far as its table.
func (r *request) prepare(text *string, parameters []types.AttributeValue, show types.ReturnValuesOnConditionCheckFailure) (*prepared, error) {
	showOld, err := showsOld(show)
	if err != nil {
		return nil, err
	}
	s, err := parseStatement(aws.ToString(text), parameters)
	if err != nil {
		return nil, err
	}
	p := &prepared{statement: s, whole: true}
	if p.table, err = r.DB.table(&s.table); err != nil {
		return nil, err
	}
	if s.verb == "INSERT" {
		if err := p.table.insertable(s.item); err != nil {
			return nil, err
		}
		absent := existence{of: path{{name: p.table.keys[0].name}}}
		if p.write, err = r.newPut(&s.table, s.item, absent, showOld); err == nil {
			p.key = p.write.key
		}
		return p, err
	}
	if err := p.table.scalarKeys(s.where, s.update, s.columns); err != nil {
		return nil, err
	}
	named, err := p.table.named(s.where)
	if err != nil && s.verb != "SELECT" {
		return nil, err
	}
	p.whole = len(named) == len(p.table.keys)
	if _, ok := named[p.table.keys[0].name]; !ok || !p.whole && s.verb != "SELECT" {
		if s.verb == "SELECT" {
			return nil, &UnsupportedError{What: "SELECT without the partition key"}
		}
		return nil, invalid("Where clause does not contain a mandatory equality on all key attributes")
	}
	switch {
	case !p.whole:
		p.key.partition, err = keyValue(p.table.keys[0].name, 0, named[p.table.keys[0].name])
		return p, err
	case s.verb == "UPDATE":
		if p.write, err = r.newUpdate(&s.table, named, s.update, s.where, showOld); err == nil {
			err = s.update.canReturn(s.returning)
		}
	default:
		condition := s.where
		if p.table.isKeyOnly(condition) { // a DELETE of nothing is no failure
			condition = nil
		}
		if p.write, err = r.newKeyed(&s.table, named, condition, showOld); err == nil {
			p.write.remove = s.verb == "DELETE"
		}
	}
	if err == nil {
		p.key = p.write.key
	}
	return p, err
}

// insertable: PartiQL has words of its own for an item without its key.
func (t *table) insertable(it item) error {
	for _, attribute := range t.keys {
		switch kindOf(it[attribute.name]) {
		case string(attribute.kind):
		case "":
			return invalid("Key attribute should be present in the item: Key %s", attribute.name)
		default:
			return invalid("Key attribute's data type should match its data type in table's schema: Key %s", attribute.name)
		}
	}
	return nil
}

// named are the key attributes that a where clause says are equal to something. That of one that is said to be equal to two
// values is an error, of which a SELECT makes nothing.
func (t *table) named(where condition) (named item, err error) {
	named = item{}
	for _, c := range conjuncts(where) {
		name, value := t.keyEquality(c)
		if other := named[name]; other != nil && !equal(other, value) {
			err = invalid("Multiple conditions on same key %s. Only single item Update/Insert/Delete are supported", name)
		}
		if value != nil {
			named[name] = value
		}
	}
	return named, err
}

// keyEquality is the key attribute that a condition says is equal to a value; nil if it says something else.
func (t *table) keyEquality(c condition) (string, types.AttributeValue) {
	equality, ok := c.(comparison)
	if !ok || equality.operator != "=" {
		return "", nil
	}
	name, isPath := equality.one.(path)
	value, isConstant := equality.two.(constant)
	if !isPath || !isConstant {
		name, isPath = equality.two.(path)
		value, isConstant = equality.one.(constant)
	}
	if !isPath || !isConstant || len(name) > 1 || !t.isKey(name[0].name) {
		return "", nil
	}
	return name[0].name, value.AttributeValue
}

// isKeyOnly reports a where clause that names a key and wants nothing else.
func (t *table) isKeyOnly(where condition) bool {
	return !slices.ContainsFunc(conjuncts(where), func(c condition) bool {
		_, value := t.keyEquality(c)
		return value == nil
	})
}

// execute runs a statement and returns the items that it answers with.
func (r *request) execute(p *prepared, consistent bool) ([]map[string]types.AttributeValue, error) {
	if p.verb == "SELECT" {
		return r.selected(p, consistent), nil
	}
	before, after, err := r.run(p.write)
	if err != nil {
		return nil, err
	}
	u := p.update
	if u == nil {
		u = new(update)
	}
	items := []map[string]types.AttributeValue{}
	if it := u.returned(p.returning, before, after); it != nil {
		items = append(items, it)
	}
	return items, nil
}

func (r *request) selected(p *prepared, consistent bool) []map[string]types.AttributeValue {
	r.mu.Lock()
	defer r.mu.Unlock()
	rows := slices.Clone(p.table.partitions[p.key.partition])
	if p.whole {
		rows = slices.DeleteFunc(rows, func(found *row) bool { return found.key != p.key })
	}
	size := 0
	items := []map[string]types.AttributeValue{}
	for _, found := range rows {
		size += found.size
		if p.where.holds(found.item) {
			items = append(items, p.columns.of(found.item))
		}
	}
	r.cost(p.table, readUnits(size, consistent), 0)
	return items
}
