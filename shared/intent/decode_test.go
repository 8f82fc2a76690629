package intent_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// parcel is a payload with every kind of field a handler has.
type parcel struct {
	UserID intent.ID `json:"user_id"`
	Cents  int64     `json:"cents"`
	Lines  []struct {
		SKU   intent.ID `json:"sku"`
		Count int       `json:"count"`
	} `json:"lines"`
	Address struct {
		City string `json:"city"`
	} `json:"address"`
	Due     time.Time      `json:"due"`
	Counts  map[string]int `json:"counts"`
	Shelves map[int]int    `json:"shelves"`
}

func (p *parcel) Validate() error {
	switch {
	case p.UserID == "":
		return &intent.PayloadError{Field: "user_id", Reason: "is missing"}
	case p.Cents < 0:
		return errors.New("cents are negative")
	}
	return nil
}

func TestDecode(t *testing.T) {
	got, err := intent.Decode[parcel](intenttest.Payload(t, `{"user_id":"7","cents":9007199254740993,"lines":[{"sku":12}],"address":{"city":"Ulm"},"more":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if got.UserID != "7" || got.Cents != 1<<53+1 || len(got.Lines) != 1 || got.Lines[0].SKU != "12" || got.Address.City != "Ulm" {
		t.Errorf("got %+v", got)
	}
}

// Payloads of one fingerprint decode to one value, also where two of their keys
// are one field to encoding/json and the last of them counts.
func TestDecodeByFingerprint(t *testing.T) {
	one, other := intenttest.Payload(t, `{"user_id":"7","cents":1,"CENTS":2}`), intenttest.Payload(t, `{"CENTS":2, "cents":1, "user_id":"7"}`)
	if a, b := one.Fingerprint(), other.Fingerprint(); a != b {
		t.Fatalf("got fingerprints %v and %v, want one", a, b)
	}
	a, errA := intent.Decode[parcel](one)
	b, errB := intent.Decode[parcel](other)
	if errA != nil || errB != nil || a.Cents != b.Cents {
		t.Errorf("got %d and %d cents, errors %v and %v, want one amount", a.Cents, b.Cents, errA, errB)
	}
}

// An operator finds the field by the error, and nothing of its value: payloads
// are never logged.
func TestDecodeNamesTheField(t *testing.T) {
	for name, c := range map[string]struct{ in, field, says string }{
		"another type":                 {`{"user_id":"7","cents":"4242424242424242"}`, "cents", "is a JSON string that is no int64"},
		"a number that does not fit":   {`{"user_id":"7","cents":42424242424242424242}`, "cents", "is a JSON number that is no int64"},
		"a fraction":                   {`{"user_id":"7","cents":4242424242424242.5}`, "cents", "is a JSON number that is no int64"},
		"in an object":                 {`{"user_id":"7","address":{"city":4242424242424242}}`, "address.city", "is a JSON number that is no string"},
		"in an array":                  {`{"user_id":"7","lines":[{"count":true}]}`, "lines.count", "is a JSON bool that is no int"},
		"an ID that is a fraction":     {`{"user_id":4242424242424242.5}`, "user_id", "is a JSON number that is no intent.ID"},
		"an ID in an array":            {`{"user_id":"7","lines":[{"sku":{"a":"4242424242424242"}}]}`, "lines.sku", "is a JSON object that is no intent.ID"},
		"Validate says which":          {`{"cents":4242424242424242}`, "user_id", "is missing"},
		"Validate says it its own way": {`{"user_id":"7","cents":-4242424242424242}`, "", "cents are negative"},
		"no object":                    {`[4242424242424242]`, "", "is a JSON array that is no intent_test.parcel"},
		"a time in a form of its own":  {`{"user_id":"7","due":"4242424242424242"}`, "", "cannot be read: *time.ParseError"},
		"a map's key is no field":      {`{"user_id":"7","counts":{"4242":"x"}}`, "counts", "is a JSON string that is no int"},
		"C73 a map's key is no hint":   {`{"user_id":"7","shelves":{"card: 4242":1}}`, "shelves", "is a JSON number that is no int"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := intent.Decode[parcel](intenttest.Payload(t, c.in))
			var unusable *intent.PayloadError
			if !errors.As(err, &unusable) || unusable.Field != c.field || unusable.Reason != c.says {
				t.Fatalf("got %v, want a PayloadError of %q that says %q", err, c.field, c.says)
			}
			if strings.Contains(err.Error(), "4242") {
				t.Errorf("quotes the value: %v", err)
			}
			if c.field != "" && !strings.Contains(err.Error(), `"`+c.field+`"`) {
				t.Errorf("%v does not name %s", err, c.field)
			}
		})
	}
}

func TestID(t *testing.T) {
	for in, want := range map[string]intent.ID{
		`"7"`: "7", `7`: "7", `0`: "0", `-3`: "-3", `"007"`: "007", `""`: "", `null`: "", `"\u0037"`: "7",
		`9007199254740993`: "9007199254740993", `123456789012345678901234567890`: "123456789012345678901234567890",
	} {
		var got intent.ID
		if err := json.Unmarshal([]byte(in), &got); err != nil || got != want {
			t.Errorf("%s: got %q and error %v, want %q", in, got, err, want)
		}
	}
	for in, kind := range map[string]string{
		`1.0`: "number", `1e3`: "number", `1E3`: "number", `true`: "bool", `false`: "bool", `{}`: "object", `["7"]`: "array",
	} {
		var got intent.ID
		var mismatch *json.UnmarshalTypeError
		if err := json.Unmarshal([]byte(in), &got); !errors.As(err, &mismatch) || mismatch.Value != kind {
			t.Errorf("%s: got %q and error %v, want one of a %s", in, got, err, kind)
		}
	}
}
