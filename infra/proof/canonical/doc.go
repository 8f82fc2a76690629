// Package canonical compares the canonical form of payloads (intent.ParsePayload) with
// that of Go's encoding/json/jsontext, by its module github.com/go-json-experiment/json.
// Both are RFC 8785, but for numbers, which both keep as they are written.
package canonical
