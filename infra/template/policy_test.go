package template

import (
	"reflect"
	"strings"
	"testing"
)

func TestPolicy(t *testing.T) {
	got, err := Parse(strings.NewReader(`Parameters: {Senders: {Type: String, Default: 'a,b'}}
Resources:
  Jobs: {Type: AWS::SQS::Queue}
  News: {Type: AWS::SNS::Topic, Properties: {TopicName: news}}
  JobsPolicy:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [!Ref Jobs]
      PolicyDocument:
        Version: '2012-10-17'
        Statement:
          - {Effect: Deny, Principal: '*', Action: sqs:*, Resource: !GetAtt Jobs.Arn, Condition: {ArnNotLike: {'aws:PrincipalArn': !Split [',', !Ref Senders]}}}
  NewsPolicy:
    Type: AWS::SNS::TopicPolicy
    Properties:
      Topics: [!Ref News]
      PolicyDocument:
        Version: '2012-10-17'
        Statement:
          - {Effect: Allow, Principal: {Service: [x.amazonaws.com], AWS: 'arn:aws:iam::1:root'}, Action: [sns:Publish], Resource: !Ref News}
`), Options{StackName: "once", Region: "eu-central-1", AccountID: "123456789012", Resolve: func(r Reference) (string, error) { return r.LogicalID + r.Attribute, nil }})
	if err != nil {
		t.Fatal(err)
	}
	want := []Policy{
		{LogicalID: "JobsPolicy", Of: []string{"Jobs"}, Statements: []Statement{{
			Effect: "Deny", Principals: []string{"*"}, Actions: []string{"sqs:*"}, Resources: []string{"Jobs"},
			Conditions: map[string][]string{"ArnNotLike aws:PrincipalArn": {"a", "b"}},
		}}},
		{LogicalID: "NewsPolicy", Of: []string{"News"}, Statements: []Statement{{
			Effect: "Allow", Principals: []string{"AWS arn:aws:iam::1:root", "Service x.amazonaws.com"}, Actions: []string{"sns:Publish"}, Resources: []string{"News"},
			Conditions: map[string][]string{},
		}}},
	}
	if !reflect.DeepEqual(got.Policies, want) || !reflect.DeepEqual(got.Topics, []string{"News"}) {
		t.Errorf("got %+v of topics %q, want %+v", got.Policies, got.Topics, want)
	}
}
