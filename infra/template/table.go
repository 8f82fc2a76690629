package template

import (
	"maps"
	"slices"
)

// Table is one DynamoDB table, or a global one.
type Table struct {
	LogicalID string
	// Name is empty where CloudFormation would make one up.
	Name string
	// Ref is what a Ref to the table stands for.
	Ref string
	// Keys are the partition key and, if there is one, the sort key, in this order.
	Keys []Key
	// Indexes are the global secondary ones.
	Indexes []Index
	// TTLAttribute holds when an item expires, in epoch seconds; empty where items do not.
	TTLAttribute string
	// Replicas are the Regions of a global table; none for a plain one.
	Replicas []string
	// Consistency is how a global table's replicas agree: EVENTUAL or STRONG. Empty for a plain table.
	Consistency string
}

// Key is one attribute of a table's key.
type Key struct {
	Attribute string
	// Type is S, N or B.
	Type string
}

// Index is one global secondary index.
type Index struct {
	Name string
	Keys []Key
	// Projection is ALL, KEYS_ONLY or INCLUDE.
	Projection string
}

func table(p *properties, r *resource) Table {
	t := Table{LogicalID: r.logicalID, Name: r.name, Ref: p.self(r)}
	types := map[string]string{}
	for _, d := range p.all("AttributeDefinitions") {
		types[d.required("AttributeName")] = d.required("AttributeType")
	}
	used := map[string]bool{}
	t.Keys = keySchema(p, types, used)
	for _, index := range p.all("GlobalSecondaryIndexes") {
		projection := index.within("Projection")
		if projection == nil {
			index.fail("Projection", index.line, "is missing")
			continue
		}
		t.Indexes = append(t.Indexes, Index{index.required("IndexName"), keySchema(index, types, used), projection.required("ProjectionType")})
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if p.evaluator.options.Lenient { // of a local index, most likely
			break
		}
		if !used[name] {
			p.fail("AttributeDefinitions", r.line, "%s is part of no key", name)
		}
	}
	if ttl := p.within("TimeToLiveSpecification"); ttl != nil {
		attribute := ttl.required("AttributeName")
		if ttl.flag("Enabled", false) {
			t.TTLAttribute = attribute
		}
	}
	if r.kind == globalTableType {
		t.replicate(p, r)
	}
	return t
}

// keySchema reads the key of a table or an index, and notes its attributes.
func keySchema(p *properties, types map[string]string, used map[string]bool) (keys []Key) {
	for i, k := range p.all("KeySchema") {
		key := Key{Attribute: k.required("AttributeName")}
		if kind, want := k.required("KeyType"), []string{"HASH", "RANGE"}; i >= len(want) || kind != want[i] {
			k.fail("KeyType", k.line, "is %q: a key is one HASH and then at most one RANGE", kind)
		}
		if key.Type = types[key.Attribute]; !slices.Contains([]string{"S", "N", "B"}, key.Type) {
			k.fail("AttributeName", k.line, "%s has type %q in AttributeDefinitions: it must be S, N or B", key.Attribute, key.Type)
		}
		used[key.Attribute] = true
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		p.fail("KeySchema", p.line, "is missing")
	}
	return keys
}

// replicate reads what is a global table's own.
func (t *Table) replicate(p *properties, r *resource) {
	for _, replica := range p.all("Replicas") {
		t.Replicas = append(t.Replicas, replica.required("Region"))
		replica.ignore("DeletionProtectionEnabled", "PointInTimeRecoverySpecification")
	}
	if len(t.Replicas) == 0 {
		p.fail("Replicas", r.line, "is missing")
	}
	t.Consistency = p.text("MultiRegionConsistency", "EVENTUAL")
	if t.Consistency != "EVENTUAL" && t.Consistency != "STRONG" {
		p.fail("MultiRegionConsistency", r.line, "is %q: it must be EVENTUAL or STRONG", t.Consistency)
	}
}
