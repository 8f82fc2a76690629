package calls

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/singleeffect/once/shared/secret"
)

const arn = "arn:aws:secretsmanager:us-east-1:123456789012:secret:one"

// Of one client, what deployed code calls is recorded, and what a test calls is not.
func TestRecord(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"SecretString":"x"}`)) }))
	defer server.Close()
	client := secretsmanager.NewFromConfig(Config(aws.Config{
		Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	}))
	all.on.Store(true)
	defer all.on.Store(false)
	if _, err := client.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: aws.String("a test's own")}); err != nil {
		t.Fatal(err)
	}
	if _, err := secret.Read(t.Context(), client, arn, secret.Config{Variable: "KEY", Check: func(string) error { return nil }}); err != nil {
		t.Fatal(err)
	}
	if got := Name("STRIPE_SECRET_ARN", arn); got != arn {
		t.Errorf("got %q, want the resource", got)
	}
	got := all.calls()
	if site := got[Call{"secretsmanager:GetSecretValue", "STRIPE_SECRET_ARN"}]; len(got) != 1 || !strings.HasPrefix(site, "secret/secret.go:") {
		t.Errorf("got %v, want the read of the secret, in secret.go", got)
	}
}

// The variable that a value comes from names it, if it is a resource's.
func TestLookup(t *testing.T) {
	values := map[string]string{"USERS_TABLE": "users", "EMAIL_FROM": "once@example.com", "SCOPE": "once", "QUEUE_URL": ""}
	lookup := Lookup(func(name string) (string, bool) { v, ok := values[name]; return v, ok })
	for name, want := range values {
		if got, ok := lookup(name); got != want || !ok {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if _, ok := lookup("ORDERS_TABLE"); ok {
		t.Error("ORDERS_TABLE is set")
	}
	for resource, want := range map[string]string{"users": "USERS_TABLE", "once@example.com": "EMAIL_FROM", "once": "", "": ""} {
		if got := strings.Join(all.names[resource], " "); got != want {
			t.Errorf("%q is named %q, want %q", resource, got, want)
		}
	}
}

// A resource that two variables name is neither's.
func TestTwoNames(t *testing.T) {
	r := &recorder{sites: map[Call]string{{"sqs:SendMessage", "x"}: "main.go:1", {"sqs:SendMessage", "y"}: "main.go:2"}, names: map[string][]string{}}
	r.name("B_TABLE", "x")
	r.name("A_TABLE", "x")
	r.name("A_TABLE", "x")
	got := r.calls()
	if got[Call{"sqs:SendMessage", "A_TABLE|B_TABLE"}] == "" || got[Call{"sqs:SendMessage", "y"}] == "" || len(got) != 2 {
		t.Errorf("got %v", got)
	}
}

func TestCaller(t *testing.T) {
	const (
		saw     = module + "shared/intenttest/calls.(*recorder).saw recorder.go"
		hide    = module + "shared/dynamo.HideAnswers.func1 answer.go"
		client  = sdk + "service/dynamodb.(*Client).PutItem api_op_PutItem.go"
		sim     = module + "shared/intenttest/sim.(*Table).PutItem table.go"
		store   = module + "shared/dynamo.(*Store).Claim store.go"
		ledger  = module + "shared/dynamo.(*Ledger[...]).Deliver ledger.go"
		deliver = module + "shared/intent.(*Blind[...]).Deliver run.go"
		effect  = module + "functions/ship.ordersTable.ship orders.go"
		test    = module + "functions/ship.TestX ship_test.go"
		pager   = sdk + "service/dynamodb.(*QueryPaginator).NextPage api_op_Query.go"
		runner  = "testing.tRunner testing.go"
		start   = "runtime.goexit asm.s"
	)
	for _, tt := range []struct {
		name   string
		client bool
		frames []string
		ours   bool
	}{
		{"an effect", true, []string{saw, hide, client, effect, deliver, test, runner}, true},
		{"an effect that a test calls", true, []string{saw, client, effect, test}, true},
		{"a paginator of an effect", true, []string{saw, client, pager, effect, test}, true},
		{"a handler's claim", true, []string{saw, hide, client, store, deliver, test}, true},
		{"a ledger", true, []string{saw, hide, client, store, ledger, test}, true},
		{"through a test's wrapper", true, []string{saw, client, test, store, test, deliver, test}, true},
		{"the store's own goroutine", true, []string{saw, hide, client, store, start}, true},
		{"a test", true, []string{saw, hide, client, test, runner}, false},
		{"a test's read of a record", true, []string{saw, hide, client, store, test, runner}, false},
		{"a test's hook in a call", true, []string{saw, client, test, client, store, deliver}, false},
		{"a simulated call", false, []string{saw, sim, store, deliver, test}, true},
		{"a simulated call of a test", false, []string{saw, sim, test}, false},
		{"nobody's", true, []string{saw, client, runner}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			left := tt.frames
			site, ours := decide(tt.client, func() (runtime.Frame, bool) {
				function, file, _ := strings.Cut(left[0], " ")
				left = left[1:]
				return runtime.Frame{Function: function, File: "/x/ship/" + file, Line: 7}, len(left) > 0
			})
			if ours != tt.ours {
				t.Errorf("got the function's own: %t (%s), want %t", ours, site, tt.ours)
			}
			if ours && !strings.HasPrefix(site, "ship/") {
				t.Errorf("got %q, want a line of it", site)
			}
		})
	}
}
