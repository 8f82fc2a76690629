package doctor

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
)

// puts keeps the items that a store puts.
type puts struct {
	dynamo.API
	items []map[string]types.AttributeValue
}

func (p *puts) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	p.items = append(p.items, in.Item)
	return &dynamodb.PutItemOutput{}, nil
}

// The attributes are those that the code writes, of the types that DynamoDB's key and TTL take.
func TestRecordAttributes(t *testing.T) {
	table := &puts{}
	now := time.Now()
	record := intent.Record{Intent: "once/charge/order-8821-charge", State: intent.StateCompleted, ClaimedAt: now, ExpiresAt: now}
	if _, err := dynamo.New(table, "intents").Claim(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	if len(table.items) != 1 {
		t.Fatalf("got %d puts, want 1", len(table.items))
	}
	if key, ok := table.items[0][keyAttribute].(*types.AttributeValueMemberS); !ok || key.Value != record.Intent {
		t.Errorf("%s is %v, want the intent", keyAttribute, table.items[0][keyAttribute])
	}
	if _, ok := table.items[0][expiryAttribute].(*types.AttributeValueMemberN); !ok {
		t.Errorf("%s is %v, want a number", expiryAttribute, table.items[0][expiryAttribute])
	}
}

// The margin that is asked for is the one that the core keeps free: with a nanosecond less there is no claim.
func TestWindowMargin(t *testing.T) {
	keyed := intent.Keyed[struct{}]{
		Config: intent.Config{Scope: "once", Operation: "charge", Store: dynamo.New(&puts{}, "intents")}.WithDefaults(),
		Effect: func(context.Context, struct{}, intent.Attempt) (any, error) { return nil, nil },
	}
	least := windowMargin + keyed.Lease + keyed.LeaseMargin + skewMargin()
	for window, want := range map[time.Duration]bool{least: true, least - 1: false} {
		keyed.Window = window
		if err := keyed.Validate(); (err == nil) != want {
			t.Errorf("window of %v: got error %v, want it taken: %t", window, err, want)
		}
	}
}

// The tags are the classes that the code has.
func TestClasses(t *testing.T) {
	class := regexp.MustCompile(`&(?:intent|dynamo)\.(Keyed|Ledger|Natural|Blind)\[`)
	for _, f := range stack(t, text(t), nil).Functions {
		main, err := os.ReadFile(filepath.Join(root, "functions", f.Folder, "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := class.FindAllSubmatch(main, -1)
		if len(found) != 1 || string(found[0][1]) != f.Tags[classTag] {
			t.Errorf("%s has the tag %s, and its code %q", f.LogicalID, f.Tags[classTag], found)
		}
	}
}

func TestReads(t *testing.T) {
	reads, err := Reads(root)
	if err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string][]string{
		"charge": {"DEAD_LETTER_QUEUE_URL", "INTENT_TABLE", "PROVIDER_WINDOW_HOURS", "STRIPE_API_KEY", "STRIPE_SECRET_ARN", "USERS_TABLE"},
		"ship":   {"DEAD_LETTER_QUEUE_URL", "INTENT_TABLE", "ORDERS_TABLE"},
	} {
		for _, name := range want {
			if !slices.Contains(reads[folder], name) {
				t.Errorf("%s reads %q, want %s among them", folder, reads[folder], name)
			}
		}
	}
	if slices.Contains(reads["ship"], "STRIPE_API_KEY") {
		t.Error("ship reads what is charge's")
	}
}

// C22: a function that is not told what it needs says all of that, and does not start.
func TestMissingVariables(t *testing.T) {
	reads, err := Reads(root)
	if err != nil {
		t.Fatal(err)
	}
	bootstrap := filepath.Join(t.TempDir(), "bootstrap")
	build := exec.Command("go", "build", "-o", bootstrap, "./functions/ship")
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build ship: %v\n%s", err, output)
	}
	start := exec.Command(bootstrap)
	start.Env = []string{"AWS_REGION=eu-central-1"}
	output, err := start.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("got %v, want that it ends with 1", err)
	}
	for _, name := range reads["ship"] { // ship has no optional one
		if !regexp.MustCompile(`\b` + name + `\b`).Match(output) {
			t.Errorf("got %q, want %s in it", output, name)
		}
	}
}

func TestReadsElsewhere(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  []string
		err   string
	}{
		{"by os, in a package of the project's, twice", map[string]string{
			"functions/one/main.go": `package main
import ("os"; "github.com/singleeffect/once/shared/deep")
var a, b = os.Getenv("A"), deep.B`,
			"shared/deep/deep.go": `package deep
import ("os"; "github.com/singleeffect/once/shared/deep")
var B, _ = os.LookupEnv("B")
var A = os.Getenv("A")`,
			"functions/one/main_test.go": `package main
import "os"
var c = os.Getenv("C")`,
		}, []string{"A", "B"}, ""},
		{"by a name that is no literal", map[string]string{"functions/one/main.go": `package main
import "os"
const name = "A"
var a = os.Getenv(name)`}, nil, "main.go:4:9: the name of an environment variable is no string literal"},
		{"in a file that is none", map[string]string{"functions/one/main.go": "package"}, nil, "main.go:1:8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for name, content := range tt.files {
				path := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			reads, err := Reads(root)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil || !slices.Equal(reads["one"], tt.want) {
				t.Errorf("got %q and error %v, want %q", reads["one"], err, tt.want)
			}
		})
	}
	if _, err := Reads(t.TempDir()); err == nil || !strings.Contains(err.Error(), "list functions") {
		t.Errorf("without functions: got error %v, want that they cannot be listed", err)
	}
}
