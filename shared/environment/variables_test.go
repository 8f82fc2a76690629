package environment_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intent"
)

// complete is what template.yaml and Lambda give to every function.
func complete() map[string]string {
	return map[string]string{
		"SCOPE": "once", "INTENT_TABLE": "intents", "QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/123456789012/once-charge",
		"DEAD_LETTER_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/123456789012/once-charge-dead",
		"LEASE_MARGIN_SECONDS":  "3", "RETENTION_DAYS": "90",
		"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "session",
	}
}

func variables(values map[string]string) *environment.Variables {
	return environment.NewVariables(func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	})
}

func TestVariables(t *testing.T) {
	v := variables(map[string]string{"A": "x", "EMPTY": "", "N": "7"})
	if got := v.Required("A"); got != "x" {
		t.Errorf("A: got %q", got)
	}
	if got := v.Optional("EMPTY") + v.Optional("ABSENT"); got != "" {
		t.Errorf("optional: got %q", got)
	}
	if got := v.Whole("N", time.Minute); got != 7*time.Minute {
		t.Errorf("N: got %v", got)
	}
	if err := v.Err(); err != nil {
		t.Errorf("got %v, though nothing required is missing", err)
	}
}

func TestWhole(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1": time.Second, "90": 90 * time.Second, "+5": 5 * time.Second, "4611686018": 4611686018 * time.Second,
		// What is below has no value.
		"0": 0, "-1": 0, "1.5": 0, "3s": 0, " 3": 0, "three": 0, "1e3": 0, "9223372036": 0, "9223372036854775808": 0, "0x10": 0,
	} {
		v := variables(map[string]string{"N": text})
		got := v.Whole("N", time.Second)
		var unusable *environment.Error
		invalid := errors.As(v.Err(), &unusable) && len(unusable.Invalid) == 1 && strings.Contains(v.Err().Error(), `N="`+text+`"`)
		if got != want || invalid != (want == 0) {
			t.Errorf("%q: got %v and error %v, want %v", text, got, v.Err(), want)
		}
	}
}

// One error names everything that is wrong, so that an operator deploys once.
func TestErrNamesAll(t *testing.T) {
	v := variables(map[string]string{"EMPTY": "", "N": "soon", "M": "-1"})
	v.Required("ABSENT")
	v.Required("EMPTY")
	v.Whole("N", time.Second)
	v.Whole("M", time.Second)
	v.Whole("NONE", time.Second)
	err := v.Err()
	var unusable *environment.Error
	if !errors.As(err, &unusable) || !slices.Equal(unusable.Missing, []string{"ABSENT", "EMPTY", "NONE"}) || len(unusable.Invalid) != 2 {
		t.Fatalf("got %#v", err)
	}
	for _, word := range []string{"missing ABSENT, EMPTY, NONE", `N="soon"`, `M="-1"`} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not say %s", err, word)
		}
	}
}

func TestSwitch(t *testing.T) {
	for text, want := range map[string]bool{"": false, "true": true, "True": true, "false": false, "FALSE": false} {
		v := variables(map[string]string{"S": text})
		if got := v.Switch("S"); got != want || v.Err() != nil {
			t.Errorf("%q: got %v and error %v, want %v", text, got, v.Err(), want)
		}
	}
	for _, text := range []string{"1", "yes", " true"} {
		v := variables(map[string]string{"S": text})
		if got := v.Switch("S"); got || v.Err() == nil || !strings.Contains(v.Err().Error(), `S="`+text+`"`) {
			t.Errorf("%q: got %v and error %v, want an error that prints it", text, got, v.Err())
		}
	}
}

func TestNewFunction(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		f, err := environment.NewFunction("charge", variables(complete()))
		if err != nil {
			t.Fatal(err)
		}
		c := f.Intent
		if c.Scope != "once" || c.Operation != "charge" || c.LeaseMargin != 3*time.Second || c.Retention != 90*24*time.Hour || c.Store == nil || f.Client == nil {
			t.Errorf("got %+v", f)
		}
		effect := func(context.Context, struct{}, intent.Attempt) (any, error) { return nil, nil }
		b, err := f.Batch(&intent.Blind[struct{}]{Config: f.Intent, Effect: effect})
		if err != nil {
			t.Fatal(err)
		}
		if b.QueueURL != complete()["QUEUE_URL"] || b.DeadLetterURL != complete()["DEAD_LETTER_QUEUE_URL"] || b.Queue == nil || b.Observe == nil || b.Log == nil {
			t.Errorf("batch: got %+v", b.Config)
		}
		var invalid *intent.ConfigError
		if _, err := f.Batch(&intent.Blind[struct{}]{Config: f.Intent}); !errors.As(err, &invalid) {
			t.Errorf("an effect that is missing: got %v, want a ConfigError", err)
		}
	})
	t.Run("Err all missing", func(t *testing.T) {
		v := variables(nil)
		v.Required("USERS_TABLE") // the function's own, read before
		_, err := environment.NewFunction("charge", v)
		var unusable *environment.Error
		if !errors.As(err, &unusable) {
			t.Fatalf("got %v, want an Error", err)
		}
		want := []string{"AWS_ACCESS_KEY_ID", "AWS_REGION", "AWS_SECRET_ACCESS_KEY", "DEAD_LETTER_QUEUE_URL", "INTENT_TABLE", "LEASE_MARGIN_SECONDS", "QUEUE_URL", "RETENTION_DAYS", "SCOPE", "USERS_TABLE"}
		if got := slices.Sorted(slices.Values(unusable.Missing)); !slices.Equal(got, want) {
			t.Errorf("missing: got %v, want %v", got, want)
		}
	})
	for name, value := range map[string]string{"LEASE_MARGIN_SECONDS": "3s", "RETENTION_DAYS": "0", "AWS_USE_FIPS_ENDPOINT": "on"} {
		t.Run("Err "+name, func(t *testing.T) {
			values := complete()
			values[name] = value
			_, err := environment.NewFunction("charge", variables(values))
			var unusable *environment.Error
			if !errors.As(err, &unusable) || len(unusable.Invalid) != 1 || unusable.Missing != nil || !strings.Contains(err.Error(), name+`="`+value+`"`) {
				t.Errorf("got %v, want an Error that prints %s and %s", err, name, value)
			}
		})
	}
}
