package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/calls"
	"github.com/singleeffect/once/shared/secret"
)

// deployed is a complete environment of the function.
func deployed() map[string]string {
	return map[string]string{
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
		"SCOPE": "once", "INTENT_TABLE": "intents", "QUEUE_URL": "http://localhost/once-charge",
		"DEAD_LETTER_QUEUE_URL": "http://localhost/once-charge-dead",
		"LEASE_MARGIN_SECONDS":  "3", "RETENTION_DAYS": "90", "USERS_TABLE": "users",
		"STRIPE_API_KEY": apiKey, "PROVIDER_WINDOW_HOURS": "24",
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
	missing := map[string]string{"STRIPE_API_KEY": "STRIPE_SECRET_ARN"} // either will do
	for name := range deployed() {
		t.Run("Err without "+name, func(t *testing.T) {
			values := deployed()
			values[name] = ""
			want := name
			if instead, ok := missing[name]; ok {
				want = instead
			}
			err := wireWith(t, values)
			var incomplete *environment.Error
			if !errors.As(err, &incomplete) || len(incomplete.Missing) != 1 || incomplete.Missing[0] != want {
				t.Errorf("got %v, want an error that names %s", err, want)
			}
		})
	}
}

// A window that is longer than Stripe's would send a charge again after Stripe has forgotten the first
// one. A shorter one is an operator's choice, as long as an attempt fits in.
func TestWindow(t *testing.T) {
	tests := []struct{ hours, field string }{ // field at fault, "" if none is
		{"2", ""}, {"24", ""},
		{"1", "Window"}, {"25", "PROVIDER_WINDOW_HOURS"}, {"720", "PROVIDER_WINDOW_HOURS"},
	}
	for _, tt := range tests {
		values := deployed()
		values["PROVIDER_WINDOW_HOURS"] = tt.hours
		err := wireWith(t, values)
		var at *intent.ConfigError
		switch {
		case tt.field == "" && err != nil:
			t.Errorf("%s h: got %v, want no error", tt.hours, err)
		case tt.field != "" && (!errors.As(err, &at) || at.Field != tt.field || !strings.Contains(err.Error(), tt.hours+"h0m0s")):
			t.Errorf("%s h: got %v, want an error that names %s and prints it", tt.hours, err, tt.field)
		}
	}
	values := deployed()
	values["PROVIDER_WINDOW_HOURS"] = "24h"
	var unusable *environment.Error
	if err := wireWith(t, values); !errors.As(err, &unusable) || len(unusable.Invalid) != 1 {
		t.Errorf("24h: got %v, want an error of the variable", err)
	}
}

// The key comes from Secrets Manager if the environment holds none.
func TestWireReadsTheSecret(t *testing.T) {
	manager := newManager(t, apiKey)
	values := deployed()
	values["AWS_ENDPOINT_URL_SECRETS_MANAGER"] = manager.url
	if err := wireWith(t, values); err != nil || manager.reads() != 0 {
		t.Errorf("with STRIPE_API_KEY: got error %v after %d calls, want none", err, manager.reads())
	}
	delete(values, "STRIPE_API_KEY")
	values["STRIPE_SECRET_ARN"] = arn
	if err := wireWith(t, values); err != nil || manager.reads() != 1 {
		t.Errorf("with STRIPE_SECRET_ARN: got error %v after %d calls, want none after 1", err, manager.reads())
	}
}

// C59: a key that cannot be used is an error of the start that names the variable, and does not tell the key.
func TestUnusableKey(t *testing.T) {
	const key = "sk_test_c4n4ry"
	for name, text := range map[string]string{
		"a line break inside":       "sk_test_c4n\n4ry",
		"two keys":                  key + "\n" + key,
		"a JSON object":             `{"STRIPE_API_KEY":"` + key + `"}`,
		"a JSON string":             `"` + key + `"`,
		"an assignment":             "STRIPE_API_KEY=" + key,
		"a space inside":            "sk_test_ c4n4ry",
		"a control character":       "sk_test_c4n\x004ry",
		"another alphabet":          "sk_test_c4n4rÿ",
		"a bearer":                  "Bearer " + key,
		"a publishable key":         "pk_test_c4n4ry",
		"a webhook's secret":        "whsec_c4n4ry",
		"a placeholder":             "c4n4ry",
		"a prefix alone":            "sk_",
		"no underscore":             "skc4n4ry",
		"what no key of Stripe has": "sk_test_c4n4ry;",
	} {
		t.Run(name, func(t *testing.T) {
			values := deployed()
			values["STRIPE_API_KEY"] = text
			local := wireWith(t, values)
			values = deployed()
			delete(values, "STRIPE_API_KEY")
			values["STRIPE_SECRET_ARN"] = arn
			values["AWS_ENDPOINT_URL_SECRETS_MANAGER"] = newManager(t, text).url
			for variable, err := range map[string]error{"STRIPE_API_KEY": local, "STRIPE_SECRET_ARN": wireWith(t, values)} {
				var of *secret.Error
				if !errors.As(err, &of) || of.Variable != variable || !strings.Contains(err.Error(), variable) {
					t.Errorf("got %v, want an error that names %s", err, variable)
				}
				if err != nil && (strings.Contains(err.Error(), "c4n") || strings.Contains(err.Error(), "4ry")) {
					t.Errorf("%v tells the key", err)
				}
			}
		})
	}
}

func TestUsableKey(t *testing.T) {
	for _, text := range []string{"sk_test_1", "sk_live_51HaBc09", "rk_test_1", "rk_live_1", "sk_org_live_1", "sk_test_1\n", " sk_test_1\r\n"} {
		values := deployed()
		values["STRIPE_API_KEY"] = text
		if err := wireWith(t, values); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The parameter Claim says whether a batch shares its calls to the table.
func TestClaim(t *testing.T) {
	for claim, shares := range map[string]bool{"": true, "batch": true, "put": false} {
		values := deployed()
		values["CLAIM"] = claim
		batch, err := wire(t.Context(), environment.NewVariables(func(name string) (string, bool) { v, ok := values[name]; return v, ok }, calls.Record))
		if err != nil {
			t.Fatal(err)
		}
		store := batch.Handler.(*intent.Keyed[order]).Store
		if of, _ := store.(intent.Grouper).Group(10); (of != store) != shares {
			t.Errorf("%q: shares calls: %t, want %t", claim, of != store, shares)
		}
	}
	values := deployed()
	values["CLAIM"] = "both"
	var at *intent.ConfigError
	if err := wireWith(t, values); !errors.As(err, &at) || at.Field != "CLAIM" || !strings.Contains(err.Error(), "both") {
		t.Errorf("got %v, want an error that names CLAIM and prints it", err)
	}
}
