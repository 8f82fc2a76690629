package main

import (
	"os"
	"testing"

	"github.com/singleeffect/once/shared/intenttest/calls"
)

// The whole suite calls of AWS what testdata/calls.txt lists, and nothing else: what the function's role is to allow.
func TestMain(m *testing.M) {
	os.Exit(calls.Main(m, map[string]string{
		"accounts":    "ACCOUNTS_TABLE",
		queueURL:      "QUEUE_URL",
		deadLetterURL: "DEAD_LETTER_QUEUE_URL",
	}))
}
