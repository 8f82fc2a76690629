package intent_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

func TestCanonical(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"keys sorted":              {`{"b":1,"a":2,"":3}`, `{"":3,"a":2,"b":1}`},
		"keys sorted at any depth": {`[{"b":{"d":1,"c":2},"a":[]}]`, `[{"a":[],"b":{"c":2,"d":1}}]`},
		"keys sorted by UTF-16":    {`{"\ue000":1,"\ud800\udc00":2,"\uffee":3,"é":4,"a":5}`, "{\"a\":5,\"é\":4,\"𐀀\":2,\"\ue000\":1,\"\uffee\":3}"},
		"keys sorted by bytes":     {`{"a":1,"B":2,"é":3,"aa":4}`, `{"B":2,"a":1,"aa":4,"é":3}`},
		"white space dropped":      {" {\t\"a\" :\r\n[ 1 , 2 ] } \n", `{"a":[1,2]}`},
		"white space in strings":   {`{"a b":" c "}`, `{"a b":" c "}`},
		"numbers as written":       {`[1,1.0,1e0,1E0,-0,0.10,9007199254740992,9007199254740993,1e999]`, `[1,1.0,1e0,1E0,-0,0.10,9007199254740992,9007199254740993,1e999]`},
		"literals":                 {`[true,false,null]`, `[true,false,null]`},
		"no object":                {`"text"`, `"text"`},
		"a number alone":           {` 7 `, `7`},
		"escapes of plain letters": {`["\u0041\u00e9\/","\u2713"]`, `["Aé/","✓"]`},
		"escapes in keys":          {`{"\u0062":1,"a":2}`, `{"a":2,"b":1}`},
		"escapes that must stay":   {`["\"\\\b\f\n\r\t\u0000\u001F"]`, `["\"\\\b\f\n\r\t\u0000\u001f"]`},
		"a surrogate pair":         {`["\ud83d\ude00","\uD83D\uDE00"]`, `["😀","😀"]`},
		"an escaped backslash":     {`["\\ud800"]`, `["\\ud800"]`},
		"the replacement itself":   {`["\ufffd"]`, "[\"\ufffd\"]"},
		"not escaped for HTML":     {`["<\u0026>","\u2028"]`, "[\"<&>\",\"\u2028\"]"},
		"empty things":             {`{"a":{},"b":[],"c":""}`, `{"a":{},"b":[],"c":""}`},
		"keys that differ by case": {`{"a":1,"A":2}`, `{"A":2,"a":1}`},
		"64 deep":                  {nested("[", "1", "]", intent.MaxPayloadDepth), nested("[", "1", "]", intent.MaxPayloadDepth)},
		"1 MiB":                    {filled(intent.MaxPayloadBytes), filled(intent.MaxPayloadBytes)},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := intent.ParsePayload([]byte(c.in))
			if got := p.Canonical(); err != nil || string(got) != c.want {
				t.Errorf("got %.200s and error %v, want %.200s", got, err, c.want)
			}
		})
	}
}

// What a decoder could take for the same value but a producer did not mean so
// has another fingerprint; what is only written otherwise has the same.
func TestFingerprint(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"order and white space": {`{"a":1,"b":[1,2]}`, ` { "b" : [1, 2], "a" : 1 } `, true},
		"escapes":               {`{"name":"Zoë"}`, `{"na\u006de":"Zo\u00eb"}`, true},
		"2^53 and 2^53+1":       {`{"n":9007199254740992}`, `{"n":9007199254740993}`, false},
		"1 and 1.0":             {`{"n":1}`, `{"n":1.0}`, false},
		"1 and \"1\"":           {`{"n":1}`, `{"n":"1"}`, false},
		"null and absent":       {`{"n":null}`, `{}`, false},
		"order of an array":     {`[1,2]`, `[2,1]`, false},
		"case of a key":         {`{"n":1}`, `{"N":1}`, false},
		"composed and not":      {`"\u00e9"`, `"e\u0301"`, false},
		// C61: the key is no part of it, however it is written and wherever it stands.
		"C61 a key, or none":            {`{"idempotency_key":"1","n":1}`, `{"n":1}`, true},
		"C61 a key of another type":     {`{"idempotency_key":"1","n":1}`, `{"n":1,"idempotency_key":1}`, true},
		"C61 a key alone":               {`{"idempotency_key":"1"}`, `{}`, true},
		"C61 a key that is first":       {`{"idempotency_key":"1","z":1}`, `{"z":1}`, true},
		"C61 a key in the middle":       {`{"a":2,"idempotency_key":"1","z":1}`, `{"z":1,"a":2}`, true},
		"C61 a key that is last":        {`{"a":2,"idempotency_key":"1"}`, `{"a":2}`, true},
		"C61 a key that is escaped":     {`{"a":2,"idempotency\u005fkey":"1"}`, `{"a":2}`, true},
		"C61 a field deeper down":       {`{"a":{"idempotency_key":"1"}}`, `{"a":{}}`, false},
		"C61 a field of a like name":    {`{"Idempotency_Key":"1"}`, `{}`, false},
		"C61 beside another difference": {`{"idempotency_key":"1","n":1}`, `{"idempotency_key":"1","n":2}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := intenttest.Payload(t, c.a).Fingerprint(), intenttest.Payload(t, c.b).Fingerprint()
			if (a == b) != c.same {
				t.Errorf("got %v and %v, want the same: %t", a, b, c.same)
			}
		})
	}
	const want = "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862" // printf '{"a":1}' | sha256sum
	if got := intenttest.Payload(t, `{ "a": 1 }`).Fingerprint(); got.String() != want {
		t.Errorf("got %v, want %s: records of an earlier release would all be conflicts", got, want)
	}
}

// The error tells a position, and nothing of the payload: names are a part of it (C73).
func TestPayloadRefused(t *testing.T) {
	for name, c := range map[string]struct{ in, says string }{
		"nothing":                       {"", "is not JSON"},
		"white space alone":             {" ", "is not JSON"},
		"no JSON":                       {"{", "is not JSON"},
		"two values":                    {"{} {}", "is not JSON"},
		"a byte order mark":             {"\ufeff{}", "is not JSON"},
		"not UTF-8":                     {"\"\xff\"", "is not UTF-8"},
		"a surrogate in UTF-8":          {"\"\xed\xa0\x80\"", "is not UTF-8"},
		"a repeated name":               {`{"a":1,"a":1}`, "repeats a name of its object at byte 7"},
		"a repeated name, deep":         {`{"x":[0,{"y":{"a":1,"b":2,"a":3}}]}`, "repeats a name of its object at byte 26"},
		"a repeated name, escaped":      {`{"a":1,"\u0061":2}`, "repeats a name of its object at byte 7"},
		"a repeated empty name":         {`{"":1,"":2}`, "repeats a name of its object at byte 6"},
		"a name thrice":                 {`[{"a":1,"a":2,"a":3}]`, "repeats a name of its object at byte 8"},
		"half a pair, high":             {`{"a":"\ud800"}`, "has half a surrogate pair at byte 5"},
		"half a pair, low":              {`{"a":["x","\udc00"]}`, "has half a surrogate pair at byte 10"},
		"half a pair, then text":        {`"\ud83dx"`, "has half a surrogate pair at byte 0"},
		"half a pair, then an escape":   {`"\ud83d\n"`, "has half a surrogate pair at byte 0"},
		"half a pair, then a letter":    {`"\ud83d\u0041"`, "has half a surrogate pair at byte 0"},
		"half a pair, then a whole one": {`"\ud83d\ud83d\ude00"`, "has half a surrogate pair at byte 0"},
		"a pair the wrong way round":    {`"\ude00\ud83d"`, "has half a surrogate pair at byte 0"},
		"two low halves":                {`"\udc00\udc00"`, "has half a surrogate pair at byte 0"},
		"half a pair in a name":         {`{"a":{"\ud800":1}}`, "has half a surrogate pair at byte 6"},
		"65 deep":                       {nested("[", "1", "]", intent.MaxPayloadDepth+1), "nests deeper than 64 at byte 65"},
		"65 deep, in objects":           {nested(`{"a":`, "1", "}", intent.MaxPayloadDepth+1), "nests deeper than 64 at byte 325"},
		"1 MiB and a byte":              {filled(intent.MaxPayloadBytes + 1), "has 1048577 bytes, the limit is 1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := intent.ParsePayload([]byte(c.in))
			var unusable *intent.PayloadError
			if !errors.As(err, &unusable) || unusable.Field != "" || unusable.Reason != c.says {
				t.Errorf("got error %v, want a PayloadError that says %q", err, c.says)
			}
		})
	}
}

func TestPayloadField(t *testing.T) {
	p := intenttest.Payload(t, `{"b": {"c": [1, 2]}, "a" : "x", "\u0063":1.0}`)
	for name, want := range map[string]string{"a": `"x"`, "b": `{"c":[1,2]}`, "c": "1.0", "d": "", "": ""} {
		if got := string(p.Field(name)); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	for in, object := range map[string]bool{`{}`: true, ` {"a":1}`: true, `[{"a":1}]`: false, `"a"`: false, `1`: false, `null`: false} {
		p := intenttest.Payload(t, in)
		if p.IsObject() != object || p.Field("a") != nil && !object {
			t.Errorf("%s: got an object %t with field %s", in, p.IsObject(), p.Field("a"))
		}
	}
	if _, err := intent.Decode[map[string]any](intent.Payload{}); err == nil {
		t.Error("a payload that nobody has read is decoded")
	}
}

// One poison message must not use up its batch's time: what the canonical form
// costs grows with the payload, not with its square.
func TestCanonicalCostsInProportion(t *testing.T) {
	key := strings.Repeat("k", 250_000)
	half := intent.MaxPayloadBytes / 2
	for name, in := range map[string]string{
		"many elements under a long key": `{"` + key + `":[` + strings.Repeat("0,", half/2) + `0]}`,
		"many members under a long key":  `{"` + key + `":{"a":[` + strings.Repeat(`{"a":0},`, half/8) + `0]}}`,
		"long keys, deep":                nested(`{"`+strings.Repeat("k", 15_000)+`":`, "1", "}", 60),
		"arrays, deep":                   nested("[", strings.Repeat("[],", half/3)+"0", "]", 60),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := intent.ParsePayload([]byte(in)); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			// 64 levels may each copy what is below them.
			if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(2*64*len(in)); got > limit {
				t.Errorf("allocates %d bytes for %d, want %d at most", got, len(in), limit)
			}
		})
	}
}

func nested(open, inner, end string, depth int) string {
	return strings.Repeat(open, depth) + inner + strings.Repeat(end, depth)
}

// filled is a string of so many bytes, quotes included.
func filled(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
