package template

// What may stand at the top of a template. Transform, Metadata, Outputs and the descriptions say nothing about what runs here.
var sections = []string{
	"AWSTemplateFormatVersion", "Transform", "Description", "Metadata", "Parameters", "Rules", "Mappings", "Conditions", "Globals",
	"Resources", "Outputs",
}

// The resource types that are read.
const (
	functionType    = "AWS::Serverless::Function"
	queueType       = "AWS::SQS::Queue"
	tableType       = "AWS::DynamoDB::Table"
	globalTableType = "AWS::DynamoDB::GlobalTable"
	alarmType       = "AWS::CloudWatch::Alarm"
	queuePolicyType = "AWS::SQS::QueuePolicy"
	topicPolicyType = "AWS::SNS::TopicPolicy"
	topicType       = "AWS::SNS::Topic"
	roleType        = "AWS::IAM::Role"
)

// ignored is the one list of what is left out on purpose: the properties, by type, that change nothing about what the local stack runs.
// A type with no properties is left out whole.
var ignored = map[string][]string{
	functionType:             nil,
	queueType:                {"RedriveAllowPolicy"},
	tableType:                {"BillingMode", "DeletionProtectionEnabled", "PointInTimeRecoverySpecification", "SSESpecification", "WarmThroughput"},
	globalTableType:          {"BillingMode", "SSESpecification", "StreamSpecification"},
	alarmType:                nil,
	roleType:                 {"AssumeRolePolicyDocument", "RoleName", "Path", "Description", "Tags", "MaxSessionDuration"},
	queuePolicyType:          nil,
	topicPolicyType:          nil,
	"AWS::Logs::LogGroup":    nil,
	topicType:                nil,
	"AWS::SNS::Subscription": nil,
}
