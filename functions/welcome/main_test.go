package main

import (
	"context"
	"errors"
	"testing"

	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intenttest/calls"
)

// deployed is a complete environment of the function.
func deployed() map[string]string {
	return map[string]string{
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
		"SCOPE": "once", "INTENT_TABLE": "intents", "QUEUE_URL": "http://localhost/once-welcome", "DEAD_LETTER_QUEUE_URL": "http://localhost/once-welcome-dead",
		"LEASE_MARGIN_SECONDS": "3", "RETENTION_DAYS": "90", "USERS_TABLE": "users", "EMAILS_TABLE": "emails",
		"EMAIL_FROM": "once@example.com",
	}
}

func wireWith(t *testing.T, values map[string]string) error {
	t.Helper()
	_, err := wire(context.Background(), environment.NewVariables(calls.Lookup(func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	}), calls.Record))
	return err
}

func TestWire(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		if err := wireWith(t, deployed()); err != nil {
			t.Error(err)
		}
	})
	for name := range deployed() {
		t.Run("Err without "+name, func(t *testing.T) {
			values := deployed()
			values[name] = ""
			err := wireWith(t, values)
			var incomplete *environment.Error
			if !errors.As(err, &incomplete) || len(incomplete.Missing) != 1 || incomplete.Missing[0] != name {
				t.Errorf("got %v, want an error that names %s", err, name)
			}
		})
	}
	for _, from := range []string{"once", "once@bücher.example"} {
		t.Run("Err sender "+from, func(t *testing.T) {
			values := deployed()
			values["EMAIL_FROM"] = from
			var unusable *environment.Error
			if err := wireWith(t, values); !errors.As(err, &unusable) || len(unusable.Invalid) != 1 {
				t.Errorf("got %v, want an error of EMAIL_FROM", err)
			}
		})
	}
}
