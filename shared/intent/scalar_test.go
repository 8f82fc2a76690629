package intent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// noon is 2026-11-29T12:00:00Z.
const noon = 1_795_953_600_000

// shipped is a payload with a moment in each place that a moment can have.
type shipped struct {
	At    intent.Millis `json:"shipped_at"`
	Stops []struct {
		Left intent.Millis `json:"left"`
	} `json:"stops"`
}

func TestMillis(t *testing.T) {
	for in, want := range map[string]intent.Millis{
		`1795953600000`:                         noon,
		`1795953600001`:                         noon + 1,
		`"2026-11-29T12:00:00Z"`:                noon,
		`"2026-11-29T12:00:00+00:00"`:           noon,
		`"2026-11-29T12:00:00-00:00"`:           noon,
		`"2026-11-29T13:00:00+01:00"`:           noon,
		`"2026-11-29T17:45:00+05:45"`:           noon,
		`"2026-11-29T04:30:00-07:30"`:           noon,
		`"2026-11-30T00:00:00+12:00"`:           noon,
		`"2026-11-29T12:00:00.1Z"`:              noon + 100,
		`"2026-11-29T12:00:00.001Z"`:            noon + 1,
		`"2026-11-29T12:00:00.000999999Z"`:      noon, // cut off, not rounded
		`"2026-11-29T12:00:00.9999999999Z"`:     noon + 999,
		`"2026-11-29T12:00:00.123456789+01:00"`: noon - 3_600_000 + 123,
		`"\u0032026-11-29T12:00:00\u005a"`:      noon, // the canonical form is read
		`"2028-02-29T00:00:00Z"`:                1_835_395_200_000,
		// The ends of what has 13 digits.
		`1000000000000`:              1e12,
		`9999999999999`:              1e13 - 1,
		`"2001-09-09T01:46:40Z"`:     1e12,
		`"2286-11-20T17:46:39.999Z"`: 1e13 - 1,
		`null`:                       0,
	} {
		got, err := intent.Decode[shipped](intenttest.Payload(t, `{"shipped_at":`+in+`}`))
		if err != nil || got.At != want {
			t.Errorf("%s: got %d and error %v, want %d", in, got.At, err, want)
		}
	}
	if got, err := intent.Decode[shipped](intenttest.Payload(t, `{}`)); err != nil || got.At != 0 {
		t.Errorf("no moment: got %d and error %v, want 0", got.At, err)
	}
}

// What is no moment is refused by the field's name and its kind; the value is
// not quoted, for payloads are never logged.
func TestMillisRefused(t *testing.T) {
	const bounds = ": it is not from 2001 to 2286 in whole milliseconds since 1970"
	for name, c := range map[string]struct{ in, kind, hint string }{
		"seconds":               {`1795953600`, "number", bounds + ", it looks like seconds"},
		"microseconds":          {`1795953600000000`, "number", bounds + ", it looks like microseconds"},
		"nanoseconds":           {`1795953600000000000`, "number", bounds + ", it looks like nanoseconds"},
		"before the first":      {`999999999999`, "number", bounds},
		"after the last":        {`10000000000000`, "number", bounds},
		"zero":                  {`0`, "number", bounds},
		"negative":              {`-1795953600000`, "number", bounds},
		"a fraction":            {`1795953600000.5`, "number", ""},
		"a whole fraction":      {`1795953600000.0`, "number", ""},
		"an exponent":           {`1.7959536e12`, "number", ""},
		"more than 64 bits":     {`17959536000000000000000`, "number", ""},
		"a number as a text":    {`"1795953600000"`, "string", ""},
		"seconds as a text":     {`"1795953600"`, "string", ""},
		"no text":               {`""`, "string", ""},
		"a word":                {`"noon 1795953600"`, "string", ""},
		"a date alone":          {`"2026-11-29"`, "string", ""},
		"no zone":               {`"2026-11-29T12:00:00"`, "string", ""},
		"a zone's name":         {`"2026-11-29T12:00:00 CET"`, "string", ""},
		"a space for the T":     {`"2026-11-29 12:00:00Z"`, "string", ""},
		"small letters":         {`"2026-11-29t12:00:00z"`, "string", ""},
		"no such day":           {`"2026-02-29T12:00:00Z"`, "string", ""},
		"no such hour":          {`"2026-11-29T24:00:00Z"`, "string", ""},
		"a leap second":         {`"2026-12-31T23:59:60Z"`, "string", ""},
		"space around it":       {`" 2026-11-29T12:00:00Z "`, "string", ""},
		"before the first one":  {`"2001-09-09T01:46:39.999Z"`, "string", bounds},
		"after the last one":    {`"2286-11-20T17:46:40Z"`, "string", bounds},
		"the zero time.Time":    {`"0001-01-01T00:00:00Z"`, "string", bounds},
		"the last year of them": {`"9999-12-31T23:59:59Z"`, "string", bounds},
		"a truth":               {`true`, "bool", ""},
		"a falsehood":           {`false`, "bool", ""},
		"an object":             {`{"ms":1795953600000}`, "object", ""},
		"a list":                {`[1795953600000]`, "array", ""},
	} {
		for field, payload := range map[string]string{
			"shipped_at": `{"shipped_at":%s}`,
			"stops.left": `{"shipped_at":null,"stops":[{},{"left":%s}]}`,
		} {
			_, err := intent.Decode[shipped](intenttest.Payload(t, fmt.Sprintf(payload, c.in)))
			var unusable *intent.PayloadError
			want := "is a JSON " + c.kind + " that is no intent.Millis" + c.hint
			if !errors.As(err, &unusable) || unusable.Field != field || unusable.Reason != want {
				t.Errorf("%s: got %v, want a PayloadError of %s that says %q", name, err, field, want)
			}
		}
	}
}

// FuzzMillis compares what is taken with time.Time's own reading, which is a little
// wider than RFC 3339 (go.dev/issue/54580): every such text and every whole number
// in the range, and no other.
func FuzzMillis(f *testing.F) {
	for _, seed := range []string{
		`1795953600000`, `999999999999`, `1e12`, `-0`, `0`, `null`, `"2026-11-29T12:00:00.0005+05:45"`, `"2026-11-29T12:00:00Z"`,
		`"1969-12-31T23:59:59.9999Z"`, `"2286-11-20T17:46:39.9999Z"`, `"2001-09-09T01:46:39.9999Z"`, `"2026-13-01T00:00:00Z"`, `""`, `[]`, `{}`, `true`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		canonical, err := canonical([]byte(in))
		if err != nil {
			return // no payload at all
		}
		want, ok := moment(canonical)
		var got intent.Millis
		if err := json.Unmarshal(canonical, &got); (err == nil) != ok || int64(got) != want {
			t.Errorf("%s: got %d and error %v, want %d, %t", in, got, err, want, ok)
		}
		if !ok {
			return
		}
		// What was taken comes back as the number it is.
		again, err := json.Marshal(got)
		if err != nil || string(again) != strconv.FormatInt(want, 10) {
			t.Errorf("%s: written as %s, error %v", in, again, err)
		}
	})
}

// moment is what a JSON value says, in milliseconds.
func moment(in []byte) (ms int64, ok bool) {
	var value any
	decoder := json.NewDecoder(strings.NewReader(string(in)))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return 0, false
	}
	switch value := value.(type) {
	case nil:
		return 0, true
	case json.Number:
		if strings.ContainsAny(value.String(), ".eE") {
			return 0, false
		}
		f, err := value.Float64()
		if err != nil {
			return 0, false
		}
		ms = int64(f) // exact below 2^53
	case string:
		var at time.Time
		if at.UnmarshalText([]byte(value)) != nil {
			return 0, false
		}
		ms = at.Unix()*1000 + int64(at.Nanosecond()/1e6) // rounded down, in all years
	default:
		return 0, false
	}
	if len(strconv.FormatInt(ms, 10)) != 13 || ms < 0 {
		return 0, false
	}
	return ms, true
}
