package environment_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/environment"
)

// wired is a function under a complete environment and more.
func wired(t *testing.T, more map[string]string) *environment.Function {
	t.Helper()
	values := complete()
	maps.Copy(values, more)
	f, err := environment.NewFunction("charge", variables(values))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCredentialsAreTheRoles(t *testing.T) {
	f := wired(t, nil)
	got, err := f.AWS.Credentials.Retrieve(t.Context())
	if err != nil || got.AccessKeyID != "key" || got.SecretAccessKey != "secret" || got.SessionToken != "session" || f.AWS.Region != "eu-central-1" {
		t.Errorf("got %q %q %q in %q and error %v", got.AccessKeyID, got.SecretAccessKey, got.SessionToken, f.AWS.Region, err)
	}
}

// Where Lambda gives an address in place of keys, as it does where a process outlives them, they are asked for there, and kept.
func TestCredentialsFromAnAddress(t *testing.T) {
	asked, expires := 0, time.Now().Add(time.Hour)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Header.Get("Authorization") != "token" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = fmt.Fprintf(w, `{"AccessKeyId":"short","SecretAccessKey":"lived","Token":"keys","Expiration":%q}`, expires.UTC().Format(time.RFC3339))
	}))
	defer server.Close()
	more := map[string]string{
		"AWS_CONTAINER_CREDENTIALS_FULL_URI": server.URL + "/credentials", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "token",
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "",
	}
	f := wired(t, more)
	for range 2 {
		got, err := f.AWS.Credentials.Retrieve(t.Context())
		if err != nil || got.AccessKeyID != "short" || got.SecretAccessKey != "lived" || got.SessionToken != "keys" {
			t.Fatalf("got %q %q %q and error %v", got.AccessKeyID, got.SecretAccessKey, got.SessionToken, err)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
	// Keys that expire within an invocation are not used up.
	expires = time.Now().Add(2 * time.Minute)
	f = wired(t, more)
	for range 2 {
		if _, err := f.AWS.Credentials.Retrieve(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 3 {
		t.Errorf("asked %d times for keys that soon expire, want twice", asked-1)
	}
	// Keys come before an address, as with the SDK's own loader.
	delete(more, "AWS_ACCESS_KEY_ID")
	delete(more, "AWS_SECRET_ACCESS_KEY")
	if got, err := wired(t, more).AWS.Credentials.Retrieve(t.Context()); err != nil || got.AccessKeyID != "key" {
		t.Errorf("with keys: got %q and error %v", got.AccessKeyID, err)
	}
}

// A token is sent nowhere else.
func TestErrAddressOfCredentials(t *testing.T) {
	for address, here := range map[string]bool{
		"http://127.0.0.1:9001/": true, "http://localhost/x": true, "http://[::1]:80": true, "http://169.254.170.23/v1/credentials": true,
		"http://example.com": false, "http://10.0.0.1": false, "https://example.com": false, "169.254.170.23": false, "http://": false, "::": false,
	} {
		values := complete()
		delete(values, "AWS_ACCESS_KEY_ID")
		values["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = address
		_, err := environment.NewFunction("charge", variables(values))
		if here != (err == nil) || !here && !strings.Contains(err.Error(), `AWS_CONTAINER_CREDENTIALS_FULL_URI="`+address+`"`) {
			t.Errorf("%s: got error %v", address, err)
		}
	}
}

// resolved is the host that each client of the stack would call.
func resolved(t *testing.T, cfg aws.Config) map[string]string {
	t.Helper()
	hosts := map[string]string{}
	cfg.HTTPClient = transport(func(r *http.Request) (*http.Response, error) {
		return nil, &host{r.URL.Scheme + "://" + r.URL.Host}
	})
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	for name, call := range map[string]func(context.Context) error{
		"dynamodb": func(ctx context.Context) error {
			_, err := dynamodb.NewFromConfig(cfg).ListTables(ctx, nil)
			return err
		},
		"sqs": func(ctx context.Context) error {
			_, err := sqs.NewFromConfig(cfg).ListQueues(ctx, nil)
			return err
		},
		"secretsmanager": func(ctx context.Context) error {
			_, err := secretsmanager.NewFromConfig(cfg).ListSecrets(ctx, nil)
			return err
		},
		"sesv2": func(ctx context.Context) error {
			_, err := sesv2.NewFromConfig(cfg).ListContactLists(ctx, nil)
			return err
		},
	} {
		err := call(t.Context())
		_, at, found := strings.Cut(err.Error(), "would call ")
		if !found {
			t.Fatalf("%s: %v", name, err)
		}
		hosts[name] = at
	}
	return hosts
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) Do(r *http.Request) (*http.Response, error) { return f(r) }

type host struct{ url string }

func (h *host) Error() string { return "would call " + h.url }

// The clients look for a configuration's endpoints by the names of methods, and in the process's own environment, too: nothing but
// a call in that environment shows where they go.
func TestEndpoints(t *testing.T) {
	for _, test := range []struct {
		name string
		more map[string]string
		want map[string]string
	}{
		{"AWS's", nil, map[string]string{
			"dynamodb": "https://dynamodb.eu-central-1.amazonaws.com", "sqs": "https://sqs.eu-central-1.amazonaws.com",
			"secretsmanager": "https://secretsmanager.eu-central-1.amazonaws.com", "sesv2": "https://email.eu-central-1.amazonaws.com",
		}},
		{"by service, and one for the others", map[string]string{
			"AWS_ENDPOINT_URL_DYNAMODB": "http://localhost:1", "AWS_ENDPOINT_URL_SQS": "http://localhost:2",
			"AWS_ENDPOINT_URL_SECRETS_MANAGER": "http://localhost:3", "AWS_ENDPOINT_URL": "http://localhost:4",
		}, map[string]string{
			"dynamodb": "http://localhost:1", "sqs": "http://localhost:2", "secretsmanager": "http://localhost:3", "sesv2": "http://localhost:4",
		}},
		{"SES by its name", map[string]string{"AWS_ENDPOINT_URL_SESV2": "http://localhost:5"}, map[string]string{"sesv2": "http://localhost:5"}},
		{"ignored", map[string]string{
			"AWS_ENDPOINT_URL": "http://localhost:4", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true",
		}, map[string]string{"dynamodb": "https://dynamodb.eu-central-1.amazonaws.com"}},
		{"FIPS", map[string]string{"AWS_USE_FIPS_ENDPOINT": "true", "AWS_REGION": "us-east-1"}, map[string]string{
			"dynamodb": "https://dynamodb-fips.us-east-1.amazonaws.com", "sqs": "https://sqs-fips.us-east-1.amazonaws.com",
			"secretsmanager": "https://secretsmanager-fips.us-east-1.amazonaws.com", "sesv2": "https://email-fips.us-east-1.amazonaws.com",
		}},
		{"dual-stack", map[string]string{"AWS_USE_DUALSTACK_ENDPOINT": "true"}, map[string]string{
			"dynamodb": "https://dynamodb.eu-central-1.api.aws", "sqs": "https://sqs.eu-central-1.api.aws",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, value := range test.more {
				t.Setenv(name, value)
			}
			got := resolved(t, wired(t, test.more).AWS)
			for service, want := range test.want {
				if got[service] != want {
					t.Errorf("%s: got %s, want %s", service, got[service], want)
				}
			}
		})
	}
}
