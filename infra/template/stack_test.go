package template

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

const root = "../.."

// stackScope is the default of the stack that these tests read.
const stackScope = "123456789012/eu-central-1/once"

// local resolves references as the tests of this package do: names in plain sight.
func local(r Reference) (string, error) {
	switch {
	case r.Type == queueType && r.Attribute == "":
		return "http://localhost/" + r.LogicalID, nil
	case r.Attribute == "Arn":
		return "arn:local:" + r.LogicalID, nil
	case r.Type == queueType && r.Attribute == "QueueName":
		return "name of " + r.LogicalID, nil
	case r.Type == functionType && r.Attribute == "Version.Version":
		return "version of " + r.LogicalID, nil
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
	got, err := stack(t, map[string]string{"StripeApiBase": "http://localhost:1", "EmailFrom": "shop@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	got.Parameters, got.Alarms = nil, nil // TestStackAlarms has these
	for _, f := range got.Functions {
		delete(f.Environment, "ROLE_POLICY") // TestStackRolesPublish has it
	}
	want := Template{Tables: []Table{
		stackTable("Intent", "intent"), stackTable("Accounts", "account_id"), stackTable("Users", "user_id"),
		stackTable("Orders", "order_id"), stackTable("Carts", "user_id", "item_id"), stackTable("Emails", "email_id"),
	}}
	want.Tables[0].TTLAttribute = "expires_at"
	want.Tables[0].Indexes = []Index{{Name: "open", Keys: []Key{{"open", "S"}, {"open_since", "N"}}, Projection: "KEYS_ONLY"}}
	for _, f := range []struct {
		name, class string
		variables   map[string]string
		more        string // in the description of its versions
		off         bool
	}{
		{"Charge", "Keyed", map[string]string{"USERS_TABLE": "UsersTable", "PROVIDER_WINDOW_HOURS": "24", "CLAIM": "batch", "STRIPE_SECRET_ARN": "",
			"STRIPE_API_KEY": "", "STRIPE_API_BASE": "http://localhost:1"}, ", batch, ", true},
		{"Adjust", "Ledger", map[string]string{"ACCOUNTS_TABLE": "AccountsTable"}, "", false},
		{"Ship", "Natural", map[string]string{"ORDERS_TABLE": "OrdersTable"}, "", false},
		{"Clearcart", "Natural", map[string]string{"CARTS_TABLE": "CartsTable"}, "", false},
		{"Welcome", "Blind", map[string]string{"USERS_TABLE": "UsersTable", "EMAILS_TABLE": "EmailsTable",
			"EMAIL_FROM": "shop@example.com"}, ", shop@example.com", false},
	} {
		function := stackFunction(f.name, f.class, f.variables)
		function.VersionDescription += f.more + ", " // and the parameter Scope, which is empty
		function.Events[0].Enabled = !f.off
		want.Functions = append(want.Functions, function)
		want.Queues = append(want.Queues, stackQueues(f.name)...)
	}
	for i, same := range []bool{
		reflect.DeepEqual(got.Functions, want.Functions), reflect.DeepEqual(got.Queues, want.Queues),
		reflect.DeepEqual(got.Tables, want.Tables),
	} {
		if !same {
			of := func(t Template) any { return []any{t.Functions, t.Queues, t.Tables}[i] }
			t.Errorf("got  %+v\nwant %+v", of(got), of(want))
		}
	}
}

func stackTable(name string, keys ...string) Table {
	t := Table{LogicalID: name + "Table", Ref: name + "Table"}
	for _, key := range keys {
		t.Keys = append(t.Keys, Key{Attribute: key, Type: "S"})
	}
	return t
}

func stackFunction(name, class string, variables map[string]string) Function {
	f := Function{
		LogicalID: name + "Function", Folder: strings.ToLower(name), Architecture: "arm64", Timeout: 30 * time.Second, MemoryMB: 256,
		Environment: map[string]string{
			"GOGC": "200", "GOMAXPROCS": "1", "SCOPE": stackScope, "INTENT_TABLE": "IntentTable", "LEASE_MARGIN_SECONDS": "3", "RETENTION_DAYS": "90",
			"QUEUE_URL": "http://localhost/" + name + "Queue", "DEAD_LETTER_QUEUE_URL": "http://localhost/" + name + "DeadLetterQueue",
			"AWS_ENDPOINT_URL_DYNAMODB": "", "AWS_ENDPOINT_URL_SQS": "", "AWS_ENDPOINT_URL_SECRETS_MANAGER": "", "AWS_ENDPOINT_URL_SESV2": "",
		},
		Tags: map[string]string{"EffectClass": class},
		Events: []Event{{
			Name: "Queue", Queue: name + "Queue", BatchSize: 10, MaximumConcurrency: 10,
			FunctionResponseTypes: []string{"ReportBatchItemFailures"},
		}},
		Role: name + "Role", LogGroup: name + "LogGroup",
		Alias: "live", Name: name + "Function", Version: "version of " + name + "Function", PublishesAll: true, VersionDescription: "30+3 s, 90 d, PassThrough",
		Deployment: &Deployment{Type: "Canary10Percent5Minutes"},
	}
	maps.Copy(f.Environment, variables)
	for _, kind := range kinds[class] {
		if takesBack[kind] {
			f.Deployment.Alarms = append(f.Deployment.Alarms, name+kind+"Alarm")
		}
	}
	return f
}

func stackQueues(name string) []Queue {
	const day = 24 * time.Hour
	queue := Queue{
		LogicalID: name + "Queue", Name: "once-" + strings.ToLower(name), VisibilityTimeout: 180 * time.Second, Retention: 4 * day,
		Redrive: &Redrive{Target: name + "DeadLetterQueue", MaxReceiveCount: 100},
	}
	dead := Queue{LogicalID: name + "DeadLetterQueue", VisibilityTimeout: 30 * time.Second, Retention: 14 * day}
	queues := []Queue{queue, dead}
	for i := range queues {
		q := &queues[i]
		q.Encrypted = true
		q.URL = "http://localhost/" + q.LogicalID
		if name == "Adjust" {
			q.FIFO, q.DeduplicationScope, q.ThroughputLimit = true, "messageGroup", "perMessageGroupId"
			q.Name = []string{"once-adjust.fifo", "once-adjust-dead.fifo"}[i]
		}
	}
	return queues
}

const secret = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:stripe-AbCdEf"

func TestStackParameters(t *testing.T) {
	tests := []struct {
		name  string
		given map[string]string
		want  string // in the error; empty if the stack is allowed
	}{
		{"small, as the demo has them", map[string]string{
			"FunctionTimeoutSeconds": "2", "VisibilityTimeoutSeconds": "12", "LeaseMarginSeconds": "1"}, ""},
		{"record retention of the least days", map[string]string{"RetentionDays": "40"}, ""},
		{"record retention below", map[string]string{"RetentionDays": "39"}, `Parameters.RetentionDays is "39": it must match`},
		{"record retention of the most days", map[string]string{"RetentionDays": "3650"}, ""},
		{"record retention above", map[string]string{"RetentionDays": "3651"}, "must be a whole number from 40 to 3650"},
		{"record retention in fractions of days", map[string]string{"RetentionDays": "40.5"}, "must be a whole number from 40 to 3650"},
		{"the longest lease margin", map[string]string{"LeaseMarginSeconds": "60"}, ""},
		{"a longer lease margin", map[string]string{"LeaseMarginSeconds": "61"}, "must be a whole number from 1 to 60"},
		{"half a second more of lease margin", map[string]string{"LeaseMarginSeconds": "3.5"}, "must be a whole number from 1 to 60"},
		{"half a message", map[string]string{"BatchSize": "1.5"}, "Parameters.BatchSize"},
		{"another stack's scope", map[string]string{"Scope": "210987654321/us-gov-west-1/Once-2"}, ""},
		{"a scope that imitates a separator", map[string]string{"Scope": "once#charge"}, "Parameters.Scope"},
		{"a scope that CloudWatch does not take", map[string]string{"Scope": ":once"}, "must be empty or letters, digits"},
		{"a scope of two bytes a character", map[string]string{"Scope": "größe"}, "must be empty or letters, digits"},
		{"a scope of more than any stack's", map[string]string{"Scope": strings.Repeat("x", 92)}, "its MaxLength is 91"},
		{"no lease margin", map[string]string{"LeaseMarginSeconds": "0"}, "Parameters.LeaseMarginSeconds"},
		{"a batch that needs a window", map[string]string{"BatchSize": "11"}, "Parameters.BatchSize"},
		{"a secret", map[string]string{"StripeSecretArn": secret}, ""},
		{"every secret", map[string]string{"StripeSecretArn": strings.Replace(secret, "stripe-AbCdEf", "*", 1)}, "the whole ARN of one secret"},
		{"a secret without its six characters", map[string]string{"StripeSecretArn": strings.TrimSuffix(secret, "-AbCdEf")}, "the whole ARN of one secret"},
		{"a secret with a question mark", map[string]string{"StripeSecretArn": strings.Replace(secret, "stripe", "strip?", 1)}, "the whole ARN of one secret"},
		{"a secret with a name that is too long", map[string]string{"StripeSecretArn": strings.Replace(secret, "stripe", strings.Repeat("x", 200), 1)}, "its MaxLength is 124"},
		{"a sender", map[string]string{"EmailFrom": "shop@example.com"}, ""},
		{"a sender with a name", map[string]string{"EmailFrom": "Shop <shop@example.com>"}, "must be empty or one bare e-mail address"},
		{"a sender of a domain with one label", map[string]string{"EmailFrom": "shop@localhost"}, "must be empty or one bare e-mail address"},
		{"who may send", map[string]string{"SenderArns": "arn:aws:iam::123456789012:role/shop,arn:aws:sns:eu-central-1:123456789012:orders"}, ""},
		{"who may send, with a space", map[string]string{"SenderArns": "arn:aws:iam::123456789012:role/shop, arn:aws:iam::123456789012:role/web"}, "must be empty or ARNs"},
		{"a session that may send", map[string]string{"SenderArns": "arn:aws:sts::123456789012:assumed-role/shop/one"}, "must be empty or ARNs"},
		{"every role may send", map[string]string{"SenderArns": "arn:aws:iam::123456789012:role/*"}, "must be empty or ARNs"},
		{"who may send, by another name", map[string]string{"SenderArns": "123456789012"}, "must be empty or ARNs"},
		{"traced", map[string]string{"Tracing": "Active"}, ""},
		{"traced, or not", map[string]string{"Tracing": "true"}, "Parameters.Tracing"},
		{"warm writes", map[string]string{"IntentTableWarmWrites": "40000"}, ""},
		{"fewer warm writes than DynamoDB begins with", map[string]string{"IntentTableWarmWrites": "3999"}, "from 4000 to 9999999"},
		{"a table that is there", map[string]string{"ExistingIntentTable": "once-IntentTable-1ABCDEF"}, ""},
		{"a table by its ARN", map[string]string{"ExistingIntentTable": "arn:aws:dynamodb:eu-central-1:123456789012:table/once"}, "Parameters.ExistingIntentTable"},
		{"somebody to tell", map[string]string{"NotificationEmail": "ops@example.com"}, ""},
		{"two to tell", map[string]string{"NotificationEmail": "ops@example.com, dev@example.com"}, "must be empty or one e-mail address"},
		{"a deployment that is neither", map[string]string{"GradualDeployment": "maybe"}, "Parameters.GradualDeployment"},
		{"an endpoint", map[string]string{"DynamoDBEndpointUrl": "http://localhost:8000"}, ""},
		{"an endpoint with a space", map[string]string{"DynamoDBEndpointUrl": "http://localhost:8000 "}, "Parameters.DynamoDBEndpointUrl"},
		{"an endpoint in quotes", map[string]string{"SQSEndpointUrl": `http://localhost"`}, "Parameters.SQSEndpointUrl"},
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
			for _, f := range got.Functions {
				needs := map[string]string{"charge": "StripeSecretArn", "welcome": "EmailFrom"}[f.Folder]
				if got, want := f.Events[0].Enabled, needs == "" || tt.given[needs] != ""; got != want {
					t.Errorf("%s is enabled: got %t, want %t", f.Folder, got, want)
				}
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

// A version keeps the settings that it was published with, and SAM does not publish another one for a parameter's new value: the
// description of a function's versions must change with each setting that a parameter changes. Addresses are left out: with them it would
// be longer than Lambda allows, and a stack keeps its own.
func TestStackVersions(t *testing.T) {
	const longest = 256 // characters; Lambda, PublishVersion
	before, err := stack(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	longestScope := "123456789012/ap-southeast-1/" + strings.Repeat("x", 63) // what a stack with the longest name that its queues allow has
	long := strings.Repeat("x", 124-len(secret))
	values := map[string]string{
		"FunctionTimeoutSeconds": "10", "LeaseMarginSeconds": "60", "RetentionDays": "3650", "StripeSecretArn": strings.Replace(secret, "stripe", "stripe"+long, 1),
		"EmailFrom": "shop@example.com", "BatchSize": "1", "MaximumConcurrency": "5", "ReservedConcurrency": "1000", "LogRetentionDays": "1",
		"VisibilityTimeoutSeconds": "720", "NotificationEmail": "ops@example.com", "GradualDeployment": "false", "Claim": "put",
		"Scope": longestScope, "Tracing": "Active", "SenderArns": "arn:aws:iam::123456789012:role/shop", "IntentTableWarmWrites": "40000",
	}
	for name := range before.Parameters {
		value, known := values[name]
		if left := strings.HasSuffix(name, "Url") || name == "StripeApiBase" || strings.HasPrefix(name, "Existing"); known == left {
			t.Errorf("parameter %s: no new value to try", name)
		}
		if !known {
			continue
		}
		after, err := stack(t, map[string]string{name: value})
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range before.Functions {
			g := after.Functions[i]
			changed := name == "Tracing" || g.Timeout != f.Timeout || g.MemoryMB != f.MemoryMB || !maps.Equal(g.Environment, f.Environment)
			if described := g.VersionDescription != f.VersionDescription; described != changed {
				t.Errorf("%s=%s changes settings of %s: %t, the description of its versions: %t", name, value, f.LogicalID, changed, described)
			}
		}
	}
	after, err := stack(t, map[string]string{
		"FunctionTimeoutSeconds": "120", "VisibilityTimeoutSeconds": "720", "LeaseMarginSeconds": "60", "RetentionDays": "3650",
		"StripeSecretArn": values["StripeSecretArn"], "EmailFrom": strings.Repeat("x", 124-len("@example.com")) + "@example.com",
		"Scope": longestScope, "Tracing": "Active", "SenderArns": "arn:aws:iam::123456789012:role/shop", "IntentTableWarmWrites": "40000",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range after.Functions {
		if n := len(f.VersionDescription); n > longest {
			t.Errorf("%s: a version's description has %d characters, of %d at most", f.LogicalID, n, longest)
		}
	}
}

// Without CodeDeploy there are still versions.
func TestStackAtOnce(t *testing.T) {
	got, err := stack(t, map[string]string{"GradualDeployment": "false"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got.Functions {
		if f.Deployment != nil || f.Alias != "live" {
			t.Errorf("%s: got deployment %+v of alias %q, want none of live", f.LogicalID, f.Deployment, f.Alias)
		}
	}
}
