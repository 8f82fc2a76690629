package stack

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/singleeffect/once/infra/template"
)

// The local account, as its names show it.
const (
	Region    = "us-east-1"
	accountID = "000000000000"
)

// account says what the template's references stand for on this machine. Tables
// and queues are named by their logical ids, unless the template names them.
type account struct {
	queues      string // base URL of the local SQS
	tablePrefix string
}

func (a account) resolve(r template.Reference) (string, error) {
	name := r.Name
	if name == "" {
		name = r.LogicalID
	}
	switch r.Type + "." + r.Attribute {
	case "AWS::SQS::Queue.":
		return a.queueURL(name), nil
	case "AWS::SQS::Queue.Arn":
		return ARN(name), nil
	case "AWS::SQS::Queue.QueueName":
		return name, nil
	case "AWS::DynamoDB::Table.":
		return a.tablePrefix + name, nil
	case "AWS::DynamoDB::Table.Arn":
		return "arn:aws:dynamodb:" + Region + ":" + accountID + ":table/" + a.tablePrefix + name, nil
	case "AWS::SNS::Topic.":
		return "arn:aws:sns:" + Region + ":" + accountID + ":" + name, nil
	case "AWS::Serverless::Function.Version.Version":
		return "$LATEST", nil // what Lambda's runtime emulator says unless it is told otherwise
	case "AWS::Serverless::Function.", "AWS::Logs::LogGroup.", "AWS::IAM::Role.", "AWS::CloudWatch::Alarm.":
		return name, nil
	case "AWS::Logs::LogGroup.Arn":
		return "arn:aws:logs:" + Region + ":" + accountID + ":log-group:" + name + ":*", nil
	case "AWS::IAM::Role.Arn":
		return "arn:aws:iam::" + accountID + ":role/" + name, nil
	}
	return "", fmt.Errorf("nothing on this machine stands for attribute %q of %s, a %s", r.Attribute, r.LogicalID, r.Type)
}

func (a account) queueURL(name string) string { return a.queues + "/" + accountID + "/" + name }

// ARN is the name of a local queue.
func ARN(name string) string { return "arn:aws:sqs:" + Region + ":" + accountID + ":" + name }

// parse reads the template at the root of the project.
func (a account) parse(root, name string, parameters map[string]string) (template.Template, error) {
	file, err := os.Open(filepath.Join(root, "template.yaml"))
	if err != nil {
		return template.Template{}, err
	}
	defer file.Close()
	return template.Parse(file, template.Options{
		Parameters: parameters,
		StackName:  name,
		Region:     Region,
		AccountID:  accountID,
		Resolve:    a.resolve,
	})
}

// Root finds the project: the nearest folder above the working directory that
// has a template.yaml.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "template.yaml")); err == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("no template.yaml in this folder or above it")
		}
		dir = filepath.Dir(dir)
	}
}
