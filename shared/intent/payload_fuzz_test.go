package intent_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/singleeffect/once/shared/intent"
)

// FuzzCanonical compares the canonical form with what encoding/json makes of
// the same text: which texts are taken, that none changes its meaning, and that
// texts of one meaning come out as one.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		``, `0`, `-0.0e+1`, `null`, `"é\u00e9\n"`, `{}`, `[]`, ` [ 1 , {"b":2,"a":[]} ] `, `{"a":1,"a":2}`,
		`{"a":{"b":1,"\u0062":2}}`, `"\ud800"`, `"\ud83d\ude00"`, `"\\ud800"`, `"\ufffd"`, "\"\ufffd\"", `"\ud800\ud800"`,
		`{"n":9007199254740993,"m":1.0,"e":1E400}`, `{"A":1,"a":2,"ſ":3}`, "\"\xff\"", `[[[[[[[[1]]]]]]]]`, `{"":{"":""}}`,
		strings.Repeat("[", 65) + strings.Repeat("]", 65), strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 64),
		"\"\u2028\x7f<>&\"", `[1 ,2	,3]`, `{"a":tru}`, `{"a" 1}`, `[1,]`, `"\u00"`, `01`, `+1`, "\ufeff{}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		input := bytes.Clone(in)
		got, err := intent.Canonical(in)
		if !bytes.Equal(in, input) {
			t.Fatal("changes its input")
		}
		if want := usable(in); (err == nil) != want {
			t.Fatalf("error %v, want usable: %t", err, want)
		}
		if err != nil {
			return
		}
		value := decoded(t, in)
		if !reflect.DeepEqual(decoded(t, got), value) {
			t.Errorf("means another value: %s", got)
		}
		if again, err := intent.Canonical(got); err != nil || !bytes.Equal(again, got) {
			t.Errorf("is not its own canonical form: %s, error %v", again, err)
		}
		marshalled, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var spaced bytes.Buffer
		if err := json.Indent(&spaced, in, "\r\t", " \n"); err != nil {
			t.Fatal(err)
		}
		for name, other := range map[string][]byte{"marshalled": marshalled, "spaced out": spaced.Bytes()} {
			if len(other) > intent.MaxPayloadBytes {
				continue
			}
			if same, err := intent.Canonical(other); err != nil || !bytes.Equal(same, got) {
				t.Errorf("the same value, %s: got %s and error %v, want %s", name, same, err, got)
			}
		}
	})
}

// usable tells by encoding/json's eyes whether a payload has one meaning.
func usable(in []byte) bool {
	return len(in) <= intent.MaxPayloadBytes && utf8.Valid(in) && json.Valid(in) &&
		plain(json.NewDecoder(bytes.NewReader(in)), 0) && whole(in)
}

// plain reads one value, nested no deeper than is allowed and without a
// repeated key.
func plain(d *json.Decoder, depth int) bool {
	d.UseNumber()
	token, err := d.Token()
	if err != nil || depth > intent.MaxPayloadDepth {
		return false
	}
	open, nests := token.(json.Delim)
	if !nests {
		return true
	}
	seen := map[json.Token]bool{}
	for d.More() {
		if open == '{' {
			key, err := d.Token()
			if err != nil || seen[key] {
				return false
			}
			seen[key] = true
		}
		if !plain(d, depth+1) {
			return false
		}
	}
	_, err = d.Token()
	return err == nil
}

var (
	escape      = regexp.MustCompile(`(?s)\\(u[0-9a-fA-F]{4}|.)`)
	replacement = string(utf8.RuneError)
)

// whole reports that no half of a surrogate pair was replaced in decoding:
// there are as many replacement characters as somebody wrote.
func whole(in []byte) bool {
	written := bytes.Count(in, []byte(replacement))
	for _, e := range escape.FindAll(in, -1) {
		if bytes.EqualFold(e, []byte(`\ufffd`)) {
			written++
		}
	}
	read := 0
	d := json.NewDecoder(bytes.NewReader(in))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return read == written
		}
		if text, ok := token.(string); ok {
			read += strings.Count(text, replacement)
		}
	}
}

func decoded(t *testing.T, in []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(in))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
