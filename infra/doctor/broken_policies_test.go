package doctor

import "strings"

const (
	plain  = "            Condition: {Bool: {'aws:SecureTransport': 'false'}}\n"
	toShip = "          - Sid: EncryptedInTransit\n            Effect: Deny\n            Principal: '*'\n            Action: sqs:*\n            Resource: !GetAtt ShipQueue.Arn\n" + plain
	// whose alarms the topic takes
	alarmsAlone = "              StringEquals: {'aws:SourceAccount': !Ref AWS::AccountId}\n              ArnLike: {'aws:SourceArn': !Sub " +
		"'arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:*'}\n"
	toTopic = "            Action: [sns:Publish, sns:Subscribe]\n            Resource: !Ref AlarmTopic\n" + plain
)

// brokenPolicies are breakages of the policies of queues and topics.
var brokenPolicies = []breakage{
	{"over-tls", "a queue without", toShip, "", "ShipQueue", []string{"sqs:SendMessage", "aws:SecureTransport"}, nil},
	{"over-tls", "a queue that refuses TLS", toShip, toShip[:len(toShip)-len("'false'}}\n")] + "'true'}}\n", "ShipQueue", []string{"is false"}, nil},
	{"over-tls", "of another queue", "Queues: [!Ref ShipQueue]", "Queues: [!Ref WelcomeQueue]", "ShipQueue", []string{"no policy"}, nil},
	{"over-tls", "for some alone", "            Condition: {Bool: {'aws:SecureTransport': 'false'}}\n          - Fn::If:",
		"            Condition: {Bool: {'aws:SecureTransport': 'false'}, StringEquals: {'aws:PrincipalAccount': x}}\n          - Fn::If:", "ChargeQueue",
		[]string{"everybody"}, nil},
	{"over-tls", "a topic without", toTopic, "            Action: sns:Subscribe\n            Resource: !Ref AlarmTopic\n" + plain, "AlarmTopic", []string{"sns:Publish"}, nil},

	{"over-tls", "of sending alone", toShip, strings.Replace(toShip, "sqs:*", "sqs:SendMessage", 1), "ShipQueue", []string{"sqs:ReceiveMessage"}, nil},
	{"over-tls", "of reading alone", toShip, strings.Replace(toShip, "sqs:*", "sqs:ReceiveMessage", 1), "ShipQueue", []string{"sqs:SendMessage"}, nil},

	{"dead-letter-senders", "another's role", "ArnNotEquals: {'aws:PrincipalArn': !GetAtt ShipRole.Arn}", "ArnNotEquals: {'aws:PrincipalArn': !GetAtt ChargeRole.Arn}",
		"ShipDeadLetterQueue", []string{"all but ShipRole"}, nil},
	{"dead-letter-senders", "not even SQS", "              ArnNotEquals: {'aws:PrincipalArn': !GetAtt ShipRole.Arn}\n              Bool: {'aws:PrincipalIsAWSService': 'false'}\n",
		"              ArnNotEquals: {'aws:PrincipalArn': !GetAtt ShipRole.Arn}\n", "ShipDeadLetterQueue", []string{"and SQS"}, nil},

	{"open-doors", "any account's alarms", alarmsAlone, "              StringEquals: {'aws:RequestedRegion': !Ref AWS::Region}\n",
		"AlarmTopicPolicy", []string{"sns:Publish", "Service cloudwatch.amazonaws.com"}, nil},

	{"open-doors", "all accounts but one", alarmsAlone, "              StringNotEquals: {'aws:SourceAccount': '210987654321'}\n", "AlarmTopicPolicy",
		[]string{"sns:Publish"}, nil},
	{"open-doors", "every account, by a wildcard", alarmsAlone, "              StringLike: {'aws:SourceAccount': '*'}\n", "AlarmTopicPolicy",
		[]string{"sns:Publish"}, nil},
	{"open-doors", "every account's ARNs", alarmsAlone, "              ArnLike: {'aws:SourceArn': 'arn:aws:cloudwatch:*:*:alarm:*'}\n", "AlarmTopicPolicy",
		[]string{"sns:Publish"}, nil},
	{"open-doors", "whoever does not say", alarmsAlone, "              StringEqualsIfExists: {'aws:SourceAccount': !Ref AWS::AccountId}\n", "AlarmTopicPolicy",
		[]string{"sns:Publish"}, nil},

	{"encrypted", "not at all", "      SqsManagedSseEnabled: true\n", "      SqsManagedSseEnabled: false\n", "ChargeQueue", []string{"as they are"}, nil},
}
