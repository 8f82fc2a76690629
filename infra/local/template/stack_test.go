package template

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const root = "../../.."

// local resolves references as the tests of this package do: names in plain sight.
func local(r Reference) (string, error) {
	switch {
	case r.Type == queueType && r.Attribute == "":
		return "http://localhost/" + r.LogicalID, nil
	case r.Attribute == "Arn":
		return "arn:local:" + r.LogicalID, nil
	case r.Attribute == "":
		return r.LogicalID, nil
	}
	return "", fmt.Errorf("%s has no attribute %s", r.Type, r.Attribute)
}

func stack(t *testing.T, parameters map[string]string) (Template, error) {
	t.Helper()
	f, err := os.Open(filepath.Join(root, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return Parse(f, Options{
		Parameters: parameters, StackName: "once", Region: "eu-central-1", AccountID: "123456789012", Resolve: local,
	})
}

func TestStack(t *testing.T) {
	got, err := stack(t, map[string]string{"StripeApiBase": "http://localhost:1"})
	if err != nil {
		t.Fatal(err)
	}
	got.Parameters = nil
	shared := map[string]string{
		"SCOPE": "once", "INTENT_TABLE": "IntentTable", "LEASE_MARGIN_SECONDS": "3", "RETENTION_DAYS": "90",
		"AWS_ENDPOINT_URL_DYNAMODB": "", "AWS_ENDPOINT_URL_SQS": "", "AWS_ENDPOINT_URL_SECRETS_MANAGER": "", "AWS_ENDPOINT_URL_SESV2": "",
	}
	with := func(own map[string]string) map[string]string {
		maps.Copy(own, shared)
		return own
	}
	function := func(name string, enabled bool, own map[string]string) Function {
		return Function{
			LogicalID: name + "Function", Folder: strings.ToLower(name), Architecture: "arm64", Timeout: 30 * time.Second, MemoryMB: 256,
			Environment: with(own),
			Events: []Event{{
				Name: "Queue", Queue: name + "Queue", BatchSize: 10, MaximumConcurrency: 10,
				FunctionResponseTypes: []string{"ReportBatchItemFailures"}, Enabled: enabled,
			}},
		}
	}
	queues := func(name string) []Queue {
		const day = 24 * time.Hour
		return []Queue{
			{
				LogicalID: name + "Queue", Name: "once-" + strings.ToLower(name), VisibilityTimeout: 180 * time.Second, Retention: 4 * day,
				Redrive: &Redrive{Target: name + "DeadLetterQueue", MaxReceiveCount: 5},
			},
			{LogicalID: name + "DeadLetterQueue", VisibilityTimeout: 30 * time.Second, Retention: 14 * day},
		}
	}
	want := Template{
		Functions: []Function{
			function("Charge", false, map[string]string{
				"QUEUE_URL": "http://localhost/ChargeQueue", "USERS_TABLE": "UsersTable", "STRIPE_SECRET_ARN": "", "STRIPE_API_KEY": "",
				"STRIPE_API_BASE": "http://localhost:1",
			}),
			function("Adjust", true, map[string]string{
				"QUEUE_URL": "http://localhost/AdjustQueue", "ACCOUNTS_TABLE": "AccountsTable",
			}),
		},
		Queues: append(queues("Charge"), queues("Adjust")...),
		Tables: []Table{
			{LogicalID: "IntentTable", Keys: []Key{{Attribute: "intent", Type: "S"}}, TTLAttribute: "expires_at"},
			{LogicalID: "AccountsTable", Keys: []Key{{Attribute: "account_id", Type: "S"}}},
			{LogicalID: "UsersTable", Keys: []Key{{Attribute: "user_id", Type: "S"}}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestStackParameters(t *testing.T) {
	const secret = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:stripe-AbCdEf"
	tests := []struct {
		name  string
		given map[string]string
		want  string // in the error; empty if the stack is allowed
	}{
		{"small, as the demo has them", map[string]string{
			"FunctionTimeoutSeconds": "2", "VisibilityTimeoutSeconds": "12", "LeaseMarginSeconds": "1"}, ""},
		{"x86", map[string]string{"Architecture": "x86_64"}, ""},
		{"another architecture", map[string]string{"Architecture": "riscv"}, `Parameters.Architecture is "riscv"`},
		{"record retention of the queues' and a day", map[string]string{"RetentionDays": "19"}, ""},
		{"record retention below", map[string]string{"RetentionDays": "18"}, `Parameters.RetentionDays is "18": its MinValue is 19`},
		{"no lease margin", map[string]string{"LeaseMarginSeconds": "0"}, "Parameters.LeaseMarginSeconds"},
		{"a batch that needs a window", map[string]string{"BatchSize": "11"}, "Parameters.BatchSize"},
		{"a secret", map[string]string{"StripeSecretArn": secret}, ""},
		{"every secret", map[string]string{"StripeSecretArn": strings.Replace(secret, "stripe-AbCdEf", "*", 1)}, "the ARN of one secret"},
		{"an endpoint", map[string]string{"DynamoDBEndpointUrl": "http://localhost:8000"}, ""},
		{"an endpoint without its scheme", map[string]string{"DynamoDBEndpointUrl": "localhost:8000"}, "Parameters.DynamoDBEndpointUrl"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := stack(t, tt.given)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("got error %v, want one with %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, want := got.Functions[0].Events[0].Enabled, tt.given["StripeSecretArn"] != ""; got != want {
				t.Errorf("charge is enabled: got %t, want %t", got, want)
			}
		})
	}
}

// The arithmetic of windows, for every pair of parameters that the template lets stand: its rules say as lists what no function of CloudFormation
// can compute.
func TestStackRules(t *testing.T) {
	pairs := func(first, second string, allowed func(x, y int) bool, xs, ys []int) {
		t.Run(first+" and "+second, func(t *testing.T) {
			for _, x := range xs {
				for _, y := range ys {
					_, err := stack(t, map[string]string{first: strconv.Itoa(x), second: strconv.Itoa(y)})
					if want := allowed(x, y); (err == nil) != want {
						t.Errorf("%s %d, %s %d: allowed is %t, want %t (%v)", first, x, second, y, err == nil, want, err)
					}
					if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("%s is %d, %s is %d", first, x, second, y)) {
						t.Errorf("error %q does not give both values", err)
					}
				}
			}
		})
	}
	pairs("FunctionTimeoutSeconds", "VisibilityTimeoutSeconds", func(timeout, visibility int) bool { return visibility >= 6*timeout },
		[]int{2, 5, 10, 15, 30, 60, 120}, []int{12, 30, 60, 90, 180, 360, 720})
	pairs("MaximumConcurrency", "ReservedConcurrency", func(maximum, reserved int) bool { return reserved >= maximum },
		[]int{2, 5, 10, 20, 50, 100, 1000}, []int{2, 5, 10, 20, 50, 100, 1000})
}

// C03, C08 and the rest of the arithmetic of windows for the template as it is.
func TestStackWindows(t *testing.T) {
	got, err := stack(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	days, err := strconv.Atoi(got.Parameters["RetentionDays"])
	if err != nil {
		t.Fatal(err)
	}
	records, slack := time.Duration(days)*24*time.Hour, 24*time.Hour
	queues := map[string]Queue{}
	for _, q := range got.Queues {
		queues[q.LogicalID] = q
	}
	for _, f := range got.Functions {
		for _, e := range f.Events {
			q := queues[e.Queue]
			if q.Redrive == nil {
				t.Fatalf("%s has no dead-letter queue", q.LogicalID)
			}
			dead := queues[q.Redrive.Target]
			if records < q.Retention+dead.Retention+slack {
				t.Errorf("records are kept %s, less than %s in %s, %s in %s and %s", records, q.Retention, q.LogicalID, dead.Retention,
					dead.LogicalID, slack)
			}
			if dead.Retention <= q.Retention {
				t.Errorf("%s keeps for %s, %s for %s", dead.LogicalID, dead.Retention, q.LogicalID, q.Retention)
			}
			if q.VisibilityTimeout < 6*f.Timeout+e.Window {
				t.Errorf("%s hides for %s, less than 6 × %s + %s", q.LogicalID, q.VisibilityTimeout, f.Timeout, e.Window)
			}
			if q.Redrive.MaxReceiveCount < 5 {
				t.Errorf("%s gives up after %d receives", q.LogicalID, q.Redrive.MaxReceiveCount)
			}
			if !slices.Contains(e.FunctionResponseTypes, "ReportBatchItemFailures") {
				t.Errorf("%s.%s does not report batch item failures", f.LogicalID, e.Name)
			}
			if e.MaximumConcurrency == 0 {
				t.Errorf("%s.%s sets no maximum concurrency", f.LogicalID, e.Name)
			}
		}
	}
}

// C22: every variable that a function reads is declared, for a variable that is not passed is empty and a local run passes no other.
func TestStackDeclaresVariables(t *testing.T) {
	got, err := stack(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	common := variables(t, filepath.Join(root, "shared", "environment"))
	if len(common) == 0 {
		t.Fatal("found no variable in shared/environment: is it read in another way now?")
	}
	for _, f := range got.Functions {
		own := variables(t, filepath.Join(root, "functions", f.Folder))
		if len(own) == 0 {
			t.Errorf("found no variable in functions/%s: is it read in another way now?", f.Folder)
		}
		for _, name := range slices.Concat(common, own) {
			if _, ok := f.Environment[name]; !ok {
				t.Errorf("%s reads %s, which it does not declare", f.LogicalID, name)
			}
		}
	}
}

// variables lists the environment variables that the Go files of a folder read: the literals given to what reads one.
func variables(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			function, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains([]string{"Required", "Optional", "Whole", "Getenv", "LookupEnv"}, function.Sel.Name) {
				return true
			}
			if literal, ok := call.Args[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
				name, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, name)
			}
			return true
		})
	}
	return names
}
