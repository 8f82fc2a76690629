package main

import (
	"os"
	"testing"

	"github.com/singleeffect/once/shared/intenttest/calls"
)

// The whole suite calls of AWS what testdata/calls.txt lists, and nothing else: what the function's role is to allow.
func TestMain(m *testing.M) {
	os.Exit(calls.Main(m, map[string]string{
		"carts": "CARTS_TABLE",
		"https://sqs.us-east-1.amazonaws.com/123456789012/once-clearcart":      "QUEUE_URL",
		"https://sqs.us-east-1.amazonaws.com/123456789012/once-clearcart-dead": "DEAD_LETTER_QUEUE_URL",
	}))
}
