package memdb

import (
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Config is what a database starts with.
type Config struct {
	// Tables are there from the start. CreateTable makes more, also with keys of other types.
	Tables []Table

	// Plan is asked about each call, and about each action, statement or key of those that have several. It is asked one
	// question at a time, so it may keep state without a lock; it must not block, nor call the database. What takes time, or
	// calls it, belongs in the Fault's Before and After. Nil lets all pass.
	Plan func(Call) Fault

	// Now is the time by which Expire deletes and transactions' tokens are forgotten. Defaults to time.Now.
	Now func() time.Time
}

// Table is a table whose keys are of type S.
type Table struct {
	Name string
	Keys []string // the partition key and, if there is one, the sort key
	TTL  string   // the TTL attribute, if there is one: epoch seconds, type N
}

// DB is a DynamoDB in memory. Its methods that are named as those of *dynamodb.Client take and return the same; a call is one
// attempt, there are no retries, and the options are not looked at. It is safe for use by several goroutines, and what it is
// given and gives is its callers' own.
//
// It is an http.RoundTripper and an http.Handler besides.
type DB struct {
	plan func(Call) Fault
	now  func() time.Time

	planMu sync.Mutex // held while the plan is asked
	counts map[string]int

	mu     sync.Mutex
	tables map[string]*table
	tokens tokens
	usage  map[string]Usage
}

// New returns a database. It panics if a table has no name, not one or two keys, or is there twice: that is a mistake in the
// test.
func New(c Config) *DB {
	db := &DB{plan: c.Plan, now: c.Now, counts: map[string]int{}, tables: map[string]*table{}, usage: map[string]Usage{}}
	if db.now == nil {
		db.now = time.Now
	}
	for _, t := range c.Tables {
		if t.Name == "" || len(t.Keys) < 1 || len(t.Keys) > 2 || db.tables[t.Name] != nil {
			panic("memdb: table " + t.Name + " has no name, not one or two keys, or is there twice")
		}
		made := &table{name: t.Name, ttl: t.TTL, partitions: map[string][]*row{}}
		for _, name := range t.Keys {
			made.keys = append(made.keys, keyAttribute{name, types.ScalarAttributeTypeS})
		}
		db.tables[t.Name] = made
	}
	return db
}

// table finds a table. The pointer is nil where a request names none.
func (db *DB) table(name *string) (*table, error) {
	if name == nil {
		return nil, invalid("1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null")
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if t := db.tables[*name]; t != nil {
		return t, nil
	}
	if !isTableName(*name) {
		return nil, invalidTableName()
	}
	return nil, notFound()
}

// Items are all items of a table, in the order of their keys; none if there is no such table. It is for tests to look at what
// came of the calls, and not one of them.
func (db *DB) Items(tableName string) []map[string]types.AttributeValue {
	t, err := db.table(&tableName)
	if err != nil {
		return nil
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	var items []map[string]types.AttributeValue
	for _, r := range t.all() {
		items = append(items, giveItem(r.item))
	}
	return items
}

// Expire does what TTL does within days, and never by itself here: it deletes what expired before now and not more than five
// years ago, and returns how many items that were.
func (db *DB) Expire() int {
	now := db.now()
	db.mu.Lock()
	defer db.mu.Unlock()
	var gone int
	for _, t := range db.tables {
		if t.ttl == "" {
			continue
		}
		for _, r := range t.all() {
			if t.expired(r, now) {
				t.replace(r.key, nil)
				gone++
			}
		}
	}
	return gone
}

// Usage is what calls of one operation have cost so far, by AWS's published rules, whether they failed or not.
type Usage struct {
	Calls                 int
	ReadUnits, WriteUnits float64
}

// Usage tells the usage of each operation that was called. What one call costs is the difference; those that succeed also say
// so if asked for ReturnConsumedCapacity.
//
// AWS says nothing of cancelled transactions: each of their actions is counted as a failed conditional write, doubled, unless
// the plan was what cancelled them, or an action that does not fit its table: then none was evaluated.
func (db *DB) Usage() map[string]Usage {
	db.planMu.Lock()
	defer db.planMu.Unlock()
	db.mu.Lock()
	defer db.mu.Unlock()
	all := make(map[string]Usage, len(db.counts))
	for operation, calls := range db.counts {
		u := db.usage[operation]
		u.Calls = calls
		all[operation] = u
	}
	return all
}

// meter is what one call costs, by table.
type meter []consumption

type consumption struct {
	table       string
	read, write float64
}

func (m *meter) add(t *table, read, write float64) {
	i := slices.IndexFunc(*m, func(c consumption) bool { return c.table == t.name })
	if i < 0 {
		i = len(*m)
		*m = append(*m, consumption{table: t.name})
	}
	(*m)[i].read += read
	(*m)[i].write += write
}

// answer is the ConsumedCapacity of each table, if it was asked for.
func (m meter) answer(level types.ReturnConsumedCapacity, transaction bool) []types.ConsumedCapacity {
	if level != types.ReturnConsumedCapacityTotal && level != types.ReturnConsumedCapacityIndexes {
		return nil
	}
	var all []types.ConsumedCapacity
	for _, c := range m {
		units := c.read + c.write
		answer := types.ConsumedCapacity{TableName: &c.table, CapacityUnits: &units}
		table := &types.Capacity{CapacityUnits: &units}
		if transaction && c.read > 0 {
			answer.ReadCapacityUnits, table.ReadCapacityUnits = &c.read, &c.read
		}
		if transaction && c.write > 0 {
			answer.WriteCapacityUnits, table.WriteCapacityUnits = &c.write, &c.write
		}
		if level == types.ReturnConsumedCapacityIndexes {
			answer.Table = table
		}
		all = append(all, answer)
	}
	return all
}

// one is the ConsumedCapacity of a call on one table.
func (m meter) one(level types.ReturnConsumedCapacity) *types.ConsumedCapacity {
	all := m.answer(level, false)
	if len(all) == 0 {
		return nil
	}
	return &all[0]
}
