package intent_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/singleeffect/once/shared/intent"
)

// FuzzKey reads the parts back out of a record's key: as long as that can be
// done, no two intents share one. And it tells which keys may be used.
func FuzzKey(f *testing.F) {
	for _, part := range []string{"a", "#", "%", "%23", "a#b", "%2523", "", "\xff", "é", "\x00", strings.Repeat("k", 1020), strings.Repeat("k", 1021), strings.Repeat("#", 340), strings.Repeat("é", 510)} {
		f.Add(part, "o", "k")
		f.Add("s", part, "k")
		f.Add("s", "o", part)
	}
	f.Fuzz(func(t *testing.T, scope, operation, id string) {
		k := intent.Key{Scope: scope, Operation: operation, ID: id}
		record := k.String()
		parts := strings.Split(record, "#")
		if len(parts) != 3 {
			t.Fatalf("%+v: record %q is of %d parts", k, record, len(parts))
		}
		if got := (intent.Key{Scope: plainPart(parts[0]), Operation: plainPart(parts[1]), ID: plainPart(parts[2])}); got != k {
			t.Errorf("record %q reads as %+v, want %+v", record, got, k)
		}
		usable := scope != "" && operation != "" && id != "" && utf8.ValidString(scope+"|"+operation+"|"+id) && len(record) <= 1024
		var unusable *intent.KeyError
		if err := k.Validate(); (err == nil) != usable || err != nil && !errors.As(err, &unusable) {
			t.Errorf("%q: got error %v, want it usable: %t", record, err, usable)
		}
		if d := k.Downstream(); !downstreamKey.MatchString(d) || d == (intent.Key{Scope: scope, Operation: operation, ID: id + "#"}).Downstream() {
			t.Errorf("downstream key %q is no UUID of version 8, or another intent's", d)
		}
	})
}

var downstreamKey = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// plainPart undoes the escapes of a part, in the order in which they were made backwards.
func plainPart(escaped string) string {
	return strings.ReplaceAll(strings.ReplaceAll(escaped, "%23", "#"), "%25", "%")
}
