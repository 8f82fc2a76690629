package template

import (
	"reflect"
	"strings"
	"testing"
)

// roles reads a template with these statements of one role.
func roles(statements string) (Template, error) {
	return Parse(strings.NewReader(`Parameters: {Existing: {Type: String, Default: ''}, Sender: {Type: String, Default: a@example.com}}
Conditions: {HasExisting: !Not [!Equals [!Ref Existing, '']]}
Resources:
  Jobs: {Type: AWS::SQS::Queue, Properties: {QueueName: !Sub '${AWS::StackName}-jobs'}}
  Records:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: records
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
  Log: {Type: AWS::Logs::LogGroup}
  Role:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument: {Statement: []}
      Description: x
      ManagedPolicyArns: [!Sub 'arn:${AWS::Partition}:iam::aws:policy/Some']
      Policies:
        - PolicyName: one
          PolicyDocument: {Version: '2012-10-17', Statement: [`+statements+`]}
        - PolicyName: two
          PolicyDocument: {Version: '2012-10-17', Statement: []}
`), Options{StackName: "once", Region: "eu-central-1", AccountID: "123456789012", Resolve: func(r Reference) (string, error) {
		return "what stands for it here: " + r.LogicalID + r.Attribute, nil
	}})
}

func TestRole(t *testing.T) {
	got, err := roles(`{Sid: A, Effect: Allow, Action: dynamodb:GetItem, Resource: !GetAtt Records.Arn},
            {Effect: Deny, Action: ['sqs:*', a:B], Resource: [!GetAtt Jobs.Arn, '*'], Condition: {StringEquals: {'ses:FromAddress': !Ref Sender, k: [x, y]}, Bool: {z: true}}},
            !If [HasExisting, {Effect: Allow, Action: a:B, Resource: '*'}, !Ref AWS::NoValue]`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Role{{LogicalID: "Role", Managed: []string{"arn:aws:iam::aws:policy/Some"}, Statements: []Statement{
		{Effect: "Allow", Actions: []string{"dynamodb:GetItem"}, Resources: []string{"Records"}, Conditions: map[string][]string{}},
		{Effect: "Deny", Actions: []string{"sqs:*", "a:B"}, Resources: []string{"Jobs", "*"}, Conditions: map[string][]string{
			"StringEquals ses:FromAddress": {"a@example.com"}, "StringEquals k": {"x", "y"}, "Bool z": {"true"},
		}},
	}}}
	if !reflect.DeepEqual(got.Roles, want) {
		t.Errorf("got %+v, want %+v", got.Roles, want)
	}
}

// A resource of the template is known however a policy names it.
func TestRoleResources(t *testing.T) {
	const here = "${AWS::Region}:${AWS::AccountId}"
	for resource, want := range map[string]string{
		"!GetAtt Records.Arn":        "Records",
		"!Sub '${Records.Arn}'":      "Records",
		"{'Fn::GetAtt': [Log, Arn]}": "Log",
		"!If [HasExisting, !Sub 'arn:aws:dynamodb:x:table/${Existing}', !GetAtt Records.Arn]": "Records",
		"!Sub 'arn:aws:dynamodb:" + here + ":table/${Records}'":                               "Records",
		"!Sub 'arn:${AWS::Partition}:dynamodb:" + here + ":table/records'":                    "Records",
		"!Sub 'arn:aws:sqs:" + here + ":${AWS::StackName}-jobs'":                              "Jobs",
		"!Sub 'arn:aws:sqs:" + here + ":${Jobs.QueueName}'":                                   "Jobs",
		"!Sub 'arn:aws:logs:" + here + ":log-group:${Log}:*'":                                 "Log",
		// These are none.
		"!Sub 'arn:aws:dynamodb:" + here + ":table/others'":    "arn:aws:dynamodb:eu-central-1:123456789012:table/others",
		"!Sub 'arn:aws:dynamodb:us-east-1:1:table/records'":    "arn:aws:dynamodb:us-east-1:1:table/records",
		"!Sub 'arn:aws:dynamodb:" + here + ":table/once-jobs'": "arn:aws:dynamodb:eu-central-1:123456789012:table/once-jobs",
		"!Sub 'arn:aws:sqs:" + here + ":${Jobs}'":              "arn:aws:sqs:eu-central-1:123456789012:${Jobs}",
		"!Sub '${Records.Arn}/index/*'":                        "${Records.Arn}/index/*",
		"!GetAtt Records.StreamArn":                            "${Records.StreamArn}",
		"'*'":                                                  "*",
	} {
		got, err := roles("{Effect: Allow, Action: a:B, Resource: " + resource + "}")
		if err != nil {
			t.Errorf("%s: %v", resource, err)
			continue
		}
		if got := got.Roles[0].Statements[0].Resources; !reflect.DeepEqual(got, []string{want}) {
			t.Errorf("%s: got %q, want %q", resource, got, want)
		}
	}
}

func TestErrRole(t *testing.T) {
	for statement, want := range map[string]string{
		"{Effect: allow, Action: a:B, Resource: '*'}":                          `Effect (line 20): is "allow"`,
		"{Action: a:B, Resource: '*'}":                                         "Effect (line 20): is missing",
		"{Effect: Allow, Resource: '*'}":                                       "Action (line 20): is missing",
		"{Effect: Allow, Action: [], Resource: '*'}":                           "Action (line 20): is empty",
		"{Effect: Allow, Action: a:B, NotResource: '*'}":                       "NotResource (line 20): is not known",
		"{Effect: Allow, Action: a:B, Resource: !GetAtt Nothing.Arn}":          "there is none that could be referred to",
		"{Effect: Allow, Action: a:B, Resource: [[x]]}":                        "is no list of single values",
		"{Effect: Allow, Action: a:B, Resource: '*', Condition: {Bool: true}}": "is no mapping",
	} {
		if _, err := roles(statement); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q in it", statement, err, want)
		}
	}
}

// Whose role a function has, and where it logs, are of the template or not known.
func TestFunctionIdentity(t *testing.T) {
	for _, tt := range []struct {
		properties, role, log string
		policies, traced      bool
	}{
		{"Role: !GetAtt R.Arn\n      LoggingConfig: {LogGroup: !Ref L, LogFormat: JSON}\n      Tracing: Active", "R", "L", false, true},
		{"Role: arn:aws:iam::1:role/x\n      LoggingConfig: {LogGroup: /x}\n      Tracing: PassThrough", "", "", false, false},
		{"Policies: [AWSLambdaBasicExecutionRole]", "", "", true, false},
	} {
		got, err := parse(one("x") + "      " + tt.properties + "\n  R: {Type: AWS::IAM::Role}\n  L: {Type: AWS::Logs::LogGroup}\n")
		if err != nil {
			t.Errorf("%s: %v", tt.properties, err)
			continue
		}
		if f := got.Functions[0]; f.Role != tt.role || f.LogGroup != tt.log || f.Policies != tt.policies || f.Traced != tt.traced {
			t.Errorf("%s: got %+v", tt.properties, f)
		}
	}
}
