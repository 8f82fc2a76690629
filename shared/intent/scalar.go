package intent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// ID is a text that producers also send as a whole number: "7" and 7 are one ID.
type ID string

// MaxIDBytes is the longest partition key that DynamoDB takes (Amazon DynamoDB
// quotas, "Partition key length"): a row under a longer ID cannot be.
const MaxIDBytes = 2048

// Validate returns a *PayloadError that names the field, for an ID that is missing
// or longer than MaxIDBytes.
func (id ID) Validate(field string) error {
	switch {
	case id == "":
		return &PayloadError{Field: field, Reason: "is missing or empty"}
	case len(id) > MaxIDBytes:
		return &PayloadError{Field: field, Reason: fmt.Sprintf("has %d bytes, the limit is %d", len(id), MaxIDBytes)}
	}
	return nil
}

// UnmarshalJSON accepts a string or an integer, and a null as the empty ID. Its
// error is of the kind that encoding/json completes with the field.
func (id *ID) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, (*string)(id))
	}
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	if bytes.ContainsAny(b, ".eE{[tf") {
		return mismatch[ID](b, "")
	}
	*id = ID(b)
	return nil
}

// The times that are taken from outside have 13 digits as milliseconds, from September
// 2001 to November 2286. Seconds, microseconds and nanoseconds of our days have others.
const minMillis, maxMillis = 1e12, 1e13 - 1

// FromMillis reads a time that comes from outside, in milliseconds since 1970. One
// out of bounds is a *TimeError: taken for a time, or for none, it would make an old
// intent look new.
func FromMillis(ms int64) (time.Time, error) {
	if ms < minMillis || ms > maxMillis {
		return time.Time{}, &TimeError{LooksLike: unitOf(ms)}
	}
	return time.UnixMilli(ms), nil
}

// TimeError says that a number is no time in milliseconds since 1970.
type TimeError struct {
	LooksLike string // the unit that it may be in; empty if that is not clear
}

func (e *TimeError) Error() string {
	text := "is not from 2001 to 2286 in whole milliseconds since 1970"
	if e.LooksLike != "" {
		text += ", it looks like " + e.LooksLike
	}
	return text
}

// timeHints are what a Millis may say of a number that is none.
var timeHints = func() (hints []string) {
	for _, unit := range []string{"", "seconds", "microseconds", "nanoseconds"} {
		hints = append(hints, "it "+(&TimeError{LooksLike: unit}).Error())
	}
	return hints
}()

// unitOf is the unit in which a number would be a time from 2001 to 2286.
func unitOf(n int64) string {
	switch {
	case n >= 1e9 && n < 1e10:
		return "seconds"
	case n >= 1e15 && n < 1e16:
		return "microseconds"
	case n >= 1e18:
		return "nanoseconds"
	}
	return ""
}

// Millis is a time in whole milliseconds since 1970. Producers send it so, or
// as a text in RFC 3339, of which the rest of a millisecond is cut off.
type Millis int64

// UnmarshalJSON accepts what is described at Millis and FromMillis, and a null as the
// zero Millis. Its error is of the kind that encoding/json completes with the field.
func (m *Millis) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	var ms int64
	var err error
	if b[0] == '"' {
		var at time.Time
		err = json.Unmarshal(b, &at)
		ms = at.UnixMilli()
	} else {
		ms, err = strconv.ParseInt(string(b), 10, 64)
	}
	if err != nil {
		return mismatch[Millis](b, "")
	}
	if _, err := FromMillis(ms); err != nil {
		return mismatch[Millis](b, ": it "+err.Error())
	}
	*m = Millis(ms)
	return nil
}

// mismatch is encoding/json's error for a value that is no T. It does not quote it;
// hint begins with a colon, or is empty.
func mismatch[T any](b []byte, hint string) error {
	kind := "number"
	switch b[0] {
	case '{':
		kind = "object"
	case '[':
		kind = "array"
	case 't', 'f':
		kind = "bool"
	case '"':
		kind = "string"
	}
	return &json.UnmarshalTypeError{Value: kind + hint, Type: reflect.TypeFor[T]()}
}
