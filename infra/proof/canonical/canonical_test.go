package canonical

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/singleeffect/once/shared/intent"
)

// oracle is jsontext's canonical form with the numbers as they are written.
func oracle(text []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(text))
	err := v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	return v, err
}

// seeds hold each kind of thing that a JSON text is made of, and what is none.
var seeds = []string{
	``, ` `, `0`, `-0`, `-0.0e+1`, `1E400`, `9007199254740993`, `1.50`, `01`, `null`, `true`, `tru`, `"é\u00e9"`, `""`, `{}`, `[]`, ` [ 1 , {"b":2,"a":[]} ] `,
	`"\b\f\n\r\t\u0000\u001f\u007f\"\\\/"`, "\"\u2028\u2029\x7f<>&\"", `"\ud83d\ude00"`, `"\ud800"`, `"\ude00\ud83d"`, `"\\ud800"`, "\"\xff\"", "\"\xed\xa0\x80\"",
	`{"a":1,"a":2}`, `{"a":{"b":1,"\u0062":2}}`, `{"":{"":""}}`, `{"A":1,"a":2,"ſ":3,"é":4}`, `{"\ue000":1,"\ud800\udc00":2,"\uffee":3,"z":4}`,
	`{"10":1,"9":2,"1":3}`, `{"aa":1,"a":2}`, `{"a":1,}`, `[1,]`, `{"a" 1}`, "\ufeff{}", `{} {}`, `{"idempotency_key":"k","amount_cents":100}`,
	strings.Repeat("[", 64) + strings.Repeat("]", 64), strings.Repeat("[", 66) + strings.Repeat("]", 66),
}

// FuzzCanonical: what is taken has jsontext's form, byte by byte, and what is refused is
// refused there, too, unless a bound of ours says so.
func FuzzCanonical(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := intent.ParsePayload(text)
		want, wantErr := oracle(text)
		switch {
		case err != nil && wantErr == nil && !bounded(err):
			t.Errorf("refused: %v, and jsontext makes %s of it", err, want)
		case err == nil && wantErr != nil:
			t.Errorf("taken as %s, and jsontext refuses it: %v", p.Canonical(), wantErr)
		case err == nil && !bytes.Equal(p.Canonical(), want):
			t.Errorf("got  %s\nwant %s", p.Canonical(), want)
		}
	})
}

// bounded reports an error of a bound that jsontext does not have.
func bounded(err error) bool {
	return strings.Contains(err.Error(), "the limit is") || strings.Contains(err.Error(), "nests deeper than")
}

// The seeds are of each kind: taken, refused by both, and refused by a bound alone.
func TestSeeds(t *testing.T) {
	taken, refused, beyond := 0, 0, 0
	for _, seed := range seeds {
		_, err := intent.ParsePayload([]byte(seed))
		switch {
		case err == nil:
			taken++
		case bounded(err):
			beyond++
		default:
			refused++
		}
	}
	if taken < 15 || refused < 10 || beyond != 1 {
		t.Errorf("taken %d, refused %d, beyond a bound %d", taken, refused, beyond)
	}
}
