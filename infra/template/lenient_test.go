package template

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// What strict reading takes, a lenient one reads just as well.
func TestLenientOurs(t *testing.T) {
	for _, given := range []map[string]string{nil, {"RetentionDays": "40"}, {"EmailFrom": "shop@example.com", "GradualDeployment": "false"}} {
		want, err := stack(t, given)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(root, "template.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(strings.NewReader(string(text)), Options{
			Parameters: given, StackName: "once", Region: "eu-central-1", AccountID: "123456789012", Resolve: local, Lenient: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v: it differs from strict reading, and has the notes %v", given, got.Notes)
		}
	}
}

// Each is an error, or dropped, when read strictly.
func TestLenientNotes(t *testing.T) {
	resource := func(text string) string {
		return head + "Resources:\n  Jobs: {Type: AWS::SQS::Queue}\n  " + text + "\n"
	}
	tests := []struct {
		name, text string
		want       []string // resource, type, properties: why
	}{
		{"a section", "Hooks: {}\nResources: {}\n", []string{"Hooks : not read"}},
		{"other globals", "Globals: {Api: {}}\nResources: {}\n", []string{"Globals.Api : not read"}},
		{"a loop", "Resources:\n  Fn::ForEach::T: [N, [A], {}]\n", []string{"Resources Fn::ForEach::T: not read"}},
		{"a type", resource("Store: {Type: AWS::S3::Bucket}"), []string{"Store AWS::S3::Bucket : this type is not read"}},
		{"properties", resource("Q: {Type: AWS::SQS::Queue, Properties: {KmsMasterKeyId: k, Tags: []}}"),
			[]string{"Q AWS::SQS::Queue Tags: not read"}},
		{"attributes of a resource", resource("Q: {CreationPolicy: {}, Type: AWS::SQS::Queue}"), []string{"Q AWS::SQS::Queue CreationPolicy: not read"}},
		{"properties that are made", resource("Q: {Type: AWS::SQS::Queue, Properties: {Fn::Transform: {}}}"), []string{"Q AWS::SQS::Queue : is no mapping"}},
		{"properties that are made, and what is missing from them", resource("T: {Type: AWS::DynamoDB::Table, Properties: {Fn::Transform: {}}}"),
			[]string{"T AWS::DynamoDB::Table : is no mapping"}},
		{"an intrinsic", resource("Q: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: !Select [0, [1]]}}"),
			[]string{"Q AWS::SQS::Queue DelaySeconds: unknown intrinsic Fn::Select"}},
		{"a name", resource("Q: {Type: AWS::SQS::Queue, Properties: {QueueName: !ImportValue q}}"),
			[]string{"Q AWS::SQS::Queue QueueName: unknown intrinsic Fn::ImportValue"}},
		{"a parameter without a value", "Parameters: {P: {Type: Number}}\nResources: {Q: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: !Ref P}}}\n",
			[]string{"Q AWS::SQS::Queue DelaySeconds: Ref to P: it has no default and was not given"}},
		{"a parameter of another type", "Parameters: {P: {Type: List<Number>, Default: 1}}\n" +
			"Resources: {Q: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: !Ref P}}}\n",
			[]string{"Q AWS::SQS::Queue DelaySeconds: Ref to P: its type is List<Number>, and only String and Number are read"}},
		{"a condition that only a deployment decides", "Conditions: {A: !Not [!Condition B], B: !Equals [!Ref AWS::AccountId, x]}\n" +
			"Resources: {Q: {Type: AWS::SQS::Queue, Condition: A}, R: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: !If [B, 1, 2]}}}\n",
			[]string{"Q AWS::SQS::Queue Condition: condition A: ${AWS::AccountId} is known only where it is deployed",
				"R AWS::SQS::Queue DelaySeconds: condition B: ${AWS::AccountId} is known only where it is deployed"}},
		{"a rule", "Parameters: {P: {Type: String}}\nRules: {R: {Assertions: [{Assert: !Equals [!Ref P, x], AssertDescription: d}]}}\nResources: {}\n",
			[]string{"Rules.R Assertions[0].Assert[0]: Ref to P: it has no default and was not given"}},
		{"a whole, and not its parts", resource("F: {Type: AWS::Lambda::Function, Properties: {Environment: {Variables: !FindInMap [A, B, C]}}}"),
			[]string{"F AWS::Lambda::Function Environment.Variables: is no mapping"}},
		{"an event of another kind", resource("F: {Type: AWS::Serverless::Function, Properties: {Events: {Get: {Type: Api, Properties: {Path: /}}}}}"),
			[]string{"F AWS::Serverless::Function Events.Get: is no SQS event"}},
		{"a mapping of another function", resource("M: {Type: AWS::Lambda::EventSourceMapping, Properties: {FunctionName: f, EventSourceArn: !GetAtt Jobs.Arn}}"),
			[]string{`M AWS::Lambda::EventSourceMapping FunctionName: "f" is none of the template's functions`}},
		{"a mapping of another queue", resource("M: {Type: AWS::Lambda::EventSourceMapping, Properties: {FunctionName: !Ref F, EventSourceArn: q}}\n" +
			"  F: {Type: AWS::Lambda::Function}"), []string{`M AWS::Lambda::EventSourceMapping EventSourceArn: "q" is none of the template's queues`}},
		{"an index, without its attribute", resource("T: {Type: AWS::DynamoDB::Table, Properties: {AttributeDefinitions: [{AttributeName: a, AttributeType: S}, " +
			"{AttributeName: b, AttributeType: S}], KeySchema: [{AttributeName: a, KeyType: HASH}], LocalSecondaryIndexes: []}}"),
			[]string{"T AWS::DynamoDB::Table LocalSecondaryIndexes: not read"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := parse(tt.text); err == nil {
				t.Error("strict reading takes it")
			}
			got, err := Parse(strings.NewReader(tt.text), Options{Lenient: true})
			if err != nil {
				t.Fatal(err)
			}
			var notes []string
			for _, n := range got.Notes {
				head := strings.TrimSpace(n.Resource + " " + n.Type)
				notes = append(notes, fmt.Sprintf("%s %s: %s", head, strings.Join(n.Properties, ", "), n.Why))
			}
			if !slices.Equal(notes, tt.want) {
				t.Errorf("got %q, want %q", notes, tt.want)
			}
		})
	}
}

// Plain CloudFormation's functions, by each name that a mapping may have for one.
func TestLenientMappings(t *testing.T) {
	for name, function := range map[string]string{
		"its name":             "!Ref Plain",
		"its name, written":    "plain",
		"its ARN":              "!GetAtt Plain.Arn",
		"its ARN, written":     "!Sub 'arn:aws:lambda:${AWS::Region}:${AWS::AccountId}:function:plain'",
		"a version":            "!Ref PlainVersion",
		"an alias":             "!Ref PlainAlias",
		"an alias, written":    "!Sub '${Plain.Arn}:live'",
		"an alias by its name": "plain:live",
	} {
		got, err := Parse(strings.NewReader(`
Resources:
  Jobs: {Type: AWS::SQS::Queue}
  Mapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {FunctionName: `+function+`, EventSourceArn: !GetAtt Jobs.Arn, BatchSize: 5, MaximumBatchingWindowInSeconds: 2, Tags: []}
  Plain:
    Type: AWS::Lambda::Function
    Properties: {FunctionName: plain, Timeout: 7, Tags: [{Key: EffectClass, Value: Keyed}], Environment: {Variables: {A: b}}, Code: {}, Role: r}
  PlainVersion: {Type: AWS::Lambda::Version, Properties: {FunctionName: !Ref Plain, Description: d}}
  PlainAlias: {Type: AWS::Lambda::Alias, Properties: {FunctionName: !GetAtt Plain.Arn, FunctionVersion: '1', Name: live}}
`), Options{Lenient: true})
		if err != nil {
			t.Fatal(err)
		}
		want := []Function{{LogicalID: "Plain", Timeout: 7e9, MemoryMB: 128, Environment: map[string]string{"A": "b"}, Alias: "live", PublishesAll: true,
			Tags: map[string]string{"EffectClass": "Keyed"}, Events: []Event{{Name: "Mapping", Queue: "Jobs", BatchSize: 5, Window: 2e9, Enabled: true}}}}
		if !reflect.DeepEqual(got.Functions, want) || len(got.Notes) > 0 {
			t.Errorf("%s: got %+v and notes %v, want %+v", name, got.Functions, got.Notes, want)
		}
	}
	// SAM's functions may have such mappings, too.
	for _, function := range []string{"!Ref One", "!GetAtt One.Arn", "!Ref One.Alias"} {
		got, err := Parse(strings.NewReader(`
Resources:
  Jobs: {Type: AWS::SQS::Queue}
  One: {Type: AWS::Serverless::Function, Properties: {AutoPublishAlias: live}}
  Mapping: {Type: AWS::Lambda::EventSourceMapping, Properties: {FunctionName: `+function+`, EventSourceArn: !GetAtt Jobs.Arn}}
`), Options{Lenient: true})
		if err != nil || len(got.Functions) != 1 || len(got.Functions[0].Events) != 1 {
			t.Errorf("%s: got %+v and error %v, want one event", function, got, err)
		}
	}
}

// A lenient reading takes other people's templates: it may refuse one, and must not panic.
func FuzzLenient(f *testing.F) {
	templates, err := filepath.Glob("../intentctl/testdata/*.yaml")
	if err != nil || len(templates) == 0 {
		f.Fatalf("got templates %q and error %v", templates, err)
	}
	for _, path := range templates {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(content))
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(strings.NewReader(text), Options{Lenient: true})
		for _, n := range got.Notes {
			if err == nil && (n.Resource == "" || n.Why == "") {
				t.Errorf("note %+v says nothing", n)
			}
		}
	})
}
