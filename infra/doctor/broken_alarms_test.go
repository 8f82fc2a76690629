package doctor

import "strings"

// eleven are more alarms than a deployment group may have, all of them on the new version.
var eleven = "          - !Ref ShipErrorsAlarm\n" + strings.Repeat("          - !Ref ShipFailedAlarm\n", 9) + "          - !Ref ShipQuarantinedAlarm\n"

const (
	shipGuards   = "          - !Ref ShipErrorsAlarm\n          - !Ref ShipFailedAlarm\n          - !Ref ShipQuarantinedAlarm\n"
	shipVersion  = "{Name: Version, Value: !GetAtt ShipFunction.Version.Version}"
	shipExecuted = "{Name: ExecutedVersion, Value: !GetAtt ShipFunction.Version.Version}"
	pace         = "      Type: Canary10Percent5Minutes\n"
)

// brokenAlarms are the breakages of the rules on alarms and deployments (C67, C68).
var brokenAlarms = []breakage{
	{"dead-letter-arrival", "by the depth", "Expression: DIFF(depth)", "Expression: depth", "ChargeDeadLetterQueue",
		[]string{"rises from 1 to 2", "ChargeDeadLetterArrivalAlarm on AWS/SQS Maximum ApproximateNumberOfMessagesVisible by depth"}, nil},
	{"dead-letter-arrival", "of two at once", "Expression: DIFF(depth)}\n      EvaluationPeriods: 1\n      Threshold: 0",
		"Expression: DIFF(depth)}\n      EvaluationPeriods: 1\n      Threshold: 1", "ChargeDeadLetterQueue", []string{"from 1 to 2", "GreaterThanThreshold 1"}, nil},
	{"dead-letter-arrival", "of another queue", "                Dimensions: [{Name: QueueName, Value: !GetAtt ShipDeadLetterQueue.QueueName}]"[2:],
		"                Dimensions: [{Name: QueueName, Value: !GetAtt ShipQueue.QueueName}]"[2:], "ShipDeadLetterQueue",
		[]string{"it has ShipDeadLetterAlarm on AWS/SQS"}, nil},

	{"in-flight", "none", "MetricName: ApproximateNumberOfMessagesNotVisible", "MetricName: ApproximateNumberOfMessagesDelayed", "ChargeQueue",
		[]string{"ApproximateNumberOfMessagesNotVisible", "108000 messages", "120000", "ChargeAgeAlarm on AWS/SQS"}, nil},
	{"in-flight", "at a number that is never reached", "Threshold: 100000", "Threshold: 120000", "ChargeQueue", []string{"GreaterThanThreshold 120000"}, nil},

	{"alarm-tells", "nobody", "AlarmActions: [!Ref AlarmTopic]", "AlarmActions: []", "ChargeDeadLetterAlarm", []string{"0 actions", "Quarantine-Reason"}, nil},
	{"alarm-tells", "nothing", "      AlarmDescription: >-\n        The new version of ship cannot start, or is killed. Read its log for the init error; do not deploy it again " +
		"before that.\n", "", "ShipErrorsAlarm", []string{"1 actions", `description ""`}, nil},

	{"alarm-metrics", "a dimension too many", "Dimensions: [{Name: QueueName, Value: !GetAtt ChargeDeadLetterQueue.QueueName}]",
		"Dimensions: [{Name: QueueName, Value: !GetAtt ChargeDeadLetterQueue.QueueName}, {Name: Region, Value: here}]", "ChargeDeadLetterAlarm",
		[]string{`["QueueName" "Region"]`, `[["QueueName"]]`}, nil},
	{"alarm-metrics", "a misspelled metric of ours", "MetricName: Takeovers", "MetricName: Takeover", "ChargeTakeoverAlarm",
		[]string{"Once Takeover", "emitted with []"}, nil},
	{"alarm-metrics", "a misspelled metric of a version", "MetricName: UnknownFormat", "MetricName: UnknownFormats", "ChargeUnknownFormatAlarm",
		[]string{"Once UnknownFormats", "emitted with []"}, nil},
	{"alarm-metrics", "a version's series of what is not counted by version", "MetricName: UnknownFormat", "MetricName: Conflict",
		"ChargeUnknownFormatAlarm", []string{`["Operation" "Scope" "Version"]`, `[["Scope" "Operation"]]`}, nil},
	{"alarm-metrics", "a misspelled metric of AWS", "MetricName: ApproximateAgeOfOldestMessage", "MetricName: AgeOfOldestMessage", "ChargeAgeAlarm",
		[]string{"AWS/SQS AgeOfOldestMessage"}, nil},
	{"alarm-metrics", "another misspelled metric of AWS", "MetricName: Errors", "MetricName: Error", "ChargeErrorsAlarm",
		[]string{"AWS/Lambda Error ", "emitted with []"}, nil},

	{"new-version", "what old messages ring", shipGuards, shipGuards + "          - !Ref ShipDeadLetterAlarm\n", "ShipFunction",
		[]string{"ShipDeadLetterAlarm on AWS/SQS", "QueueName", "ShipFunctionVersion.Version"}, nil},
	{"new-version", "what conflicts ring", "          - !Ref AdjustErrorsAlarm\n", "          - !Ref AdjustErrorsAlarm\n          - !Ref AdjustConflictAlarm\n",
		"AdjustFunction", []string{"AdjustConflictAlarm on Once Conflict"}, nil},
	{"new-version", "another function's", shipGuards, shipGuards + "          - !Ref ClearcartErrorsAlarm\n", "ShipFunction",
		[]string{"ClearcartErrorsAlarm on AWS/Lambda Errors", "FunctionName:ClearcartFunction"}, nil},
	{"new-version", "the whole operation's", "                - " + shipVersion + "\n", "", "ShipFunction",
		[]string{"ShipFailedAlarm on Once Failed of map[Operation:ship"}, nil},
	{"new-version", "a version that stays", shipExecuted, "{Name: ExecutedVersion, Value: '7'}", "ShipFunction", []string{"ExecutedVersion:7"}, nil},
	{"new-version", "all versions of an alias", "        - " + shipExecuted + "\n", "", "ShipFunction", []string{"Resource:ShipFunction:live"}, nil},

	{"quiet-version", "breaching", "TreatMissingData: notBreaching\n      AlarmActions: [!Ref AlarmTopic]\n\n  ShipFailedAlarm", "TreatMissingData: breaching\n" +
		"      AlarmActions: [!Ref AlarmTopic]\n\n  ShipFailedAlarm", "ShipFunction", []string{"ShipErrorsAlarm", "as breaching"}, nil},

	{"deployment-alarms", "eleven", shipGuards, eleven, "ShipFunction", []string{"11 alarms", "more than 10"}, nil},

	{"alarm-in-time", "four periods of five", "      EvaluationPeriods: 3\n      DatapointsToAlarm: 2\n", "      EvaluationPeriods: 5\n      DatapointsToAlarm: 4\n",
		"ChargeFunction", []string{"5m0s (Canary10Percent5Minutes)", "ChargeErrorsAlarm rings after 6m0s", "4 more"}, nil},
	{"alarm-in-time", "a long period", "      Statistic: Sum\n      Period: 60\n      EvaluationPeriods: 3\n", "      Statistic: Sum\n      Period: 300\n" +
		"      EvaluationPeriods: 3\n", "ChargeFunction", []string{"ChargeErrorsAlarm rings after 16m0s", "a period of 5m0s"}, nil},
	{"alarm-in-time", "a pace that leaves no time", pace, "      Type: AllAtOnce\n", "ShipFunction", []string{"0s (AllAtOnce)", "4m0s"}, nil},
	{"alarm-in-time", "a pace of one's own", pace, "      Type: Careful\n", "ShipFunction", []string{`"Careful"`, "not known"}, nil},

	{"failing-version", "that cannot start", "          - !Ref ShipErrorsAlarm\n", "", "ShipFunction",
		[]string{"it cannot start", "Canary10Percent5Minutes: ShipFailedAlarm, ShipQuarantinedAlarm"}, nil},
	{"failing-version", "that lost a permission", "          - !Ref ShipFailedAlarm\n", "", "ShipFunction", []string{"it lost a permission"}, nil},
	{"failing-version", "that quarantines everything", "          - !Ref WelcomeQuarantinedAlarm\n", "", "WelcomeFunction",
		[]string{"it quarantines every message"}, nil},
	{"failing-version", "that refuses everything", "          - !Ref AdjustRefusedAlarm\n", "", "AdjustFunction", []string{"it refuses every message"}, nil},
	{"failing-version", "that meets another format", "          - !Ref ChargeUnknownFormatAlarm\n", "", "ChargeFunction",
		[]string{"it cannot read one record"}, nil},
	{"failing-version", "by a share that none has", "FILL(failed, 0) / (messages + 1)", "FILL(failed, 0) / (messages * 2 + 1)", "ChargeFunction",
		[]string{"it lost a permission"}, nil},
	{"failing-version", "of nothing", "          - !Ref ShipErrorsAlarm\n          - !Ref ShipFailedAlarm\n          - !Ref ShipQuarantinedAlarm\n",
		"          []\n", "ShipFunction", []string{"it cannot start"}, nil},

	{"all-properties", "off", "    AutoPublishAliasAllProperties: true\n", "", "ShipFunction", []string{"alias live", "AllProperties false", "Tracing"}, nil},
}
