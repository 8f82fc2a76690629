package template

import (
	"maps"
	"slices"
)

// Table is one DynamoDB table.
type Table struct {
	LogicalID string
	// Name is empty where CloudFormation would make one up.
	Name string
	// Keys are the partition key and, if there is one, the sort key, in this order.
	Keys []Key
	// TTLAttribute holds when an item expires, in epoch seconds; empty where items do not.
	TTLAttribute string
}

// Key is one attribute of a table's key.
type Key struct {
	Attribute string
	// Type is S, N or B.
	Type string
}

func table(p *properties, r *resource) Table {
	t := Table{LogicalID: r.logicalID, Name: r.name}
	types := map[string]string{}
	for _, d := range p.all("AttributeDefinitions") {
		types[d.required("AttributeName")] = d.required("AttributeType")
	}
	for i, k := range p.all("KeySchema") {
		key := Key{Attribute: k.required("AttributeName")}
		if kind, want := k.required("KeyType"), []string{"HASH", "RANGE"}; i >= len(want) || kind != want[i] {
			k.fail("KeyType", k.line, "is %q: a key is one HASH and then at most one RANGE", kind)
		}
		if key.Type = types[key.Attribute]; !slices.Contains([]string{"S", "N", "B"}, key.Type) {
			k.fail("AttributeName", k.line, "%s has type %q in AttributeDefinitions: it must be S, N or B", key.Attribute, key.Type)
		}
		delete(types, key.Attribute)
		t.Keys = append(t.Keys, key)
	}
	if len(t.Keys) == 0 {
		p.fail("KeySchema", r.line, "is missing")
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		p.fail("AttributeDefinitions", r.line, "%s is part of no key", name)
	}
	if ttl := p.within("TimeToLiveSpecification"); ttl != nil {
		attribute := ttl.required("AttributeName")
		if ttl.flag("Enabled", false) {
			t.TTLAttribute = attribute
		}
	}
	return t
}
