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
		return mismatch[ID](b)
	}
	*id = ID(b)
	return nil
}

// Millis is a moment in whole milliseconds since 1970. Producers send it so, or
// as a text in RFC 3339, of which the rest of a millisecond is cut off.
type Millis int64

// The moments that a Millis holds have 13 digits, from September 2001 to November
// 2286: seconds, microseconds and nanoseconds of our days have others.
const minMillis, maxMillis = 1e12, 1e13 - 1

// UnmarshalJSON accepts what is described at Millis, and a null as the zero
// Millis. Its error is of the kind that encoding/json completes with the field.
func (m *Millis) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	var ms int64
	var err error
	if b[0] == '"' {
		var moment time.Time
		err = json.Unmarshal(b, &moment)
		ms = moment.UnixMilli()
	} else {
		ms, err = strconv.ParseInt(string(b), 10, 64)
	}
	if err != nil || ms < minMillis || ms > maxMillis {
		return mismatch[Millis](b)
	}
	*m = Millis(ms)
	return nil
}

// mismatch is encoding/json's error for a value that is no T; it does not quote it.
func mismatch[T any](b []byte) error {
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
	return &json.UnmarshalTypeError{Value: kind, Type: reflect.TypeFor[T]()}
}
