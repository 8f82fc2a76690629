package secret_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/singleeffect/once/shared/secret"
)

const variable = "KEY_SECRET_ARN"

// config takes what begins with key_.
func config() secret.Config {
	return secret.Config{Variable: variable, Check: func(text string) error {
		if !strings.HasPrefix(text, "key_") {
			return errors.New("does not begin with key_")
		}
		return nil
	}}
}

// manager is Secrets Manager, as a function.
type manager func(context.Context) (*secretsmanager.GetSecretValueOutput, error)

func (m manager) GetSecretValue(ctx context.Context, in *secretsmanager.GetSecretValueInput, _ ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	if *in.SecretId != "arn" || in.VersionStage != nil || in.VersionId != nil {
		return nil, errors.New("not asked for the current secret of the ARN")
	}
	return m(ctx)
}

func holds(text string) manager {
	return func(context.Context) (*secretsmanager.GetSecretValueOutput, error) {
		return &secretsmanager.GetSecretValueOutput{SecretString: aws.String(text)}, nil
	}
}

// C59: what cannot be used is an error at the start that names the variable, and never tells the secret.
func TestUnusable(t *testing.T) {
	const text = "key_c4n4ry"
	tests := []struct{ name, text, reason string }{
		{"line break inside", "key_c4n\n4ry", "line break"},
		{"carriage return inside", "key_c4n\r4ry", "line break"},
		{"two secrets", text + "\n" + text, "line break"},
		{"JSON object", `{"api_key":"` + text + `"}`, "JSON object"},
		{"JSON object of several lines", "{\n  \"api_key\": \"" + text + "\"\n}\n", "JSON object"},
		{"JSON string", `"` + text + `"`, "does not begin with key_"},
		{"space inside", "key_ c4n4ry", "white space"},
		{"tab inside", "key_\tc4n4ry", "white space"},
		{"control character", "key_\x00c4n4ry", "not visible ASCII"},
		{"delete", "key_c4n4ry\x7f", "not visible ASCII"},
		{"byte order mark", "\ufeff" + text, "not visible ASCII"},
		{"another alphabet", "kéy_c4n4ry", "not visible ASCII"},
		{"not UTF-8", "key_\xff4n4ry", "not visible ASCII"},
		{"the provider's check", "c4n4ry", "does not begin with key_"},
		{"empty", "", "empty"},
		{"blank", " \n", "empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, fixed := secret.Fixed(tt.text, config())
			_, read := secret.Read(t.Context(), holds(tt.text), "arn", config())
			for _, err := range []error{fixed, read} {
				var of *secret.Error
				if !errors.As(err, &of) || of.Variable != variable || !strings.HasPrefix(err.Error(), variable+": the secret ") || !strings.Contains(err.Error(), tt.reason) {
					t.Errorf("got %v, want an error that names the variable and says %q", err, tt.reason)
				}
				if err != nil && (strings.Contains(err.Error(), "c4n") || strings.Contains(err.Error(), "4ry")) {
					t.Errorf("%v tells the secret", err)
				}
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	denied := errors.New("AccessDeniedException")
	for name, c := range map[string]struct {
		answer manager
		want   string
	}{
		"denied": {func(context.Context) (*secretsmanager.GetSecretValueOutput, error) { return nil, denied }, "cannot be read: AccessDenied"},
		"binary": {func(context.Context) (*secretsmanager.GetSecretValueOutput, error) {
			return &secretsmanager.GetSecretValueOutput{SecretBinary: []byte("key_1")}, nil
		}, "holds bytes, no string"},
	} {
		_, err := secret.Read(t.Context(), c.answer, "arn", config())
		if err == nil || !strings.HasPrefix(err.Error(), variable+": ") || !strings.Contains(err.Error(), c.want) || errors.Is(err, denied) != (name == "denied") {
			t.Errorf("%s: got %v, want an error that names the variable and says %q", name, err, c.want)
		}
	}
}

func TestUsable(t *testing.T) {
	for _, text := range []string{"key_1", "key_1\n", "\t key_1\r\n", "key_1 "} {
		read, err := secret.Read(t.Context(), holds(text), "arn", config())
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := read.Get(); got != "key_1" {
			t.Errorf("%q: got %q, want key_1", text, got)
		}
	}
	fixed, err := secret.Fixed("key_1\n", config())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fixed.Renew(t.Context(), "key_1"); got != "key_1" || err != nil {
		t.Errorf("a fixed one, read again: got %q and error %v, want the same", got, err)
	}
}
