package stack

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/local/queue"
	"github.com/singleeffect/once/infra/template"
)

// small are the parameters that the demo runs with, too.
var small = map[string]string{
	"FunctionTimeoutSeconds": "2", "VisibilityTimeoutSeconds": "12", "LeaseMarginSeconds": "1", "MaximumConcurrency": "2",
}

// opened opens the project's stack on tables of its own, and closes it with the test.
func opened(t *testing.T, o Options) *Stack {
	t.Helper()
	if o.Root == "" {
		o.Root = projectRoot(t)
	}
	o.Name, o.TablePrefix = "once-test", "test-"+rand.Text()+"-"
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func projectRoot(t *testing.T) string {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// What runs is what template.yaml declares.
func TestOpen(t *testing.T) {
	s := opened(t, Options{Parameters: small, Environment: map[string]string{
		"STRIPE_API_BASE": "http://127.0.0.1:2", "STRIPE_API_KEY": "sk_test_x", "UNHEARD_OF": "x",
	}})
	t.Run("tables", func(t *testing.T) { sameTables(t, s) })
	t.Run("queues", func(t *testing.T) { sameQueues(t, s) })
	t.Run("queues in a hurry", func(t *testing.T) { hurriedQueues(t, s) })
	t.Run("environment", func(t *testing.T) { sameEnvironment(t, s) })
}

func sameTables(t *testing.T, s *Stack) {
	ttl := map[string]string{}
	for _, table := range s.Template.Tables {
		name := s.Table(table.LogicalID)
		described, err := s.DB.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			t.Fatal(err)
		}
		keysOf := func(schema []types.KeySchemaElement) (keys []template.Key) {
			for _, key := range schema {
				for _, a := range described.Table.AttributeDefinitions {
					if *a.AttributeName == *key.AttributeName {
						keys = append(keys, template.Key{Attribute: *a.AttributeName, Type: string(a.AttributeType)})
					}
				}
			}
			return keys
		}
		var indexes []template.Index
		for _, index := range described.Table.GlobalSecondaryIndexes {
			indexes = append(indexes, template.Index{Name: *index.IndexName, Keys: keysOf(index.KeySchema), Projection: string(index.Projection.ProjectionType)})
		}
		if keys := keysOf(described.Table.KeySchema); !slices.Equal(keys, table.Keys) || fmt.Sprint(indexes) != fmt.Sprint(table.Indexes) {
			t.Errorf("%s has key %v and indexes %v, want %v and %v", table.LogicalID, keys, indexes, table.Keys, table.Indexes)
		}
		live, err := s.DB.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &name})
		if err != nil {
			t.Fatal(err)
		}
		if a := live.TimeToLiveDescription.AttributeName; a != nil {
			ttl[table.LogicalID] = *a
		}
	}
	if want := map[string]string{"IntentTable": "expires_at"}; !maps.Equal(ttl, want) {
		t.Errorf("TTL attributes: got %v, want %v", ttl, want)
	}
}

func sameQueues(t *testing.T, s *Stack) {
	names := map[string]string{ // by logical id: some have names of their own
		"ChargeQueue": "once-test-charge", "ChargeDeadLetterQueue": "ChargeDeadLetterQueue",
		"AdjustQueue": "once-test-adjust.fifo", "AdjustDeadLetterQueue": "once-test-adjust-dead.fifo",
		"ShipQueue": "once-test-ship", "ShipDeadLetterQueue": "ShipDeadLetterQueue",
		"ClearcartQueue": "once-test-clearcart", "ClearcartDeadLetterQueue": "ClearcartDeadLetterQueue",
		"WelcomeQueue": "once-test-welcome", "WelcomeDeadLetterQueue": "WelcomeDeadLetterQueue",
	}
	if got, want := len(s.Template.Queues), len(names); got != want {
		t.Fatalf("the template has %d queues, want %d", got, want)
	}
	for _, q := range s.Template.Queues {
		out, err := s.Queues.GetQueueAttributes(queue.GetQueueAttributesInput{
			QueueURL: s.SQS + "/000000000000/" + names[q.LogicalID], AttributeNames: []string{"All"},
		})
		if err != nil {
			t.Fatalf("%s: %v", q.LogicalID, err)
		}
		fifo := ""
		if strings.HasPrefix(q.LogicalID, "Adjust") {
			fifo = "true"
		}
		want := map[string]string{
			"FifoQueue":              fifo,
			"VisibilityTimeout":      strconv.Itoa(int(q.VisibilityTimeout / time.Second)),
			"MessageRetentionPeriod": strconv.Itoa(int(q.Retention / time.Second)),
			"DelaySeconds":           strconv.Itoa(int(q.Delay / time.Second)),
		}
		for name, value := range want {
			if got := out.Attributes[name]; got != value {
				t.Errorf("%s: %s is %q, want %q", q.LogicalID, name, got, value)
			}
		}
		var policy struct {
			Target string `json:"deadLetterTargetArn"`
			Max    int    `json:"maxReceiveCount"`
		}
		text, redrives := out.Attributes["RedrivePolicy"]
		if redrives != (q.Redrive != nil) {
			t.Errorf("%s: RedrivePolicy is %q, want one: %t", q.LogicalID, text, q.Redrive != nil)
		}
		if q.Redrive == nil {
			continue
		}
		if err := json.Unmarshal([]byte(text), &policy); err != nil {
			t.Fatal(err)
		}
		if policy.Target != ARN(names[q.Redrive.Target]) || policy.Max != q.Redrive.MaxReceiveCount {
			t.Errorf("%s: RedrivePolicy is %+v, want %d receives and then %s", q.LogicalID, policy, q.Redrive.MaxReceiveCount, q.Redrive.Target)
		}
		if q.VisibilityTimeout != 12*time.Second {
			t.Errorf("%s: VisibilityTimeout is %s, want the parameter's 12s", q.LogicalID, q.VisibilityTimeout)
		}
	}
}

// The dead-letter queues' own visibility timeout is none of a function's.
func hurriedQueues(t *testing.T, s *Stack) {
	hurried := queue.New(queue.Config{BaseURL: s.SQS})
	if err := createQueues(hurried, s.Template.Queues, 7*time.Second); err != nil {
		t.Fatal(err)
	}
	for _, q := range s.Template.Queues {
		want := seconds(q.VisibilityTimeout)
		if q.Redrive != nil {
			want = "7"
		}
		out, err := hurried.GetQueueAttributes(queue.GetQueueAttributesInput{
			QueueURL: s.account.queueURL(queueName(q)), AttributeNames: []string{"VisibilityTimeout"},
		})
		if got := out.Attributes["VisibilityTimeout"]; err != nil || got != want {
			t.Errorf("%s: got visibility %q and error %v, want %s s", q.LogicalID, got, err, want)
		}
	}
}

// A function is told what the template declares, and its Region, which Lambda
// adds; names that are not declared are not passed on, as SAM does not.
func sameEnvironment(t *testing.T, s *Stack) {
	shared := map[string]string{
		"SCOPE": "000000000000/us-east-1/once-test", "INTENT_TABLE": s.Table("IntentTable"), "LEASE_MARGIN_SECONDS": "1", "RETENTION_DAYS": "90",
		"GOGC": "200", "GOMAXPROCS": "1", "AWS_ENDPOINT_URL_DYNAMODB": s.DynamoDB, "AWS_ENDPOINT_URL_SQS": s.SQS,
		"AWS_ENDPOINT_URL_SECRETS_MANAGER": "", "AWS_ENDPOINT_URL_SESV2": "", "AWS_REGION": "us-east-1",
	}
	want := map[string]map[string]string{
		"charge": {
			"DEAD_LETTER_QUEUE_URL": "ChargeDeadLetterQueue", "USERS_TABLE": s.Table("UsersTable"), "PROVIDER_WINDOW_HOURS": "24", "CLAIM": "batch",
			"STRIPE_SECRET_ARN": "", "STRIPE_API_KEY": "sk_test_x", "STRIPE_API_BASE": "http://127.0.0.1:2",
		},
		"adjust": {
			"QUEUE_URL": "once-test-adjust.fifo", "DEAD_LETTER_QUEUE_URL": "once-test-adjust-dead.fifo", "ACCOUNTS_TABLE": s.Table("AccountsTable"),
		},
		"ship":      {"DEAD_LETTER_QUEUE_URL": "ShipDeadLetterQueue", "ORDERS_TABLE": s.Table("OrdersTable")},
		"clearcart": {"DEAD_LETTER_QUEUE_URL": "ClearcartDeadLetterQueue", "CARTS_TABLE": s.Table("CartsTable")},
		"welcome": {
			"DEAD_LETTER_QUEUE_URL": "WelcomeDeadLetterQueue", "USERS_TABLE": s.Table("UsersTable"), "EMAILS_TABLE": s.Table("EmailsTable"),
			"EMAIL_FROM": "",
		},
	}
	if got := len(s.Functions()); got != len(want) {
		t.Errorf("got %d functions, want %d", got, len(want))
	}
	for _, f := range s.Functions() {
		maps.Copy(want[f.Folder], shared)
		if want[f.Folder]["QUEUE_URL"] == "" {
			want[f.Folder]["QUEUE_URL"] = "once-test-" + f.Folder
		}
		for _, url := range []string{"QUEUE_URL", "DEAD_LETTER_QUEUE_URL"} {
			want[f.Folder][url] = s.SQS + "/000000000000/" + want[f.Folder][url]
		}
		want[f.Folder]["ROLE_POLICY"] = f.Environment["ROLE_POLICY"] // the template's own test holds it to the role
		if !maps.Equal(f.Environment, want[f.Folder]) {
			t.Errorf("%s: got %v, want %v", f.LogicalID, f.Environment, want[f.Folder])
		}
	}
}

func TestOpenErrors(t *testing.T) {
	tests := []struct {
		name    string
		options Options
		want    string
	}{
		{"no template", Options{Root: t.TempDir(), Name: "once"}, "template.yaml"},
		{"unknown parameter", Options{Root: projectRoot(t), Name: "once", Parameters: map[string]string{"Colour": "red"}}, "Colour"},
		{"clashing parameters", Options{Root: projectRoot(t), Name: "once", Parameters: map[string]string{
			"VisibilityTimeoutSeconds": "12", "FunctionTimeoutSeconds": "30"}}, "6 × FunctionTimeoutSeconds"},
		{"a queue name that SQS refuses", Options{Root: projectRoot(t), Name: "once test", TablePrefix: "test-" + rand.Text() + "-"}, "create queue ChargeQueue"},
		{"no such host", Options{Root: projectRoot(t), Name: "once", Listen: "192.0.2.1"}, "listen for the queues"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Open(t.Context(), tt.options)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			if s != nil {
				t.Error("got a stack, want none")
			}
			if left := children(t); len(left) > 0 {
				t.Errorf("left running: %q", left)
			}
		})
	}
}

// children are the processes that this one has, by what they were started with.
func children(t *testing.T) []string {
	t.Helper()
	return processes(t, func(parent int, arguments string) bool {
		return parent == os.Getpid() && !strings.HasPrefix(arguments, "ps ")
	})
}

func processes(t *testing.T, wanted func(parent int, arguments string) bool) (found []string) {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-ww", "-o", "ppid=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		parent, arguments, _ := strings.Cut(strings.TrimSpace(line), " ")
		id, err := strconv.Atoi(parent)
		if err != nil {
			t.Fatalf("line %q of ps: %v", line, err)
		}
		if wanted(id, arguments) {
			found = append(found, arguments)
		}
	}
	return found
}
