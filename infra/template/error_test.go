package template

import (
	"strings"
	"testing"
)

// Each error names its place and what is wrong there.
func TestErrors(t *testing.T) {
	queue := func(properties string) string {
		return "Resources:\n  Jobs: {Type: AWS::SQS::Queue, Properties: {" + properties + "}}\n"
	}
	table := func(properties string) string {
		return "Resources:\n  Rows: {Type: AWS::DynamoDB::Table, Properties: {" + properties + "}}\n"
	}
	global := func(properties string) string {
		return "Resources:\n  Rows: {Type: AWS::DynamoDB::GlobalTable, Properties: {AttributeDefinitions: [{AttributeName: id, AttributeType: S}], " +
			"KeySchema: [{AttributeName: id, KeyType: HASH}], " + properties + "}}\n"
	}
	alarm := func(properties string) string {
		return "Resources:\n  Bell: {Type: AWS::CloudWatch::Alarm, Properties: {" + properties + "}}\n"
	}
	event := func(text string) string { return one("x") + "      Events: {E: " + text + "}\n" }
	parameter := func(text string) string { return "Parameters: {P: {" + text + "}}\nResources: {}\n" }
	conditions := func(text string) string { return "Conditions: {" + text + "}\nResources: {}\n" }
	rule := func(text string) string {
		return "Parameters: {P: {Type: String, Default: x}}\nRules: {R: {" + text + "}}\nResources: {}\n"
	}
	tests := []struct {
		name, text string
		want       []string
	}{
		{"two documents", "a: 1\n---\nb: 1\n", []string{"more than one YAML document"}},
		{"nothing", "", []string{"read template: EOF"}},
		{"a duplicate key", "Resources: {}\nResources: {}\n", []string{"line 2", "Resources is there twice"}},
		{"a key without a name", "Resources:\n  \"\": {Type: AWS::SQS::Queue}\n", []string{"line 2", "without a name"}},
		{"an alias", "Metadata: &a {}\nResources: *a\n", []string{"line 2", "alias *a"}},
		{"a merge", "Metadata: {<<: {}}\n", []string{"merge key"}},
		{"an unknown section", "Resource: {}\n", []string{"Resource (line 1)", "not known"}},
		{"an unknown global", "Globals: {Api: {}}\nResources: {}\n", []string{"Globals.Api"}},
		{"no resources", "Description: x\n", []string{"has no Resources"}},

		{"an unknown intrinsic", one("!Cidr [a, b]"), []string{"Resources.OneFunction.Properties.Environment.Variables.IT (line", "Fn::Cidr"}},
		{"an unknown intrinsic in its long form", one("{Fn::Transform: x}"), []string{"Variables.IT", "unknown intrinsic Fn::Transform"}},
		{"an intrinsic beside keys", one("{Fn::Sub: x, y: z}"), []string{"Variables.IT", "beside other keys"}},
		{"null", one("null"), []string{"Variables.IT", "is null"}},
		{"a mapping", one("{a: b}"), []string{"Variables.IT", "is no plain value"}},
		{"no single value", one("[a]"), []string{"Variables.IT", "is no single value"}},
		{"Ref to nothing", one("!Ref Nothing"), []string{"Variables.IT", "Ref to Nothing"}},
		{"Ref to a pseudo parameter that is not given", one("!Ref AWS::AccountId"), []string{"Ref to AWS::AccountId"}},
		{"GetAtt to nothing", one("!GetAtt Nothing.Arn"), []string{"Fn::GetAtt Nothing.Arn"}},
		{"GetAtt without an attribute", one("!GetAtt Jobs"), []string{"a resource and an attribute"}},
		{"GetAtt of an attribute that Resolve does not know", one("!GetAtt Jobs.Size"), []string{"Fn::GetAtt Jobs.Size", "no attribute"}},
		{"GetAtt of three", one("!GetAtt [Jobs, Arn, More]"), []string{"a resource and an attribute"}},
		{"Sub of nothing", one("!Sub 'a ${Nothing}'"), []string{"Variables.IT", "Ref to Nothing"}},
		{"Sub of three", one("!Sub [a, {}, c]"), []string{"Fn::Sub takes"}},
		{"FindInMap of nothing", one("!FindInMap [Sizes, test, cpu]"), []string{"Mappings.Sizes.test.cpu is not there"}},
		{"FindInMap of a mapping", one("!FindInMap [Sizes, test]"), []string{"a mapping and two keys"}},
		{"If without else", one("!If [Test, a]"), []string{"a condition and two values"}},
		{"If of nothing", one("!If [Maybe, a, b]"), []string{"condition Maybe"}},

		{"a condition in a circle", conditions("A: !Not [!Condition B], B: !Condition A"), []string{"condition", "refers to itself"}},
		{"a condition of nothing", conditions("A: !Condition B"), []string{"Conditions.A", "condition B"}},
		{"a condition that is none", conditions("A: true"), []string{"Conditions.A", "no condition function"}},
		{"a condition on a resource", "Conditions: {A: !Equals [!Ref Q, x]}\nResources: {Q: {Type: AWS::SQS::Queue}}\n",
			[]string{"Conditions.A", "Ref to Q"}},
		{"a rule function in a condition", conditions("A: !Contains [[a], a]"), []string{"unknown intrinsic Fn::Contains"}},
		{"Or of one", conditions("A: !Or [!Equals [a, a]]"), []string{"2 to 10 conditions"}},
		{"Equals of one", conditions("A: !Equals [a]"), []string{"Fn::Equals takes two values"}},
		{"Equals of a function", conditions("A: {Fn::Equals: !Foo [a, a]}"), []string{"Fn::Equals takes two values"}},
		{"Equals of no value", conditions("A: !Equals [a, !Ref AWS::NoValue]"), []string{"Fn::Equals takes two values"}},
		{"a rule that does not hold", rule("Assertions: [{Assert: {'Fn::Contains': [[y, z], !Ref P]}, AssertDescription: P is y}]"),
			[]string{"Rules.R", "P is y", "P is x"}},
		{"a rule without assertions", rule("RuleCondition: !Equals [!Ref P, x]"), []string{"Rules.R", "asserts nothing"}},
		{"a condition in a rule", rule("Assertions: [{Assert: !Condition C, AssertDescription: d}]"), []string{"unknown intrinsic Condition"}},

		{"a parameter without a value", parameter("Type: String"), []string{"Parameters.P", "no default"}},
		{"a parameter of another type", parameter("Type: CommaDelimitedList, Default: a"), []string{"Parameters.P", "CommaDelimitedList"}},
		{"a parameter that is no number", parameter("Type: Number, Default: a"), []string{"Parameters.P", `"a"`, "a number"}},
		{"a parameter above its maximum", parameter("Type: Number, Default: 3, MaxValue: 2"), []string{"Parameters.P", "MaxValue is 2"}},
		{"a parameter below its minimum", parameter("Type: Number, Default: 3, MinValue: 4"), []string{"Parameters.P", "MinValue is 4"}},
		{"a parameter that is too long", parameter("Type: String, Default: abc, MaxLength: 2"), []string{"MaxLength is 2"}},
		{"a parameter that is not allowed", parameter("Type: String, Default: c, AllowedValues: [a, b]"), []string{`["a" "b"]`}},
		{"a parameter that only begins well", parameter("Type: String, Default: ab, AllowedPattern: a"), []string{"must match a"}},
		{"an unknown constraint", parameter("Type: String, Default: a, Allowed: a"), []string{"Parameters.P.Allowed"}},

		{"an unknown type", "Resources: {T: {Type: AWS::S3::Bucket}}\n", []string{"Resources.T.Type", "AWS::S3::Bucket"}},
		{"an unknown attribute of a resource", "Resources: {T: {Type: AWS::SQS::Queue, Properites: {}}}\n", []string{"Resources.T.Properites"}},
		{"an unknown property", queue("VisibilityTimout: 3"), []string{"Resources.Jobs.Properties.VisibilityTimout (line 2)", "dropped"}},
		{"a name of a resource", queue("QueueName: !Ref Jobs"), []string{"QueueName", "Ref to Jobs"}},
		{"a number out of bounds", queue("DelaySeconds: 901"), []string{"DelaySeconds", `"901"`, "0 to 900"}},
		{"an empty number", queue("DelaySeconds: ''"), []string{"DelaySeconds", `""`}},
		{"a flag that is none", queue("FifoQueue: maybe"), []string{"FifoQueue", "true or false"}},
		{"a FIFO queue with a standard name", queue("FifoQueue: true, QueueName: jobs"), []string{"QueueName", ".fifo"}},
		{"a standard queue that reads bodies", queue("ContentBasedDeduplication: true"), []string{"for FIFO queues only"}},
		{"a dead-letter queue elsewhere", queue("RedrivePolicy: {deadLetterTargetArn: 'arn:x', maxReceiveCount: 5}"),
			[]string{"RedrivePolicy.deadLetterTargetArn", `"arn:x"`}},
		{"a redrive without a count", queue("RedrivePolicy: {deadLetterTargetArn: 'arn:local:Jobs'}"), []string{"maxReceiveCount", "missing"}},
		{"an unknown nested property", queue("RedrivePolicy: {deadLetterTargetArn: 'arn:local:Jobs', maxReceiveCount: 5, max: 1}"),
			[]string{"RedrivePolicy.max"}},
		{"a scope of a standard queue", queue("DeduplicationScope: queue"), []string{"DeduplicationScope", "for FIFO queues only"}},
		{"a limit of a standard queue", queue("FifoThroughputLimit: perQueue"), []string{"for FIFO queues only"}},
		{"an unknown scope", queue("FifoQueue: true, DeduplicationScope: group"), []string{"DeduplicationScope", `"group"`}},
		{"a limit a group without its scope", queue("FifoQueue: true, FifoThroughputLimit: perMessageGroupId"),
			[]string{`"queue" while FifoThroughputLimit is "perMessageGroupId"`}},

		{"a table without a key", table(""), []string{"KeySchema", "missing"}},
		{"a key without a type", table("KeySchema: [{AttributeName: id, KeyType: HASH}]"), []string{"id has type"}},
		{"an attribute of no key", table("AttributeDefinitions: [{AttributeName: id, AttributeType: S}]"), []string{"id is part of no key"}},
		{"a sort key alone", table("AttributeDefinitions: [{AttributeName: id, AttributeType: S}], KeySchema: [{AttributeName: id, " +
			"KeyType: RANGE}]"), []string{"KeySchema[0].KeyType", `"RANGE"`}},
		{"a local index", table("LocalSecondaryIndexes: []"), []string{"Properties.LocalSecondaryIndexes", "dropped"}},
		{"an index without a key", table("GlobalSecondaryIndexes: [{IndexName: i, Projection: {ProjectionType: ALL}}]"),
			[]string{"GlobalSecondaryIndexes[0].KeySchema", "missing"}},
		{"an index of nothing", table("GlobalSecondaryIndexes: [{IndexName: i}]"), []string{"GlobalSecondaryIndexes[0].Projection", "missing"}},
		{"an index without a name", table("GlobalSecondaryIndexes: [{Projection: {ProjectionType: ALL}}]"), []string{"GlobalSecondaryIndexes[0].IndexName", "missing"}},

		{"replicas of a plain table", table("Replicas: [{Region: eu-central-1}]"), []string{"Properties.Replicas", "dropped"}},
		{"a global table of no Region", global(""), []string{"Replicas", "missing"}},
		{"a replica of no Region", global("Replicas: [{DeletionProtectionEnabled: true}]"), []string{"Replicas[0].Region", "missing"}},
		{"an unknown consistency", global("Replicas: [{Region: eu-central-1}], MultiRegionConsistency: strong"),
			[]string{"MultiRegionConsistency", `"strong"`}},

		{"an alarm on nothing", alarm("Namespace: N, MetricName: M, Statistic: Sum"), []string{"Period", "EvaluationPeriods", "Threshold",
			"ComparisonOperator", "missing"}},
		{"an alarm on no formula", alarm("Metrics: []"), []string{"Properties.Metrics", "has no expression"}},
		{"an alarm on a formula and a metric", alarm("Metrics: [{Id: e, Expression: '1'}], MetricName: M"), []string{"Properties.MetricName", "dropped"}},
		{"an alarm on two formulas", alarm("Metrics: [{Id: e, Expression: '1'}, {Id: f, Expression: e}]"), []string{"Metrics[1].Expression", "one of several"}},
		{"an alarm on a formula that returns nothing", alarm("Metrics: [{Id: e, Expression: '1', ReturnData: false}]"),
			[]string{"Metrics[0].Expression", "no data"}},
		{"an alarm on an unknown formula", alarm("Metrics: [{Id: e, Expression: 'IF(m, 1, 2)'}]"), []string{"Metrics[0].Expression", "known calls"}},
		{"an alarm on a formula of nothing", alarm("Metrics: [{Id: e, Expression: m / 2}]"), []string{"Properties.Metrics", "reads m"}},
		{"an alarm on a metric beside a formula", alarm("Metrics: [{Id: e, Expression: m}, {Id: m, MetricStat: {Stat: Sum, Period: 60}}]"),
			[]string{"Metrics[1].ReturnData", "Metrics[1].MetricStat.Metric", "missing"}},
		{"an alarm of two periods", alarm("Metrics: [{Id: e, Expression: m + n}, " +
			"{Id: m, ReturnData: false, MetricStat: {Stat: Sum, Period: 60, Metric: {Namespace: N, MetricName: M}}}, " +
			"{Id: n, ReturnData: false, MetricStat: {Stat: Sum, Period: 300, Metric: {Namespace: N, MetricName: M}}}]"),
			[]string{"Metrics[2].MetricStat.Period", "5m0s", "1m0s"}},
		{"an alarm that more periods ring than it looks at", alarm("EvaluationPeriods: 2, DatapointsToAlarm: 3"), []string{"DatapointsToAlarm", `"3"`, "1 to 2"}},
		{"an unknown comparison", alarm("ComparisonOperator: Greater"), []string{"ComparisonOperator", `"Greater"`}},
		{"an unknown treatment of missing data", alarm("TreatMissingData: none"), []string{"TreatMissingData", `"none"`}},
		{"an alarm on another queue", alarm("Dimensions: [{Name: QueueName, Value: elsewhere}]"), []string{"Dimensions[0].Value", `"elsewhere"`}},
		{"a threshold that is no number", alarm("Threshold: many"), []string{"Threshold", `"many"`}},

		{"a deployment without an alias", one("x") + "      DeploymentPreference: {Type: AllAtOnce}\n", []string{"DeploymentPreference.Enabled",
			"without an AutoPublishAlias"}},
		{"a deployment without a pace", one("x") + "      DeploymentPreference: {Enabled: false}\n", []string{"Type", "missing"}},
		{"a deployment with hooks", one("x") + "      DeploymentPreference: {Enabled: false, Type: AllAtOnce, Hooks: {}}\n",
			[]string{"DeploymentPreference.Hooks", "dropped"}},
		{"a deployment that another alarm turns back", one("x") + "      DeploymentPreference: {Enabled: false, Type: AllAtOnce, Alarms: [a]}\n",
			[]string{"DeploymentPreference.Alarms", `"a"`}},
		{"another build", strings.Replace(one("x"), "makefile", "go1.x", 1), []string{"Metadata.BuildMethod", "go1.x"}},
		{"another runtime", strings.Replace(one("x"), "al2023", "al2", 1), []string{"OneFunction.Properties.Runtime", "provided.al2"}},
		{"another name", strings.Replace(one("x"), "OneFunction", "One", 1), []string{"Resources.One", "folder"}},
		{"an event of another type", event("{Type: SNS, Properties: {Queue: 'arn:local:Jobs'}}"), []string{"Events.E.Type", "SNS"}},
		{"an event without properties", event("{Type: SQS}"), []string{"Events.E.Properties", "missing"}},
		{"an event of another queue", event("{Type: SQS, Properties: {Queue: 'arn:x'}}"), []string{"Properties.Queue", `"arn:x"`}},
		{"an event without a queue", event("{Type: SQS, Properties: {BatchSize: 1}}"), []string{"Properties.Queue", "missing"}},
		{"an event that filters", event("{Type: SQS, Properties: {Queue: 'arn:local:Jobs', FilterCriteria: {}}}"), []string{"FilterCriteria"}},
		{"response types that are no list", event("{Type: SQS, Properties: {Queue: 'arn:local:Jobs', FunctionResponseTypes: all}}"),
			[]string{"FunctionResponseTypes", "is no list"}},
		{"a misspelled response type", event("{Type: SQS, Properties: {Queue: 'arn:local:Jobs', FunctionResponseTypes: [ReportFailures]}}"),
			[]string{"FunctionResponseTypes", "ReportFailures"}},
		{"one invocation at once", event("{Type: SQS, Properties: {Queue: 'arn:local:Jobs', ScalingConfig: {MaximumConcurrency: 1}}}"),
			[]string{"ScalingConfig.MaximumConcurrency", "2 to 1000"}},
		{"a window on a FIFO queue", strings.Replace(event("{Type: SQS, Properties: {Queue: 'arn:local:Jobs', MaximumBatchingWindowInSeconds: 1}}"),
			"QueueName: !Sub '${Stage}-jobs'", "FifoQueue: true", 1), []string{"Events.E", "a FIFO queue has none"}},
		{"a large batch without a window", event("{Type: SQS, Properties: {Queue: 'arn:local:Jobs', BatchSize: 11}}"),
			[]string{"Events.E", "BatchSize is 11"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parse(tt.text)
			if err == nil {
				t.Fatalf("got %+v, want an error", got)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want %q in it", err, want)
				}
			}
		})
	}
}

func TestOptionErrors(t *testing.T) {
	if _, err := Parse(strings.NewReader("Resources: {}"), Options{}); err == nil || !strings.Contains(err.Error(), "Resolve") {
		t.Errorf("got %v, want an error that names Resolve", err)
	}
	options := Options{Parameters: map[string]string{"Architcture": "arm64"}, Resolve: local}
	if _, err := Parse(strings.NewReader("Resources: {}"), options); err == nil || !strings.Contains(err.Error(), "parameter Architcture") {
		t.Errorf("got %v, want an error that names the parameter", err)
	}
	options = Options{Resolve: func(Reference) (string, error) { return "arn:same", nil }}
	text := "Resources: {A: {Type: AWS::SQS::Queue}, B: {Type: AWS::SQS::Queue}}"
	if _, err := Parse(strings.NewReader(text), options); err == nil || !strings.Contains(err.Error(), "gives B the Arn of A") {
		t.Errorf("got %v, want an error that names both queues", err)
	}
}
