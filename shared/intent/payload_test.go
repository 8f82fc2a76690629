package intent_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/singleeffect/once/shared/intent"
)

func TestCanonical(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"keys sorted":              {`{"b":1,"a":2,"":3}`, `{"":3,"a":2,"b":1}`},
		"keys sorted at any depth": {`[{"b":{"d":1,"c":2},"a":[]}]`, `[{"a":[],"b":{"c":2,"d":1}}]`},
		"keys sorted by bytes":     {`{"a":1,"B":2,"é":3,"aa":4}`, `{"B":2,"a":1,"aa":4,"é":3}`},
		"white space dropped":      {" {\t\"a\" :\r\n[ 1 , 2 ] } \n", `{"a":[1,2]}`},
		"white space in strings":   {`{"a b":" c "}`, `{"a b":" c "}`},
		"numbers as written":       {`[1,1.0,1e0,1E0,-0,0.10,9007199254740992,9007199254740993,1e999]`, `[1,1.0,1e0,1E0,-0,0.10,9007199254740992,9007199254740993,1e999]`},
		"literals":                 {`[true,false,null]`, `[true,false,null]`},
		"no object":                {`"text"`, `"text"`},
		"a number alone":           {` 7 `, `7`},
		"escapes of plain letters": {`["\u0041\u00e9\/","\u2713"]`, `["Aé/","✓"]`},
		"escapes in keys":          {`{"\u0062":1,"a":2}`, `{"a":2,"b":1}`},
		"escapes that must stay":   {`["\"\\\b\f\n\r\t\u0000\u001F"]`, `["\"\\\u0008\u000c\u000a\u000d\u0009\u0000\u001f"]`},
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
			got, err := intent.Canonical([]byte(c.in))
			if err != nil || string(got) != c.want {
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
	} {
		t.Run(name, func(t *testing.T) {
			a, errA := intent.FingerprintOf([]byte(c.a))
			b, errB := intent.FingerprintOf([]byte(c.b))
			if errA != nil || errB != nil || (a == b) != c.same {
				t.Errorf("got %v and %v, errors %v and %v, want the same: %t", a, b, errA, errB, c.same)
			}
		})
	}
	const want = "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862" // printf '{"a":1}' | sha256sum
	if got, err := intent.FingerprintOf([]byte(`{ "a": 1 }`)); err != nil || got.String() != want {
		t.Errorf("got %v and error %v, want %s: records of an earlier release would all be conflicts", got, err, want)
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for name, c := range map[string]struct{ in, field, says string }{
		"nothing":                        {"", "", "not JSON"},
		"white space alone":              {" ", "", "not JSON"},
		"no JSON":                        {"{", "", "not JSON"},
		"two values":                     {"{} {}", "", "not JSON"},
		"a byte order mark":              {"\ufeff{}", "", "not JSON"},
		"not UTF-8":                      {"\"\xff\"", "", "not UTF-8"},
		"a surrogate in UTF-8":           {"\"\xed\xa0\x80\"", "", "not UTF-8"},
		"a repeated key":                 {`{"a":1,"a":1}`, "a", "twice"},
		"a repeated key, deep":           {`{"x":[0,{"y":{"a":1,"b":2,"a":3}}]}`, "x[1].y.a", "twice"},
		"a repeated key, escaped":        {`{"a":1,"\u0061":2}`, "a", "twice"},
		"a repeated empty key":           {`{"":1,"":2}`, "", "twice"},
		"a key thrice":                   {`[{"a":1,"a":2,"a":3}]`, "[0].a", "twice"},
		"half a pair, high":              {`{"a":"\ud800"}`, "a", "surrogate"},
		"half a pair, low":               {`{"a":["x","\udc00"]}`, "a[1]", "surrogate"},
		"half a pair, then text":         {`"\ud83dx"`, "", "surrogate"},
		"half a pair, then an escape":    {`"\ud83d\n"`, "", "surrogate"},
		"half a pair, then a letter":     {`"\ud83d\u0041"`, "", "surrogate"},
		"half a pair, then a whole one":  {`"\ud83d\ud83d\ude00"`, "", "surrogate"},
		"a pair the wrong way round":     {`"\ude00\ud83d"`, "", "surrogate"},
		"two low halves":                 {`"\udc00\udc00"`, "", "surrogate"},
		"half a pair in a key":           {`{"a":{"\ud800":1}}`, "a", "surrogate"},
		"65 deep":                        {nested("[", "1", "]", intent.MaxPayloadDepth+1), strings.Repeat("[0]", intent.MaxPayloadDepth+1), "deeper than 64"},
		"65 deep, in objects":            {nested(`{"a":`, "1", "}", intent.MaxPayloadDepth+1), strings.Repeat(".a", intent.MaxPayloadDepth+1)[1:], "deeper than 64"},
		"1 MiB and a byte":               {filled(intent.MaxPayloadBytes + 1), "", "1048577 bytes"},
		"a key of a megabyte, its field": {`{"` + strings.Repeat("k", 1_000_000) + `":"\ud800"}`, strings.Repeat("k", 256), "surrogate"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := intent.Canonical([]byte(c.in))
			var unusable *intent.PayloadError
			if !errors.As(err, &unusable) || unusable.Field != c.field || !strings.Contains(unusable.Reason, c.says) {
				t.Errorf("got %.100s and error %v, want a PayloadError of %q that says %q", got, err, c.field, c.says)
			}
			if _, again := intent.FingerprintOf([]byte(c.in)); again == nil || again.Error() != err.Error() {
				t.Errorf("fingerprint: got error %v, want %v", again, err)
			}
		})
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
			if _, err := intent.Canonical([]byte(in)); err != nil {
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
