package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intent"
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
	_, err := wire(context.Background(), environment.NewVariables(func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	}))
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
	const arn = "arn:aws:secretsmanager:us-east-1:123456789012:secret:stripe"
	asked := 0
	manager := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if got := r.Header.Get("X-Amz-Target"); got != "secretsmanager.GetSecretValue" {
			t.Errorf("asked for %s", got)
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		_, _ = w.Write([]byte(`{"ARN":"` + arn + `","SecretString":"` + apiKey + `"}`))
	}))
	defer manager.Close()
	values := deployed()
	values["AWS_ENDPOINT_URL_SECRETS_MANAGER"] = manager.URL
	if err := wireWith(t, values); err != nil || asked != 0 {
		t.Errorf("with STRIPE_API_KEY: got error %v after %d calls, want none", err, asked)
	}
	delete(values, "STRIPE_API_KEY")
	values["STRIPE_SECRET_ARN"] = arn
	if err := wireWith(t, values); err != nil || asked != 1 {
		t.Errorf("with STRIPE_SECRET_ARN: got error %v after %d calls, want none after 1", err, asked)
	}
}

type secretFunc func(*secretsmanager.GetSecretValueInput) (*secretsmanager.GetSecretValueOutput, error)

func (f secretFunc) GetSecretValue(_ context.Context, in *secretsmanager.GetSecretValueInput, _ ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	return f(in)
}

func TestReadSecret(t *testing.T) {
	tests := []struct {
		name string
		out  *secretsmanager.GetSecretValueOutput
		err  error
		want string
	}{
		{name: "OK", out: &secretsmanager.GetSecretValueOutput{SecretString: aws.String("sk_test_1\n")}, want: "sk_test_1"},
		{name: "ErrBinary", out: &secretsmanager.GetSecretValueOutput{SecretBinary: []byte("sk_test_1")}},
		{name: "ErrBlank", out: &secretsmanager.GetSecretValueOutput{SecretString: aws.String(" \n")}},
		{name: "ErrDenied", err: errors.New("denied")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readSecret(context.Background(), secretFunc(func(in *secretsmanager.GetSecretValueInput) (*secretsmanager.GetSecretValueOutput, error) {
				if *in.SecretId != "arn" {
					t.Errorf("asked for %s, want arn", *in.SecretId)
				}
				return tt.out, tt.err
			}), "arn")
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("got %q and error %v, want %q", got, err, tt.want)
			}
			if err != nil && (!strings.Contains(err.Error(), "STRIPE_SECRET_ARN") || strings.Contains(err.Error(), "sk_test")) {
				t.Errorf("error: got %q, want one that names the variable and not the key", err)
			}
		})
	}
}

// The parameter Claim says whether a batch shares its calls to the table.
func TestClaim(t *testing.T) {
	for claim, shares := range map[string]bool{"": true, "batch": true, "put": false} {
		values := deployed()
		values["CLAIM"] = claim
		batch, err := wire(t.Context(), environment.NewVariables(func(name string) (string, bool) { v, ok := values[name]; return v, ok }))
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
