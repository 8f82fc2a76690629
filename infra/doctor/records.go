package doctor

import (
	"maps"
	"slices"
	"strings"

	"github.com/singleeffect/once/infra/template"
)

// What a record's table must know of its items, as shared/dynamo writes them.
const (
	keyAttribute    = "intent"
	keyType         = "S"
	expiryAttribute = "expires_at"
)

// openIndex finds the records that somebody must look at.
var openIndex = template.Index{Name: "open", Keys: []template.Key{{Attribute: "open", Type: "S"}, {Attribute: "open_since", Type: "N"}}, Projection: "KEYS_ONLY"}

// recordTables are the tables that functions keep records in.
func (s Stack) recordTables() []template.Table {
	return slices.DeleteFunc(slices.Clone(s.Tables), func(t template.Table) bool {
		return !slices.ContainsFunc(s.Functions, func(f template.Function) bool { return f.Environment["INTENT_TABLE"] == t.Ref })
	})
}

// strange tells whether a table is neither the stack's nor one that was there before and that a parameter names.
func (s Stack) strange(table string) bool {
	if table != "" && slices.Contains(slices.Collect(maps.Values(s.Parameters)), table) {
		return false
	}
	return !slices.ContainsFunc(s.Tables, func(t template.Table) bool { return t.Ref == table })
}

func recordTable(s Stack, found report) {
	for _, f := range s.Functions {
		name := f.Environment["INTENT_TABLE"]
		if s.strange(name) {
			var tables []string
			for _, t := range s.Tables {
				tables = append(tables, t.Ref)
			}
			found(f.LogicalID, "has INTENT_TABLE %q, and the tables are %q", name, tables)
		}
	}
	want := template.Key{Attribute: keyAttribute, Type: keyType}
	for _, t := range s.recordTables() {
		if len(t.Keys) != 1 || t.Keys[0] != want {
			found(t.LogicalID, "has the key %s, and the code writes %s", keys(t.Keys), keys([]template.Key{want}))
		}
	}
}

// keys writes a key as attribute (type), the partition key first.
func keys(all []template.Key) string {
	var parts []string
	for _, k := range all {
		parts = append(parts, k.Attribute+" ("+k.Type+")")
	}
	return strings.Join(parts, ", ")
}

func recordIndex(s Stack, found report) {
	for _, t := range s.recordTables() {
		if !slices.ContainsFunc(t.Indexes, func(i template.Index) bool { return slices.Equal(i.Keys, openIndex.Keys) && i.Name == openIndex.Name }) {
			found(t.LogicalID, "has no index %s of %s: open records are not found without it", openIndex.Name, keys(openIndex.Keys))
		}
	}
}

func recordExpiry(s Stack, found report) {
	for _, t := range s.recordTables() {
		if t.TTLAttribute != expiryAttribute {
			found(t.LogicalID, "has the TTL attribute %q, and the code writes %q", t.TTLAttribute, expiryAttribute)
		}
	}
}

func recordRegions(s Stack, found report) {
	for _, t := range s.recordTables() {
		if len(t.Replicas) > 1 && t.Consistency != "STRONG" {
			found(t.LogicalID, "has replicas in %q, and their consistency is %s, not STRONG", t.Replicas, t.Consistency)
		}
	}
}
