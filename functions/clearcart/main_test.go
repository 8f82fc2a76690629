package main

import (
	"errors"
	"slices"
	"testing"

	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intenttest/calls"
)

func TestWire(t *testing.T) {
	deployed := map[string]string{
		"SCOPE": "once", "INTENT_TABLE": "intents", "QUEUE_URL": "http://localhost/once-clearcart",
		"DEAD_LETTER_QUEUE_URL": "http://localhost/once-clearcart-dead", "LEASE_MARGIN_SECONDS": "3", "RETENTION_DAYS": "90",
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
		"CARTS_TABLE": "rows",
	}
	wireDeployed := func() error {
		_, err := wire(t.Context(), environment.NewVariables(func(name string) (string, bool) {
			value, ok := deployed[name]
			return value, ok
		}, calls.Record))
		return err
	}
	if err := wireDeployed(); err != nil {
		t.Error(err)
	}
	delete(deployed, "CARTS_TABLE")
	var incomplete *environment.Error
	if err := wireDeployed(); !errors.As(err, &incomplete) || !slices.Equal(incomplete.Missing, []string{"CARTS_TABLE"}) {
		t.Errorf("got %v, want an error that names CARTS_TABLE", err)
	}
}
