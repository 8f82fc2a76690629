package intent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/singleeffect/once/shared/intent"
)

// FuzzCanonical compares the canonical form with what encoding/json makes of
// the same text: which texts are taken, that none changes its meaning, that
// texts of one meaning come out as one, and that of two meanings none does.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		``, `0`, `-0.0e+1`, `null`, `"é\u00e9\n"`, `{}`, `[]`, ` [ 1 , {"b":2,"a":[]} ] `, `{"a":1,"a":2}`,
		`{"a":{"b":1,"\u0062":2}}`, `"\ud800"`, `"\ud83d\ude00"`, `"\\ud800"`, `"\ufffd"`, "\"\ufffd\"", `"\ud800\ud800"`,
		`{"n":9007199254740993,"m":1.0,"e":1E400}`, `{"A":1,"a":2,"ſ":3}`, "\"\xff\"", `[[[[[[[[1]]]]]]]]`, `{"":{"":""}}`,
		strings.Repeat("[", 65) + strings.Repeat("]", 65), strings.Repeat("[", 66) + strings.Repeat("]", 66), strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 64),
		"\"\u2028\x7f<>&\"", `[1 ,2	,3]`, `{"a":tru}`, `{"a" 1}`, `[1,]`, `"\u00"`, `01`, `+1`, "\ufeff{}",
	} {
		for choice := range uint64(8) {
			f.Add([]byte(seed), choice)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, choice uint64) {
		input := bytes.Clone(in)
		got, err := canonical(in)
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
		if again, err := canonical(got); err != nil || !bytes.Equal(again, got) {
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
		shuffled := writer{random: rand.New(rand.NewPCG(choice, 0)), change: -1}
		shuffled.value(value)
		for name, other := range map[string][]byte{"marshalled": marshalled, "spaced out": spaced.Bytes(), "shuffled": shuffled.out} {
			if len(other) > intent.MaxPayloadBytes {
				continue
			}
			if same, err := canonical(other); err != nil || !bytes.Equal(same, got) {
				t.Errorf("the same value, %s: got %s and error %v, want %s", name, same, err, got)
			}
		}
		changed := writer{random: shuffled.random, change: int(choice % uint64(shuffled.written))}
		changed.value(value)
		// A changed key may be one that is there already.
		if other, err := canonical(changed.out); err == nil && bytes.Equal(other, got) {
			t.Errorf("another value has the same form %s: %s", got, changed.out)
		}
	})
}

func canonical(in []byte) ([]byte, error) {
	p, err := intent.ParsePayload(in)
	return p.Canonical(), err
}

// writer writes a decoded value in a way of its own: an object's members in any
// order, white space and escapes anywhere. One of the keys, scalars and ends of
// objects and arrays, if asked for, is another than the value's.
type writer struct {
	random  *rand.Rand
	change  int // which one; negative for none
	written int
	out     []byte
}

// another counts what could be changed, and tells whether it is to be.
func (w *writer) another() bool {
	w.written++
	return w.written-1 == w.change
}

func (w *writer) space() {
	for range w.random.IntN(3) {
		w.out = append(w.out, " \t\r\n"[w.random.IntN(4)])
	}
}

func (w *writer) value(v any) {
	w.space()
	defer w.space()
	switch v := v.(type) {
	case map[string]any:
		w.out = append(w.out, '{')
		keys := slices.Sorted(maps.Keys(v))
		w.random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		for i, key := range keys {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.value(key)
			w.out = append(w.out, ':')
			w.value(v[key])
		}
		if w.another() {
			if len(keys) > 0 {
				w.out = append(w.out, ',')
			}
			w.text(strings.Join(keys, "") + "+") // longer than each
			w.out = append(w.out, ":null"...)
		}
		w.out = append(w.out, '}')
	case []any:
		w.out = append(w.out, '[')
		for i, element := range v {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.value(element)
		}
		if w.another() {
			if len(v) > 0 {
				w.out = append(w.out, ',')
			}
			w.out = append(w.out, "null"...)
		}
		w.out = append(w.out, ']')
	case string:
		if w.another() {
			v = "\x00" + v
		}
		w.text(v)
	case json.Number: // another spelling is another number
		switch text := v.String(); {
		case !w.another():
			w.out = append(w.out, text...)
		case strings.ContainsAny(text, ".eE"):
			w.out = append(w.out, text+"0"...)
		default:
			w.out = append(w.out, text+".0"...)
		}
	case bool:
		w.out = strconv.AppendBool(w.out, v != w.another())
	case nil:
		w.out = append(w.out, map[bool]string{false: "null", true: `"null"`}[w.another()]...)
	}
}

// text writes each character as it is or as an escape.
func (w *writer) text(s string) {
	w.out = append(w.out, '"')
	for _, r := range s {
		if r >= ' ' && r != '"' && r != '\\' && w.random.IntN(4) > 0 {
			w.out = utf8.AppendRune(w.out, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			w.out = fmt.Appendf(w.out, `\u%04X`, unit)
		}
	}
	w.out = append(w.out, '"')
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
