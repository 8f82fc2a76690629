package doctor

import (
	"slices"
	"strings"
	"testing"
)

// breakage is one small edit of template.yaml, and what is then found by the one rule that it is about.
type breakage struct {
	rule, name string
	old, new   string
	resource   string
	want       []string // in the message: both values
	parameters map[string]string
}

// indexOfOpen is what the template has of the index of open records.
const indexOfOpen = `        - {AttributeName: open, AttributeType: S}
        - {AttributeName: open_since, AttributeType: N}
      KeySchema: [{AttributeName: intent, KeyType: HASH}]
      # What somebody must look at, and nothing else: a record has these attributes while it is in doubt, or when its message was given up.
      GlobalSecondaryIndexes:
        - IndexName: open
          KeySchema: [{AttributeName: open, KeyType: HASH}, {AttributeName: open_since, KeyType: RANGE}]
          Projection: {ProjectionType: KEYS_ONLY}
`

const intentTable = `  IntentTable:
    Type: AWS::DynamoDB::Table
    Condition: MakesIntentTable
    DeletionPolicy: Retain
    UpdateReplacePolicy: Retain
    Properties:
      BillingMode: PAY_PER_REQUEST
      DeletionProtectionEnabled: true
      AttributeDefinitions:
        - {AttributeName: intent, AttributeType: S}
` + indexOfOpen + `      TimeToLiveSpecification: {AttributeName: expires_at, Enabled: true}
      WarmThroughput: !If [HasWarmWrites, {WriteUnitsPerSecond: !Ref IntentTableWarmWrites}, !Ref AWS::NoValue]
      PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}
`

const scope = "!If [HasScope, !Ref Scope, !Sub '${AWS::AccountId}/${AWS::Region}/${AWS::StackName}']"

// tableOf is how the template names one that it makes, or that is there.
func tableOf(of string) string {
	return "!If [Makes" + of + "Table, !Ref " + of + "Table, !Ref Existing" + of + "Table]"
}

var broken = []breakage{
	{"effect-class", "an unknown class", "EffectClass: Keyed", "EffectClass: Exactly", "ChargeFunction", []string{`"Exactly"`, `"Keyed"`}, nil},
	{"effect-class", "no class", "      Tags:\n        EffectClass: Natural\n", "", "ShipFunction", []string{`EffectClass ""`, `"Natural"`}, nil},

	{"one-queue", "a queue of two", "Queue: !GetAtt ShipQueue.Arn", "Queue: !GetAtt ChargeQueue.Arn", "ChargeQueue",
		[]string{"2 functions", "not 1", `"ChargeFunction" "ShipFunction"`}, nil},
	{"one-queue", "a dead-letter queue of two", "deadLetterTargetArn: !GetAtt ShipDeadLetterQueue.Arn",
		"deadLetterTargetArn: !GetAtt ClearcartDeadLetterQueue.Arn", "ClearcartDeadLetterQueue", []string{"2 functions", "not 1"}, nil},
	{"one-queue", "no queue", "      Events:\n        Queue:\n          Type: SQS\n          Properties:\n            Queue: !GetAtt ShipQueue.Arn\n" +
		"            BatchSize: !Ref BatchSize\n            FunctionResponseTypes: [ReportBatchItemFailures]\n            ScalingConfig:\n" +
		"              MaximumConcurrency: !Ref MaximumConcurrency\n", "", "ShipFunction", []string{"0 queues", "from 1"}, nil},

	{"queue-name", "a long one", "QueueName: !Sub ${AWS::StackName}-ship\n", "QueueName: !Sub ${AWS::StackName}-of-what-is-to-be-shipped-and-of-what-was-shipped-before-and-of-all-the-rest-\n",
		"ShipQueue", []string{"81 characters", "SQS takes 80"}, nil},

	{"own-queues", "another's queue", "          QUEUE_URL: !Ref ChargeQueue", "          QUEUE_URL: !Ref ShipQueue", "ChargeFunction",
		[]string{`QUEUE_URL "https://sqs.example/ShipQueue"`, `"https://sqs.example/ChargeQueue"`}, nil},
	{"own-queues", "another's dead-letter queue", "DEAD_LETTER_QUEUE_URL: !Ref ShipDeadLetterQueue", "DEAD_LETTER_QUEUE_URL: !Ref ShipQueue",
		"ShipFunction", []string{`DEAD_LETTER_QUEUE_URL "https://sqs.example/ShipQueue"`, `"https://sqs.example/ShipDeadLetterQueue"`}, nil},

	{"dead-letter-queue", "none", "      RedrivePolicy:\n        deadLetterTargetArn: !GetAtt ChargeDeadLetterQueue.Arn\n" +
		"        maxReceiveCount: 100\n", "", "ChargeQueue", []string{"no dead-letter queue", "4 days"}, nil},

	{"dead-letter-kind", "a standard one of a FIFO queue", "      QueueName: !Sub ${AWS::StackName}-adjust-dead.fifo\n      FifoQueue: true\n" +
		"      DeduplicationScope: messageGroup\n      FifoThroughputLimit: perMessageGroupId\n", "", "AdjustDeadLetterQueue",
		[]string{"a standard queue", "AdjustQueue is a FIFO queue"}, nil},

	{"dead-letter-alarm", "on another metric (C08)", "MetricName: ApproximateNumberOfMessagesVisible", "MetricName: NumberOfMessagesSent",
		"ChargeDeadLetterQueue", []string{"ApproximateNumberOfMessagesVisible", "ChargeDeadLetterAlarm on AWS/SQS Maximum NumberOfMessagesSent"}, nil},
	{"dead-letter-alarm", "on another queue", "Value: !GetAtt ShipDeadLetterQueue.QueueName", "Value: !GetAtt ShipQueue.QueueName",
		"ShipDeadLetterQueue", []string{"ApproximateNumberOfMessagesVisible", "it has ShipDeadLetterArrivalAlarm"}, nil},
	{"dead-letter-alarm", "that comes late", "Threshold: 0", "Threshold: 1", "ChargeDeadLetterQueue",
		[]string{"at 1 message", "GreaterThanThreshold 1"}, nil},
	{"dead-letter-alarm", "that forgets what is gone in a moment", "Statistic: Maximum", "Statistic: Minimum", "ChargeDeadLetterQueue",
		[]string{"at 1 message", "Minimum"}, nil},
	{"dead-letter-alarm", "that waits a week", "EvaluationPeriods: 1", "EvaluationPeriods: 10080", "ChargeDeadLetterQueue",
		[]string{"within 5m0s", "10080 of 10080 periods of 1m0s"}, nil},

	{"alarm-scope", "of another (C53)", "- {Name: Scope, Value: " + scope + "}\n        - {Name: Operation, Value: charge}",
		"- {Name: Scope, Value: once}\n        - {Name: Operation, Value: charge}", "ChargeRetryingAlarm",
		[]string{`scope "once"`, `SCOPE "123456789012/eu-central-1/once"`}, nil},
	{"alarm-scope", "of no function", "{Name: Operation, Value: welcome}", "{Name: Operation, Value: greet}", "WelcomeRetryingAlarm",
		[]string{`operation "greet"`}, nil},

	{"receive-count", "29 (C08, C71)", "maxReceiveCount: 100", "maxReceiveCount: 29", "ChargeQueue", []string{"29 receives", "less than 30"}, nil},
	{"receive-count", "99 of a FIFO queue (C72)", "AdjustDeadLetterQueue.Arn\n        maxReceiveCount: 100",
		"AdjustDeadLetterQueue.Arn\n        maxReceiveCount: 99", "AdjustQueue", []string{"99 receives", "less than 100"}, nil},

	{"batch-item-failures", "not reported (C03)", "FunctionResponseTypes: [ReportBatchItemFailures]", "FunctionResponseTypes: []",
		"ChargeFunction", []string{"response types []", "not ReportBatchItemFailures"}, nil},

	{"concurrency", "more than is reserved (C07)", "!If [HasReservedConcurrency, !Ref ReservedConcurrency, !Ref AWS::NoValue]", "9",
		"ChargeFunction", []string{"9 invocations reserved", "start 10"}, nil},
	{"concurrency", "no limit", "MaximumConcurrency: !Ref MaximumConcurrency", "MaximumConcurrency: !Ref AWS::NoValue", "ChargeFunction",
		[]string{"10 invocations reserved", "any number"}, map[string]string{"ReservedConcurrency": "10"}},

	{"visibility", "a second too short", "VisibilityTimeout: !Ref VisibilityTimeoutSeconds", "VisibilityTimeout: 179", "ChargeQueue",
		[]string{"2m59s", "3m0s", "6 times the 30s"}, nil},
	{"visibility", "not for the batching window", "            BatchSize: !Ref BatchSize\n            Enabled", "            BatchSize: !Ref BatchSize\n" +
		"            MaximumBatchingWindowInSeconds: 1\n            Enabled", "ChargeQueue", []string{"3m0s", "3m1s", "1s of batching window"}, nil},

	{"dead-letter-retention", "no longer than the queue's", "MessageRetentionPeriod: 1209600", "MessageRetentionPeriod: 345600",
		"ChargeDeadLetterQueue", []string{"4 days", "ChargeQueue"}, nil},

	{"max-age", "less than the queues keep", "MessageRetentionPeriod: 345600", "MessageRetentionPeriod: 432000", "ChargeFunction",
		[]string{"19 days old", "20 days", "5 days in ChargeQueue", "14 days in ChargeDeadLetterQueue", "1 day of slack"}, nil},

	{"record-retention", "a day too short", "RETENTION_DAYS: !Ref RetentionDays", "RETENTION_DAYS: '39'", "ChargeFunction",
		[]string{"39 days", "40 days", "19 days old", "1 day of slack"}, nil},
	{"record-retention", "no number", "RETENTION_DAYS: !Ref RetentionDays", "RETENTION_DAYS: ninety", "WelcomeFunction",
		[]string{`RETENTION_DAYS "ninety"`, "whole number"}, nil},

	{"lease", "no margin", "LEASE_MARGIN_SECONDS: !Ref LeaseMarginSeconds", "LEASE_MARGIN_SECONDS: '0'", "ChargeFunction",
		[]string{`LEASE_MARGIN_SECONDS "0"`, "timeout of 30s"}, nil},

	{"provider-window", "used up", "PROVIDER_WINDOW_HOURS: '24'", "PROVIDER_WINDOW_HOURS: '1'", "ChargeFunction",
		[]string{"for 1h0m0s", "less than 1h3m35s", "3m0s until ChargeQueue", "30s + 3s", "skew of 2s"}, nil},
	{"provider-window", "of another function that is Keyed", "EffectClass: Ledger", "EffectClass: Keyed", "AdjustFunction",
		[]string{`PROVIDER_WINDOW_HOURS ""`, "its class is Keyed"}, nil},

	{"record-table", "another type", "{AttributeName: intent, AttributeType: S}", "{AttributeName: intent, AttributeType: B}", "IntentTable", []string{"intent (B)", "intent (S)"}, nil},
	{"record-table", "a sort key", "KeySchema: [{AttributeName: intent, KeyType: HASH}]",
		"KeySchema: [{AttributeName: intent, KeyType: HASH}, {AttributeName: open_since, KeyType: RANGE}]", "IntentTable",
		[]string{"intent (S), open_since (N)", "writes intent (S)"}, nil},
	{"record-table", "none of the stack's", "INTENT_TABLE: " + tableOf("Intent"), "INTENT_TABLE: records", "ShipFunction",
		[]string{`INTENT_TABLE "records"`, `"IntentTable"`}, nil},

	{"record-index", "none", indexOfOpen, "      KeySchema: [{AttributeName: intent, KeyType: HASH}]\n", "IntentTable", []string{"no index open", "open (S), open_since (N)"}, nil},
	{"record-index", "of another name", "IndexName: open", "IndexName: doubts", "IntentTable", []string{"no index open"}, nil},
	{"record-index", "by another order", "[{AttributeName: open, KeyType: HASH}, {AttributeName: open_since, KeyType: RANGE}]",
		"[{AttributeName: open_since, KeyType: HASH}, {AttributeName: open, KeyType: RANGE}]", "IntentTable",
		[]string{"no index open"}, nil},

	{"record-expiry", "another attribute", "{AttributeName: expires_at, Enabled: true}", "{AttributeName: ttl, Enabled: true}", "IntentTable",
		[]string{`"ttl"`, `"expires_at"`}, nil},
	{"record-expiry", "none", "{AttributeName: expires_at, Enabled: true}", "{AttributeName: expires_at, Enabled: false}", "IntentTable",
		[]string{`""`, `"expires_at"`}, nil},

	{"record-regions", "two", intentTable, strings.NewReplacer(
		"AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable",
		"      DeletionProtectionEnabled: true\n", "      Replicas: [{Region: eu-central-1}, {Region: us-east-1}]\n",
		"      PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}\n", "",
		"      WarmThroughput: !If [HasWarmWrites, {WriteUnitsPerSecond: !Ref IntentTableWarmWrites}, !Ref AWS::NoValue]\n", "",
	).Replace(intentTable), "IntentTable", []string{`"eu-central-1" "us-east-1"`, "EVENTUAL", "STRONG"}, nil},

	{"variables-declared", "one less (C22)", "          USERS_TABLE: " + tableOf("Users") + "\n", "", "ChargeFunction", []string{"reads USERS_TABLE", "QUEUE_URL"}, nil},
	{"variables-declared", "one less for all (C22)", "        SCOPE: " + scope + "\n", "", "ShipFunction", []string{"reads SCOPE", "ORDERS_TABLE"}, nil},

	{"processors", "more than one", "    MemorySize: 256\n", "    MemorySize: 3008\n", "ShipFunction", []string{"3008 MB", "GOMAXPROCS 1"}, nil},

	{"variables-read", "one more (C22)", "          ORDERS_TABLE: " + tableOf("Orders") + "\n", "          ORDERS_TABLE: " + tableOf("Orders") + "\n          ORDERS: x\n",
		"ShipFunction", []string{"declares ORDERS,", "ORDERS_TABLE"}, nil},
}

func TestBroken(t *testing.T) {
	for _, tt := range slices.Concat(broken, brokenAlarms, brokenRoles, brokenPolicies) {
		t.Run(tt.rule+"/"+tt.name, func(t *testing.T) {
			whole := text(t)
			edited := strings.Replace(whole, tt.old, tt.new, 1)
			if edited == whole {
				t.Fatalf("template.yaml has no %q to edit", tt.old)
			}
			findings := Check(stack(t, edited, tt.parameters))
			for _, f := range findings {
				if f.Rule != tt.rule {
					t.Errorf("another rule finds something: %v", f)
				}
			}
			i := slices.IndexFunc(findings, func(f Finding) bool { return f.Resource == tt.resource })
			if i < 0 {
				t.Fatalf("nothing is found of %s: %v", tt.resource, findings)
			}
			for _, want := range tt.want {
				if !strings.Contains(findings[i].Message, want) {
					t.Errorf("got %q, want %q in it", findings[i], want)
				}
			}
		})
	}
}

// Each rule is in the table above, or nobody knows that it finds anything.
func TestEveryRuleIsBroken(t *testing.T) {
	names := map[string]bool{}
	for _, rule := range Rules() {
		if names[rule.Name] || rule.Promise == "" {
			t.Errorf("%s is there twice, or promises nothing", rule.Name)
		}
		names[rule.Name] = true
	}
	all := slices.Concat(broken, brokenAlarms, brokenRoles, brokenPolicies)
	for _, tt := range all {
		if !names[tt.rule] {
			t.Errorf("%s: there is no such rule", tt.rule)
		}
	}
	for name := range names {
		if !slices.ContainsFunc(all, func(b breakage) bool { return b.rule == name }) {
			t.Errorf("%s: no broken template shows that it finds anything", name)
		}
	}
}
