package template

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// head goes before the resources of the small templates below.
const head = `
Parameters:
  Stage: {Type: String, Default: test}
  Count: {Type: Number, Default: 7}
Mappings:
  Sizes:
    test: {memory: 512}
    live: {memory: 1024}
  Kinds:
    all: {kinds: [ReportBatchItemFailures]}
Conditions:
  Live: !Not [!Condition Test]
  Test: !Equals [!Ref Stage, test]
  Both: {Fn::And: [Condition: Test, !Equals [!Ref Count, '7']]}
  Either: {'Fn::Or': [!Condition Live, !Condition Both]}
  Neither: !Not [!Or [!Condition Live, !Condition Test]]
`

// one is a template of head and a function with the given environment, which shows what an intrinsic resolves to.
func one(variable string) string {
	return head + `
Resources:
  Jobs: {Type: AWS::SQS::Queue, Properties: {QueueName: !Sub '${Stage}-jobs'}}
  Records:
    Type: AWS::DynamoDB::Table
    Properties:
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
  OneFunction:
    Type: AWS::Serverless::Function
    Metadata: {BuildMethod: makefile}
    Properties:
      CodeUri: .
      Handler: bootstrap
      Runtime: provided.al2023
      Architectures: [arm64]
      Environment:
        Variables:
          IT: ` + variable + "\n"
}

func parse(text string) (Template, error) {
	return Parse(strings.NewReader(text), Options{StackName: "once", Region: "eu-central-1", Resolve: local})
}

func TestIntrinsics(t *testing.T) {
	tests := []struct{ name, node, want string }{
		{"a number", "5", "5"},
		{"a boolean", "true", "true"},
		{"Ref to a parameter", "!Ref Stage", "test"},
		{"Ref in its long form", "{Ref: Count}", "7"},
		{"Ref to a queue", "!Ref Jobs", "http://localhost/Jobs"},
		{"Ref to a table", "!Ref Records", "Records"},
		{"Ref to a pseudo parameter", "!Ref AWS::StackName", "once"},
		{"GetAtt", "!GetAtt Jobs.Arn", "arn:local:Jobs"},
		{"GetAtt in its long form", "{Fn::GetAtt: [Jobs, Arn]}", "arn:local:Jobs"},
		{"GetAtt in its long form as text", "{Fn::GetAtt: Jobs.Arn}", "arn:local:Jobs"},
		{"Sub", "!Sub '${Stage}/${AWS::Partition}/${AWS::Region}/${Records}/${Jobs.Arn}/${!Stage}'",
			"test/aws/eu-central-1/Records/arn:local:Jobs/${Stage}"},
		{"Sub with names of its own", "!Sub ['${Stage}-${own}', {own: !Ref Count, Stage: mine}]", "mine-7"},
		{"Sub in its long form", "{Fn::Sub: '${Stage}'}", "test"},
		{"FindInMap", "!FindInMap [Sizes, !Ref Stage, memory]", "512"},
		{"FindInMap in its long form", "{Fn::FindInMap: [Sizes, live, memory]}", "1024"},
		{"If that holds", "!If [Test, !Ref Stage, other]", "test"},
		{"If that does not", "!If [Live, !Ref Stage, other]", "other"},
		{"If in If, in its long form", "{Fn::If: [Either, !If [Neither, a, b], c]}", "b"},
		{"And", "!If [Both, yes, no]", "yes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parse(one(tt.node))
			if err != nil {
				t.Fatal(err)
			}
			if got := got.Functions[0].Environment["IT"]; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNoValue(t *testing.T) {
	got, err := parse(one("!If [Live, x, !Ref AWS::NoValue]") + "      MemorySize: !Ref AWS::NoValue\n")
	if err != nil {
		t.Fatal(err)
	}
	f := got.Functions[0]
	if _, ok := f.Environment["IT"]; ok || f.MemoryMB != 128 {
		t.Errorf("got %v and %d MB, want no variable and the default of 128 MB", f.Environment, f.MemoryMB)
	}
}

func TestGlobals(t *testing.T) {
	got, err := parse(one("own") + `
      Timeout: 4
      Events:
        Jobs: {Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn, FunctionResponseTypes: !FindInMap [Kinds, all, kinds]}}
Globals:
  Function:
    Timeout: 3
    MemorySize: 1024
    Environment: {Variables: {IT: global, MORE: !Ref Stage}}
    Events:
      Jobs: {Properties: {BatchSize: 5, Enabled: false}}
`)
	if err != nil {
		t.Fatal(err)
	}
	f := got.Functions[0]
	if f.Timeout.Seconds() != 4 || f.MemoryMB != 1024 {
		t.Errorf("got %s and %d MB, want the function's own 4 s and the global 1024 MB", f.Timeout, f.MemoryMB)
	}
	if want := map[string]string{"IT": "own", "MORE": "test"}; !reflect.DeepEqual(f.Environment, want) {
		t.Errorf("got %v, want %v", f.Environment, want)
	}
	want := []Event{{Name: "Jobs", Queue: "Jobs", BatchSize: 5, FunctionResponseTypes: []string{"ReportBatchItemFailures"}}}
	if !reflect.DeepEqual(f.Events, want) {
		t.Errorf("got %+v, want %+v", f.Events, want)
	}
}

// SAM joins lists, so a list in Globals is never replaced.
func TestGlobalsJoinLists(t *testing.T) {
	_, err := parse(one("x") + "Globals: {Function: {Architectures: [x86_64]}}\n")
	if want := `Architectures (line`; err == nil || !strings.Contains(err.Error(), want) ||
		!strings.Contains(err.Error(), `["x86_64" "arm64"]`) {
		t.Errorf("got %v, want an error with %q and both architectures", err, want)
	}
}

func TestQueue(t *testing.T) {
	got, err := parse(head + `
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: !Sub ${Stage}-orders.fifo
      FifoQueue: true
      ContentBasedDeduplication: true
      DeduplicationScope: messageGroup
      VisibilityTimeout: !Ref Count
      DelaySeconds: 2
      MessageRetentionPeriod: 60
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: '5'}
  Dead: {Type: AWS::SQS::Queue, Properties: {FifoQueue: true}}
  Gone: {Type: AWS::SQS::Queue, Condition: Live}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Queue{
		{
			LogicalID: "Orders", Name: "test-orders.fifo", URL: "http://localhost/Orders", FIFO: true, ContentBasedDeduplication: true, Encrypted: true,
			DeduplicationScope: "messageGroup", ThroughputLimit: "perQueue", VisibilityTimeout: 7e9, Delay: 2e9, Retention: 60e9, Redrive: &Redrive{Target: "Dead", MaxReceiveCount: 5},
		},
		{
			LogicalID: "Dead", URL: "http://localhost/Dead", FIFO: true, Encrypted: true, DeduplicationScope: "queue", ThroughputLimit: "perQueue",
			VisibilityTimeout: 30e9, Retention: 345600e9,
		},
	}
	if !reflect.DeepEqual(got.Queues, want) {
		t.Errorf("got  %+v\nwant %+v", got.Queues, want)
	}
}

func TestTable(t *testing.T) {
	got, err := parse(`
Resources:
  Lines:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: lines
      AttributeDefinitions: [{AttributeName: line, AttributeType: N}, {AttributeName: cart, AttributeType: S}]
      KeySchema: [{AttributeName: cart, KeyType: HASH}, {AttributeName: line, KeyType: RANGE}]
      TimeToLiveSpecification: {AttributeName: gone_at, Enabled: false}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Table{{LogicalID: "Lines", Name: "lines", Ref: "Lines", Keys: []Key{{Attribute: "cart", Type: "S"}, {Attribute: "line", Type: "N"}}}}
	if !reflect.DeepEqual(got.Tables, want) {
		t.Errorf("got %+v, want %+v", got.Tables, want)
	}
}

func TestGlobalTable(t *testing.T) {
	got, err := parse(`
Resources:
  Lines:
    Type: AWS::DynamoDB::GlobalTable
    Properties:
      AttributeDefinitions: [{AttributeName: line, AttributeType: N}]
      KeySchema: [{AttributeName: line, KeyType: HASH}]
      Replicas: [{Region: eu-central-1, DeletionProtectionEnabled: true}, {Region: us-east-1}]
  Agreed:
    Type: AWS::DynamoDB::GlobalTable
    Properties:
      AttributeDefinitions: [{AttributeName: line, AttributeType: N}]
      KeySchema: [{AttributeName: line, KeyType: HASH}]
      MultiRegionConsistency: STRONG
      Replicas: [{Region: eu-central-1}]
`)
	if err != nil {
		t.Fatal(err)
	}
	keys := []Key{{Attribute: "line", Type: "N"}}
	want := []Table{
		{LogicalID: "Lines", Ref: "Lines", Keys: keys, Replicas: []string{"eu-central-1", "us-east-1"}, Consistency: "EVENTUAL"},
		{LogicalID: "Agreed", Ref: "Agreed", Keys: keys, Replicas: []string{"eu-central-1"}, Consistency: "STRONG"},
	}
	if !reflect.DeepEqual(got.Tables, want) {
		t.Errorf("got  %+v\nwant %+v", got.Tables, want)
	}
}

func TestAlarm(t *testing.T) {
	got, err := parse(one("x") + `
      AutoPublishAlias: live
      DeploymentPreference: {Type: AllAtOnce, Alarms: [!Ref Waiting]}
      Tags: {Team: !Ref Stage}
  Bell: {Type: AWS::SNS::Topic}
  Waiting:
    Type: AWS::CloudWatch::Alarm
    Properties:
      AlarmDescription: It waits.
      Namespace: AWS/SQS
      MetricName: ApproximateAgeOfOldestMessage
      Dimensions: [{Name: QueueName, Value: !GetAtt Jobs.QueueName}]
      Statistic: Maximum
      Period: 60
      EvaluationPeriods: 2
      Threshold: !Ref Count
      ComparisonOperator: GreaterThanThreshold
      AlarmActions: [!Ref Bell]
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Alarm{{
		LogicalID: "Waiting", Description: "It waits.",
		Metrics: []Metric{{
			Namespace: "AWS/SQS", Name: "ApproximateAgeOfOldestMessage", Queue: "Jobs", Dimensions: map[string]string{"QueueName": "name of Jobs"},
			Statistic: "Maximum",
		}},
		Period: 60e9, EvaluationPeriods: 2, DatapointsToAlarm: 2, Threshold: 7, Comparison: "GreaterThanThreshold", MissingData: "missing",
		Actions: []string{"Bell"},
	}}
	if !reflect.DeepEqual(got.Alarms, want) {
		t.Errorf("got  %+v\nwant %+v", got.Alarms, want)
	}
	f := got.Functions[0]
	if f.Name != "OneFunction" || f.Version != "version of OneFunction" || f.PublishesAll {
		t.Errorf("got %q, version %q and all %t, want OneFunction, its version and not all", f.Name, f.Version, f.PublishesAll)
	}
	if d := (&Deployment{Type: "AllAtOnce", Alarms: []string{"Waiting"}}); f.Alias != "live" || !reflect.DeepEqual(f.Deployment, d) {
		t.Errorf("got %q and %+v, want live and %+v", f.Alias, f.Deployment, d)
	}
	if want := map[string]string{"Team": "test"}; !reflect.DeepEqual(f.Tags, want) {
		t.Errorf("got tags %v, want %v", f.Tags, want)
	}
}

func TestAlarmOnExpression(t *testing.T) {
	got, err := parse(one("x") + `
  Share:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Metrics:
        - Id: failed
          ReturnData: false
          MetricStat:
            Stat: Sum
            Period: 60
            Metric:
              Namespace: Jobs
              MetricName: Failed
              Dimensions: [{Name: Version, Value: !GetAtt OneFunction.Arn}, {Name: Stage, Value: !Ref Stage}]
        - Id: messages
          ReturnData: false
          MetricStat: {Stat: Sum, Period: 60, Metric: {Namespace: Jobs, MetricName: Messages}}
        - {Id: share, Expression: 'FILL(failed, 0) / messages'}
      EvaluationPeriods: 3
      DatapointsToAlarm: 2
      Threshold: 0.5
      ComparisonOperator: GreaterThanThreshold
      TreatMissingData: notBreaching
`)
	if err != nil {
		t.Fatal(err)
	}
	share, err := ParseExpression("FILL(failed, 0) / messages")
	if err != nil {
		t.Fatal(err)
	}
	want := []Alarm{{
		LogicalID: "Share",
		Metrics: []Metric{
			{ID: "failed", Namespace: "Jobs", Name: "Failed", Dimensions: map[string]string{"Version": "arn:local:OneFunction", "Stage": "test"}, Statistic: "Sum"},
			{ID: "messages", Namespace: "Jobs", Name: "Messages", Dimensions: map[string]string{}, Statistic: "Sum"},
		},
		Expression: share, Period: 60e9, EvaluationPeriods: 3, DatapointsToAlarm: 2, Threshold: 0.5, Comparison: "GreaterThanThreshold",
		MissingData: "notBreaching",
	}}
	if !reflect.DeepEqual(got.Alarms, want) {
		t.Errorf("got  %+v\nwant %+v", got.Alarms, want)
	}
}

// What Resolve is told is enough to name the resource.
func TestReference(t *testing.T) {
	var got []Reference
	_, err := Parse(strings.NewReader(one("!Ref Jobs")), Options{Resolve: func(r Reference) (string, error) {
		got = append(got, r)
		return local(r)
	}})
	if err != nil {
		t.Fatal(err)
	}
	jobs, records := Reference{LogicalID: "Jobs", Type: queueType, Name: "test-jobs"}, Reference{LogicalID: "Records", Type: tableType}
	arn := jobs
	arn.Attribute = "Arn"
	want := []Reference{arn, jobs, records, jobs}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	refused := errors.New("refused")
	_, err = Parse(strings.NewReader(one("!Ref Records")), Options{Resolve: func(r Reference) (string, error) {
		if r.Type == tableType {
			return "", refused
		}
		return local(r)
	}})
	if !errors.Is(err, refused) || !strings.Contains(err.Error(), "OneFunction.Properties.Environment.Variables.IT") {
		t.Errorf("got %v, want the resolver's error with its place", err)
	}
}
