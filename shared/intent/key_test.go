package intent_test

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/singleeffect/once/shared/intent"
)

func TestKeyString(t *testing.T) {
	for want, k := range map[string]intent.Key{
		"shop#charge#order-1":          {Scope: "shop", Operation: "charge", ID: "order-1"},
		"a%23b#c#d":                    {Scope: "a#b", Operation: "c", ID: "d"},
		"a#b%23c#d":                    {Scope: "a", Operation: "b#c", ID: "d"},
		"a%2523b#c#100%25":             {Scope: "a%23b", Operation: "c", ID: "100%"},
		"s#o#Bestellung für \x00 Zoë✓": {Scope: "s", Operation: "o", ID: "Bestellung für \x00 Zoë✓"},
	} {
		if got := k.String(); got != want {
			t.Errorf("%+v: got %q, want %q", k, got, want)
		}
	}
}

// Two different (scope, operation, id) never share a record or a downstream
// key, whatever their parts try to look like. The alphabet is what the escaping
// is made of, so that short keys meet all of its cases.
func TestKeysNeverCollide(t *testing.T) {
	alphabet := []string{"#", "%", "2", "3", "5", "a"}
	random := rand.New(rand.NewPCG(1, 2))
	part := func() string {
		var b strings.Builder
		for range 1 + random.IntN(4) {
			b.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		return b.String()
	}
	records, downstream := map[string]intent.Key{}, map[string]intent.Key{}
	for range 100_000 {
		k := intent.Key{Scope: part(), Operation: part(), ID: part()}
		if other, ok := records[k.String()]; ok && other != k {
			t.Fatalf("%+v and %+v share the record %q", k, other, k.String())
		}
		if other, ok := downstream[k.Downstream()]; ok && other != k {
			t.Fatalf("%+v and %+v share the downstream key %s", k, other, k.Downstream())
		}
		records[k.String()], downstream[k.Downstream()] = k, k
	}
}

func TestKeyValidate(t *testing.T) {
	const fits = intent.MaxKeyBytes - len("s#o#")
	for name, c := range map[string]struct {
		key   intent.Key
		field string // of the error, empty for none
		says  string
	}{
		"OK":                          {key: intent.Key{Scope: "s", Operation: "o", ID: "k"}},
		"OK 1024 bytes":               {key: intent.Key{Scope: "s", Operation: "o", ID: strings.Repeat("k", fits)}},
		"Err 1025 bytes":              {key: intent.Key{Scope: "s", Operation: "o", ID: strings.Repeat("k", fits+1)}, field: "key", says: "1025"},
		"Err 1025 bytes of UTF-8":     {key: intent.Key{Scope: "s", Operation: "o", ID: strings.Repeat("é", fits/2) + "k"}, field: "key", says: "1025"},
		"Err 1024 bytes, but escaped": {key: intent.Key{Scope: "s", Operation: "o", ID: strings.Repeat("k", fits-1) + "#"}, field: "key", says: "1026"},
		"Err no scope":                {key: intent.Key{Operation: "o", ID: "k"}, field: "scope", says: "empty"},
		"Err no operation":            {key: intent.Key{Scope: "s", ID: "k"}, field: "operation", says: "empty"},
		"Err no id":                   {key: intent.Key{Scope: "s", Operation: "o"}, field: "key", says: "empty"},
		"Err scope not UTF-8":         {key: intent.Key{Scope: "\xff", Operation: "o", ID: "k"}, field: "scope", says: "UTF-8"},
		"Err operation not UTF-8":     {key: intent.Key{Scope: "s", Operation: "\xc3", ID: "k"}, field: "operation", says: "UTF-8"},
		"Err id not UTF-8":            {key: intent.Key{Scope: "s", Operation: "o", ID: "k\xed\xa0\x80"}, field: "key", says: "UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.key.Validate()
			if c.field == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var got *intent.KeyError
			if !errors.As(err, &got) || got.Field != c.field || !strings.Contains(got.Error(), c.says) {
				t.Errorf("got %v, want a KeyError of %s that says %s", err, c.field, c.says)
			}
		})
	}
}

// A provider has seen these keys: another release that derives them otherwise
// charges every card in flight a second time.
func TestDownstreamIsForever(t *testing.T) {
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for _, c := range []struct {
		key  intent.Key
		want string
	}{
		{intent.Key{Scope: "once", Operation: "charge", ID: "order-8821-charge"}, "3983b7af-e948-8e50-872b-e95abeb4f11e"},
		{intent.Key{Scope: "once", Operation: "adjust", ID: "order-8821-charge"}, "c29af269-0664-8315-9fa0-88448ec31d74"},
		{intent.Key{Scope: "other", Operation: "charge", ID: "order-8821-charge"}, "8674f5b1-a1d9-895b-85e3-dd415a3f01f0"},
		{intent.Key{Scope: "once", Operation: "charge", ID: "order-8822-charge"}, "e18e9327-c560-815d-aef1-01c2b5740d88"},
		{intent.Key{Scope: "a#b", Operation: "100%", ID: "Zoë"}, "88b8fd48-bba2-859c-b77b-35885cdd5e11"},
	} {
		got := c.key.Downstream()
		if got != c.want {
			t.Errorf("%+v: got %s, want %s", c.key, got, c.want)
		}
		if len(got) != 36 || !uuid.MatchString(got) {
			t.Errorf("%+v: %s is no UUID of version 8 in 36 characters", c.key, got)
		}
	}
}

// C16: what a FIFO queue is told is made of the intent and as short as SQS asks
// for, also where the key is longer. Producers of two releases must agree on it,
// and it is no key: taken for one, it would name another intent.
func TestC16DeduplicationID(t *testing.T) {
	hexadecimal := regexp.MustCompile(`^[0-9a-f]{64}$`)
	longest := intent.Key{Scope: "once", Operation: "adjust", ID: strings.Repeat("k", intent.MaxKeyBytes-len("once#adjust#"))}
	if err := longest.Validate(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]intent.Key{}
	for key, want := range map[intent.Key]string{
		{Scope: "once", Operation: "adjust", ID: "order-8821-adjust"}:  "73eb856b2c2056238cad826fd5faf0e0b43b4ff5d84d9aa1047c1452c32b749f",
		{Scope: "once", Operation: "charge", ID: "order-8821-adjust"}:  "cd6c2d153c7103190ddc821fd0db0fdd16a234ae08d5089cbfda3c46db4e76c1",
		{Scope: "other", Operation: "adjust", ID: "order-8821-adjust"}: "36471bf45fbe04daf53ea30e553b4201fe8171412022028fd5fa1ed53ad69097",
		{Scope: "a#b", Operation: "100%", ID: "Zo\u00eb"}:              "88b8fd48bba2159c377b35885cdd5e11f99c954a8a6eaa9d304a8ac9c76cb82b",
		longest: "",
	} {
		got := key.DeduplicationID()
		if want != "" && got != want {
			t.Errorf("%+v: got %s, want %s", key, got, want)
		}
		if !hexadecimal.MatchString(got) {
			t.Errorf("%+v: got %q, want 64 hexadecimal digits", key, got)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%+v and %+v have one deduplication id", key, other)
		}
		seen[got] = key
		if named := (intent.Key{Scope: key.Scope, Operation: key.Operation, ID: got}); named.String() == key.String() || named.Downstream() == key.Downstream() {
			t.Errorf("%+v: the deduplication id names the same intent", key)
		}
	}
}
